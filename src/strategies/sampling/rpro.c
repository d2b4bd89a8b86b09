/*
 * Strategy `rpro`: radius-aware probabilistic testing.
 *
 * Cai and Yang, "Radius Aware Probabilistic Testing of Deadlocks with Guarantees", ASE 2016,
 * section 3. The strategy is pct, but only the first change point is drawn among all k events; the
 * other d-2 lie within r events of it. A run shows such a bug of depth d with probability at least
 * 1/(n*k*(2r)^(d-2)).
 *
 * Deviations from the paper:
 * - The paper writes 1/(n*k*r^(d-2)); a footnote remarks that the range on both sides of the first
 *   point makes it 2r (docs/strategies.md).
 * - The deviations of pct: contested events only, one position past the end, a priority drops before
 *   its event, n and k are learnt from earlier runs (pct.c).
 * - events=acquire: a priority drops before an acquisition of a lock; in the paper after it. A
 *   release can always be moved directly behind the previous op: stops elsewhere between two
 *   acquisitions find nothing more (docs/strategies.md).
 * - By default a grid of pairs shares the runs: d = 2 to 6, r = 1, 2, 4, ... up to k. The next run
 * goes to the pair with the fewest runs relative to its weight, which is fixed during a round. The
 * weight is 1 while the pair's guarantee is in reach of the runs made so far, and proportionally
 * less otherwise. It falls to a sixteenth when the pair would have missed a bug of its kind with
 * probability below e^-12. - windows=many: a long run has space for many windows of change points.
 * After a window and a
 *   random gap, the next window begins, with new random priorities, as if the run started there. It
 *   has no guarantee, because earlier windows may prevent the bug. Half of the grid's pairs use it.
 */
#include "strategies/sampling/rpro.h"

#include "base/rng.h"
#include "strategies/priority_table.h"
#include "strategies/strategy.h"

#define GRID_DEPTH_LEAST 2u
#define GRID_DEPTH_MOST 6u
#define GRID_RADII 20u /* powers of two: up to half a million events */
#define GRID_PAIRS (2 * (1 + (GRID_DEPTH_MOST - GRID_DEPTH_LEAST) * GRID_RADII))
#define RADIUS_MOST (INT64_C(1) << 30)
#define WEIGHT_ONE (UINT64_C(1) << 16)
/* A guarantee is in reach when 1/REACH of the required runs is made. */
#define REACH 4
#define ENOUGH 12 /* multiple of the runs that the guarantee requires */
#define ENOUGH_PART 16

/* windows=many: mean gap between two windows, in radii; most windows do not overlap. */
#define WINDOW_GAP 2

enum rpro_option { OPTION_DEPTH, OPTION_RADIUS, OPTION_EVENTS, OPTION_WINDOWS };
enum rpro_windows { WINDOWS_ONE, WINDOWS_MANY, WINDOWS_BOTH };

struct rpro_member {
	uint32_t depth;
	bool has_many_windows;
	uint64_t radius;
	uint64_t runs;
};

struct rpro_lesson {
	uint64_t count[RPRO_EVENTS_COUNT]; /* number of contested events of the run */
	uint32_t threads;
	uint32_t outcome; /* enum outcome_kind */
};

struct rpro {
	struct rng rng;
	uint32_t position; /* position of the run in its round */
	/* if the program acquires no lock, all events count */
	enum rpro_events events;
	bool is_grid;
	uint32_t member; /* member of the current or last run */
	uint32_t member_count;
	uint32_t threads_most;
	uint64_t runs;			   /* number of runs without the first one */
	uint64_t count[RPRO_EVENTS_COUNT]; /* contested events passed in this run */
	struct run_length length[RPRO_EVENTS_COUNT];
	struct rpro_member members[GRID_PAIRS];
	struct change_points changes;
	struct priority_table priorities;
	uint8_t plan[STRATEGY_ROUND_MOST];		 /* members, by position */
	struct rpro_lesson lessons[STRATEGY_ROUND_MOST]; /* lessons by position */
};

