/* See replay.h. The cost of a choice does not depend on the length of the schedule. */
#include "strategies/replay/replay.h"

#include "strategies/replay/replay_observe.h"
#include "strategies/replay/replay_preempt.h"
#include "strategies/strategy.h"

#define REPLAY_NOT_CREATED UINT16_MAX

/* Initial priorities descend from these: of named threads, of other threads, of fallen threads. */
#define PRIORITY_NAMED (UINT64_C(3) << 40)
#define PRIORITY_NAMELESS (UINT64_C(2) << 40)
#define PRIORITY_FALLEN (UINT64_C(1) << 40)
#define OPS_OF_ACQUISITION (UINT64_C(1) << 16)

static inline uint32_t *replay_links(struct replay_state *state)
{
	return (uint32_t *)((char *)state + state->links_offset);
}

static inline struct schedule_segment *replay_segments(struct replay_state *state)
{
	return (struct schedule_segment *)((char *)state + state->segments_offset);
}

size_t replay_state_bytes(uint32_t segment_count, uint32_t fall_count)
{
	return sizeof(struct replay_state) + fall_count * sizeof(struct replay_fall) +
	       ((size_t)fall_count + 1) / 2 * 2 * sizeof(uint32_t) +
	       segment_count * sizeof(struct schedule_segment);
}

static void replay_link(struct replay_state *state)
{
	const struct replay_fall *falls = replay_falls(state);
	uint32_t *links = replay_links(state);

	if (state->mode == REPLAY_RECORD)
		return; /* the falls are only space for the recording */
	for (uint32_t i = state->fall_count; i-- > 0;) {
		const uint32_t name = key_table_add(&state->names, falls[i].thread);

		if (name == KEY_TABLE_NONE)
			continue; /* more names than threads: the plan fits no program */
		links[i] = state->first_fall_of[name];
		state->first_fall_of[name] = i + 1;
	}
}

void replay_state_init(struct replay_state *state, enum replay_mode mode,
	const struct schedule_segment *segments, uint32_t segment_count,
	const struct replay_fall *falls, uint32_t fall_count)
{
	state->mode = mode;
	state->segment_count = segment_count;
	state->fall_count = fall_count;
	state->falls_offset = sizeof *state;
	state->links_offset = state->falls_offset + fall_count * sizeof *falls;
	state->segments_offset =
		state->links_offset + ((size_t)fall_count + 1) / 2 * 2 * sizeof(uint32_t);
	state->bytes = replay_state_bytes(segment_count, fall_count);
	for (uint32_t i = 0; i < fall_count; i++)
		replay_falls(state)[i] = falls[i];
	for (uint32_t i = 0; i < segment_count; i++)
		replay_segments(state)[i] = segments[i];
	replay_link(state);
}

void replay_state_set_names(
	struct replay_state *state, const thread_name *names, uint32_t name_count)
{
	/* The table must have the order of `names`: the falls are linked again afterwards. */
	state->names = (struct key_table){0};
	for (uint32_t i = 0; i < KEY_TABLE_CAPACITY; i++)
		state->first_fall_of[i] = 0;
	/* cannot fail: names are distinct and few enough */
	for (uint32_t i = 0; i < name_count; i++)
		(void)key_table_add(&state->names, names[i]);
	state->has_names = true;
	replay_link(state);
}

void replay_state_set_random(struct replay_state *state)
{
	state->is_random_after = true;
}

void replay_state_set_few_values(struct replay_state *state)
{
	state->knows_few_values = true;
}

static void replay_begin_campaign(void *state, const struct strategy_config *config)
{
	struct replay_state *replay = state;

	(void)config;
	if (!replay->bytes) /* an empty schedule if no plan was filled in */
		replay_state_init(replay, REPLAY_EXACT, NULL, 0, NULL, 0);
}

static void replay_begin_run(void *state, uint64_t seed)
{
	struct replay_state *replay = state;

	rng_seed(&replay->rng, seed);
	replay->diverged = 0;
	replay->diverged_step = 0;
	replay->cursor = (struct schedule_cursor){0};
	replay->known = 0;
	replay->falls_used = 0;
	replay->acquisitions = 0;
	replay->first_fall = replay->last_fall = 0;
	replay->lowest = PRIORITY_FALLEN;
	replay->step = 0;
	if (replay->observed_offset)
		replay_observed(replay)->op_count = 0;
	if (replay->preempt_offset)
		replay_preempt_begin_run(replay_preempt(replay));
	for (uint32_t i = 0; i < replay->names.count; i++)
		replay->index_of[i] = REPLAY_NOT_CREATED;
}

static void replay_add_threads(struct replay_state *replay, const struct schedule_view *view)
{
	while (replay->known < view->thread_count) {
		const uint32_t thread = replay->known++;
		const uint32_t name = key_table_find(&replay->names, view->names[thread]);

		replay->performed[thread] = 0;
		replay->fall[thread] = 0;
		replay->priority[thread] =
			name == KEY_TABLE_NONE ? PRIORITY_NAMELESS - thread : PRIORITY_NAMED - name;
		if (name == KEY_TABLE_NONE)
			continue;
		replay->index_of[name] = (uint16_t)thread;
		replay->fall[thread] = replay->first_fall_of[name];
	}
}

