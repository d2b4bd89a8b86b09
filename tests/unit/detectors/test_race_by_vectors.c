/*
 * Compares the race detector with another that keeps everything: full vector clocks, and for each
 * byte the last access of every thread and kind (like DJIT+ of Pozniansky and Schuster). Both must
 * find the same first race in random traces of a random program. Half of the traces report plain
 * accesses as the runtime reports those that are no scheduling points: through the fastest path
 * first.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/rng.h"
#include "detectors/race.h"
#include "support/race_events.h"

#define THREADS 5u
#define BYTES 24u
#define OBJECTS 4u
#define TRACES 10000
#define STEPS 300

typedef uint32_t vector[THREADS];

enum { WRITES, READS, ATOMIC_WRITES, ATOMIC_READS, WAYS };

struct byte {
	vector last[WAYS];
	uint64_t sites[WAYS][THREADS];
	vector released;
	unsigned releaser; /* + 1 */
};

/* The other detector, and the state of the program that makes the trace. */
struct world {
	vector now[THREADS], fenced[THREADS], heard_of[THREADS];
	struct byte bytes[BYTES];
	vector locks[OBJECTS], writers[OBJECTS], readers[OBJECTS];
	vector arrived[2 * STEPS];
	unsigned owner[OBJECTS];	    /* owners of mutexes, + 1 */
	unsigned writer[OBJECTS];	    /* writers of rwlocks, + 1 */
	unsigned reading[OBJECTS][THREADS]; /* rwlocks that the thread reads */
	unsigned posted[OBJECTS];
	unsigned at_barrier[THREADS]; /* round + 1 */
	unsigned round, waiting;
	bool is_alive[THREADS], has_ended[THREADS];
	struct rng rng;
};

static struct world world;

static void join(vector to, const vector from)
{
	for (unsigned i = 0; i < THREADS; i++)
		to[i] = from[i] > to[i] ? from[i] : to[i];
}

static void release(vector to, unsigned thread)
{
	join(to, world.now[thread]);
	world.now[thread][thread]++;
}

static unsigned any(unsigned count)
{
	return rng_below(&world.rng, count);
}

/* ---- verdict of the other detector about an access ---- */

static bool conflict(unsigned a, unsigned b)
{
	if (a >= ATOMIC_WRITES && b >= ATOMIC_WRITES)
		return false;
	return a == WRITES || b == WRITES || a == ATOMIC_WRITES || b == ATOMIC_WRITES;
}

static unsigned way_of(const struct detector_event *event)
{
	switch (event->kind) {
	case OP_STORE:
		return WRITES;
	case OP_LOAD:
		return READS;
	case OP_ATOMIC_LOAD:
		return ATOMIC_READS;
	default:
		return event->may_only_read ? ATOMIC_READS : ATOMIC_WRITES;
	}
}

/* Is this a race, and (where `other` is not 0) one with that site? */
static bool races(const struct detector_event *event, uint64_t other)
{
	unsigned thread = event->thread.index;
	unsigned kind = way_of(event);

	for (unsigned i = 0; i < event->bytes; i++) {
		const struct byte *byte = &world.bytes[event->address - X + i];

		for (unsigned w = 0; w < WAYS; w++)
			for (unsigned t = 0; t < THREADS; t++)
				if (conflict(kind, w) && byte->last[w][t] > world.now[thread][t] &&
					(!other || byte->sites[w][t] == other))
					return true;
	}
	return false;
}

static void acquire_bytes(const struct detector_event *event)
{
	unsigned thread = event->thread.index;
	bool acquires = event->order != RELAXED && event->order != RELEASE;

	for (unsigned i = 0; i < event->bytes; i++)
		join(acquires ? world.now[thread] : world.heard_of[thread],
			world.bytes[event->address - X + i].released);
}

static void release_bytes(const struct detector_event *event)
{
	unsigned thread = event->thread.index;
	bool releases = event->order >= RELEASE;

	for (unsigned i = 0; i < event->bytes; i++) {
		struct byte *byte = &world.bytes[event->address - X + i];

		if (event->kind == OP_ATOMIC_STORE && (releases || byte->releaser != thread + 1)) {
			memset(byte->released, 0, sizeof byte->released);
			byte->releaser = thread + 1;
		}
		join(byte->released, releases ? world.now[thread] : world.fenced[thread]);
	}
	world.now[thread][thread] += releases;
}

static bool is_repeated(const struct byte *byte, unsigned thread, unsigned kind)
{
	const uint32_t now = world.now[thread][thread];

	return byte->last[WRITES][thread] == now || byte->last[kind][thread] == now;
}

