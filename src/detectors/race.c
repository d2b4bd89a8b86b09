/*
 * Detector `race`: two accesses to the same memory that happens-before does not order. At least one
 * of them is a write, and at least one is not atomic. FastTrack (Flanagan and Freund, PLDI 2009): a
 * vector clock for each thread and synchronisation object, and an epoch for memory whose accesses
 * are ordered (shadow.h). Runs in the moving thread; its state is in shared memory.
 *
 * Deviations from the paper:
 * - C11 atomics. Atomic accesses race with plain ones only and are recorded separately. An atomic
 *   write does not discard earlier plain reads, because a second atomic write does not race with
 *   the first. Memory that is accessed atomically carries the clock of its release sequence.
 * - A repeated access in the same epoch at a scheduling point is skipped only if the site is equal
 *   too. The race of the earlier site may be suppressed while that of the later one is not.
 *   Memory with a suppressed race has scheduling points at all its accesses (--memory races).
 * - A read after a write of the same thread and epoch is skipped.
 * - If the memory for the state is exhausted, the detector is blind for the rest of the run: a
 *   missing happens-before edge would look like a race.
 */
#include <string.h>

#include "detectors/race_internal.h"

static void race_begin_run(void *block)
{
	struct race_state *state = block;

	if (!++state->generation) {
		memset(state->threads, 0, sizeof state->threads);
		state->generation = 1;
	}
	state->is_blind = false;
	state->all_messages = (struct vector_clock){0};
	clock_pool_clear(&state->pool);
	sync_table_clear(&state->objects);
	shadow_clear(&state->shadow);
}

bool race_ignore(void *block, struct race_pair pair)
{
	return race_pairs_add(&((struct race_state *)block)->ignored, pair);
}

uint32_t race_ignored_pairs(const void *block, const struct race_pair **pairs)
{
	const struct race_state *state = block;

	*pairs = state->ignored.pairs;
	return state->ignored.count;
}

void race_follow_thread_sanitizer(void *block)
{
	((struct race_state *)block)->follows_thread_sanitizer = true;
}

uint64_t race_ignored_count(const void *block)
{
	return ((const struct race_state *)block)->ignored_count;
}

uint64_t race_blind_runs(const void *block)
{
	return ((const struct race_state *)block)->blind_runs;
}

void race_watch(void *block)
{
	((struct race_state *)block)->is_watching = true;
}

bool race_is_watching(const void *block)
{
	return ((const struct race_state *)block)->is_watching;
}

uint32_t race_seen_list(const void *block, const struct race_seen **seen)
{
	const struct race_state *state = block;

	*seen = state->seen;
	return state->seen_count;
}

static enum shadow_kind race_kind(const struct detector_event *event)
{
	switch (event->kind) {
	case OP_LOAD:
		return SHADOW_READ;
	case OP_STORE:
		return SHADOW_WRITE;
	case OP_ATOMIC_LOAD:
		return SHADOW_ATOMIC_READ;
	default:
		/* The result is not known yet; assuming a write could report a false race. */
		return event->may_only_read ? SHADOW_ATOMIC_READ : SHADOW_ATOMIC_WRITE;
	}
}

/* The set of kinds that conflict with each access kind. */
#define SHADOW_KIND(name) (1u << SHADOW_##name)
static const uint8_t race_conflicts[SHADOW_KINDS] = {
	[SHADOW_WRITE] = SHADOW_KIND(WRITE) | SHADOW_KIND(READ) | SHADOW_KIND(ATOMIC_WRITE) |
			 SHADOW_KIND(ATOMIC_READ),
	[SHADOW_READ] = SHADOW_KIND(WRITE) | SHADOW_KIND(ATOMIC_WRITE),
	[SHADOW_ATOMIC_WRITE] = SHADOW_KIND(WRITE) | SHADOW_KIND(READ),
	[SHADOW_ATOMIC_READ] = SHADOW_KIND(WRITE),
};