static void replay_diverge(struct replay_state *replay)
{
	if (replay->diverged)
		return;
	replay->diverged = 1;
	replay->diverged_step = replay->step;
}

static inline struct schedule_segment *replay_here(struct replay_state *replay)
{
	struct schedule_segment *segments = replay_segments(replay);

	while (replay->cursor.segment < replay->segment_count) {
		struct schedule_segment *segment = &segments[replay->cursor.segment];

		if (segment->flags & SEGMENT_VALUE || replay->cursor.used < segment->count)
			return segment;
		replay->cursor.segment++;
		replay->cursor.used = 0;
	}
	return NULL;
}

static struct thread_id replay_after(struct replay_state *replay, const struct schedule_view *view)
{
	if (!replay->is_random_after || replay->diverged)
		return view_default(view);
	return (struct thread_id){(uint16_t)bitset_select(
		view->enabled, rng_below(&replay->rng, view->enabled_count))};
}

/* Returns the thread of a segment. REPLAY_NOT_CREATED: the thread is not known yet. */
static uint32_t replay_thread_of(
	const struct replay_state *replay, const struct schedule_segment *segment)
{
	if (!replay->has_names)
		return segment->thread;
	return segment->thread < replay->names.count ? replay->index_of[segment->thread]
						     : REPLAY_NOT_CREATED;
}

static bool replay_may_follow(const struct replay_state *replay, const struct schedule_view *view,
	const struct schedule_segment *segment)
{
	const uint32_t thread = replay_thread_of(replay, segment);

	if (segment->flags & SEGMENT_VALUE || thread >= view->thread_count)
		return false;
	return view_is_enabled(view, thread) ||
	       (segment->flags & SEGMENT_STALLS && !replay->cursor.used &&
		       view_may_stall(view, thread));
}

/* Returns whether the running thread is at an access that is not in the schedule. */
static bool replay_is_at_access(const struct replay_state *replay, const struct schedule_view *view)
{
	const uint32_t thread = view->current.index;

	return replay->lacks_accesses && thread < view->thread_count &&
	       view_is_enabled(view, thread) &&
	       op_descriptions[view->pending[thread].kind].object == OBJECT_MEMORY;
}

static struct thread_id replay_exact(struct replay_state *replay, const struct schedule_view *view)
{
	const struct schedule_segment *segment = replay->diverged ? NULL : replay_here(replay);
	uint32_t thread;

	if (replay_is_at_access(replay, view))
		return view->current;
	while (segment && replay->skips_disabled && !replay_may_follow(replay, view, segment)) {
		replay->cursor.segment++;
		replay->cursor.used = 0;
		segment = replay_here(replay);
	}
	if (!segment)
		return replay_after(replay, view);
	if (!replay_may_follow(replay, view, segment)) {
		replay_diverge(replay);
		return view_default(view);
	}
	thread = replay_thread_of(replay, segment);
	/* A spin point is no step and not in the schedule (engine_spin_point). */
	replay->cursor.used += view->pending[thread].kind != OP_SPIN;
	return (struct thread_id){(uint16_t)thread};
}

static struct thread_id replay_highest(
	const struct replay_state *replay, const struct schedule_view *view)
{
	uint32_t highest = view_next_enabled(view, 0);

	for (uint32_t thread = highest; thread < view->thread_count;
		thread = view_next_enabled(view, thread + 1))
		if (replay->priority[thread] > replay->priority[highest])
			highest = thread;
	return (struct thread_id){(uint16_t)highest};
}

static struct thread_id replay_priority(
	struct replay_state *replay, const struct schedule_view *view)
{
	const struct replay_fall *falls = replay_falls(replay);
	struct thread_id chosen;

	if (view->enabled_count == 1)
		return (struct thread_id){(uint16_t)view_next_enabled(view, 0)};
	for (;;) {
		uint32_t *mine;

		chosen = replay_highest(replay, view);
		mine = &replay->fall[chosen.index];
		/* A fall of the only enabled thread is delayed to its next contested point. */
		if (!*mine || falls[*mine - 1].after > replay->performed[chosen.index])
			break;
		*mine = replay_links(replay)[*mine - 1];
		replay->priority[chosen.index] = --replay->lowest;
		if (!replay->falls_used++)
			replay->first_fall = replay->acquisitions;
		replay->last_fall = replay->acquisitions;
	}
	replay->acquisitions += (view->pending[chosen.index].flags & OP_ACQUIRE) != 0;
	return chosen;
}

/* Follows the segments like exact mode. Every thread with a higher priority than the wanted one
 * falls, and the fall is recorded. */