/* Returns whether the access races; if not, records it. Sites are steps + 1. */
static bool other_detector(const struct detector_event *event)
{
	unsigned thread = event->thread.index;
	bool is_atomic = event->kind != OP_LOAD && event->kind != OP_STORE;

	if (is_atomic && event->kind != OP_ATOMIC_STORE)
		acquire_bytes(event);
	if (races(event, 0))
		return true;
	for (unsigned i = 0; i < event->bytes; i++) {
		struct byte *byte = &world.bytes[event->address - X + i];

		/* The first of several accesses in one epoch is named; at scheduling points each is
		 * named. */
		if (event->is_point || way_of(event) >= ATOMIC_WRITES ||
			!is_repeated(byte, thread, way_of(event)))
			byte->sites[way_of(event)][thread] = event->site;
		byte->last[way_of(event)][thread] = world.now[thread][thread];
	}
	if (is_atomic && event->kind != OP_ATOMIC_LOAD)
		release_bytes(event);
	return false;
}

/* ---- the random program: each returns whether it has made a step ---- */

static bool make_access(struct detector_event *event)
{
	static const uint8_t kinds[] = {
		OP_LOAD, OP_STORE, OP_LOAD, OP_ATOMIC_LOAD, OP_ATOMIC_STORE, OP_ATOMIC_UPDATE};
	unsigned bytes = 1u << any(4);

	event->kind = kinds[any(sizeof kinds)];
	/* Most variables are used in one kind: the first word plainly, the last atomically. */
	event->address = X + any(BYTES / bytes) * bytes;
	if (any(8))
		event->address = event->address % 8 + X + (event->kind < OP_ATOMIC_LOAD ? 0 : 16);
	event->bytes = bytes;
	event->object = 1;
	if (event->kind >= OP_ATOMIC_LOAD)
		event->order = (uint8_t)any(6);
	event->may_only_read = event->kind == OP_ATOMIC_UPDATE && !any(3);
	return true;
}

static bool make_fence(struct detector_event *event)
{
	unsigned thread = event->thread.index;

	event->kind = OP_FENCE;
	event->order = (uint8_t)(1 + any(5));
	if (event->order != RELEASE)
		join(world.now[thread], world.heard_of[thread]);
	if (event->order >= RELEASE) {
		memcpy(world.fenced[thread], world.now[thread], sizeof(vector));
		world.now[thread][thread]++;
	}
	return true;
}

static bool make_mutex(struct detector_event *event)
{
	unsigned thread = event->thread.index;
	unsigned lock = any(OBJECTS);

	event->address = M + lock;
	if (world.owner[lock] == thread + 1) {
		event->kind = OP_MUTEX_UNLOCK;
		world.owner[lock] = 0;
		release(world.locks[lock], thread);
		return true;
	}
	event->kind = any(2) ? OP_MUTEX_LOCK : OP_MUTEX_TRYLOCK;
	event->has_failed = world.owner[lock] != 0;
	if (!event->has_failed) {
		world.owner[lock] = thread + 1;
		join(world.now[thread], world.locks[lock]);
	}
	return true;
}

static bool make_rwlock(struct detector_event *event)
{
	unsigned thread = event->thread.index;
	unsigned lock = any(OBJECTS);
	bool is_read = false;

	event->address = N + lock;
	for (unsigned i = 0; i < THREADS; i++)
		is_read |= world.reading[lock][i];
	if (world.writer[lock] == thread + 1 || world.reading[lock][thread]) {
		event->kind = OP_RWLOCK_UNLOCK;
		release(world.writer[lock] ? world.writers[lock] : world.readers[lock], thread);
		world.writer[lock] = world.reading[lock][thread] = 0;
		return true;
	}
	if (any(2)) {
		event->kind = OP_RWLOCK_TRYRDLOCK;
		event->has_failed = world.writer[lock] != 0;
		world.reading[lock][thread] = !event->has_failed;
	} else {
		event->kind = OP_RWLOCK_TRYWRLOCK;
		event->has_failed = world.writer[lock] || is_read;
		if (!event->has_failed) {
			world.writer[lock] = thread + 1;
			join(world.now[thread], world.readers[lock]);
		}
	}
	if (!event->has_failed)
		join(world.now[thread], world.writers[lock]);
	return true;
}

/* A barrier for two. */
static bool make_barrier(struct detector_event *event)
{
	unsigned thread = event->thread.index;

	event->address = FLAG;
	event->kind = OP_BARRIER_ARRIVE;
	event->argument = world.round;
	release(world.arrived[world.round], thread);
	world.waiting++;
	event->is_last = world.waiting == 2;
	if (event->is_last) {
		join(world.now[thread], world.arrived[world.round]);
		world.round++;
		world.waiting = 0;
	} else {
		world.at_barrier[thread] = world.round + 1;
	}
	return true;
}

static bool leave_barrier(struct detector_event *event)
{
	unsigned thread = event->thread.index;
	unsigned round = world.at_barrier[thread] - 1;

	if (round == world.round)
		return false;
	event->address = FLAG;
	event->kind = OP_BARRIER_LEAVE;
	event->argument = round;
	join(world.now[thread], world.arrived[round]);
	world.at_barrier[thread] = 0;
	return true;
}

