/*
 * Strategy `pct`: probabilistic concurrency testing.
 *
 * Burckhardt, Kothari, Musuvathi, Nagarakatte, "A Randomized Scheduler with Probabilistic
 * Guarantees of Finding Bugs", ASPLOS 2010, section 4. Threads have random priorities and the
 * enabled thread with the highest one moves. At d-1 random points the thread that is to move falls
 * below everybody who has not fallen. A bug of depth d shows with probability at least
 * 1/(n*k^(d-1)) per run.
 *
 * Deviations from the paper:
 * - k counts *contested* points only (two or more threads enabled) plus one place past the end.
 *   Lowering a thread where it is alone changes nothing before its next contested point, so moving
 *   the change there loses no schedule and the bound grows; docs/strategies.md has the argument.
 * - A thread falls before the step at the change point, not after the step before it. The same
 *   schedules result, and a point before the first step of a thread can be drawn as well.
 * - n is not needed in advance: initial priorities are independent random numbers, so a new thread
 *   takes a random place among those of all others. Equal numbers (probability below 2^-40 with
 *   4096 threads) fall to the lower index.
 * - k is learnt: the first run draws no change points. Later runs draw from the largest count of
 *   earlier runs, which shorter runs pull down slowly, so that one odd long run does not thin out
 *   the rest of the campaign. The guarantee is given for the largest count, the careful side.
 */
#include "base/rng.h"
#include "strategies/strategy.h"

#define PCT_DEPTH_MOST 16
#define PCT_NEVER UINT64_MAX
/* Initial priorities have this bit, so all are above those of fallen threads (1 .. depth-1). */
#define PCT_INITIAL (UINT64_C(1) << 63)

struct pct_change {
	uint64_t point;	   /* ordinal of the contested point */
	uint64_t priority; /* what the thread falls to */
};

struct pct {
	struct rng rng;
	uint64_t point;	       /* contested points passed in this run */
	uint64_t change_point; /* of changes[change_next], PCT_NEVER when none is left */
	uint32_t change_next;
	uint32_t change_count;
	uint32_t depth;
	uint32_t known; /* threads of this run that have a priority */

	uint64_t points_expected; /* contested points of a run, learnt; 0: not known */
	uint64_t points_most;
	uint32_t threads_most;
	struct pct_change changes[PCT_DEPTH_MOST];
	uint64_t priority[THREAD_CAPACITY];
};

static size_t pct_state_bytes(const struct strategy_config *config)
{
	(void)config; /* the depth is bounded, so its array has a fixed size */
	return sizeof(struct pct);
}

static void pct_begin_campaign(void *state, const struct strategy_config *config)
{
	struct pct *pct = state;

	pct->depth = (uint32_t)config->option[0];
}

/* Draws the change points, sorted by point; equal points keep the order of their draws. */
static void pct_draw_changes(struct pct *pct)
{
	pct->change_count = pct->points_expected ? pct->depth - 1 : 0;
	for (uint32_t i = 0; i < pct->change_count; i++) {
		const uint64_t point = rng_below64(&pct->rng, pct->points_expected + 1);
		uint32_t at = i;

		for (; at && pct->changes[at - 1].point > point; at--)
			pct->changes[at] = pct->changes[at - 1];
		pct->changes[at] = (struct pct_change){point, i + 1};
	}
	pct->change_next = 0;
	pct->change_point = pct->change_count ? pct->changes[0].point : PCT_NEVER;
}

static void pct_begin_run(void *state, uint64_t seed)
{
	struct pct *pct = state;

	rng_seed(&pct->rng, seed);
	pct->point = 0;
	pct->known = 0;
	pct_draw_changes(pct);
}

static inline uint32_t pct_highest(const struct pct *pct, const struct schedule_view *view)
{
	const uint32_t word_count = BITSET_WORDS(view->thread_count);
	uint64_t best = 0;
	uint32_t chosen = 0;

	for (uint32_t word = 0; word < word_count; word++) {
		for (uint64_t rest = view->enabled[word]; rest; rest &= rest - 1) {
			const uint32_t thread = word * 64 + (uint32_t)__builtin_ctzll(rest);

			if (pct->priority[thread] > best) {
				best = pct->priority[thread];
				chosen = thread;
			}
		}
	}
	return chosen;
}

/* Lets `thread` fall; of several changes at one point the last drawn decides. */
static __attribute__((noinline)) void pct_fall(struct pct *pct, uint32_t thread)
{
	while (pct->change_next < pct->change_count &&
		pct->changes[pct->change_next].point == pct->point)
		pct->priority[thread] = pct->changes[pct->change_next++].priority;
	pct->change_point = pct->change_next < pct->change_count
				    ? pct->changes[pct->change_next].point
				    : PCT_NEVER;
}

static struct thread_id pct_choose(void *state, const struct schedule_view *view)
{
	struct pct *pct = state;
	uint32_t chosen;

	while (pct->known < view->thread_count)
		pct->priority[pct->known++] = rng_next(&pct->rng) | PCT_INITIAL;
	if (view->enabled_count == 1)
		return (struct thread_id){(uint16_t)view_next_enabled(view, 0)};
	chosen = pct_highest(pct, view);
	if (pct->point == pct->change_point) {
		pct_fall(pct, chosen);
		chosen = pct_highest(pct, view);
	}
	pct->point++;
	return (struct thread_id){(uint16_t)chosen};
}

static void pct_end_run(void *state, const struct run_summary *summary)
{
	struct pct *pct = state;
	const uint64_t points = pct->point;
	const bool is_whole =
		summary->outcome == OUTCOME_PASSED || summary->outcome == OUTCOME_EXIT;

	/* Such a run was cut off: its length says how long one waited, not how long runs are. */
	if (summary->outcome == OUTCOME_LIVELOCK || summary->outcome == OUTCOME_HANG)
		return;
	if (summary->thread_count > pct->threads_most)
		pct->threads_most = summary->thread_count;
	if (points > pct->points_most)
		pct->points_most = points;
	if (points > pct->points_expected)
		pct->points_expected = points;
	else if (is_whole)
		pct->points_expected -= (pct->points_expected - points) / 16;
}

static bool pct_guarantee(const void *state, struct strategy_guarantee *out)
{
	const struct pct *pct = state;
	const uint64_t places = pct->points_most + 1;
	double probability = 1;

	*out = (struct strategy_guarantee){.depth = pct->depth,
		.threads = pct->threads_most,
		.steps = places,
		.formula = "1/(n*k^(d-1))"};
	if (!pct->points_most)
		return false;
	for (uint32_t i = 1; i < pct->depth; i++)
		probability /= (double)places;
	out->probability = probability / pct->threads_most;
	return true;
}

static const struct strategy_option pct_options[] = {
	{"depth", 3, 2, PCT_DEPTH_MOST,
		"ordering constraints a bug may need; 3 covers most known bugs, each more costs a "
		"factor k"},
	{0},
};

const struct strategy strategy_pct = {
	.name = "pct",
	.summary =
		"random priorities that fall at depth-1 random points: finds a bug of that depth "
		"with a proven probability",
	.options = pct_options,
	.state_bytes = pct_state_bytes,
	.begin_campaign = pct_begin_campaign,
	.begin_run = pct_begin_run,
	.choose = pct_choose,
	.end_run = pct_end_run,
	.guarantee = pct_guarantee,
};