_Static_assert(GRID_PAIRS <= UINT8_MAX, "the plan has a byte for each position");

static void rpro_add_member(struct rpro *rpro, uint32_t depth, uint64_t radius, int64_t windows)
{
	for (int many = 0; many < 2; many++)
		if (windows == WINDOWS_BOTH || windows == (many ? WINDOWS_MANY : WINDOWS_ONE))
			rpro->members[rpro->member_count++] = (struct rpro_member){.depth = depth,
				.has_many_windows = many,
				.radius = depth > 2 ? radius : 0};
}

static void rpro_begin_campaign(void *state, const struct strategy_config *config)
{
	struct rpro *rpro = state;
	const uint32_t depth = (uint32_t)config->option[OPTION_DEPTH];
	const uint64_t radius = (uint64_t)config->option[OPTION_RADIUS];
	int64_t windows = config->option[OPTION_WINDOWS];

	/* Given depth and radius select the paper's algorithm. */
	if (windows == WINDOWS_BOTH && depth && (radius || depth == 2))
		windows = WINDOWS_ONE;
	rpro->events = (enum rpro_events)config->option[OPTION_EVENTS];
	for (uint32_t d = depth ? depth : GRID_DEPTH_LEAST; d <= (depth ? depth : GRID_DEPTH_MOST);
		d++) {
		if (radius || d == 2)
			rpro_add_member(rpro, d, radius, windows);
		for (uint32_t i = 0; !radius && d > 2 && i < GRID_RADII; i++)
			rpro_add_member(rpro, d, UINT64_C(1) << i, windows);
	}
	rpro->is_grid = rpro->member_count > 1;
}

static enum rpro_events rpro_counted(const struct rpro *rpro)
{
	return rpro->length[rpro->events].most ? rpro->events : RPRO_EVENTS_ALL;
}

static uint64_t rpro_multiply(uint64_t a, uint64_t b)
{
	uint64_t product;

	return __builtin_mul_overflow(a, b, &product) ? UINT64_MAX : product;
}

static uint64_t rpro_pace(const struct rpro_member *member)
{
	return (2 + WINDOW_GAP) * (member->radius + 1);
}

/* Returns the expected number of runs until such a bug shows: n*k*(2r)^(d-2), as if each window
 * were a run. */
static uint64_t rpro_need(const struct rpro *rpro, const struct rpro_member *member)
{
	const uint64_t positions = rpro->length[rpro_counted(rpro)].most + 1;
	const bool is_split = member->has_many_windows && rpro_pace(member) < positions;
	uint64_t need = rpro_multiply(rpro->threads_most, is_split ? rpro_pace(member) : positions);

	for (uint32_t d = 2; d < member->depth; d++)
		need = rpro_multiply(
			need, member->radius < positions / 2 ? 2 * member->radius : positions);
	return need;
}

/* Returns whether the pair is useful. All radii beyond k are equivalent, so only the first of them
 * is. */
static bool rpro_is_useful(const struct rpro *rpro, const struct rpro_member *member)
{
	return member->radius < 2 * (rpro->length[rpro_counted(rpro)].most + 1);
}

static uint64_t rpro_weight(const struct rpro *rpro, const struct rpro_member *member)
{
	const uint64_t need = rpro_need(rpro, member);
	const uint64_t reach = rpro_multiply(rpro->runs + 1, REACH);
	uint64_t weight = WEIGHT_ONE;

	if (need > reach)
		weight = reach >= UINT64_MAX / WEIGHT_ONE ? 1 : WEIGHT_ONE * reach / need + 1;
	if (member->runs / ENOUGH >= need)
		weight = weight / ENOUGH_PART + 1;
	return weight;
}

