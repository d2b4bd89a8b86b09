/*
 * Detector `patterns`: records the access patterns of a run (model/pattern.h), which the analyses
 * compare between runs. It never ends a run. It runs in the moving thread; its state is in shared
 * memory.
 *
 * Park, Vuduc and Harrold, "Falcon: Fault Localization in Concurrent Programs", ICSE 2010, section
 * 3.1. Each shared variable has a sliding window of accesses; consecutive accesses of one thread
 * and kind form one entry. An access that starts a new entry completes these patterns:
 * - order patterns: with conflicting entries of other threads that follow its own thread's last
 *   entry, unless a newer write hides them;
 * - "0-R1": no entry, if the access is a read and no thread has written the variable in this run;
 * - atomicity patterns: with its own thread's last entry and each entry of other threads in
 *   between.
 *
 * Deviations from the paper:
 * - An entry of several consecutive accesses has the site of the last one, which is adjacent to the
 *   accesses that follow. A following entry is matched when its first access happens.
 * - An atomic update counts as a write. A compare-exchange, whose result is not yet known, counts
 * as a write, too. - Patterns over two variables are recorded too: patterns_pairs.c.
 */
#include "detectors/patterns.h"

#include <string.h>

#include "detectors/patterns_internal.h"

static void patterns_clear_slots(struct patterns_state *state)
{
	if (!++state->slots_generation) {
		memset(state->slots, 0, sizeof state->slots);
		state->slots_generation = 1;
	}
}

static void patterns_begin_run(void *block)
{
	struct patterns_state *state = block;

	patterns_clear_slots(state);
	if (!state->slots_used)
		state->slots_used = PATTERNS_SLOTS_LEAST;
	if (!++state->generation) {
		memset(state->threads, 0, sizeof state->threads);
		memset(state->kept_slots, 0, sizeof state->kept_slots);
		state->generation = 1;
	}
	state->variable_count = 0;
	state->kept_count = 0;
	state->accesses_dropped = 0;
	state->patterns_dropped = 0;
}

static struct patterns_slot *patterns_slot(struct patterns_state *state, object_name name)
{
	const uint32_t mask = state->slots_used - 1;
	uint32_t at = (uint32_t)(name * UINT64_C(0x9e3779b97f4a7c15) >> 40) & mask;

	while (state->slots[at].generation == state->slots_generation &&
		state->slots[at].name != name)
		at = (at + 1) & mask;
	return &state->slots[at];
}

static void patterns_enter(struct patterns_state *state, uint32_t index)
{
	const object_name name = state->variables[index].name;

	*patterns_slot(state, name) = (struct patterns_slot){
		.name = name, .generation = state->slots_generation, .index = (uint16_t)index};
}

/* Doubles the table to keep probe chains short. */
static void patterns_take_more_slots(struct patterns_state *state)
{
	if (state->variable_count < state->slots_used / 4 * 3 ||
		state->slots_used == PATTERNS_SLOTS)
		return;
	state->slots_used *= 2;
	patterns_clear_slots(state);
	for (uint32_t i = 0; i < state->variable_count; i++)
		patterns_enter(state, i);
}

static struct patterns_variable *patterns_add_variable(
	struct patterns_state *state, const struct detector_event *event, object_name name)
{
	const uint32_t index = state->variable_count;

	if (index >= PATTERNS_VARIABLES_MAX) {
		state->accesses_dropped++;
		return NULL;
	}
	patterns_take_more_slots(state);
	state->variable_count++;
	state->variables[index] = (struct patterns_variable){
		.name = name,
		.address = event->address,
		.index = index,
		.first = index * patterns_window(state),
		.since_write = UINT32_MAX,
		.class = event->class_of ? event->class_of(event->address) : 1,
	};
	patterns_enter(state, index);
	return &state->variables[index];
}

static struct patterns_variable *patterns_variable(
	struct patterns_state *state, const struct detector_event *event, object_name name)
{
	const struct patterns_slot *slot = patterns_slot(state, name);

	if (slot->generation == state->slots_generation)
		return &state->variables[slot->index];
	return patterns_add_variable(state, event, name);
}

static void patterns_add_thread(struct patterns_state *state, const struct detector_event *event)
{
	struct patterns_thread *thread = &state->threads[event->thread.index];

	if (thread->generation == state->generation)
		return;
	memset(thread, 0, sizeof *thread);
	thread->generation = state->generation;
	thread->role = event->role;
	thread->name = event->name;
}