struct race_found {
	const struct shadow_access *other; /* NULL if there is no race */
	enum shadow_kind other_kind;
	const struct shadow_cell *cell;
};

/* If some_are_ignored is set, the search skips suppressed site pairs and counts them. */
static void race_find_conflict(struct race_state *state, const struct detector_event *event,
	enum shadow_kind kind, bool some_are_ignored, struct race_found *found)
{
	const struct vector_clock *now = &race_thread(state, event->thread)->now;
	const struct shadow_cell *cell = found->cell;

	for (unsigned other = 0; other < SHADOW_KINDS; other++) {
		const struct shadow_accesses *accesses = &cell->last[other];
		const struct shadow_access *access = NULL;

		if (!(race_conflicts[kind] & cell->kinds & 1u << other))
			continue;
		while ((access = shadow_unordered(accesses, &state->pool, now, access))) {
			if (!some_are_ignored ||
				!race_pairs_have(&state->ignored, event->site, access->site)) {
				found->other = access;
				found->other_kind = other;
				return;
			}
			state->ignored_count++;
			state->has_suppressed = true;
		}
	}
}

static void race_remember(struct race_state *state, const struct detector_event *event,
	struct shadow_cell *cell, enum shadow_kind kind)
{
	const struct vector_clock *now = &race_thread(state, event->thread)->now;
	const struct shadow_access access = {.site = event->site,
		.thread = event->thread.index,
		.is_update = event->kind == OP_ATOMIC_UPDATE,
		.clock = vector_clock_get(&state->pool, now, event->thread.index),
		.step = shadow_step(event->step)};

	/* After a plain write, older accesses are forgotten: what races with them, races with the
	 * write, too. */
	if (kind == SHADOW_WRITE)
		shadow_forget(cell, &state->pool);
	race_need(state, shadow_add(cell, kind, &state->pool, now, &access));
}

/* Returns whether the thread accessed the cell in this epoch with the same kind or a write, whose
 * races include those of this access. At a scheduling point the sites must be equal, too, because
 * one of them alone may be suppressed. */
static bool race_is_repeated(const struct race_state *state, const struct detector_event *event,
	const struct shadow_cell *cell, enum shadow_kind kind)
{
	const struct vector_clock *now = &state->threads[event->thread.index].now;
	const uint32_t clock = vector_clock_get(&state->pool, now, event->thread.index);
	const struct shadow_access *last;

	for (unsigned as = SHADOW_WRITE; as <= kind; as++) {
		if (!(cell->kinds >> as & 1))
			continue;
		last = shadow_of_thread(&cell->last[as], &state->pool, event->thread.index);
		if (last && last->clock == clock &&
			(!event->is_point || (as == kind && last->site == event->site)))
			return true;
	}
	return false;
}

static void race_check_cell(struct race_state *state, const struct detector_event *event,
	struct shadow_cell *cell, bool some_are_ignored, struct race_found *found)
{
	enum shadow_kind kind = race_kind(event);
	bool is_atomic = event->kind != OP_LOAD && event->kind != OP_STORE;

	*found = (struct race_found){.cell = cell};
	if (!is_atomic && race_is_repeated(state, event, cell, kind))
		return;
	if (is_atomic && event->kind != OP_ATOMIC_STORE)
		race_read_atomically(state, event, cell);
	/* Fast path: no other thread has accessed this memory. */
	if (!shadow_is_own(cell, event->thread.index))
		race_find_conflict(state, event, kind, some_are_ignored, found);
	if (state->is_blind)
		found->other = NULL;
	if (found->other)
		return;
	race_remember(state, event, cell, kind);
	if (is_atomic && event->kind != OP_ATOMIC_LOAD)
		race_write_atomically(state, event, cell);
}

