#include "strategies/replay/replay.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "model/thread_name.h"
#include "strategies/strategy.h"
#include "support/simulated_program.h"

/* Two waiters that one signal each wakes (a value choice), and two workers on a lock. */
static const struct simulated_op main_ops[] = {CREATE(1), CREATE(1), CREATE(2), CREATE(2), LOCK(0),
	SIGNAL(0), UNLOCK(0), ADD(1, 1), LOCK(0), BROADCAST(0), UNLOCK(0)};
static const struct simulated_op waiter_ops[] = {LOCK(0), WAIT(0, 0), ADD(0, 1), UNLOCK(0)};
static const struct simulated_op worker_ops[] = {LOCK(0), ADD(0, 1), UNLOCK(0), ADD(1, 1), READ(0)};
static const struct simulated_code codes[] = {CODE(main_ops), CODE(waiter_ops), CODE(worker_ops)};
static const struct simulated_program program = {
	.codes = codes, .code_count = 3, .initial_count = 1};

#define SEGMENTS_MAX 256
#define STEPS_MAX 256

/* A random run. */
struct recording {
	struct simulated_run run;
	struct schedule *schedule;
};

static void record(struct recording *recording, uint64_t seed)
{
	struct simulated_campaign campaign;

	memset(recording, 0, sizeof *recording);
	recording->schedule = calloc(
		1, sizeof *recording->schedule + SEGMENTS_MAX * sizeof(struct schedule_segment));
	assert_non_null(recording->schedule);
	recording->schedule->capacity = SEGMENTS_MAX;
	simulated_campaign_init(&campaign, &program, &strategy_random, 0, seed);
	campaign.run.recording = recording->schedule;
	(void)simulated_campaign_run(&campaign); /* any result is followed */
	assert_false(recording->schedule->is_truncated);
	recording->run = campaign.run;
	simulated_campaign_release(&campaign);
}

static struct replay_state *plan(enum replay_mode mode, const struct schedule *schedule,
	const struct replay_fall *falls, uint32_t fall_count)
{
	struct replay_state *state = calloc(1, replay_state_bytes(schedule->count, fall_count));

	assert_non_null(state);
	replay_state_init(state, mode, schedule->segments, schedule->count, falls, fall_count);
	return state;
}

static struct simulated_run follow(struct replay_state *state)
{
	struct simulated_run run = {
		.program = &program, .strategy = &strategy_replay, .state = state, .seed = 99};

	simulated_run(&run);
	assert_false(run.has_false_choice);
	return run;
}

static void replay__repeats_a_recorded_run_exactly(void **unused)
{
	(void)unused;
	for (uint64_t seed = 0; seed < 200; seed++) {
		struct recording recording;
		struct replay_state *state;
		struct simulated_run run;

		record(&recording, seed);
		state = plan(REPLAY_EXACT, recording.schedule, NULL, 0);
		for (int again = 0; again < 2; again++) {
			run = follow(state);
			assert_int_equal(state->diverged, 0);
			assert_int_equal(run.order_hash, recording.run.order_hash);
			assert_int_equal(run.outcome, recording.run.outcome);
		}
		free(state);
		free(recording.schedule);
	}
}

static void replay__follows_names_where_segments_speak_of_them(void **unused)
{
	/* Names in an order that no run has: segment indices are turned around accordingly. */
	thread_name names[5];
	struct recording recording;
	struct replay_state *state;
	struct simulated_run run;

	(void)unused;
	names[4] = THREAD_NAME_MAIN;
	for (uint32_t i = 0; i < 4; i++)
		names[3 - i] = thread_name_child(THREAD_NAME_MAIN, i);
	record(&recording, 4);
	for (uint32_t i = 0; i < recording.schedule->count; i++) {
		struct schedule_segment *segment = &recording.schedule->segments[i];

		if (!(segment->flags & SEGMENT_VALUE))
			segment->thread = 4 - segment->thread;
	}
	state = plan(REPLAY_EXACT, recording.schedule, NULL, 0);
	replay_state_set_names(state, names, 5);
	run = follow(state);
	assert_int_equal(state->diverged, 0);
	assert_int_equal(run.order_hash, recording.run.order_hash);
	free(state);
	free(recording.schedule);
}

static void replay__says_where_a_schedule_does_not_fit(void **unused)
{
	struct recording recording;
	struct replay_state *state;
	uint64_t step = 0;
	uint32_t broken = 0;

	(void)unused;
	record(&recording, 1);
	while (broken < 3 || recording.schedule->segments[broken].flags & SEGMENT_VALUE) {
		if (!(recording.schedule->segments[broken].flags & SEGMENT_VALUE))
			step += recording.schedule->segments[broken].count;
		broken++;
	}
	recording.schedule->segments[broken].thread = 77; /* this thread does not exist */
	state = plan(REPLAY_EXACT, recording.schedule, NULL, 0);
	(void)follow(state); /* carried to its end without preemptions */
	assert_int_equal(state->diverged, 1);
	assert_int_equal(state->diverged_step, step);
	free(state);
	free(recording.schedule);
}

static void replay__takes_a_wrong_value_for_a_misfit(void **unused)
{
	(void)unused;
	for (uint64_t seed = 0; seed < 100; seed++) {
		struct recording recording;
		struct replay_state *state;
		uint32_t values = 0;

		record(&recording, seed);
		for (uint32_t i = 0; i < recording.schedule->count; i++) {
			if (!(recording.schedule->segments[i].flags & SEGMENT_VALUE))
				continue;
			/* the recorded choice had more possibilities */
			recording.schedule->segments[i].count++;
			values++;
		}
		state = plan(REPLAY_EXACT, recording.schedule, NULL, 0);
		(void)follow(state); /* the misfit alone counts */
		assert_int_equal(state->diverged, values > 0);
		free(state);
		free(recording.schedule);
	}
}

