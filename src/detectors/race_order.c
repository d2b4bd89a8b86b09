/*
 * Happens-before: a rule for each operation kind, and C11's rules for atomics and fences.
 * docs/races.md gives the reason of each rule. A rule in doubt orders, because a missing edge would
 * report a false race.
 */
#include "detectors/race_internal.h"

void race_begin_thread(struct race_state *state, struct thread_id id)
{
	struct race_thread *thread = &state->threads[id.index];

	*thread = (struct race_thread){.generation = state->generation};
	race_need(state, vector_clock_set(&state->pool, &thread->now, id.index, 1));
}

void race_advance(struct race_state *state, struct thread_id id)
{
	struct race_thread *thread = race_thread(state, id);
	uint32_t count = vector_clock_get(&state->pool, &thread->now, id.index);

	race_need(state, vector_clock_set(&state->pool, &thread->now, id.index, count + 1));
}

static struct sync_object *race_object(struct race_state *state, uint32_t kind, uint64_t address)
{
	struct sync_object *object = sync_table_find(&state->objects, kind, address);

	race_need(state, object != NULL);
	return object;
}

static void race_acquire(
	struct race_state *state, struct thread_id thread, uint32_t kind, uint64_t address)
{
	const struct sync_object *object = race_object(state, kind, address);

	if (object)
		race_join(state, &race_thread(state, thread)->now, &object->clock);
}

static void race_release(
	struct race_state *state, struct thread_id thread, uint32_t kind, uint64_t address)
{
	struct sync_object *object = race_object(state, kind, address);

	if (object)
		race_join(state, &object->clock, &race_thread(state, thread)->now);
	race_advance(state, thread);
}

static void race_acquire_lock(struct race_state *state, const struct detector_event *event)
{
	race_acquire(state, event->thread, SYNC_LOCK, event->address);
}

static void race_release_lock(struct race_state *state, const struct detector_event *event)
{
	race_release(state, event->thread, SYNC_LOCK, event->address);
}

/* Reacquiring the mutex is a separate operation; the signal alone orders nothing. */
static void race_cond_wait(struct race_state *state, const struct detector_event *event)
{
	race_release(state, event->thread, SYNC_LOCK, event->argument);
}

static void race_signal(struct race_state *state, const struct detector_event *event)
{
	if (event->kind == OP_SIGNAL_SEND)
		race_release(state, event->thread, SYNC_SIGNALS, 0);
	else
		race_acquire(state, event->thread, SYNC_SIGNALS, 0);
}

static void race_rwlock(struct race_state *state, const struct detector_event *event)
{
	struct sync_object *object = race_object(state, SYNC_RWLOCK, event->address);
	struct race_thread *thread = race_thread(state, event->thread);

	if (!object)
		return;
	switch (event->kind) {
	case OP_RWLOCK_WRLOCK:
	case OP_RWLOCK_TRYWRLOCK:
		object->writer = event->thread.index + 1u;
		race_join(state, &thread->now, &object->readers);
		race_join(state, &thread->now, &object->clock);
		return;
	case OP_RWLOCK_RDLOCK:
	case OP_RWLOCK_TRYRDLOCK:
		race_join(state, &thread->now, &object->clock);
		return;
	default:
		break;
	}
	/* Unlocks of readers are visible to writers only: two readers are not ordered. */
	race_join(state, object->writer ? &object->clock : &object->readers, &thread->now);
	object->writer = 0;
	race_advance(state, event->thread);
}

static void race_barrier(struct race_state *state, const struct detector_event *event)
{
	struct sync_object *object =
		race_object(state, SYNC_BARRIER + event->argument % SYNC_ROUNDS, event->address);
	struct race_thread *thread = race_thread(state, event->thread);

	if (!object)
		return;
	if (event->kind == OP_BARRIER_LEAVE) {
		object->inside -= object->inside > 0;
		race_join(state, &thread->now, &object->clock);
		return;
	}
	if (object->round != event->argument && !object->inside)
		vector_clock_clear(&state->pool, &object->clock);
	object->round = event->argument;
	race_join(state, &object->clock, &thread->now);
	race_advance(state, event->thread);
	/* The last arrival does not wait, so it joins here. The others join when they leave. */
	if (event->is_last)
		race_join(state, &race_thread(state, event->thread)->now, &object->clock);
	else
		object->inside++;
}