static bool race_access(struct race_state *state, const struct detector_event *event,
	bool some_are_ignored, struct race_found *found)
{
	unsigned offset = event->address % SHADOW_GRANULE_BYTES;
	unsigned room = SHADOW_GRANULE_BYTES - offset;
	unsigned bytes = event->bytes < room ? event->bytes : room;
	uint8_t mask = (uint8_t)(((1u << bytes) - 1) << offset);
	bool has_released = event->kind != OP_LOAD && event->kind != OP_STORE &&
			    event->kind != OP_ATOMIC_LOAD && order_releases(event->order);
	uint32_t cell;

	if (!mask)
		return false;
	(void)race_thread(state, event->thread); /* starts the thread's clock at its first event */
	cell = shadow_find(&state->shadow, &state->pool, event->address, event->object, mask);
	race_need(state, cell != 0);
	for (; cell && !state->is_blind; cell = shadow_next(&state->shadow, cell, mask)) {
		race_check_cell(state, event, &state->shadow.cells[cell], some_are_ignored, found);
		if (found->other)
			return true;
	}
	if (has_released)
		race_advance(state, event->thread);
	found->other = NULL;
	return false;
}

bool race_passes(void *block, const struct detector_event *event)
{
	struct race_state *state = block;
	struct race_found found;

	return state->is_blind || !race_access(state, event, false, &found);
}

static enum op_kind race_op_of(const struct shadow_access *access, enum shadow_kind kind)
{
	switch (kind) {
	case SHADOW_WRITE:
		return OP_STORE;
	case SHADOW_READ:
		return OP_LOAD;
	default:
		if (access->is_update)
			return OP_ATOMIC_UPDATE;
		return kind == SHADOW_ATOMIC_READ ? OP_ATOMIC_LOAD : OP_ATOMIC_STORE;
	}
}

static uint64_t race_address(const struct detector_event *event, const struct race_found *found)
{
	return (event->address & ~(uint64_t)(SHADOW_GRANULE_BYTES - 1)) +
	       (unsigned)__builtin_ctz(found->cell->mask);
}

static void race_see(struct race_state *state, const struct detector_event *event,
	const struct race_found *found)
{
	const struct race_pair pair = {.site = event->site, .other = found->other->site};

	if (state->seen_count < RACE_SEEN_MAX)
		state->seen[state->seen_count++] = (struct race_seen){.pair = pair,
			.address = race_address(event, found),
			.op = event->kind,
			.other_op = (uint8_t)race_op_of(found->other, found->other_kind)};
	race_need(state, race_ignore(state, pair));
}

static bool race_judge(
	struct race_state *state, const struct detector_event *event, struct outcome *verdict)
{
	struct race_found found = {.other = NULL};

	while (race_access(state, event, true, &found) && state->is_watching)
		race_see(state, event, &found);
	if (!found.other)
		return false;
	outcome_set(verdict, OUTCOME_RACE, event->thread, 0);
	verdict->site = event->site;
	verdict->op = event->kind;
	verdict->address = race_address(event, &found);
	verdict->other_site = found.other->site;
	verdict->other_step = found.other->step;
	verdict->other_thread = (struct thread_id){(uint16_t)found.other->thread};
	verdict->other_op = (uint8_t)race_op_of(found.other, found.other_kind);
	return true;
}

bool race_has_suppressed(const void *block)
{
	return ((const struct race_state *)block)->has_suppressed;
}

static bool race_observe(void *block, const struct detector_event *event, struct outcome *verdict)
{
	struct race_state *state = block;

	state->has_suppressed = false;
	if (state->is_blind)
		return false;
	switch (event->kind) {
	case OP_LOAD:
	case OP_STORE:
	case OP_ATOMIC_LOAD:
	case OP_ATOMIC_STORE:
	case OP_ATOMIC_UPDATE:
		return race_judge(state, event, verdict);
	case OP_FENCE:
		race_fence(state, event);
		return false;
	default:
		if (!event->has_failed)
			race_synchronise(state, event);
		return false;
	}
}

const struct detector detector_race = {
	.name = "race",
	.summary = "two unordered accesses to the same memory, one of them a write",
	.state_bytes = sizeof(struct race_state),
	.begin_run = race_begin_run,
	.observe = race_observe,
};
