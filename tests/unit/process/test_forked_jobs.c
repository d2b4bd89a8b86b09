#include "process/forked_jobs.h"

#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#define FORKED_JOBS 40

struct office {
	uint32_t taken[FORKED_JOBS * 4];
	uint32_t taken_count;
	uint32_t known;		 /* knowledge from the answers so far */
	uint32_t agains;	 /* forked jobs that were sent out once more */
	uint32_t at_work_beside; /* when an exclusive run was requested */
	bool wants_no_message;
};

static void sleep_ms(long ms)
{
	const struct timespec time = {.tv_nsec = ms * 1000000};

	(void)nanosleep(&time, NULL); /* longer or shorter is as good */
}

/* Later ones are faster, so that answers arrive in another order than they are taken. */
static int work(void *context, uint32_t number, const volatile int *is_interrupted,
	struct strbuf *answer, struct error *err)
{
	struct office *office = context;

	(void)is_interrupted;
	(void)err;
	sleep_ms(number % 4 == 0 ? 8 : 1);
	office->known++; /* other processes do not see this */
	strbuf_add(answer, (const char *)&number, sizeof number);
	strbuf_add(answer, (const char *)&office->known, sizeof office->known);
	return 0;
}

static void read_answer(const struct strbuf *answer, uint32_t *number, uint32_t *known)
{
	struct forked_job_reading reading = forked_job_read(answer);

	assert_true(forked_job_take_bytes(&reading, number, sizeof *number));
	assert_true(forked_job_take_bytes(&reading, known, sizeof *known));
	assert_false(forked_job_take_bytes(&reading, known, 1));
}

static int take(void *context, uint32_t number, const struct strbuf *answer, struct error *err)
{
	struct office *office = context;
	uint32_t answered, known;

	(void)err;
	read_answer(answer, &answered, &known);
	assert_int_equal(answered, number);
	assert_int_equal(known, 1);
	office->taken[office->taken_count++] = number;
	return FORKED_JOB_TAKEN;
}

static int run(struct office *office, struct jobs jobs)
{
	struct error err;

	jobs.count = FORKED_JOBS;
	jobs.context = office;
	if (!jobs.work)
		jobs.work = work;
	if (!jobs.take)
		jobs.take = take;
	return forked_jobs_run(&jobs, &err);
}

static void test_job__are_taken_in_order(void **unused)
{
	(void)unused;
	for (uint32_t workers = 0; workers <= 7; workers++) {
		struct office office = {0};

		assert_int_equal(run(&office, (struct jobs){.workers = workers}), 0);
		assert_int_equal(office.taken_count, FORKED_JOBS);
		assert_int_equal(office.known, 0);
		for (uint32_t i = 0; i < FORKED_JOBS; i++)
			assert_int_equal(office.taken[i], i);
		assert_int_equal(waitpid(-1, NULL, WNOHANG), -1); /* no child is left */
	}
}

/* Each needs to know of all before it, and says which it knew of. */
static int take_in_turn(
	void *context, uint32_t number, const struct strbuf *answer, struct error *err)
{
	struct office *office = context;
	uint32_t answered, known;

	(void)err;
	read_answer(answer, &answered, &known);
	if (known != number + 1) {
		office->agains++;
		return FORKED_JOB_AGAIN;
	}
	office->known++;
	office->taken[office->taken_count++] = number;
	return FORKED_JOB_TAKEN;
}

static void test_job__are_done_again_with_what_is_known(void **unused)
{
	(void)unused;
	for (uint32_t workers = 1; workers <= 5; workers += 2) {
		struct office office = {0};

		assert_int_equal(
			run(&office, (struct jobs){.workers = workers, .take = take_in_turn}), 0);
		assert_int_equal(office.taken_count, FORKED_JOBS);
		assert_int_equal(office.known, FORKED_JOBS);
		if (workers == 1)
			assert_int_equal(office.agains, 0);
		else
			assert_true(office.agains > 0);
	}
}

static int take_ten(void *context, uint32_t number, const struct strbuf *answer, struct error *err)
{
	(void)take(context, number, answer, err);
	return number == 9 ? FORKED_JOBS_ENOUGH : FORKED_JOB_TAKEN;
}

static void test_job__end_when_it_is_enough(void **unused)
{
	struct office office = {0};

	(void)unused;
	assert_int_equal(run(&office, (struct jobs){.workers = 4, .take = take_ten}), 0);
	assert_int_equal(office.taken_count, 10);
	assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
}

static int fail_late(void *context, uint32_t number, const volatile int *is_interrupted,
	struct strbuf *answer, struct error *err)
{
	/* The later one fails first. */
	if (number == 12)
		return error_set(err, ERROR_LIMIT, "the later one");
	if (number == 9) {
		sleep_ms(30);
		return error_set(err, ERROR_TARGET, "the first one");
	}
	return work(context, number, is_interrupted, answer, err);
}

static void test_job__fail_with_the_first_by_number(void **unused)
{
	struct office office = {0};
	struct error err;

	(void)unused;
	assert_int_equal(forked_jobs_run(&(struct jobs){.count = FORKED_JOBS,
						 .workers = 5,
						 .context = &office,
						 .work = fail_late,
						 .take = take},
				 &err),
		ERROR_TARGET);
	assert_string_equal(err.text, "the first one");
	assert_int_equal(office.taken_count, 9);
	assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
}

static int die(void *context, uint32_t number, const volatile int *is_interrupted,
	struct strbuf *answer, struct error *err)
{
	if (number == 3)
		(void)raise(SIGKILL);
	return work(context, number, is_interrupted, answer, err);
}