static void race_descriptor(struct race_state *state, const struct detector_event *event)
{
	switch (event->kind) {
	case OP_FD_READ:
		if (event->address)
			race_acquire(state, event->thread, SYNC_DESCRIPTOR, event->address);
		else
			race_acquire(state, event->thread, SYNC_ANY_DESCRIPTOR, 0);
		return;
	case OP_FD_POLL: /* it is not known which descriptors were ready */
		race_acquire(state, event->thread, SYNC_ANY_DESCRIPTOR, 0);
		return;
	default: /* a write, or a close, which a reader sees as end of file */
		if (event->address)
			race_release(state, event->thread, SYNC_DESCRIPTOR, event->address);
		race_release(state, event->thread, SYNC_ANY_DESCRIPTOR, 0);
		return;
	}
}

static void race_thread_op(struct race_state *state, const struct detector_event *event)
{
	struct race_thread *thread = race_thread(state, event->thread);
	struct race_thread *other;

	if (thread_same(event->other, THREAD_NONE) || thread_same(event->other, event->thread))
		return;
	other = race_thread(state, event->other);
	switch (event->kind) {
	case OP_THREAD_CREATE:
		/* A reused thread index continues its count: old epochs of the index stay valid. */
		race_advance(state, event->other);
		race_join(state, &other->now, &thread->now);
		race_advance(state, event->thread);
		return;
	case OP_THREAD_JOIN:
	case OP_THREAD_TRYJOIN:
		race_join(state, &thread->now, &other->now);
		return;
	default: /* OP_THREAD_CANCEL */
		race_release(state, event->thread, SYNC_CANCELLATION, event->other.index);
		return;
	}
}

static void race_test_cancel(struct race_state *state, const struct detector_event *event)
{
	race_acquire(state, event->thread, SYNC_CANCELLATION, event->thread.index);
}

typedef void race_rule(struct race_state *state, const struct detector_event *event);

/* The rule of each kind of operation. Kinds without a rule order nothing. */
static race_rule *const race_rules[OP_KIND_COUNT] = {
	[OP_THREAD_CREATE] = race_thread_op,
	[OP_THREAD_JOIN] = race_thread_op,
	[OP_THREAD_TRYJOIN] = race_thread_op,
	[OP_THREAD_CANCEL] = race_thread_op,
	[OP_TEST_CANCEL] = race_test_cancel,
	[OP_MUTEX_LOCK] = race_acquire_lock,
	[OP_MUTEX_TRYLOCK] = race_acquire_lock,
	[OP_MUTEX_UNLOCK] = race_release_lock,
	[OP_COND_WAIT] = race_cond_wait,
	[OP_RWLOCK_RDLOCK] = race_rwlock,
	[OP_RWLOCK_WRLOCK] = race_rwlock,
	[OP_RWLOCK_TRYRDLOCK] = race_rwlock,
	[OP_RWLOCK_TRYWRLOCK] = race_rwlock,
	[OP_RWLOCK_UNLOCK] = race_rwlock,
	[OP_SPIN_LOCK] = race_acquire_lock,
	[OP_SPIN_TRYLOCK] = race_acquire_lock,
	[OP_SPIN_UNLOCK] = race_release_lock,
	[OP_BARRIER_ARRIVE] = race_barrier,
	[OP_BARRIER_LEAVE] = race_barrier,
	[OP_SEM_WAIT] = race_acquire_lock,
	[OP_SEM_TRYWAIT] = race_acquire_lock,
	[OP_SEM_POST] = race_release_lock,
	[OP_ONCE_ENTER] = race_acquire_lock,
	[OP_ONCE_DONE] = race_release_lock,
	[OP_FUTEX_WAIT] = race_acquire_lock,
	[OP_FUTEX_LOCK] = race_acquire_lock,
	[OP_FUTEX_BLOCK] = race_acquire_lock,
	[OP_FUTEX_WAKE] = race_release_lock,
	[OP_FILE_LOCK] = race_acquire_lock,
	[OP_FILE_TRYLOCK] = race_acquire_lock,
	[OP_FILE_UNLOCK] = race_release_lock,
	[OP_FD_READ] = race_descriptor,
	[OP_FD_WRITE] = race_descriptor,
	[OP_FD_POLL] = race_descriptor,
	[OP_FD_CLOSE] = race_descriptor,
	[OP_SIGNAL_SEND] = race_signal,
	[OP_SIGNAL_WAIT] = race_signal,
};

