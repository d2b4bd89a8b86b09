#include "strategies/replay/replay_preempt.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "strategies/strategy.h"

#define THREADS 3
#define OBJECT 7u
#define OTHER_OBJECT 8u

/* A run of three threads that are always enabled; each step's operation is given. */
struct run {
	struct replay_state *state;
	struct pending_op pending[THREADS];
	thread_name names[THREADS];
	uint8_t flags; /* of the next operations */
	uint64_t enabled[1];
	struct schedule_view view;
};

static void begin(struct run *run, const struct replay_preemption *items, uint32_t count,
	const uint64_t *sites, uint32_t site_count)
{
	memset(run, 0, sizeof *run);
	run->state = calloc(1, replay_state_bytes(0, 0) + replay_preempt_bytes());
	assert_non_null(run->state);
	replay_state_init(run->state, REPLAY_PREEMPT, NULL, 0, NULL, 0);
	replay_state_set_preemptions(run->state, items, count, sites, site_count);
	strategy_replay.begin_run(run->state, 1);
	for (uint32_t i = 0; i < THREADS; i++)
		run->names[i] = 100 + i;
	run->enabled[0] = (1u << THREADS) - 1;
	run->view = (struct schedule_view){.thread_count = THREADS,
		.enabled_count = THREADS,
		.enabled = run->enabled,
		.pending = run->pending,
		.names = run->names};
}

/* All threads have this operation pending; the chosen one performs it. Returns that thread. */
static uint16_t step(struct run *run, uint64_t site, object_name object)
{
	struct thread_id chosen;

	for (uint32_t i = 0; i < THREADS; i++)
		run->pending[i] = (struct pending_op){
			.kind = OP_STORE, .flags = run->flags, .site = site, .object = object};
	chosen = strategy_replay.choose(run->state, &run->view);
	strategy_replay.executed(run->state, &run->view, chosen);
	run->view.current = chosen;
	run->view.step++;
	return chosen.index;
}

static void replay_preempt__runs_another_thread_until_it_used_the_object(void **unused)
{
	const struct replay_preemption item = {
		.site = 40, .number = 2, .turn = 1, .op_count = 2, .step_count = 100};
	struct run run;

	(void)unused;
	begin(&run, &item, 1, NULL, 0);
	assert_int_equal(step(&run, 40, OBJECT), 0); /* the first one at the site */
	assert_int_equal(step(&run, 41, OBJECT), 0);
	assert_int_equal(step(&run, 40, OBJECT), 2); /* the second one: thread 1 is turn 0 */
	assert_int_equal(step(&run, 41, OTHER_OBJECT), 2);
	assert_int_equal(step(&run, 41, OBJECT), 2);
	assert_int_equal(step(&run, 41, OBJECT), 0); /* the preempted thread continues */
	assert_int_equal(step(&run, 41, OBJECT), 0);
	free(run.state);
}

static void replay_preempt__continues_after_some_steps(void **unused)
{
	const struct replay_preemption item = {
		.site = 40, .number = 1, .op_count = 9, .step_count = 3};
	struct run run;

	(void)unused;
	begin(&run, &item, 1, NULL, 0);
	assert_int_equal(step(&run, 40, OBJECT), 1);
	assert_int_equal(step(&run, 41, OTHER_OBJECT), 1);
	assert_int_equal(step(&run, 41, OTHER_OBJECT), 1);
	assert_int_equal(step(&run, 41, OTHER_OBJECT), 0);
	free(run.state);
}

static void replay_preempt__counts_operations_without_locks(void **unused)
{
	const struct replay_preemption item = {
		.site = 40, .number = 2, .op_count = 9, .step_count = 3, .is_open = true};
	struct run run;

	(void)unused;
	begin(&run, &item, 1, NULL, 0);
	run.flags = OP_ACQUIRE | OP_MAYBLOCK;
	assert_int_equal(step(&run, 40, OTHER_OBJECT), 0); /* the first open one: before the lock */
	run.flags = 0;
	assert_int_equal(step(&run, 40, OBJECT), 0);
	run.flags = OP_RELEASE;
	assert_int_equal(step(&run, 41, OTHER_OBJECT), 0);
	run.flags = 0;
	assert_int_equal(step(&run, 40, OBJECT), 1);
	assert_int_equal(replay_preempt(run.state)->performed[0], 3);
	assert_int_equal(replay_preempt(run.state)->open[0], 2);
	free(run.state);
}

static void replay_preempt__waits_for_a_blocked_thread(void **unused)
{
	const struct replay_preemption item = {
		.site = 40, .number = 1, .op_count = 1, .step_count = 1};
	struct run run;

	(void)unused;
	begin(&run, &item, 1, NULL, 0);
	assert_int_equal(step(&run, 40, OBJECT), 1);
	run.enabled[0] = 6; /* not thread 0 */
	run.view.enabled_count = 2;
	assert_int_equal(step(&run, 41, OBJECT), 1);
	run.enabled[0] = 7;
	run.view.enabled_count = 3;
	assert_int_equal(step(&run, 41, OBJECT), 0);
	free(run.state);
}

static void replay_preempt__counts_operations_of_each_run(void **unused)
{
	const uint64_t sites[] = {40, 41};
	struct run run;

	(void)unused;
	begin(&run, NULL, 0, sites, 2);
	for (int again = 0; again < 2; again++) {
		const struct replay_preempt *preempt = replay_preempt(run.state);

		strategy_replay.begin_run(run.state, 1);
		for (uint64_t site = 39; site <= 41; site++)
			for (uint64_t i = 0; i < site - 38; i++)
				assert_int_equal(step(&run, site, OBJECT), 0);
		assert_int_equal(preempt->performed[0], 2);
		assert_int_equal(preempt->performed[1], 3);
	}
	free(run.state);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(replay_preempt__runs_another_thread_until_it_used_the_object),
		cmocka_unit_test(replay_preempt__continues_after_some_steps),
		cmocka_unit_test(replay_preempt__counts_operations_without_locks),
		cmocka_unit_test(replay_preempt__waits_for_a_blocked_thread),
		cmocka_unit_test(replay_preempt__counts_operations_of_each_run),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