static void patterns_find_order(struct patterns_state *state, struct patterns_variable *variable,
	const struct patterns_access *first, const struct patterns_access *second)
{
	const struct patterns_part parts[] = {{first, variable}, {second, variable}};

	if (first->is_write)
		patterns_keep(state, second->is_write ? PATTERN_WW : PATTERN_WR, parts);
	else if (second->is_write)
		patterns_keep(state, PATTERN_RW, parts);
}

static void patterns_find_atomicity(struct patterns_state *state,
	struct patterns_variable *variable, const struct patterns_access *accesses[3])
{
	const struct patterns_part parts[] = {
		{accesses[0], variable}, {accesses[1], variable}, {accesses[2], variable}};

	if (accesses[1]->is_write) {
		if (accesses[2]->is_write)
			patterns_keep(
				state, accesses[0]->is_write ? PATTERN_WWW : PATTERN_RWW, parts);
		else
			patterns_keep(
				state, accesses[0]->is_write ? PATTERN_WWR : PATTERN_RWR, parts);
	} else if (accesses[0]->is_write && accesses[2]->is_write) {
		patterns_keep(state, PATTERN_WRW, parts);
	}
}

static void patterns_find(struct patterns_state *state, struct patterns_variable *variable,
	const struct patterns_access *access)
{
	const uint32_t count = variable->count;
	bool is_hidden = false;
	uint32_t own;

	for (own = 0; own < count; own++) {
		const struct patterns_access *entry = patterns_entry(state, variable, own);

		if (entry->thread == access->thread)
			break;
		if (!is_hidden)
			patterns_find_order(state, variable, entry, access);
		is_hidden |= entry->is_write;
	}
	if (own == count || (!access->is_write && variable->since_write >= own))
		return;
	for (uint32_t i = own; i-- > 0;) {
		const struct patterns_access *accesses[] = {patterns_entry(state, variable, own),
			patterns_entry(state, variable, i), access};

		patterns_find_atomicity(state, variable, accesses);
	}
}

static void patterns_push(struct patterns_state *state, struct patterns_variable *variable,
	const struct patterns_access *access)
{
	const uint32_t window = patterns_window(state);

	if (++variable->newest >= window)
		variable->newest = 0;
	variable->count += variable->count < window;
	variable->newest_thread = access->thread;
	variable->newest_is_write = access->is_write;
	*patterns_entry(state, variable, 0) = *access;
	if (access->is_write) {
		variable->since_write = 0;
		variable->write_step = access->step;
	} else if (variable->since_write != UINT32_MAX)
		variable->since_write++;
}

static void patterns_find_pairs(struct patterns_state *state,
	const struct patterns_variable *variable, const struct patterns_access *access)
{
	const struct patterns_thread *thread = &state->threads[access->thread];

	for (uint32_t i = 0; i < PATTERNS_RECENT; i++) {
		const struct patterns_variable *other;

		if (!thread->variables[i])
			continue;
		other = &state->variables[thread->variables[i] - 1];
		/* Common case: no other thread has accessed the variable since, or both only read
		 * it. */
		if (other == variable || other->newest_thread == access->thread ||
			(!thread->accesses[i].is_write &&
				other->write_step <= thread->accesses[i].step))
			continue;
		patterns_find_pair(state, &(struct patterns_part){&thread->accesses[i], other},
			&(struct patterns_part){access, variable});
	}
}

static void patterns_note_recent(struct patterns_state *state,
	const struct patterns_variable *variable, const struct patterns_access *access)
{
	struct patterns_thread *thread = &state->threads[access->thread];
	const uint32_t number = variable->index + 1;
	uint32_t at = thread->newest;

	for (uint32_t i = 0; thread->variables[at] != number; i++) {
		if (i == PATTERNS_RECENT) {
			thread->newest = at = (thread->newest + 1) % PATTERNS_RECENT;
			thread->variables[at] = number;
			break;
		}
		at = i;
	}
	thread->accesses[at] = *access;
}

static void patterns_access(struct patterns_state *state, struct patterns_variable *variable,
	const struct patterns_access *access)
{
	/* Patterns over two variables are recorded only if both variables are memory. */
	const bool is_memory =
		!state->has_orders || op_descriptions[access->op].object == OBJECT_MEMORY;
	struct patterns_access *newest =
		variable->count ? patterns_entry(state, variable, 0) : NULL;

	/* Pattern "0-R1": no thread has written the variable in this run. */
	if (variable->since_write == UINT32_MAX && !access->is_write &&
		(!newest || newest->site != access->site || newest->thread != access->thread))
		patterns_keep(state, PATTERN_R, &(struct patterns_part){access, variable});
	if (newest && variable->newest_thread == access->thread &&
		variable->newest_is_write == access->is_write) {
		newest->site = access->site;
		newest->step = access->step;
		newest->op = access->op;
		if (access->is_write)
			variable->write_step = access->step;
	} else {
		/* Most common case: a read with only reads in the window completes no pattern. */
		if (variable->count &&
			(access->is_write || variable->since_write < variable->count)) {
			if (variable->newest_thread != access->thread)
				patterns_find(state, variable, access);
			if (is_memory)
				patterns_find_pairs(state, variable, access);
		}
		patterns_push(state, variable, access);
	}
	if (is_memory)
		patterns_note_recent(state, variable, access);
}

