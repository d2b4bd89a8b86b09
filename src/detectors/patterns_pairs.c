/*
 * Patterns over two variables: Lai, Cheung and Chan, "Detecting Atomic-Set Serializability Violations
 * in Multithreaded Programs through Active Randomized Testing", ICSE 2010, table 1, rows 6 to 11.
 *
 * The table speaks of units of work and atomic sets, which nobody has declared here. What belongs
 * together is taken from closeness instead: a thread's access, and the last ones that it made to a few
 * other variables (PATTERNS_RECENT). Only accesses that stand in the windows are found.
 */
#include "detectors/patterns_internal.h"

/* The newest access to `variable` by `thread` after `step`; NULL: there is none in the window. */
static const struct patterns_access *patterns_by(struct patterns_state *state,
	const struct patterns_variable *variable, uint16_t thread, uint32_t after)
{
	for (uint32_t i = 0; i < variable->count; i++) {
		const struct patterns_access *entry = patterns_entry(state, variable, i);

		if (entry->step <= after)
			return NULL;
		if (entry->thread == thread)
			return entry;
	}
	return NULL;
}

/* A thread's accesses to x and now to y; between them another one's to both. */
static void patterns_find_enclosing(struct patterns_state *state,
	const struct patterns_part *before, const struct patterns_part *now)
{
	for (uint32_t i = 0; i < before->variable->count; i++) {
		const struct patterns_access *on_x = patterns_entry(state, before->variable, i);
		const struct patterns_access *on_y;
		struct patterns_part parts[4];
		enum pattern_kind kind;

		if (on_x->step <= before->access->step)
			return;
		if (on_x->thread == now->access->thread)
			continue;
		on_y = patterns_by(state, now->variable, on_x->thread, before->access->step);
		if (!on_y || on_y->is_write != on_x->is_write ||
			(!on_x->is_write && !now->access->is_write))
			continue;
		parts[0] = *before;
		parts[3] = *now;
		if (!now->access->is_write)
			kind = PATTERN_RxWxWyRy;
		else
			kind = on_x->is_write ? PATTERN_WxWxWyWy : PATTERN_WxRxRyWy;
		if (on_x->step < on_y->step) {
			parts[1] = (struct patterns_part){on_x, before->variable};
			parts[2] = (struct patterns_part){on_y, now->variable};
		} else {
			kind = kind == PATTERN_RxWxWyRy	  ? PATTERN_RxWyWxRy
			       : kind == PATTERN_WxRxRyWy ? PATTERN_WxRyRxWy
							  : PATTERN_WxWyWxWy;
			parts[1] = (struct patterns_part){on_y, now->variable};
			parts[2] = (struct patterns_part){on_x, before->variable};
		}
		patterns_keep(state, kind, parts);
		return;
	}
}

/* Another thread's accesses to x and then y; this one's to y between them, and to x now. */
static void patterns_find_crossing(struct patterns_state *state, const struct patterns_part *before,
	const struct patterns_part *now)
{
	for (uint32_t i = 0; i < now->variable->count; i++) {
		const struct patterns_access *on_x = patterns_entry(state, now->variable, i);
		const struct patterns_access *on_y;
		struct patterns_part parts[4];

		if (on_x->thread == now->access->thread || on_x->step >= before->access->step)
			continue;
		on_y = patterns_by(state, before->variable, on_x->thread, before->access->step);
		if (!on_y || on_y->is_write != on_x->is_write ||
			(!on_x->is_write && !now->access->is_write))
			continue;
		parts[0] = (struct patterns_part){on_x, now->variable};
		parts[1] = *before;
		parts[2] = (struct patterns_part){on_y, before->variable};
		parts[3] = *now;
		patterns_keep(state,
			!on_x->is_write		? PATTERN_RxWyRyWx
			: now->access->is_write ? PATTERN_WxWyWyWx
						: PATTERN_WxRyWyRx,
			parts);
		return;
	}
}

void patterns_find_pairs(struct patterns_state *state, const struct patterns_variable *variable,
	const struct patterns_access *access)
{
	const struct patterns_thread *thread = &state->threads[access->thread];
	const struct patterns_part now = {access, variable};

	for (uint32_t i = 0; i < PATTERNS_RECENT; i++) {
		const struct patterns_variable *other;
		struct patterns_part before;
		bool is_other_newest, is_newest;

		if (!thread->variables[i])
			continue;
		other = &state->variables[thread->variables[i] - 1];
		if (other == variable || thread->accesses[i].is_write != access->is_write)
			continue;
		/* What ends with a read has a write to the other variable in it. */
		if (!access->is_write && other->write_step <= thread->accesses[i].step)
			continue;
		before = (struct patterns_part){&thread->accesses[i], other};
		/* Mostly nobody else has been there since. */
		is_other_newest = patterns_entry(state, other, 0)->thread != access->thread;
		is_newest = variable->count &&
			    patterns_entry(state, variable, 0)->thread != access->thread;
		if (is_other_newest && is_newest)
			patterns_find_enclosing(state, &before, &now);
		if (is_other_newest && variable->count)
			patterns_find_crossing(state, &before, &now);
	}
}

void patterns_note_recent(struct patterns_state *state, const struct patterns_variable *variable,
	const struct patterns_access *access)
{
	struct patterns_thread *thread = &state->threads[access->thread];
	const uint32_t slot = variable->slot + 1;

	for (uint32_t i = 0; i < PATTERNS_RECENT; i++) {
		if (thread->variables[i] == slot) {
			thread->accesses[i] = *access;
			return;
		}
	}
	thread->newest = (thread->newest + 1) % PATTERNS_RECENT;
	thread->variables[thread->newest] = slot;
	thread->accesses[thread->newest] = *access;
}
