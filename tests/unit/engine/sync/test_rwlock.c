/* Read-write locks: exclusion, both preferences, errors, evidence. */
#include "engine/sync.h"

#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "support/simulation.h"

#define MICROSECOND UINT64_C(1000)

struct scene {
	struct rwlock rwlock;
	int readers, readers_most;
	int writers;
	bool is_mixed; /* a writer together with another thread */
	int result[6];
};

static struct scene scene;
static const struct simulation plain;

static void clear(void *argument)
{
	memset(argument, 0, sizeof scene);
}

static void expect_pass(const struct outcome *outcome)
{
	assert_int_equal(outcome->kind, OUTCOME_PASSED);
}

static const struct outcome *run(void (*body)(void *))
{
	clear(&scene);
	return simulate(&plain, body, &scene);
}

/* ---- exclusion ---- */

static void *read_once(void *argument)
{
	struct scene *s = argument;

	(void)rwlock_lock(&s->rwlock, RWLOCK_READS, ENGINE_FOREVER, 1);
	if (++s->readers > s->readers_most)
		s->readers_most = s->readers;
	s->is_mixed |= s->writers != 0;
	simulation_step();
	s->readers--;
	(void)rwlock_unlock(&s->rwlock, 2);
	return NULL;
}

static void *write_once(void *argument)
{
	struct scene *s = argument;

	(void)rwlock_lock(&s->rwlock, RWLOCK_WRITES, ENGINE_FOREVER, 3);
	s->is_mixed |= s->writers++ || s->readers;
	simulation_step();
	s->writers--;
	(void)rwlock_unlock(&s->rwlock, 4);
	return NULL;
}

static void read_and_write(void *argument)
{
	struct engine_thread *reader = simulation_create(read_once, argument);
	struct engine_thread *writer = simulation_create(write_once, argument);

	read_once(argument);
	simulation_join(reader);
	simulation_join(writer);
}

static void read_and_write_preferring_writers(void *argument)
{
	struct scene *s = argument;
	static const pthread_rwlock_t initial = PTHREAD_RWLOCK_WRITER_NONRECURSIVE_INITIALIZER_NP;

	memcpy(&s->rwlock, &initial, sizeof initial);
	read_and_write(s);
}

static int readers_most_ever;

static void expect_exclusion(void *argument, const struct outcome *outcome)
{
	struct scene *s = argument;

	expect_pass(outcome);
	assert_false(s->is_mixed);
	assert_int_equal(s->rwlock.readers, 0);
	assert_int_equal(s->rwlock.writer, 0);
	assert_int_equal(s->rwlock.waiting_writers, 0);
	if (s->readers_most > readers_most_ever)
		readers_most_ever = s->readers_most;
}

static void test_readers__share_and_writers_exclude_in_every_schedule(void **state)
{
	(void)state;
	readers_most_ever = 0;
	assert_true(simulate_every_schedule(
			    &plain, read_and_write, &scene, clear, expect_exclusion) > 1000);
	assert_int_equal(readers_most_ever, 2);
	readers_most_ever = 0;
	assert_true(simulate_every_schedule(&plain, read_and_write_preferring_writers, &scene,
			    clear, expect_exclusion) > 1000);
	assert_int_equal(readers_most_ever, 2);
}

/* ---- preferences ---- */

static void *write_for_a_microsecond(void *argument)
{
	struct scene *s = argument;

	s->result[0] = rwlock_lock(&s->rwlock, RWLOCK_WRITES, engine_clock_ns() + MICROSECOND, 5);
	return NULL;
}

static void read_past_waiting_writer(void *argument)
{
	struct scene *s = argument;
	struct engine_thread *writer;

	(void)rwlock_lock(&s->rwlock, RWLOCK_READS, ENGINE_FOREVER, 1);
	writer = simulation_create(write_for_a_microsecond, s);
	while (engine_clock_ns() == 0 && writer->op->kind != OP_RWLOCK_WRLOCK)
		engine_point(OP_YIELD, NULL, 0);
	engine_point(OP_YIELD, NULL, 0);
	s->result[1] = rwlock_trylock(&s->rwlock, RWLOCK_READS, 1);
	s->result[2] = rwlock_lock(&s->rwlock, RWLOCK_READS, ENGINE_FOREVER, 1);
	s->result[3] = engine_clock_ns() > 0;
	simulation_join(writer);
}