static bool make_thread_op(struct detector_event *event)
{
	unsigned thread = event->thread.index;
	unsigned other = any(THREADS);

	event->other.index = (uint16_t)other;
	if (!world.is_alive[other] && !world.has_ended[other]) {
		event->kind = OP_THREAD_CREATE;
		world.is_alive[other] = true;
		world.now[other][other] = 1;
		join(world.now[other], world.now[thread]);
		world.now[thread][thread]++;
		return true;
	}
	if (other == thread || !world.has_ended[other])
		return false;
	event->kind = OP_THREAD_JOIN;
	join(world.now[thread], world.now[other]);
	return true;
}

static bool make_semaphore(struct detector_event *event)
{
	unsigned thread = event->thread.index;
	unsigned which = any(OBJECTS);

	event->address = FLAG + 0x100 + which;
	if (any(2)) {
		event->kind = OP_SEM_POST;
		world.posted[which]++;
		release(world.arrived[2 * STEPS - 1 - which], thread);
		return true;
	}
	event->kind = OP_SEM_TRYWAIT;
	event->has_failed = !world.posted[which];
	if (!event->has_failed) {
		world.posted[which]--;
		join(world.now[thread], world.arrived[2 * STEPS - 1 - which]);
	}
	return true;
}

static bool make_step(struct detector_event *event)
{
	unsigned thread = event->thread.index;

	if (world.at_barrier[thread])
		return leave_barrier(event);
	switch (any(16)) {
	case 0:
		return make_thread_op(event);
	case 1:
		return make_fence(event);
	case 2:
		return make_barrier(event);
	case 3:
		return make_semaphore(event);
	case 4:
	case 5:
		return make_rwlock(event);
	case 6:
	case 7:
	case 8:
		return make_mutex(event);
	case 9:
		if (thread && !any(4)) {
			world.is_alive[thread] = false;
			world.has_ended[thread] = true;
			event->kind = OP_THREAD_EXIT;
			return true;
		}
		return false;
	default:
		return make_access(event);
	}
}

/* Numbers of accesses that the fast paths have settled, and of all accesses. */
static unsigned settled_plain, settled, asked;

/* Reports an access like the runtime. */
static bool observe_quickly(const struct detector_event *event, struct outcome *verdict)
{
	static uint32_t locations[BYTES / 8];
	const struct race_plain access = {.address = event->address,
		.site = event->site,
		.step = event->step,
		.object = event->object,
		.thread = event->thread.index,
		.bytes = (uint8_t)event->bytes,
		.is_write = event->kind == OP_STORE};

	if (event->kind != OP_LOAD && event->kind != OP_STORE)
		return observe(event, verdict);
	asked++;
	if (race_passes_plain(state, &access, &locations[(event->address - X) / 8])) {
		settled_plain++;
		return false;
	}
	if (race_passes(state, event)) {
		settled++;
		return false;
	}
	return observe(event, verdict);
}

/* Runs one trace; the step of the first race, 0: there was none. */
static unsigned run_trace(uint64_t seed)
{
	const bool is_quick = seed % 2;

	memset(&world, 0, sizeof world);
	rng_seed(&world.rng, seed);
	world.is_alive[0] = true;
	world.now[0][0] = 1;
	detectors[DETECTOR_race]->begin_run(state);
	for (unsigned step = 1; step < STEPS; step++) {
		struct detector_event event = {.step = step, .site = step, .other = THREAD_NONE};
		struct outcome verdict;
		bool expected;
		bool is_race;

		event.thread.index = (uint16_t)any(THREADS);
		if (!world.is_alive[event.thread.index] || !make_step(&event))
			continue;
		event.is_point = !is_quick && any(2);
		expected = event.bytes && other_detector(&event);
		is_race = is_quick ? observe_quickly(&event, &verdict) : observe(&event, &verdict);
		if (is_race != expected)
			fail_msg("seed %u, step %u (%s): %s", (unsigned)seed, step,
				op_descriptions[event.kind].name,
				expected ? "the race is not seen" : "there is no race");
		if (is_race && !races(&event, verdict.other_site))
			fail_msg("seed %u, step %u: not with step %u", (unsigned)seed, step,
				(unsigned)verdict.other_site);
		if (is_race)
			return step;
	}
	return 0;
}

static void test_race__finds_the_same_first_race_as_full_vectors(void **unused)
{
	unsigned racing = 0;
	unsigned late = 0;

	(void)unused;
	for (uint64_t seed = 1; seed <= TRACES; seed++) {
		unsigned step = run_trace(seed);

		racing += step != 0;
		late += step > STEPS / 2;
	}
	/* Neither a detector that says nothing nor one that says too much would get here. */
	assert_in_range(racing, TRACES / 4, TRACES - TRACES / 50);
	assert_in_range(late, TRACES / 50, TRACES);
	/* All three paths are used. */
	assert_in_range(settled_plain, asked / 20, asked);
	assert_in_range(settled, asked / 20, asked);
	assert_in_range(asked - settled_plain - settled, racing / 10, asked);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(
			test_race__finds_the_same_first_race_as_full_vectors, make_state,
			free_state),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