static struct thread_id replay_record(struct replay_state *replay, const struct schedule_view *view)
{
	const struct thread_id wanted = replay_exact(replay, view);

	for (;;) {
		const struct thread_id highest = replay_highest(replay, view);

		if (thread_same(highest, wanted))
			return wanted;
		if (replay->falls_used == replay->fall_count) {
			replay_diverge(replay);
			return wanted;
		}
		replay->priority[highest.index] = --replay->lowest;
		replay_falls(replay)[replay->falls_used++] =
			(struct replay_fall){.thread = view->names[highest.index],
				.after = replay->performed[highest.index]};
	}
}

static struct thread_id replay_choose(void *state, const struct schedule_view *view)
{
	struct replay_state *replay = state;

	replay_add_threads(replay, view);
	replay->step = view->step;
	switch (replay->mode) {
	case REPLAY_PRIORITY:
		return replay_priority(replay, view);
	case REPLAY_RECORD:
		return replay_record(replay, view);
	case REPLAY_PREEMPT:
		return replay_preempt_choose(replay_preempt(replay), view);
	default:
		return replay_exact(replay, view);
	}
}

static bool replay_keeps_current(void *state, const struct schedule_view *view)
{
	struct replay_state *replay = state;
	const struct schedule_segment *segment;

	if (replay->mode != REPLAY_EXACT || replay->known != view->thread_count ||
		replay->lacks_accesses)
		return false;
	segment = replay->diverged ? NULL : replay_here(replay);
	if (segment) {
		if (segment->flags & SEGMENT_VALUE ||
			replay_thread_of(replay, segment) != view->current.index)
			return false;
		replay->cursor.used++;
	} else if (replay->is_random_after && !replay->diverged) {
		return false;
	}
	replay->step = view->step;
	replay->performed[view->current.index]++;
	return true;
}

static bool replay_must_continue(void *state, const struct schedule_view *view)
{
	struct replay_state *replay = state;
	const struct schedule_segment *segment;

	if (replay->mode != REPLAY_EXACT || replay->diverged)
		return false;
	segment = replay_here(replay);
	if (!segment || segment->flags & SEGMENT_VALUE)
		return false;
	return replay_thread_of(replay, segment) == view->current.index;
}

static void replay_executed(void *state, const struct schedule_view *view, struct thread_id thread)
{
	struct replay_state *replay = state;

	uint64_t *performed = &replay->performed[thread.index];

	replay_add_threads(replay, view);
	if (replay->observed_offset)
		replay_observe_note(replay_observed(replay), view, thread.index);
	if (replay->preempt_offset)
		replay_preempt_executed(replay_preempt(replay), view, thread.index);
	if (replay->mode == REPLAY_EXACT)
		++*performed;
	else if (view->pending[thread.index].flags & OP_ACQUIRE)
		*performed = (*performed / OPS_OF_ACQUISITION + 1) * OPS_OF_ACQUISITION;
	else if ((*performed + 1) % OPS_OF_ACQUISITION)
		++*performed;
}

static void replay_ending(void *state, const struct schedule_view *view)
{
	struct replay_state *replay = state;

	for (uint32_t i = 0; replay->observed_offset && i < view->thread_count; i++)
		replay_observe_note(replay_observed(replay), view, i);
}

static uint32_t replay_choose_value(void *state, uint32_t count)
{
	struct replay_state *replay = state;
	const struct schedule_segment *segments = replay_segments(replay);
	const struct schedule_segment *segment;

	if (replay->mode == REPLAY_EXACT || replay->mode == REPLAY_RECORD ||
		replay->mode == REPLAY_OBSERVE) {
		segment = replay->diverged ? NULL : replay_here(replay);
		if (!segment)
			return replay->is_random_after && !replay->diverged
				       ? (uint32_t)rng_below(&replay->rng, count)
				       : 0;
		if (replay->knows_few_values && !(segment->flags & SEGMENT_VALUE))
			return 0;
		if (!(segment->flags & SEGMENT_VALUE) || segment->count != count ||
			segment->thread >= count) {
			replay_diverge(replay);
			return 0;
		}
		replay->cursor.segment++;
		return segment->thread;
	}
	while (replay->cursor.segment < replay->segment_count) {
		segment = &segments[replay->cursor.segment++];
		if (segment->flags & SEGMENT_VALUE)
			return segment->thread < count ? segment->thread : 0;
	}
	return 0;
}

const struct strategy strategy_replay = {
	.name = "replay",
	.summary = "follows a recorded schedule, or changes of priorities",
	.follows_stalls = true,
	.state_bytes = sizeof(struct replay_state), /* without a plan, which follows it */
	.begin_campaign = replay_begin_campaign,
	.begin_run = replay_begin_run,
	.choose = replay_choose,
	.executed = replay_executed,
	.ending = replay_ending,
	.choose_value = replay_choose_value,
	.fast_path = {.keeps_current = replay_keeps_current, .must_continue = replay_must_continue},
};