static void rpro_plan(struct rpro *rpro, uint32_t positions)
{
	uint64_t weight[GRID_PAIRS], runs[GRID_PAIRS];

	for (uint32_t i = 0; i < rpro->member_count; i++) {
		const bool is_useful = !i || rpro_is_useful(rpro, &rpro->members[i]);

		weight[i] = is_useful ? rpro_weight(rpro, &rpro->members[i]) : 0;
		runs[i] = rpro->members[i].runs;
	}
	for (uint32_t position = 0; position < positions; position++) {
		uint32_t best = 0;

		for (uint32_t i = 1; i < rpro->member_count; i++)
			if (weight[i] && rpro_multiply(runs[i] + 1, weight[best]) <
						 rpro_multiply(runs[best] + 1, weight[i]))
				best = i;
		runs[best]++;
		rpro->plan[position] = (uint8_t)best;
	}
}

/* Draws an event within `radius` of `first`, other than `first`, and not drawn before if one is
 * free. */
static uint64_t rpro_draw_near(
	struct rpro *rpro, uint64_t first, uint64_t radius, uint64_t positions)
{
	const uint64_t low = first > radius ? first - radius : 0;
	const uint64_t high = positions - 1 - first > radius ? first + radius : positions - 1;
	uint64_t point = first;

	for (int tries = 0; tries < 64 && high > low; tries++) {
		point = low + rng_below64(&rpro->rng, high - low);
		point += point >= first;
		if (!change_points_has(&rpro->changes, point))
			break;
	}
	return point;
}

/* Draws a window: the first change point is at `first`, the others among all `positions` of the
 * run. */
static void rpro_draw_window(struct rpro *rpro, uint64_t first, uint64_t positions)
{
	const struct rpro_member *member = &rpro->members[rpro->member];

	change_points_clear(&rpro->changes);
	change_points_add(&rpro->changes, first, 1);
	for (uint32_t i = 2; i < member->depth; i++)
		change_points_add(
			&rpro->changes, rpro_draw_near(rpro, first, member->radius, positions), i);
}

static void rpro_draw_changes(struct rpro *rpro)
{
	const struct rpro_member *member = &rpro->members[rpro->member];
	const uint64_t positions = rpro->length[rpro_counted(rpro)].expected + 1;
	uint64_t first_positions = positions;

	change_points_clear(&rpro->changes);
	if (positions == 1) /* the first run, or no events */
		return;
	if (member->has_many_windows && rpro_pace(member) < positions)
		first_positions = rpro_pace(member);
	rpro_draw_window(rpro, rng_below64(&rpro->rng, first_positions), positions);
}

static __attribute__((noinline)) void rpro_next_window(
	struct rpro *rpro, const struct schedule_view *view, uint64_t event)
{
	const struct rpro_member *member = &rpro->members[rpro->member];
	const uint64_t gap = 2 * WINDOW_GAP * (member->radius + 1);
	const uint64_t first = event + 1 + member->radius + rng_below64(&rpro->rng, gap);

	rpro->priorities.known = 0;
	priority_table_add_thread(&rpro->priorities, &rpro->rng, view);
	rpro_draw_window(rpro, first, first + member->radius + 1);
}

static void rpro_begin_run(void *state, uint64_t seed)
{
	struct rpro *rpro = state;

	rng_seed(&rpro->rng, seed);
	rpro->priorities.known = 0;
	for (int events = 0; events < RPRO_EVENTS_COUNT; events++)
		rpro->count[events] = 0;
	rpro->member = rpro->plan[rpro->position];
	rpro_draw_changes(rpro);
}

static struct thread_id rpro_choose(void *state, const struct schedule_view *view)
{
	struct rpro *rpro = state;
	const enum rpro_events counted = rpro_counted(rpro);
	uint32_t chosen;
	bool acquires;

