/*
 * Tests happens-before edge by edge: each kind of operation in a sequence that it orders and in one
 * that it does not.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "detectors/race.h"
#include "support/race_events.h"

#define EVENTS_MAX 24

/* An access to the flag under c11, with the numbers of its messages. */
#define IN_HISTORY(op, t, o, ...)                                                                  \
	{                                                                                          \
		.kind = OP_ATOMIC_##op, .thread = {t}, .address = FLAG, .bytes = 4, .order = (o),  \
		.object = 1, .other = {NOBODY}, .messages = {                                      \
			.is_known = true,                                                          \
			__VA_ARGS__                                                                \
		}                                                                                  \
	}

struct sequence {
	const char *name;
	unsigned race;	/* site of the later access, 0: there is no race */
	unsigned other; /* site of the earlier one */
	struct detector_event events[EVENTS_MAX];
};

static const struct sequence sequences[] = {
	{"two writes", 4, 3, {TWO, WRITE(1), WRITE(2)}},
	{"a write and a read", 4, 3, {TWO, WRITE(1), READ(2)}},
	{"a read and a write", 4, 3, {TWO, READ(1), WRITE(2)}},
	{"two reads", 0, 0, {TWO, READ(1), READ(2)}},
	{"one thread", 0, 0, {TWO, WRITE(1), READ(1), WRITE(1)}},
	{"the second of two reads", 6, 4,
		{TWO, ON(MUTEX_UNLOCK, 1, M), READ(1), READ(2), WRITE(2)}},
	{"a write after two reads that one join orders", 6, 4,
		{TWO, READ(1), READ(2), JOIN(0, 1), WRITE(0)}},
	{"a write after two joined reads", 0, 0,
		{TWO, READ(1), READ(2), JOIN(0, 1), JOIN(0, 2), WRITE(0)}},
	{"an old write behind a newer one", 0, 0,
		{TWO, WRITE(1), JOIN(0, 1), WRITE(0), CREATE(0, 3), WRITE(3)}},

	{"before creation", 0, 0, {WRITE(0), CREATE(0, 1), WRITE(1)}},
	{"after creation", 3, 2, {CREATE(0, 1), WRITE(0), WRITE(1)}},
	{"creation by a third thread", 4, 2, {CREATE(0, 1), WRITE(1), CREATE(0, 2), WRITE(2)}},
	{"after a join", 0, 0,
		{CREATE(0, 1), WRITE(1), ON(THREAD_EXIT, 1, 0), JOIN(0, 1), WRITE(0)}},
	{"after a try to join", 0, 0,
		{CREATE(0, 1), WRITE(1), WITH(THREAD_TRYJOIN, 0, 1), WRITE(0)}},
	{"after a failed try to join", 4, 2,
		{CREATE(0, 1), WRITE(1),
			{.kind = OP_THREAD_TRYJOIN,
				.thread = {0},
				.other = {1},
				.has_failed = true},
			WRITE(0)}},
	{"after an end without a join", 4, 2,
		{CREATE(0, 1), WRITE(1), ON(THREAD_EXIT, 1, 0), WRITE(0)}},
	{"a failed creation", 4, 2,
		{CREATE(0, 1), WRITE(1), FAILED(THREAD_CREATE, 0, 0), WRITE(0)}},
	{"what a cancelled thread sees", 0, 0,
		{TWO, WRITE(1), WITH(THREAD_CANCEL, 1, 2), ON(TEST_CANCEL, 2, 0), WRITE(2)}},
	{"what another thread sees of a cancellation", 6, 3,
		{TWO, WRITE(1), WITH(THREAD_CANCEL, 1, 0), ON(TEST_CANCEL, 2, 0), WRITE(2)}},

	{"one mutex", 0, 0,
		{TWO, ON(MUTEX_LOCK, 1, M), WRITE(1), ON(MUTEX_UNLOCK, 1, M), ON(MUTEX_LOCK, 2, M),
			WRITE(2)}},
	{"two mutexes", 7, 4,
		{TWO, ON(MUTEX_LOCK, 1, M), WRITE(1), ON(MUTEX_UNLOCK, 1, M), ON(MUTEX_LOCK, 2, N),
			WRITE(2)}},
	{"after the unlock", 7, 5,
		{TWO, ON(MUTEX_LOCK, 1, M), ON(MUTEX_UNLOCK, 1, M), WRITE(1), ON(MUTEX_LOCK, 2, M),
			WRITE(2)}},
	{"a mutex that was tried", 0, 0,
		{TWO, WRITE(1), ON(MUTEX_UNLOCK, 1, M), ON(MUTEX_TRYLOCK, 2, M), WRITE(2)}},
	{"a failed try of a mutex", 6, 3,
		{TWO, WRITE(1), ON(MUTEX_UNLOCK, 1, M), FAILED(MUTEX_TRYLOCK, 2, M), WRITE(2)}},
	{"a lock whose time was out", 6, 3,
		{TWO, WRITE(1), ON(MUTEX_UNLOCK, 1, M), FAILED(MUTEX_LOCK, 2, M), WRITE(2)}},
	{"an unlock that was refused", 6, 3,
		{TWO, WRITE(1), FAILED(MUTEX_UNLOCK, 1, M), ON(MUTEX_LOCK, 2, M), WRITE(2)}},
	{"a spin lock", 0, 0,
		{TWO, WRITE(1), ON(SPIN_UNLOCK, 1, M), ON(SPIN_LOCK, 2, M), WRITE(2)}},
	{"a failed try of a spin lock", 6, 3,
		{TWO, WRITE(1), ON(SPIN_UNLOCK, 1, M), FAILED(SPIN_TRYLOCK, 2, M), WRITE(2)}},
	{"a stream's lock", 0, 0,
		{TWO, WRITE(1), ON(FILE_UNLOCK, 1, M), ON(FILE_LOCK, 2, M), WRITE(2)}},
	{"a failed try of a stream's lock", 6, 3,
		{TWO, WRITE(1), ON(FILE_UNLOCK, 1, M), FAILED(FILE_TRYLOCK, 2, M), WRITE(2)}},

	{"a wait gives the mutex up", 0, 0,
		{TWO, WRITE(1), COND_WAIT(1), ON(MUTEX_LOCK, 2, M), WRITE(2)}},
	{"a waiter gets the mutex back", 0, 0,
		{TWO, COND_WAIT(1), WRITE(2), ON(COND_SIGNAL, 2, N), ON(MUTEX_UNLOCK, 2, M),
			ON(MUTEX_LOCK, 1, M), WRITE(1)}},
	{"a signal without the mutex", 7, 4,
		{TWO, COND_WAIT(1), WRITE(2), ON(COND_SIGNAL, 2, N), ON(MUTEX_LOCK, 1, M),
			WRITE(1)}},
	{"a broadcast without the mutex", 7, 4,
		{TWO, COND_WAIT(1), WRITE(2), ON(COND_BROADCAST, 2, N), ON(MUTEX_LOCK, 1, M),
			WRITE(1)}},
	{"a wait that was refused", 6, 3,
		{TWO, WRITE(1),
			{.kind = OP_COND_WAIT,
				.thread = {1},
				.address = N,
				.argument = M,
				.other = {NOBODY},
				.has_failed = true},
			ON(MUTEX_LOCK, 2, M), WRITE(2)}},

	{"a writer, then a reader", 0, 0,
		{TWO, ON(RWLOCK_WRLOCK, 1, M), WRITE(1), ON(RWLOCK_UNLOCK, 1, M),
			ON(RWLOCK_RDLOCK, 2, M), READ(2)}},
	{"a reader, then a writer", 0, 0,
		{TWO, ON(RWLOCK_RDLOCK, 1, M), READ(1), ON(RWLOCK_UNLOCK, 1, M),
			ON(RWLOCK_WRLOCK, 2, M), WRITE(2)}},
	{"two writers", 0, 0,
		{TWO, ON(RWLOCK_WRLOCK, 1, M), WRITE(1), ON(RWLOCK_UNLOCK, 1, M),
			ON(RWLOCK_TRYWRLOCK, 2, M), WRITE(2)}},
	{"writing under a read lock", 7, 4,
		{TWO, ON(RWLOCK_RDLOCK, 1, M), WRITE(1), ON(RWLOCK_UNLOCK, 1, M),
			ON(RWLOCK_TRYRDLOCK, 2, M), READ(2)}},
	{"a failed try of a read lock", 7, 4,
		{TWO, ON(RWLOCK_WRLOCK, 1, M), WRITE(1), ON(RWLOCK_UNLOCK, 1, M),
			FAILED(RWLOCK_TRYRDLOCK, 2, M), READ(2)}},
	{"a failed try of a write lock", 7, 4,
		{TWO, ON(RWLOCK_WRLOCK, 1, M), WRITE(1), ON(RWLOCK_UNLOCK, 1, M),
			FAILED(RWLOCK_TRYWRLOCK, 2, M), WRITE(2)}},
	{"a writer that waits does not hold it", 0, 0,
		{TWO, ON(RWLOCK_WRLOCK, 1, M), FAILED(RWLOCK_WRLOCK, 2, M), WRITE(1),
			ON(RWLOCK_UNLOCK, 1, M), ON(RWLOCK_RDLOCK, 0, M), READ(0)}},

	{"a barrier, the last one's side", 0, 0,
		{TWO, WRITE(1), ARRIVE(1, 0, false), ARRIVE(2, 0, true), WRITE(2)}},
	{"a barrier, the first one's side", 0, 0,
		{TWO, ARRIVE(1, 0, false), WRITE(2), ARRIVE(2, 0, true), LEAVE(1, 0), WRITE(1)}},
	{"before leaving and after opening", 7, 5,
		{TWO, ARRIVE(1, 0, false), ARRIVE(2, 0, true), WRITE(2), LEAVE(1, 0), READ(1)}},
	{"the next round does not reach back", 8, 5,
		{TWO, ARRIVE(1, 0, false), ARRIVE(2, 0, true), WRITE(2), ARRIVE(2, 1, false),
			LEAVE(1, 0), READ(1)}},
	{"the next round", 0, 0,
		{TWO, ARRIVE(1, 0, false), ARRIVE(2, 0, true), WRITE(2), ARRIVE(2, 1, false),
			LEAVE(1, 0), ARRIVE(1, 1, true), READ(1)}},

	{"a semaphore", 0, 0, {TWO, WRITE(1), ON(SEM_POST, 1, M), ON(SEM_WAIT, 2, M), WRITE(2)}},
	{"a failed try of a semaphore", 6, 3,
		{TWO, WRITE(1), ON(SEM_POST, 1, M), FAILED(SEM_TRYWAIT, 2, M), WRITE(2)}},
	{"a semaphore that was tried", 0, 0,
		{TWO, WRITE(1), ON(SEM_POST, 1, M), ON(SEM_TRYWAIT, 2, M), WRITE(2)}},
	{"a look at a semaphore", 6, 3,
		{TWO, WRITE(1), ON(SEM_POST, 1, M), ON(SEM_READ, 2, M), WRITE(2)}},
	{"once", 0, 0,
		{TWO, ON(ONCE_ENTER, 1, M), WRITE(1), ON(ONCE_DONE, 1, M), ON(ONCE_ENTER, 2, M),
			READ(2)}},
	{"another once", 7, 4,
		{TWO, ON(ONCE_ENTER, 1, M), WRITE(1), ON(ONCE_DONE, 1, M), ON(ONCE_ENTER, 2, N),
			READ(2)}},
	{"a futex", 0, 0,
		{TWO, ON(FUTEX_WAIT, 2, M), WRITE(1), ON(FUTEX_WAKE, 1, M), ON(FUTEX_BLOCK, 2, M),
			WRITE(2)}},
	{"a futex whose time was out", 7, 4,
		{TWO, ON(FUTEX_WAIT, 2, M), WRITE(1), ON(FUTEX_WAKE, 1, M),
			FAILED(FUTEX_BLOCK, 2, M), WRITE(2)}},

	{"a pipe", 0, 0, {TWO, WRITE(1), ON(FD_WRITE, 1, M), ON(FD_READ, 2, M), WRITE(2)}},
	{"two pipes", 6, 3, {TWO, WRITE(1), ON(FD_WRITE, 1, M), ON(FD_READ, 2, N), WRITE(2)}},
	{"a pipe that was closed", 0, 0,
		{TWO, WRITE(1), ON(FD_CLOSE, 1, M), ON(FD_READ, 2, M), WRITE(2)}},
	{"a poll", 0, 0, {TWO, WRITE(1), ON(FD_WRITE, 1, M), ON(FD_POLL, 2, 0), WRITE(2)}},
	{"a socket", 0, 0, {TWO, WRITE(1), ON(FD_WRITE, 1, 0), ON(FD_READ, 2, 0), WRITE(2)}},
	{"a read that got nothing", 6, 3,
		{TWO, WRITE(1), ON(FD_WRITE, 1, M), FAILED(FD_READ, 2, M), WRITE(2)}},
	{"a signal", 0, 0,
		{TWO, WRITE(1), WITH(SIGNAL_SEND, 1, 2), ON(SIGNAL_WAIT, 2, 0), WRITE(2)}},
	{"a signal that has not come yet", 5, 3,
		{TWO, WRITE(1), WITH(SIGNAL_SEND, 1, 2), WRITE(2)}},
	{"a yield", 6, 3, {TWO, WRITE(1), ON(YIELD, 1, 0), ON(YIELD, 2, 0), WRITE(2)}},
	{"a sleep", 6, 3, {TWO, WRITE(1), ON(SLEEP, 1, 0), ON(SLEEP, 2, 0), WRITE(2)}},

	{"release and acquire", 0, 0,
		{TWO, WRITE(1), STORE_FLAG(1, RELEASE), LOAD_FLAG(2, ACQUIRE), WRITE(2)}},
	{"consume", 0, 0, {TWO, WRITE(1), STORE_FLAG(1, RELEASE), LOAD_FLAG(2, CONSUME), WRITE(2)}},
	{"sequential", 0, 0,
		{TWO, WRITE(1), STORE_FLAG(1, SEQUENTIAL), LOAD_FLAG(2, SEQUENTIAL), WRITE(2)}},
	{"a relaxed store", 6, 3,
		{TWO, WRITE(1), STORE_FLAG(1, RELAXED), LOAD_FLAG(2, ACQUIRE), WRITE(2)}},
	{"a relaxed load", 6, 3,
		{TWO, WRITE(1), STORE_FLAG(1, RELEASE), LOAD_FLAG(2, RELAXED), WRITE(2)}},
	{"after the release", 6, 4,
		{TWO, STORE_FLAG(1, RELEASE), WRITE(1), LOAD_FLAG(2, ACQUIRE), WRITE(2)}},
	{"an acquiring load publishes nothing", 6, 3,
		{TWO, WRITE(1), LOAD_FLAG(1, SEQUENTIAL), LOAD_FLAG(2, SEQUENTIAL), WRITE(2)}},
	{"a release sequence of an update", 0, 0,
		{TWO, CREATE(0, 3), WRITE(1), STORE_FLAG(1, RELEASE), ADD_FLAG(3, RELAXED),
			LOAD_FLAG(2, ACQUIRE), WRITE(2)}},
	{"a store of another thread ends it", 8, 4,
		{TWO, CREATE(0, 3), WRITE(1), STORE_FLAG(1, RELEASE), STORE_FLAG(3, RELAXED),
			LOAD_FLAG(2, ACQUIRE), WRITE(2)}},
	{"a relaxed store of the same thread does not", 0, 0,
		{TWO, WRITE(1), STORE_FLAG(1, RELEASE), STORE_FLAG(1, RELAXED),
			LOAD_FLAG(2, ACQUIRE), WRITE(2)}},
	{"updates both kinds", 0, 0,
		{TWO, WRITE(1), ADD_FLAG(1, ACQUIRE_RELEASE), ADD_FLAG(2, ACQUIRE_RELEASE),
			WRITE(2)}},
	{"relaxed updates", 6, 3,
		{TWO, WRITE(1), ADD_FLAG(1, RELAXED), ADD_FLAG(2, RELAXED), WRITE(2)}},
	{"a compare-exchange as a lock", 0, 0,
		{TWO, EXCHANGE(1, FLAG, ACQUIRE), WRITE(1), STORE_FLAG(1, RELEASE),
			EXCHANGE(2, FLAG, ACQUIRE), WRITE(2)}},

	{"fences on both sides", 0, 0,
		{TWO, WRITE(1), FENCE(1, RELEASE), STORE_FLAG(1, RELAXED), LOAD_FLAG(2, RELAXED),
			FENCE(2, ACQUIRE), WRITE(2)}},
	{"a release fence only", 7, 3,
		{TWO, WRITE(1), FENCE(1, RELEASE), STORE_FLAG(1, RELAXED), LOAD_FLAG(2, RELAXED),
			WRITE(2)}},
	{"an acquire fence only", 7, 3,
		{TWO, WRITE(1), STORE_FLAG(1, RELAXED), LOAD_FLAG(2, RELAXED), FENCE(2, ACQUIRE),
			WRITE(2)}},
	{"a write behind the release fence", 8, 4,
		{TWO, FENCE(1, RELEASE), WRITE(1), STORE_FLAG(1, RELAXED), LOAD_FLAG(2, RELAXED),
			FENCE(2, ACQUIRE), WRITE(2)}},
	{"an acquire fence before the load", 8, 3,
		{TWO, WRITE(1), FENCE(1, RELEASE), STORE_FLAG(1, RELAXED), FENCE(2, ACQUIRE),
			LOAD_FLAG(2, RELAXED), WRITE(2)}},
	{"sequential fences", 0, 0,
		{TWO, WRITE(1), FENCE(1, SEQUENTIAL), STORE_FLAG(1, RELAXED), LOAD_FLAG(2, RELAXED),
			FENCE(2, SEQUENTIAL), WRITE(2)}},
	{"fences without a flag", 6, 3,
		{TWO, WRITE(1), FENCE(1, SEQUENTIAL), FENCE(2, SEQUENTIAL), WRITE(2)}},

	{"annotations of one address", 0, 0,
		{TWO, WRITE(1), ORDERED(1, M, RELEASE), ORDERED(2, M, ACQUIRE), WRITE(2)}},
	{"annotations of two addresses", 6, 3,
		{TWO, WRITE(1), ORDERED(1, M, RELEASE), ORDERED(2, N, ACQUIRE), WRITE(2)}},
	{"an annotated release is no fence", 8, 3,
		{TWO, WRITE(1), ORDERED(1, M, RELEASE), STORE_FLAG(1, RELAXED),
			LOAD_FLAG(2, RELAXED), FENCE(2, ACQUIRE), WRITE(2)}},

	{"two atomic writes", 0, 0, {TWO, STORE_FLAG(1, RELAXED), STORE_FLAG(2, RELAXED)}},
	{"an atomic write and a plain read", 4, 3,
		{TWO, STORE_FLAG(1, RELEASE), ACCESS(LOAD, 2, FLAG, 4, 0)}},
	{"a plain write and an atomic read", 4, 3,
		{TWO, ACCESS(STORE, 1, FLAG, 4, 0), LOAD_FLAG(2, RELAXED)}},
	{"a plain read and an atomic read", 0, 0,
		{TWO, ACCESS(LOAD, 1, FLAG, 4, 0), LOAD_FLAG(2, RELAXED)}},
	{"a plain read and an update", 4, 3,
		{TWO, ACCESS(LOAD, 1, FLAG, 4, 0), ADD_FLAG(2, RELAXED)}},
	{"a plain read and what may only read", 0, 0,
		{TWO, ACCESS(LOAD, 1, FLAG, 4, 0), EXCHANGE(2, FLAG, RELAXED)}},
	{"a plain write and what may only read", 4, 3,
		{TWO, ACCESS(STORE, 1, FLAG, 4, 0), EXCHANGE(2, FLAG, RELAXED)}},
	{"a plain read behind the second of two atomic writes", 5, 3,
		{TWO, ADD_FLAG(1, RELAXED), ADD_FLAG(2, RELAXED), ACCESS(LOAD, 2, FLAG, 4, 0)}},
	{"an atomic write does not hide the plain read before it", 7, 3,
		{TWO, ACCESS(LOAD, 1, FLAG, 4, 0), ON(SEM_POST, 1, M), ON(SEM_WAIT, 0, M),
			STORE_FLAG(0, RELAXED), ADD_FLAG(2, RELAXED)}},

	{"neighbours", 0, 0, {TWO, WRITE(1), ACCESS(STORE, 2, Y, 4, 0)}},
	{"a part of it", 4, 3, {TWO, WRITE(1), ACCESS(LOAD, 2, X + 3, 1, 0)}},
	{"all of it", 5, 4,
		{TWO, ACCESS(STORE, 1, Y, 2, 0), ACCESS(STORE, 1, X, 1, 0),
			ACCESS(LOAD, 2, X, 8, 0)}},
	{"the bytes between", 0, 0,
		{TWO, ACCESS(STORE, 1, X, 1, 0), ACCESS(STORE, 1, X + 3, 1, 0),
			ACCESS(STORE, 2, X + 1, 2, 0)}},
	{"a part of what was written whole", 6, 3,
		{TWO, ACCESS(STORE, 1, X, 8, 0), ACCESS(STORE, 1, X, 2, 0), ON(SEM_POST, 1, M),
			ACCESS(STORE, 2, X + 6, 2, 0)}},
	{"a release of the whole is acquired by a part", 0, 0,
		{TWO, WRITE(1), ACCESS(ATOMIC_STORE, 1, FLAG, 8, RELEASE),
			ACCESS(ATOMIC_LOAD, 2, FLAG + 4, 4, ACQUIRE), WRITE(2)}},
	{"the flag's neighbour", 6, 3,
		{TWO, WRITE(1), STORE_FLAG(1, RELEASE),
			ACCESS(ATOMIC_LOAD, 2, FLAG + 4, 4, ACQUIRE), WRITE(2)}},

	{"a release that is no longer the newest store", 0, 0,
		{TWO, WRITE(1), IN_HISTORY(STORE, 1, RELEASE, .written = 1),
			IN_HISTORY(STORE, 0, RELAXED, .written = 0),
			IN_HISTORY(LOAD, 2, ACQUIRE, .read = 1), WRITE(2)}},
	{"a release that an old load does not see", 6, 3,
		{TWO, WRITE(1), IN_HISTORY(STORE, 1, RELEASE, .written = 1),
			IN_HISTORY(LOAD, 2, ACQUIRE, .read = 0), WRITE(2)}},
	{"an update of an old release", 0, 0,
		{TWO, WRITE(1), IN_HISTORY(STORE, 1, RELEASE, .written = 1),
			IN_HISTORY(STORE, 0, RELAXED, .written = 0),
			IN_HISTORY(UPDATE, 0, RELAXED, .read = 1, .written = 2),
			IN_HISTORY(LOAD, 2, ACQUIRE, .read = 2), WRITE(2)}},
	{"a relaxed store that continues a release", 0, 0,
		{TWO, WRITE(1), IN_HISTORY(STORE, 1, RELEASE, .written = 1),
			IN_HISTORY(STORE, 1, RELAXED, .continued = 1, .written = 2),
			IN_HISTORY(LOAD, 2, ACQUIRE, .read = 2), WRITE(2)}},
	{"a history without its messages", 0, 0,
		{TWO, WRITE(1), IN_HISTORY(STORE, 1, RELEASE, .written = 1),
			IN_HISTORY(LOAD, 2, ACQUIRE, .is_of_all = true), WRITE(2)}},
};