/* Takes the value choices out; false: one of them was not the first possibility. */
static bool drop_values(struct schedule *schedule)
{
	uint32_t kept = 0;

	for (uint32_t i = 0; i < schedule->count; i++) {
		if (!(schedule->segments[i].flags & SEGMENT_VALUE))
			schedule->segments[kept++] = schedule->segments[i];
		else if (schedule->segments[i].thread)
			return false;
	}
	schedule->count = kept;
	return true;
}

static void replay__takes_the_first_possibility_where_few_values_are_told(void **unused)
{
	uint32_t dropped = 0;

	(void)unused;
	for (uint64_t seed = 0; seed < 100; seed++) {
		struct recording recording;
		uint32_t count;

		record(&recording, seed);
		count = recording.schedule->count;
		if (drop_values(recording.schedule) && count != recording.schedule->count) {
			struct replay_state *state =
				plan(REPLAY_EXACT, recording.schedule, NULL, 0);

			replay_state_set_few_values(state);
			assert_int_equal(follow(state).order_hash, recording.run.order_hash);
			assert_int_equal(state->diverged, 0);
			free(state);
			dropped++;
		}
		free(recording.schedule);
	}
	assert_true(dropped > 0);
}

static void replay__skips_steps_of_threads_that_are_not_enabled(void **unused)
{
	for (uint64_t seed = 0; seed < 100; seed++) {
		struct recording recording;
		struct replay_state *state;
		struct schedule *schedule;

		record(&recording, seed);
		schedule = recording.schedule;
		assert_true(schedule->count < schedule->capacity);
		memmove(&schedule->segments[3], &schedule->segments[2],
			(schedule->count++ - 2) * sizeof *schedule->segments);
		schedule->segments[2] = (struct schedule_segment){.thread = 77, .count = 5};
		state = plan(REPLAY_EXACT, schedule, NULL, 0);
		state->skips_disabled = true;
		assert_int_equal(follow(state).order_hash, recording.run.order_hash);
		assert_int_equal(state->diverged, 0);
		free(state);
		free(schedule);
	}
	(void)unused;
}

static void replay__continues_without_preemptions_after_a_prefix(void **unused)
{
	struct recording recording;
	struct replay_state *state;
	struct simulated_run run;

	(void)unused;
	record(&recording, 3);
	recording.schedule->count = 0;
	state = plan(REPLAY_EXACT, recording.schedule, NULL, 0);
	run = follow(state);
	assert_int_equal(state->diverged, 0);
	assert_int_equal(run.preemption_count, 0);
	free(state);
	free(recording.schedule);
}

static const thread_name *all_names(void)
{
	static thread_name names[5] = {THREAD_NAME_MAIN};

	for (uint32_t i = 0; i < 4; i++)
		names[i + 1] = thread_name_child(THREAD_NAME_MAIN, i);
	return names;
}

/* The falls that the recorded run needs; returns how many of `falls` there are. */
static uint32_t record_falls(const struct recording *recording, struct replay_fall *falls)
{
	struct replay_state *state = plan(REPLAY_RECORD, recording->schedule, falls, STEPS_MAX);
	uint32_t count;

	replay_state_set_names(state, all_names(), 5);
	assert_int_equal(follow(state).order_hash, recording->run.order_hash);
	assert_int_equal(state->diverged, 0);
	count = state->falls_used;
	memcpy(falls, replay_falls(state), count * sizeof *falls);
	free(state);
	return count;
}

static void replay__makes_a_run_again_by_priorities_that_fall(void **unused)
{
	uint32_t differ = 0;

	(void)unused;
	for (uint64_t seed = 0; seed < 200; seed++) {
		struct replay_fall falls[STEPS_MAX] = {0};
		struct recording recording;
		uint32_t count;

		record(&recording, seed);
		count = record_falls(&recording, falls);
		for (uint32_t kept = count;; kept = 0) {
			struct replay_state *state =
				plan(REPLAY_PRIORITY, recording.schedule, falls, kept);
			struct simulated_run run;

			replay_state_set_names(state, all_names(), 5);
			run = follow(state);
			if (!kept) {
				differ += run.order_hash != recording.run.order_hash;
			} else {
				assert_int_equal(run.order_hash, recording.run.order_hash);
				assert_int_equal(state->falls_used, count);
			}
			free(state);
			if (!kept)
				break;
		}
		free(recording.schedule);
	}
	assert_true(differ > 100); /* without the falls, most runs differ */
}

static void replay__says_when_there_is_no_room_for_falls(void **unused)
{
	struct replay_fall room = {0};
	struct recording recording;
	struct replay_state *state;

	(void)unused;
	record(&recording, 3);
	state = plan(REPLAY_RECORD, recording.schedule, &room, 1);
	replay_state_set_names(state, all_names(), 5);
	(void)follow(state);
	assert_int_equal(state->diverged, 1);
	assert_int_equal(state->falls_used, 1);
	free(state);
	free(recording.schedule);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(replay__makes_a_run_again_by_priorities_that_fall),
		cmocka_unit_test(replay__says_when_there_is_no_room_for_falls),
		cmocka_unit_test(replay__repeats_a_recorded_run_exactly),
		cmocka_unit_test(replay__follows_names_where_segments_speak_of_them),
		cmocka_unit_test(replay__says_where_a_schedule_does_not_fit),
		cmocka_unit_test(replay__takes_a_wrong_value_for_a_misfit),
		cmocka_unit_test(replay__takes_the_first_possibility_where_few_values_are_told),
		cmocka_unit_test(replay__skips_steps_of_threads_that_are_not_enabled),
		cmocka_unit_test(replay__continues_without_preemptions_after_a_prefix),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