static void test_job__say_that_one_was_killed(void **unused)
{
	struct office office = {0};

	(void)unused;
	assert_int_equal(run(&office, (struct jobs){.workers = 2, .work = die}), ERROR_LIMIT);
	assert_int_equal(office.taken_count, 3);
}

static bool wants_no_message(void *context, uint32_t number, const struct strbuf *answer)
{
	const struct office *office = context;

	(void)answer;
	return office->wants_no_message && number % 5 == 0;
}

/* Takes an answer while no other job runs. */
static int take_alone(
	void *context, uint32_t number, const struct strbuf *answer, struct error *err)
{
	struct office *office = context;

	if (number % 5 == 0)
		office->at_work_beside += waitpid(-1, NULL, WNOHANG) != -1;
	return take(context, number, answer, err);
}

static void test_job__leave_a_taker_alone(void **unused)
{
	struct office office = {.wants_no_message = true};

	(void)unused;
	assert_int_equal(run(&office, (struct jobs){.workers = 4,
					      .take = take_alone,
					      .needs_exclusive_run = wants_no_message}),
		0);
	assert_int_equal(office.at_work_beside, 0);
	assert_int_equal(office.taken_count, FORKED_JOBS);
	for (uint32_t i = 0; i < FORKED_JOBS; i++)
		assert_int_equal(office.taken[i], i);
}

static volatile int is_interrupted;

static int wait_for_the_end(void *context, uint32_t number, const volatile int *interruption,
	struct strbuf *answer, struct error *err)
{
	if (number < 6)
		return work(context, number, interruption, answer, err);
	(void)raise(SIGTERM); /* signals do not reach it */
	while (!*interruption)
		sleep_ms(1);
	return work(context, number, interruption, answer, err);
}

static int fail_when_interrupted(void *context, uint32_t number, const volatile int *interruption,
	struct strbuf *answer, struct error *err)
{
	if (number < 6)
		return work(context, number, interruption, answer, err);
	while (!*interruption)
		sleep_ms(1);
	return error_set(err, ERROR_INTERRUPTED, "interrupted");
}

static int take_and_interrupt(
	void *context, uint32_t number, const struct strbuf *answer, struct error *err)
{
	is_interrupted |= number == 5;
	return take(context, number, answer, err);
}

static void test_job__end_early_when_interrupted(void **unused)
{
	struct office office = {0};

	(void)unused;
	is_interrupted = 0;
	assert_int_equal(run(&office, (struct jobs){.workers = 3,
					      .work = wait_for_the_end,
					      .take = take_and_interrupt,
					      .is_interrupted = &is_interrupted}),
		0);
	/* Those that were under way have been taken, and no more were sent out. */
	assert_true(office.taken_count >= 6);
	assert_true(office.taken_count <= 9);
	assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
}

static void test_job__have_nothing_to_say_when_interrupted(void **unused)
{
	struct office office = {0};

	(void)unused;
	is_interrupted = 0;
	assert_int_equal(run(&office, (struct jobs){.workers = 3,
					      .work = fail_when_interrupted,
					      .take = take_and_interrupt,
					      .is_interrupted = &is_interrupted}),
		0);
	assert_int_equal(office.taken_count, 6);
}

#define LARGE ((size_t)3 << 20)

static int work_much(void *context, uint32_t number, const volatile int *interruption,
	struct strbuf *answer, struct error *err)
{
	char *bytes = calloc(1, LARGE);

	(void)context;
	(void)interruption;
	(void)err;
	assert_non_null(bytes);
	memset(bytes, (int)number + 1, LARGE);
	forked_job_add_text(answer, NULL, 0);
	forked_job_add_text(answer, bytes, LARGE);
	forked_job_add_text(answer, "", 0);
	free(bytes);
	return 0;
}

static int take_much(void *context, uint32_t number, const struct strbuf *answer, struct error *err)
{
	struct forked_job_reading reading = forked_job_read(answer);
	struct office *office = context;
	char *text;
	size_t size;

	(void)err;
	assert_true(forked_job_take_text(&reading, &text, &size));
	assert_null(text);
	assert_true(forked_job_take_text(&reading, &text, &size));
	assert_int_equal(size, LARGE);
	assert_int_equal(text[0], (char)(number + 1));
	assert_int_equal(text[LARGE - 1], (char)(number + 1));
	free(text);
	assert_true(forked_job_take_text(&reading, &text, NULL));
	assert_string_equal(text, "");
	free(text);
	assert_false(forked_job_take_text(&reading, &text, NULL));
	office->taken_count++;
	return FORKED_JOB_TAKEN;
}

static void test_job__bring_long_answers(void **unused)
{
	struct office office = {0};

	(void)unused;
	assert_int_equal(
		run(&office, (struct jobs){.workers = 3, .work = work_much, .take = take_much}), 0);
	assert_int_equal(office.taken_count, FORKED_JOBS);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_job__are_taken_in_order),
		cmocka_unit_test(test_job__are_done_again_with_what_is_known),
		cmocka_unit_test(test_job__end_when_it_is_enough),
		cmocka_unit_test(test_job__fail_with_the_first_by_number),
		cmocka_unit_test(test_job__say_that_one_was_killed),
		cmocka_unit_test(test_job__leave_a_taker_alone),
		cmocka_unit_test(test_job__end_early_when_interrupted),
		cmocka_unit_test(test_job__have_nothing_to_say_when_interrupted),
		cmocka_unit_test(test_job__bring_long_answers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