	priority_table_add_thread(&rpro->priorities, &rpro->rng, view);
	if (view->enabled_count == 1)
		return (struct thread_id){(uint16_t)view_next_enabled(view, 0)};
	for (;;) {
		chosen = priority_table_highest(&rpro->priorities, view);
		acquires = view->pending[chosen].flags & OP_ACQUIRE;
		if (rpro->count[counted] != rpro->changes.next_point ||
			(counted == RPRO_EVENTS_ACQUIRE && !acquires))
			break;
		change_points_fall(&rpro->changes, &rpro->priorities, chosen);
	}
	if (rpro->changes.next_point == CHANGE_NEVER && rpro->changes.count &&
		rpro->members[rpro->member].has_many_windows)
		rpro_next_window(rpro, view, rpro->count[counted]);
	rpro->count[RPRO_EVENTS_ALL]++;
	rpro->count[RPRO_EVENTS_ACQUIRE] += acquires;
	return (struct thread_id){(uint16_t)chosen};
}

static void rpro_end_run(void *state, const struct run_summary *summary)
{
	struct rpro *rpro = state;
	struct rpro_lesson *lesson = &rpro->lessons[rpro->position];

	for (int events = 0; events < RPRO_EVENTS_COUNT; events++)
		lesson->count[events] = rpro->count[events];
	lesson->threads = summary->thread_count;
	lesson->outcome = summary->outcome;
}

static void rpro_begin_position(void *state, uint32_t position)
{
	((struct rpro *)state)->position = position;
}

static void rpro_gather(void *state, const void *other, uint32_t position, uint32_t count)
{
	const struct rpro *from = other;
	struct rpro *rpro = state;

	for (uint32_t i = position; i < position + count; i++)
		rpro->lessons[i] = from->lessons[i];
}

static void rpro_learn_one(struct rpro *rpro, const struct rpro_lesson *lesson)
{
	const bool is_whole = lesson->outcome == OUTCOME_PASSED || lesson->outcome == OUTCOME_EXIT;

	if (outcome_is_cut_off((enum outcome_kind)lesson->outcome))
		return;
	if (lesson->threads > rpro->threads_most)
		rpro->threads_most = lesson->threads;
	for (int events = 0; events < RPRO_EVENTS_COUNT; events++)
		run_length_learn(&rpro->length[events], lesson->count[events], is_whole);
}

static void rpro_learn(void *state, uint32_t count, uint32_t next)
{
	struct rpro *rpro = state;

	for (uint32_t i = 0; i < count; i++) {
		if (rpro->threads_most) { /* the first run only learns */
			rpro->members[rpro->plan[i]].runs++;
			rpro->runs++;
		}
		rpro_learn_one(rpro, &rpro->lessons[i]);
	}
	if (rpro->threads_most)
		rpro_plan(rpro, next);
}

static void rpro_share(void *state, const void *other)
{
	const struct rpro *from = other;
	struct rpro *rpro = state;

	rpro->threads_most = from->threads_most;
	rpro->runs = from->runs;
	for (int events = 0; events < RPRO_EVENTS_COUNT; events++)
		rpro->length[events] = from->length[events];
	for (uint32_t i = 0; i < from->member_count; i++)
		rpro->members[i] = from->members[i];
	for (uint32_t i = 0; i < STRATEGY_ROUND_MOST; i++)
		rpro->plan[i] = from->plan[i];
}

/* Returns the pair of the guarantee: depth 3, which suffices for most bugs, with the largest radius
 * in reach, scaled by its share. */
static const struct rpro_member *rpro_promised(const struct rpro *rpro)
{
	const struct rpro_member *best = &rpro->members[0];

	for (uint32_t i = 0; rpro->is_grid && i < rpro->member_count; i++) {
		const struct rpro_member *member = &rpro->members[i];

		if (member->depth == 3 && !member->has_many_windows && member->runs &&
			rpro_is_useful(rpro, member) && rpro_need(rpro, member) <= rpro->runs)
			best = member;
	}
	return best;
}