void race_synchronise(struct race_state *state, const struct detector_event *event)
{
	race_rule *rule = race_rules[event->kind];

	if (rule)
		rule(state, event);
}

void race_fence(struct race_state *state, const struct detector_event *event)
{
	struct race_thread *thread = race_thread(state, event->thread);

	if (event->argument) {
		if (order_acquires(event->order))
			race_acquire(state, event->thread, SYNC_LOCK, event->argument);
		if (order_releases(event->order))
			race_release(state, event->thread, SYNC_LOCK, event->argument);
		return;
	}
	if (order_acquires(event->order))
		race_join(state, &thread->now, &thread->heard_of);
	if (order_releases(event->order)) {
		race_need(state, vector_clock_copy(&state->pool, &thread->fenced, &thread->now));
		race_advance(state, event->thread);
	}
}

static struct vector_clock *race_message(struct race_state *state, uint16_t number)
{
	if (state->message_generations[number] != state->generation) {
		state->message_generations[number] = state->generation;
		state->messages[number] = (struct vector_clock){0};
	}
	return &state->messages[number];
}

/* Returns what an acquiring load receives; the cell has the clock of its latest store. */
static const struct vector_clock *race_received(struct race_state *state,
	const struct detector_event *event, const struct shadow_cell *cell)
{
	if (!event->messages.is_known)
		return &cell->released;
	return event->messages.is_of_all ? &state->all_messages
					 : race_message(state, event->messages.read);
}

void race_read_atomically(struct race_state *state, const struct detector_event *event,
	const struct shadow_cell *cell)
{
	struct race_thread *thread = race_thread(state, event->thread);
	const struct vector_clock *received = race_received(state, event, cell);

	if (order_acquires(event->order))
		race_join(state, &thread->now, received);
	else
		race_join(state, &thread->heard_of, received);
}

/* Sets the clock of the event's new message. Message 0 is always empty. */
static void race_write_message(struct race_state *state, const struct detector_event *event,
	const struct vector_clock *published)
{
	const struct store_messages *messages = &event->messages;
	struct vector_clock whole = {0}, *written;

	if (!messages->written)
		return;
	written = race_message(state, messages->written);
	race_join(state, &whole, published);
	if (event->kind == OP_ATOMIC_UPDATE)
		race_join(state, &whole, race_message(state, messages->read));
	race_join(state, &whole, race_message(state, messages->continued));
	vector_clock_clear(&state->pool, written);
	*written = whole;
	race_join(state, &state->all_messages, written);
}

/* Applies an atomic write to the cell's clocks. A store begins a release sequence. An update, or
 * the same thread's relaxed store, continues it. */
void race_write_atomically(
	struct race_state *state, const struct detector_event *event, struct shadow_cell *cell)
{
	const struct race_thread *thread = race_thread(state, event->thread);
	bool releases = order_releases(event->order);
	const struct vector_clock *published = releases ? &thread->now : &thread->fenced;
	bool continues = event->kind == OP_ATOMIC_UPDATE ||
			 (!releases && (state->follows_thread_sanitizer ||
					       cell->releaser == event->thread.index + 1));

	race_write_message(state, event, published);
	if (continues) {
		race_join(state, &cell->released, published);
		return;
	}
	race_need(state, vector_clock_copy(&state->pool, &cell->released, published));
	cell->releaser = (uint16_t)(event->thread.index + 1);
}