/* A word may hold two four-byte variables. The upper half becomes a variable of its own at the
 * first access to it alone. */
#define HALF_BYTES 4u
#define UPPER_HALF UINT32_C(0x80000000)

/* Treats all begin, create and join operations of threads as accesses to this pseudo-object, which
 * orders them. */
#define THREAD_LIVES 1u

static bool patterns_is_of_thread(const struct detector_event *event)
{
	return (event->kind == OP_THREAD_BEGIN && event->role) ||
	       ((event->kind == OP_THREAD_CREATED || event->kind == OP_THREAD_JOIN) &&
		       event->site && !event->has_failed);
}

/* Treats operations on synchronisation objects as accesses. Locking, signalling, posting and ending
 * are writes, because they change the object for others. Beginning to wait, shared locking and
 * joining are reads. An unlock is no access: the next lock shows the order. */
static bool patterns_is_order(const struct detector_event *event, bool *is_write)
{
	switch (event->kind) {
	case OP_MUTEX_LOCK:
	case OP_MUTEX_TRYLOCK:
	case OP_SPIN_LOCK:
	case OP_SPIN_TRYLOCK:
	case OP_RWLOCK_WRLOCK:
	case OP_RWLOCK_TRYWRLOCK:
	case OP_COND_SIGNAL:
	case OP_COND_BROADCAST:
	case OP_SEM_POST:
	case OP_FUTEX_WAKE:
	case OP_FUTEX_LOCK:
		*is_write = true;
		return event->object && !event->has_failed;
	case OP_RWLOCK_RDLOCK:
	case OP_RWLOCK_TRYRDLOCK:
	case OP_COND_WAIT:
	case OP_SEM_WAIT:
	case OP_SEM_TRYWAIT:
	case OP_FUTEX_WAIT:
		*is_write = false;
		return event->object && !event->has_failed;
	default:
		return false;
	}
}

static void patterns_observe_order(struct patterns_state *state, const struct detector_event *event,
	struct patterns_access access)
{
	struct patterns_variable *variable;
	object_name name = event->object;

	if (patterns_is_of_thread(event)) {
		name = THREAD_LIVES;
		access.is_write = true;
		/* Sites are return addresses, so add one byte to the start function's address. */
		access.site = event->kind == OP_THREAD_BEGIN ? event->role + 1 : event->site;
	} else if (!patterns_is_order(event, &access.is_write)) {
		return;
	}
	patterns_add_thread(state, event);
	variable = patterns_variable(state, event, name);
	if (variable)
		patterns_access(state, variable, &access);
}

static bool patterns_observe(
	void *block, const struct detector_event *event, struct outcome *verdict)
{
	struct patterns_state *state = block;
	const struct patterns_access access = {.site = event->site,
		.step = (uint32_t)event->step,
		.thread = event->thread.index,
		.op = event->kind,
		.is_write = event->kind != OP_LOAD && event->kind != OP_ATOMIC_LOAD};
	const uint64_t offset = event->address % (2 * HALF_BYTES);
	struct patterns_variable *variable;

	(void)verdict; /* this detector has no verdict */
	if (op_descriptions[event->kind].object != OBJECT_MEMORY) {
		if (state->has_orders)
			patterns_observe_order(state, event, access);
		return false;
	}
	patterns_add_thread(state, event);
	variable = patterns_variable(state, event, event->object);
	if (variable && offset < HALF_BYTES)
		patterns_access(state, variable, &access);
	if (!variable || offset + event->bytes <= HALF_BYTES ||
		(offset < HALF_BYTES && !variable->is_split))
		return false;
	variable->is_split = true;
	variable = patterns_variable(state, event, event->object ^ UPPER_HALF);
	if (variable)
		patterns_access(state, variable, &access);
	return false;
}

const struct detector detector_patterns = {
	.name = "patterns",
	.summary = "records the orders in which threads access shared variables",
	.state_bytes = sizeof(struct patterns_state),
	.begin_run = patterns_begin_run,
	.observe = patterns_observe,
};