static void prefer_writers(void *argument)
{
	struct scene *s = argument;

	rwlock_init(&s->rwlock, RWLOCK_PREFERS_WRITERS, false);
	read_past_waiting_writer(s);
}

static void test_preference__decides_whether_a_waiting_writer_shuts_readers_out(void **state)
{
	(void)state;
	expect_pass(run(read_past_waiting_writer));
	assert_int_equal(scene.result[0], ETIMEDOUT);
	assert_int_equal(scene.result[1], 0);
	assert_int_equal(scene.result[2], 0);
	assert_int_equal(scene.result[3], 0); /* read at once */
	expect_pass(run(prefer_writers));
	assert_int_equal(scene.result[0], ETIMEDOUT);
	assert_int_equal(scene.result[1], EBUSY);
	assert_int_equal(scene.result[2], 0);
	assert_int_equal(scene.result[3], 1); /* when the writer had given up */
}

static void *read_twice(void *argument)
{
	struct scene *s = argument;

	(void)rwlock_lock(&s->rwlock, RWLOCK_READS, ENGINE_FOREVER, 11);
	(void)rwlock_lock(&s->rwlock, RWLOCK_READS, ENGINE_FOREVER, 12);
	(void)rwlock_unlock(&s->rwlock, 1);
	(void)rwlock_unlock(&s->rwlock, 1);
	return NULL;
}

static void read_twice_beside_writer(void *argument)
{
	struct engine_thread *reader = simulation_create(read_twice, argument);

	write_once(argument);
	simulation_join(reader);
}

static void read_twice_beside_preferred_writer(void *argument)
{
	struct scene *s = argument;

	rwlock_init(&s->rwlock, RWLOCK_PREFERS_WRITERS, false);
	read_twice_beside_writer(s);
}

static uint64_t stuck;

static void count_stuck(void *argument, const struct outcome *outcome)
{
	(void)argument;
	stuck += outcome->kind != OUTCOME_PASSED;
}

static void test_recursive_reader__is_stuck_only_where_writers_are_preferred(void **state)
{
	uint64_t runs;

	(void)state;
	stuck = 0;
	simulate_every_schedule(&plain, read_twice_beside_writer, &scene, clear, count_stuck);
	assert_int_equal(stuck, 0);
	runs = simulate_every_schedule(
		&plain, read_twice_beside_preferred_writer, &scene, clear, count_stuck);
	assert_true(stuck > 0);
	assert_true(stuck < runs);
}

/* ---- errors and evidence ---- */

static void lock_again_as_writer(void *argument)
{
	struct scene *s = argument;

	(void)rwlock_lock(&s->rwlock, RWLOCK_WRITES, ENGINE_FOREVER, 1);
	s->result[0] = rwlock_lock(&s->rwlock, RWLOCK_WRITES, ENGINE_FOREVER, 1);
	s->result[1] = rwlock_lock(&s->rwlock, RWLOCK_READS, ENGINE_FOREVER, 1);
	s->result[2] = rwlock_trylock(&s->rwlock, RWLOCK_WRITES, 1);
	s->result[3] = rwlock_trylock(&s->rwlock, RWLOCK_READS, 1);
	s->result[4] = rwlock_unlock(&s->rwlock, 1);
	s->rwlock.readers = UINT32_MAX >> 3; /* glibc's maximum number of readers */
	s->result[5] = rwlock_lock(&s->rwlock, RWLOCK_READS, ENGINE_FOREVER, 1);
}

static void test_errors__are_those_of_posix(void **state)
{
	(void)state;
	expect_pass(run(lock_again_as_writer));
	assert_int_equal(scene.result[0], EDEADLK);
	assert_int_equal(scene.result[1], EDEADLK);
	assert_int_equal(scene.result[2], EBUSY);
	assert_int_equal(scene.result[3], EBUSY);
	assert_int_equal(scene.result[4], 0);
	assert_int_equal(scene.result[5], EAGAIN);
}

static void upgrade(void *argument)
{
	struct scene *s = argument;

	(void)rwlock_lock(&s->rwlock, RWLOCK_READS, ENGINE_FOREVER, 21);
	(void)rwlock_lock(&s->rwlock, RWLOCK_WRITES, ENGINE_FOREVER, 22);
}

