/* Futexes: the kernel's contract, without the kernel. Also tests stream locks, which use futexes. */
#include "engine/futex.h"

#include <errno.h>
#include <linux/futex.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "engine/sync.h"
#include "support/simulation.h"

#define MICROSECOND UINT64_C(1000)

struct scene {
	uint32_t word, second;
	int inside, inside_most;
	uint32_t woken_bits;
	int queued;
	long result[8];
	struct stream_lock stream;
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

static long wait_for(const uint32_t *word, uint32_t expected, uint32_t bitset, uint64_t deadline_ns)
{
	const struct futex_waiting wait = {.word = word,
		.expected = expected,
		.bitset = bitset,
		.deadline_ns = deadline_ns,
		.site = 1};

	return futex_wait(&wait);
}

/* ---- a mutex as glibc makes one of a futex ---- */

static void word_lock(uint32_t *word)
{
	if (!*word) {
		*word = 1;
		return;
	}
	for (;;) {
		uint32_t old = *word;

		*word = 2;
		if (!old)
			return;
		(void)wait_for(word, 2, FUTEX_ANY, ENGINE_FOREVER);
	}
}

static void word_unlock(uint32_t *word)
{
	uint32_t old = *word;

	*word = 0;
	if (old == 2)
		(void)futex_wake(word, 1, FUTEX_ANY, 2);
}

static void *enter(void *argument)
{
	struct scene *s = argument;

	word_lock(&s->word);
	if (++s->inside > s->inside_most)
		s->inside_most = s->inside;
	simulation_step();
	s->inside--;
	word_unlock(&s->word);
	return NULL;
}

static void enter_by_three(void *argument)
{
	struct engine_thread *one = simulation_create(enter, argument);
	struct engine_thread *two = simulation_create(enter, argument);

	enter(argument);
	simulation_join(one);
	simulation_join(two);
}

static void expect_exclusion(void *argument, const struct outcome *outcome)
{
	struct scene *s = argument;

	expect_pass(outcome);
	assert_int_equal(s->inside_most, 1);
}

static void test_mutex_made_of_a_futex__works_in_every_schedule(void **state)
{
	(void)state;
	assert_true(simulate_every_schedule(
			    &plain, enter_by_three, &scene, clear, expect_exclusion) > 500);
}

/* ---- single calls ---- */

static void wait_without_wake(void *argument)
{
	struct scene *s = argument;

	s->result[0] = wait_for(&s->word, 1, FUTEX_ANY, ENGINE_FOREVER);
	s->result[1] = wait_for(&s->word, 0, FUTEX_ANY, MICROSECOND);
	s->result[2] = futex_wake(&s->word, 1, FUTEX_ANY, 1);
	s->result[3] = (long)engine_clock_ns();
}

static void test_wait__compares_and_times_out(void **state)
{
	(void)state;
	expect_pass(run(wait_without_wake));
	assert_int_equal(scene.result[0], -EAGAIN);
	assert_int_equal(scene.result[1], -ETIMEDOUT);
	assert_int_equal(scene.result[2], 0);
	assert_int_equal(scene.result[3], MICROSECOND);
}

static void *wait_for_bit(void *argument)
{
	uint32_t bit = *(const uint32_t *)argument;

	scene.queued++;
	(void)wait_for(&scene.word, 0, bit, ENGINE_FOREVER);
	scene.woken_bits |= bit;
	return NULL;
}

static const uint32_t bits[3] = {1, 2, 4};

static void queue_three(struct engine_thread *threads[3])
{
	for (int i = 0; i < 3; i++)
		threads[i] = simulation_create(wait_for_bit, (void *)&bits[i]);
	while (scene.queued < 3 || threads[0]->op->kind != OP_FUTEX_BLOCK ||
		threads[1]->op->kind != OP_FUTEX_BLOCK || threads[2]->op->kind != OP_FUTEX_BLOCK)
		engine_point(OP_YIELD, NULL, 0);
}

static void wake_by_bits(void *argument)
{
	struct scene *s = argument;
	struct engine_thread *threads[3];

	queue_three(threads);
	s->result[0] = futex_wake(&s->word, 9, 2 | 8, 1);
	simulation_join(threads[1]);
	s->result[1] = s->woken_bits;
	s->result[2] = futex_wake(&s->word, 1, FUTEX_ANY, 1);
	s->result[3] = futex_wake(&s->word, 9, FUTEX_ANY, 1);
	simulation_join(threads[0]);
	simulation_join(threads[2]);
	s->result[4] = s->woken_bits;
}

static void test_wake__wakes_those_whose_bits_match(void **state)
{
	(void)state;
	expect_pass(run(wake_by_bits));
	assert_int_equal(scene.result[0], 1);
	assert_int_equal(scene.result[1], 2);
	assert_int_equal(scene.result[2], 1);
	assert_int_equal(scene.result[3], 1);
	assert_int_equal(scene.result[4], 7);
}

static void requeue(void *argument)
{
	struct scene *s = argument;
	struct engine_thread *threads[3];
	const uint32_t wrong = 1, right = 0;
	const struct futex_pair pair = {
		.word = &s->word, .second = &s->second, .count = 1, .second_count = 1};

	queue_three(threads);
	s->result[0] = futex_requeue(&pair, &wrong);
	s->result[1] = futex_requeue(&pair, &right);
	s->result[2] = futex_wake(&s->word, 9, FUTEX_ANY, 1);
	s->result[3] = futex_wake(&s->second, 9, FUTEX_ANY, 1);
	for (int i = 0; i < 3; i++)
		simulation_join(threads[i]);
}

static void test_requeue__moves_waiters_to_the_other_word(void **state)
{
	(void)state;
	expect_pass(run(requeue));
	assert_int_equal(scene.result[0], -EAGAIN);
	assert_int_equal(scene.result[1], 2);
	assert_int_equal(scene.result[2], 1);
	assert_int_equal(scene.result[3], 1);
	assert_int_equal(scene.woken_bits, 7);
}

static void requeue_and_forget(void *argument)
{
	struct scene *s = argument;
	struct engine_thread *threads[3];
	const struct futex_pair pair = {
		.word = &s->word, .second = &s->second, .count = 0, .second_count = 3};

	queue_three(threads);
	(void)futex_requeue(&pair, NULL);
	simulation_join(threads[0]);
}

static void test_requeued_waiter__is_shown_at_its_new_word(void **state)
{
	const struct outcome *outcome = run(requeue_and_forget);

	(void)state;
	assert_int_equal(outcome->kind, OUTCOME_DEADLOCK);
	assert_int_equal(outcome->wait_count, 4);
	for (int i = 1; i < 4; i++)
		assert_int_equal(outcome->waits[i].object_address, (uintptr_t)&scene.second);
}

static void apply_operations(void *argument)
{
	struct scene *s = argument;
	struct engine_thread *threads[3];
	struct futex_pair pair = {
		.word = &s->second, .second = &s->word, .count = 9, .second_count = 1};

	queue_three(threads);
	/* 0 -> -2, and 0 < 5: wakes one on the word. */
	pair.operation = FUTEX_OP(FUTEX_OP_ADD, 0xffe, FUTEX_OP_CMP_LT, 5);
	s->result[0] = futex_wake_op(&pair);
	s->result[1] = (int32_t)s->word;
	/* -2 | 1 << 0 = -1; -2 is not above -1. */
	pair.operation =
		FUTEX_OP(((uint32_t)FUTEX_OP_OR | FUTEX_OP_OPARG_SHIFT), 0, FUTEX_OP_CMP_GT, 0xfff);
	s->result[2] = futex_wake_op(&pair);
	s->result[3] = (int32_t)s->word;
	pair.operation = FUTEX_OP(FUTEX_OP_SET, 3, FUTEX_OP_CMP_EQ, 0xfff);
	pair.second_count = 9;
	s->result[4] = futex_wake_op(&pair);
	s->result[5] = s->word;
	pair.operation = FUTEX_OP(7, 0, FUTEX_OP_CMP_EQ, 0);
	s->result[6] = futex_wake_op(&pair);
	for (int i = 0; i < 3; i++)
		simulation_join(threads[i]);
}

static void test_wake_op__calculates_compares_and_wakes(void **state)
{
	(void)state;
	expect_pass(run(apply_operations));
	assert_int_equal(scene.result[0], 1);
	assert_int_equal(scene.result[1], -2);
	assert_int_equal(scene.result[2], 0);
	assert_int_equal(scene.result[3], -1);
	assert_int_equal(scene.result[4], 2);
	assert_int_equal(scene.result[5], 3);
	assert_int_equal(scene.result[6], -ENOSYS);
}

/* ---- locks with an owner ---- */

static void *enter_pi(void *argument)
{
	struct scene *s = argument;

	s->result[0] |= futex_lock_pi(&s->word, ENGINE_FOREVER, 1);
	if (++s->inside > s->inside_most)
		s->inside_most = s->inside;
	simulation_step();
	s->inside--;
	s->result[1] |= futex_unlock_pi(&s->word, 1);
	return NULL;
}

static void enter_pi_by_three(void *argument)
{
	struct scene *s = argument;
	struct engine_thread *one = simulation_create(enter_pi, s);
	struct engine_thread *two = simulation_create(enter_pi, s);

	enter_pi(s);
	simulation_join(one);
	simulation_join(two);
	s->result[2] = futex_unlock_pi(&s->word, 1);
	s->result[3] = futex_trylock_pi(&s->word, 1);
	s->result[4] = futex_lock_pi(&s->word, ENGINE_FOREVER, 1);
	s->word = FUTEX_WAITERS | 77;
	s->result[5] = futex_trylock_pi(&s->word, 1);
	s->result[6] = futex_lock_pi(&s->word, 0, 1);
}

static void expect_pi(void *argument, const struct outcome *outcome)
{
	struct scene *s = argument;

	expect_exclusion(s, outcome);
	assert_int_equal(s->result[0], 0);
	assert_int_equal(s->result[1], 0);
	assert_int_equal(s->result[2], -EPERM);
	assert_int_equal(s->result[3], 0);
	assert_int_equal(s->result[4], -EDEADLK);
	assert_int_equal(s->result[5], -EAGAIN);
	assert_int_equal(s->result[6], -ETIMEDOUT);
}

static void test_pi_lock__is_handed_over_in_every_schedule(void **state)
{
	(void)state;
	assert_true(
		simulate_every_schedule(&plain, enter_pi_by_three, &scene, clear, expect_pi) > 500);
}

/* ---- stream locks: our flockfile() beside glibc's own functions ---- */

/* Does the same as printf(). */
static void *print(void *argument)
{
	struct scene *s = argument;

	word_lock(&s->stream.word);
	s->stream.owner = engine_current()->handle;
	if (++s->inside > s->inside_most)
		s->inside_most = s->inside;
	simulation_step();
	s->inside--;
	s->stream.owner = 0;
	word_unlock(&s->stream.word);
	return NULL;
}

/* Does the same as glibc's ftrylockfile(). */
static bool stream_try(struct stream_lock *stream)
{
	if (stream->word)
		return false;
	stream->word = 1;
	stream->owner = engine_current()->handle;
	return true;
}

static void *hold_stream(void *argument)
{
	struct scene *s = argument;
	bool has_slept = false;

	engine_point(OP_FILE_LOCK, &s->stream, 1);
	for (; !stream_try(&s->stream); has_slept = true)
		stream_lock_sleep(&s->stream, 1);
	if (has_slept)
		stream_lock_got_after_sleep(&s->stream);
	if (++s->inside > s->inside_most)
		s->inside_most = s->inside;
	engine_point(OP_FILE_UNLOCK, &s->stream, 1);
	s->inside--;
	s->stream.owner = 0;
	s->stream.word = 0; /* glibc also makes a system call that does not reach the engine */
	stream_lock_unlocked(&s->stream);
	return NULL;
}

static void hold_and_print(void *argument)
{
	struct engine_thread *holder = simulation_create(hold_stream, argument);
	struct engine_thread *printer = simulation_create(print, argument);

	print(argument);
	simulation_join(holder);
	simulation_join(printer);
}

static void expect_stream_free(void *argument, const struct outcome *outcome)
{
	struct scene *s = argument;

	expect_exclusion(s, outcome);
	assert_int_equal(s->stream.word, 0);
	assert_int_equal(s->stream.owner, 0);
}

static void test_stream_lock__excludes_glibc_in_every_schedule(void **state)
{
	(void)state;
	assert_true(simulate_every_schedule(
			    &plain, hold_and_print, &scene, clear, expect_stream_free) > 500);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_mutex_made_of_a_futex__works_in_every_schedule),
		cmocka_unit_test(test_wait__compares_and_times_out),
		cmocka_unit_test(test_wake__wakes_those_whose_bits_match),
		cmocka_unit_test(test_requeue__moves_waiters_to_the_other_word),
		cmocka_unit_test(test_requeued_waiter__is_shown_at_its_new_word),
		cmocka_unit_test(test_wake_op__calculates_compares_and_wakes),
		cmocka_unit_test(test_pi_lock__is_handed_over_in_every_schedule),
		cmocka_unit_test(test_stream_lock__excludes_glibc_in_every_schedule),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