static void test_race_order__knows_what_each_op_orders(void **unused)
{
	unsigned wrong = 0;

	(void)unused;
	for (size_t i = 0; i < sizeof sequences / sizeof *sequences; i++) {
		const struct sequence *sequence = &sequences[i];
		struct outcome verdict = {0};
		unsigned race = first_race(sequence->events, EVENTS_MAX, &verdict);

		if (race == sequence->race && (!race || verdict.other_site == sequence->other))
			continue;
		print_error("%s: expected %u with %u, got %u with %u\n", sequence->name,
			sequence->race, sequence->other, race, (unsigned)verdict.other_site);
		wrong++;
	}
	assert_int_equal(wrong, 0);
}

/* ThreadSanitizer ends a release sequence at a releasing store only. */
static void test_race_order__follows_thread_sanitizer_where_asked(void **unused)
{
	static const struct detector_event relaxed[EVENTS_MAX] = {TWO, CREATE(0, 3), WRITE(1),
		STORE_FLAG(1, RELEASE), STORE_FLAG(3, RELAXED), LOAD_FLAG(2, ACQUIRE), WRITE(2)};
	static const struct detector_event releasing[EVENTS_MAX] = {TWO, CREATE(0, 3), WRITE(1),
		STORE_FLAG(1, RELEASE), STORE_FLAG(3, RELEASE), LOAD_FLAG(2, ACQUIRE), WRITE(2)};
	struct outcome verdict = {0};

	(void)unused;
	assert_int_equal(first_race(relaxed, EVENTS_MAX, &verdict), 8);
	race_follow_thread_sanitizer(state);
	assert_int_equal(first_race(relaxed, EVENTS_MAX, &verdict), 0);
	assert_int_equal(first_race(releasing, EVENTS_MAX, &verdict), 8);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(
			test_race_order__follows_thread_sanitizer_where_asked, make_state,
			free_state),
		cmocka_unit_test_setup_teardown(
			test_race_order__knows_what_each_op_orders, make_state, free_state),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