static void test_reader_that_writes__waits_for_itself(void **state)
{
	const struct outcome *outcome = run(upgrade);

	(void)state;
	assert_int_equal(outcome->kind, OUTCOME_SELF_DEADLOCK);
	assert_int_equal(outcome->waits[0].site, 22);
	assert_int_equal(outcome->waits[0].holder_site, 21);
}

static void unlock_free(void *argument)
{
	struct scene *s = argument;

	(void)rwlock_unlock(&s->rwlock, 6);
}

static void *read_and_end(void *argument)
{
	struct scene *s = argument;

	(void)rwlock_lock(&s->rwlock, RWLOCK_READS, ENGINE_FOREVER, 1);
	return NULL;
}

static void unlock_for_another_reader(void *argument)
{
	struct scene *s = argument;

	simulation_join(simulation_create(read_and_end, s));
	(void)rwlock_unlock(&s->rwlock, 8);
}

/* More readers than are known: the unlocking thread can no longer be identified. */
static void read_often(void *argument)
{
	struct scene *s = argument;

	for (int i = 0; i < RWLOCK_KNOWN_READERS + 2; i++)
		(void)rwlock_lock(&s->rwlock, RWLOCK_READS, ENGINE_FOREVER, 1);
	for (int i = 0; i < RWLOCK_KNOWN_READERS + 2; i++)
		s->result[0] |= rwlock_unlock(&s->rwlock, 2);
	s->result[1] = rwlock_trylock(&s->rwlock, RWLOCK_WRITES, 3);
}

static void test_many_readers__are_counted_beyond_those_known(void **state)
{
	(void)state;
	expect_pass(run(read_often));
	assert_int_equal(scene.result[0], 0);
	assert_int_equal(scene.result[1], 0);
}

/* The last reader has left; an earlier one is still there. */
static void write_beside_first_reader(void *argument)
{
	struct scene *s = argument;

	simulation_join(simulation_create(read_and_end, s));
	(void)rwlock_lock(&s->rwlock, RWLOCK_READS, ENGINE_FOREVER, 1);
	(void)rwlock_unlock(&s->rwlock, 1);
	(void)rwlock_lock(&s->rwlock, RWLOCK_WRITES, ENGINE_FOREVER, 9);
}

static void test_waiting_writer__is_shown_a_reader_that_stayed(void **state)
{
	const struct outcome *outcome = run(write_beside_first_reader);

	(void)state;
	assert_int_equal(outcome->kind, OUTCOME_DEADLOCK);
	assert_int_equal(outcome->waits[0].site, 9);
	assert_int_equal(outcome->waits[0].holder.index, 1);
}

static void destroy_held(void *argument)
{
	struct scene *s = argument;

	(void)rwlock_lock(&s->rwlock, RWLOCK_READS, ENGINE_FOREVER, 1);
	(void)rwlock_destroy(&s->rwlock, 7);
}

static void test_misuse__ends_the_run(void **state)
{
	const struct outcome *outcome = run(unlock_free);

	(void)state;
	assert_int_equal(outcome->kind, OUTCOME_UNLOCK_NOT_OWNED);
	assert_int_equal(outcome->site, 6);
	outcome = run(unlock_for_another_reader);
	assert_int_equal(outcome->kind, OUTCOME_UNLOCK_NOT_OWNED);
	assert_int_equal(outcome->site, 8);
	outcome = run(destroy_held);
	assert_int_equal(outcome->kind, OUTCOME_DESTROY_HELD);
	assert_int_equal(outcome->site, 7);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_readers__share_and_writers_exclude_in_every_schedule),
		cmocka_unit_test(
			test_preference__decides_whether_a_waiting_writer_shuts_readers_out),
		cmocka_unit_test(test_recursive_reader__is_stuck_only_where_writers_are_preferred),
		cmocka_unit_test(test_errors__are_those_of_posix),
		cmocka_unit_test(test_reader_that_writes__waits_for_itself),
		cmocka_unit_test(test_misuse__ends_the_run),
		cmocka_unit_test(test_many_readers__are_counted_beyond_those_known),
		cmocka_unit_test(test_waiting_writer__is_shown_a_reader_that_stayed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