static bool rpro_guarantee(const void *state, struct strategy_guarantee *out)
{
	const struct rpro *rpro = state;
	const uint64_t positions = rpro->length[rpro_counted(rpro)].most + 1;
	const struct rpro_member *member = rpro_promised(rpro);
	double probability;

	*out = (struct strategy_guarantee){.depth = member->depth,
		.threads = rpro->threads_most,
		.steps = positions,
		.radius = member->radius,
		.formula = member->depth > 2 ? "1/(n*k*(2r)^(d-2))" : "1/(n*k)"};
	if (positions == 1 || !rpro->threads_most || member->has_many_windows)
		return false;
	probability = 1.0 / rpro->threads_most / (double)positions;
	for (uint32_t d = 2; d < member->depth; d++)
		probability /= member->radius < positions / 2 ? 2.0 * (double)member->radius
							      : (double)positions;
	out->share = rpro->is_grid && rpro->runs ? (double)member->runs / (double)rpro->runs : 1;
	out->probability = probability * out->share;
	return out->share > 0;
}

static struct rpro_pair rpro_describe(const struct rpro *rpro, const struct rpro_member *member)
{
	return (struct rpro_pair){.depth = member->depth,
		.radius = member->radius,
		.has_many_windows = member->has_many_windows,
		.events = rpro_counted(rpro),
		.runs = member->runs};
}

struct rpro_pair rpro_last_pair(const void *state)
{
	const struct rpro *rpro = state;

	return rpro_describe(rpro, &rpro->members[rpro->member]);
}

uint32_t rpro_pair_count(const void *state)
{
	return ((const struct rpro *)state)->member_count;
}

struct rpro_pair rpro_pair(const void *state, uint32_t index)
{
	const struct rpro *rpro = state;

	return rpro_describe(rpro, &rpro->members[index]);
}

uint64_t rpro_length(const void *state, enum rpro_events events)
{
	return ((const struct rpro *)state)->length[events].most;
}

static const char *rpro_check(const struct strategy_config *config)
{
	if (config->option[OPTION_DEPTH] == 2 && config->option[OPTION_RADIUS])
		return "depth=2 has one change point, so a radius has no effect; leave one of them out";
	return NULL;
}

static const char *const rpro_event_words[] = {"acquire", "all", NULL};
static const char *const rpro_window_words[] = {"one", "many", NULL};

static const struct strategy_option rpro_options[] = {
	[OPTION_DEPTH] = {"depth", 0, 2, CHANGE_POINTS_MAX,
		"bug depth (0: 2 to 6 in turn, as far as they find bugs)", NULL},
	[OPTION_RADIUS] = {"radius", 0, 1, RADIUS_MOST,
		"radius: events between the change points (0: 1, 2, 4, ... in turn)", NULL},
	[OPTION_EVENTS] = {"events", RPRO_EVENTS_ACQUIRE, RPRO_EVENTS_ACQUIRE, RPRO_EVENTS_ALL,
		"operations that count as events: acquisitions of locks suffice for deadlocks",
		rpro_event_words},
	[OPTION_WINDOWS] = {"windows", WINDOWS_BOTH, WINDOWS_ONE, WINDOWS_MANY,
		"one group of change points for each run, or several in sequence (both in turn)",
		rpro_window_words},
	{0},
};

const struct strategy strategy_rpro = {
	.name = "rpro",
	.summary =
		"as pct, with change points close together: finds deadlocks with a much higher proven probability",
	.options = rpro_options,
	.check = rpro_check,
	.state_bytes = sizeof(struct rpro),
	.begin_campaign = rpro_begin_campaign,
	.begin_run = rpro_begin_run,
	.choose = rpro_choose,
	.end_run = rpro_end_run,
	.guarantee = rpro_guarantee,
	.learning = {.begin_position = rpro_begin_position,
		.gather = rpro_gather,
		.learn = rpro_learn,
		.share = rpro_share},
};
