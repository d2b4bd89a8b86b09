#include "investigate/minimise/conflicts.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "strategies/replay.h"
#include "strategies/strategy.h"
#include "support/simulated_program.h"

/* Two waiters that one signal each wakes, two workers on a lock, and variables of all threads. */
static const struct simulated_op main_ops[] = {CREATE(1), CREATE(1), CREATE(2), CREATE(2), LOCK(0),
	SIGNAL(0), UNLOCK(0), ADD(1, 1), LOCK(0), BROADCAST(0), UNLOCK(0), READ(2)};
static const struct simulated_op waiter_ops[] = {LOCK(0), WAIT(0, 0), ADD(0, 1), UNLOCK(0)};
static const struct simulated_op worker_ops[] = {
	LOCK(0), ADD(0, 1), UNLOCK(0), ADVANCE(1, 1), READ(0), ADVANCE(2, 0)};
static const struct simulated_code codes[] = {CODE(main_ops), CODE(waiter_ops), CODE(worker_ops)};
static const struct simulated_program program = {
	.codes = codes, .code_count = 3, .initial_count = 1};

#define SEGMENTS_MAX 256
#define OPS_MAX 256
#define THREADS_MAX 8

struct observed {
	struct schedule *schedule;
	struct simulated_run run;
	struct replay_op ops[OPS_MAX];
	uint32_t op_count, pending_count;
	thread_name names[THREADS_MAX];
};

static void note_names(void *context, const struct schedule_view *view, struct thread_id chosen)
{
	struct observed *observed = context;

	(void)chosen;
	memcpy(observed->names, view->names, view->thread_count * sizeof *view->names);
}

static struct replay_state *plan(enum replay_mode mode, const struct schedule *schedule,
	const struct replay_order *orders, uint32_t order_count, uint32_t op_capacity)
{
	struct replay_state *state =
		calloc(1, replay_state_bytes(schedule->count, 0) + sizeof(uint64_t) +
				  replay_orders_bytes(order_count, op_capacity));

	assert_non_null(state);
	replay_state_init(state, mode, schedule->segments, schedule->count, NULL, 0);
	replay_state_set_orders(state, orders, order_count, op_capacity);
	return state;
}

static void follow(struct replay_state *state, struct observed *observed)
{
	observed->run = (struct simulated_run){.program = &program,
		.strategy = &strategy_replay,
		.state = state,
		.observe = note_names,
		.context = observed};
	simulated_run(&observed->run);
	assert_false(observed->run.has_false_choice);
}

/* A random run, observed in its repetition. */
static void observe(struct observed *observed, uint64_t seed)
{
	struct simulated_campaign campaign;
	struct replay_state *state;

	memset(observed, 0, sizeof *observed);
	observed->schedule = calloc(
		1, sizeof *observed->schedule + SEGMENTS_MAX * sizeof(struct schedule_segment));
	assert_non_null(observed->schedule);
	observed->schedule->capacity = SEGMENTS_MAX;
	simulated_campaign_init(&campaign, &program, &strategy_random, 0, seed);
	campaign.run.recording = observed->schedule;
	(void)simulated_campaign_run(&campaign); /* any result is observed */
	simulated_campaign_release(&campaign);
	state = plan(REPLAY_OBSERVE, observed->schedule, NULL, 0, OPS_MAX);
	follow(state, observed);
	assert_false(replay_orders(state)->is_full);
	observed->op_count = replay_orders(state)->op_count;
	observed->pending_count = replay_orders(state)->pending_count;
	memcpy(observed->ops, replay_orders_ops(replay_orders(state)), sizeof observed->ops);
	free(state);
}

static uint32_t count_broken(struct replay_state *state)
{
	const struct replay_orders *orders = replay_orders(state);
	uint32_t broken = 0;

	for (uint32_t i = 0; i < orders->order_count; i++)
		broken += orders->orders[i].is_broken;
	return broken;
}

/* All orders of a run lead to an equivalent run; without them, most runs break some. */
static void test_conflicts__lead_to_an_equivalent_run(void **unused)
{
	uint32_t broken = 0, deadlocks = 0;

	(void)unused;
	for (uint64_t seed = 0; seed < 200; seed++) {
		struct observed observed, again = {0};
		struct replay_order *orders;
		struct replay_state *state;
		uint32_t count;

		observe(&observed, seed);
		orders = conflicts_collect(observed.ops, observed.op_count, observed.pending_count,
			observed.names, observed.run.thread_count, &count);
		for (uint32_t i = 0; i < count; i++)
			orders[i].is_enforced = true;
		state = plan(REPLAY_ORDERS, observed.schedule, orders, count, 0);
		follow(state, &again);
		assert_int_equal(count_broken(state), 0);
		assert_int_equal(again.run.outcome, observed.run.outcome);
		assert_int_equal(again.run.step_count, observed.run.step_count);
		assert_true(again.run.preemption_count <= observed.run.preemption_count);
		deadlocks += again.run.outcome == OUTCOME_DEADLOCK;
		free(state);
		for (uint32_t i = 0; i < count; i++)
			orders[i].is_enforced = false;
		state = plan(REPLAY_ORDERS, observed.schedule, orders, count, 0);
		follow(state, &again);
		broken += count_broken(state) > 0;
		free(state);
		free(orders);
		free(observed.schedule);
	}
	assert_true(broken > 150);
	assert_in_range(deadlocks, 1, 199);
}

/* Contradictory orders: one of them is broken, and the run reaches its end. */
static void test_orders__do_not_stop_a_run(void **unused)
{
	struct observed observed, again = {0};
	struct replay_order orders[2];
	struct replay_state *state;

	(void)unused;
	observe(&observed, 1);
	/* The first changes of variable 0's lock by the two workers. */
	orders[0] = (struct replay_order){.object = 0,
		.first = observed.names[3],
		.second = observed.names[4],
		.first_number = 1,
		.second_number = 1,
		.is_enforced = true};
	for (uint32_t i = 0; i < observed.op_count && !orders[0].object; i++)
		if (observed.ops[i].thread == 4 && i &&
			observed.ops[i].object != observed.ops[0].object)
			orders[0].object = observed.ops[i].object;
	assert_true(orders[0].object != 0);
	orders[1] = orders[0];
	orders[1].first = observed.names[4];
	orders[1].second = observed.names[3];
	state = plan(REPLAY_ORDERS, observed.schedule, orders, 2, 0);
	follow(state, &again);
	assert_int_equal(count_broken(state), 1);
	free(state);
	free(observed.schedule);
}

#define FEW_OPS 8u

/* Of a run that is longer than the table, the last operations are kept, or the first ones. All have the
 * numbers that they have in the whole run. */
static void test_orders__keep_the_end_or_the_beginning_of_a_long_run(void **unused)
{
	struct observed observed, again;

	(void)unused;
	observe(&observed, 3);
	assert_true(observed.op_count > 2 * FEW_OPS);
	for (int keeps_first = 0; keeps_first < 2; keeps_first++) {
		struct replay_state *state =
			plan(REPLAY_OBSERVE, observed.schedule, NULL, 0, FEW_OPS);
		struct replay_orders *orders = replay_orders(state);

		orders->keeps_first = keeps_first;
		follow(state, &again);
		assert_int_equal(orders->op_count, keeps_first ? FEW_OPS : observed.op_count);
		for (uint32_t i = 0; i < FEW_OPS; i++) {
			const uint32_t at = orders->op_count - FEW_OPS + i;
			const struct replay_op *op = &replay_orders_ops(orders)[at % FEW_OPS];

			assert_int_equal(op->object, observed.ops[at].object);
			assert_int_equal(op->number, observed.ops[at].number);
			assert_int_equal(op->thread, observed.ops[at].thread);
		}
		free(state);
	}
	free(observed.schedule);
}

/* The operations of the watched threads and objects have the numbers of the whole run. */
static void test_orders__of_watched_objects_have_their_numbers(void **unused)
{
	struct observed observed, again;
	struct replay_watch *watched;
	struct replay_orders *orders;
	struct replay_state *state;
	uint32_t count, kept = 0;

	(void)unused;
	observe(&observed, 3);
	watched = conflicts_watch(
		observed.ops, observed.op_count, observed.names, observed.run.thread_count, &count);
	assert_true(count > 2);
	state = plan(REPLAY_OBSERVE, observed.schedule, NULL, 0, OPS_MAX);
	orders = replay_orders(state);
	for (uint32_t i = count / 2; i < count; i++)
		assert_true(replay_state_watch(state, &watched[i]));
	follow(state, &again);
	assert_false(orders->is_full);
	for (uint32_t i = 0; i < observed.op_count; i++) {
		const struct replay_op *all = &observed.ops[i],
				       *one = &replay_orders_ops(orders)[kept];
		bool is_watched = false;

		for (uint32_t j = count / 2; j < count; j++)
			is_watched |= watched[j].object == all->object &&
				      watched[j].thread == observed.names[all->thread];
		if (!is_watched)
			continue;
		assert_true(kept < orders->op_count);
		assert_int_equal(one->object, all->object);
		assert_int_equal(one->number, all->number);
		assert_int_equal(one->thread, all->thread);
		kept++;
	}
	assert_int_equal(kept, orders->op_count);
	assert_true(kept < observed.op_count);
	free(state);
	free(watched);
	free(observed.schedule);
}

#define A 0
#define B 1
#define C 2
static const thread_name abc[] = {10, 11, 12};

static void assert_order(const struct replay_order *order, unsigned first, uint32_t first_number,
	unsigned second, uint32_t second_number)
{
	assert_int_equal(order->first, abc[first]);
	assert_int_equal(order->first_number, first_number);
	assert_int_equal(order->second, abc[second]);
	assert_int_equal(order->second_number, second_number);
}

/* Objects of one thread, and those that nobody writes, do not conflict. */
static void test_conflicts__watch_what_two_threads_change(void **unused)
{
	static const struct replay_op ops[] = {{.object = 7, .thread = A},
		{.object = 9, .thread = A, .is_read = true},
		{.object = 9, .thread = B, .is_read = true}, {.object = 8, .thread = B},
		{.object = 6, .thread = C}, {.object = 8, .thread = C, .is_read = true},
		{.object = 7, .thread = B, .is_read = true}, {.object = 7, .thread = A}};
	static const struct replay_watch expected[] = {{11, 8}, {12, 8}, {11, 7}, {10, 7}};
	uint32_t count;
	struct replay_watch *watched = conflicts_watch(ops, 8, abc, 3, &count);

	(void)unused;
	assert_int_equal(count, 4);
	for (uint32_t i = 0; i < count; i++) {
		assert_int_equal(watched[i].thread, expected[i].thread);
		assert_int_equal(watched[i].object, expected[i].object);
	}
	free(watched);
}

/* Two reads commute, and a second read by B follows from the first. */
static void test_conflicts__are_those_that_do_not_follow_from_others(void **unused)
{
	static const struct replay_op ops[] = {{.object = 7, .number = 1, .thread = A},
		{.object = 7, .number = 1, .thread = B, .is_read = true},
		{.object = 7, .number = 2, .thread = B, .is_read = true},
		{.object = 7, .number = 1, .thread = C, .is_read = true},
		{.object = 7, .number = 2, .thread = A}};
	uint32_t count;
	struct replay_order *orders = conflicts_collect(ops, 5, 0, abc, 3, &count);

	(void)unused;
	assert_true(count >= 4);
	assert_order(&orders[0], A, 1, B, 1);
	assert_order(&orders[1], A, 1, C, 1);
	/* The entries of an object are in the order of its latest new thread. */
	assert_order(&orders[2], C, 1, A, 2);
	assert_order(&orders[3], B, 2, A, 2);
	free(orders);
}

static bool has_order(const struct replay_order *orders, uint32_t count, unsigned first,
	uint32_t first_number, unsigned second, uint32_t second_number)
{
	for (uint32_t i = 0; i < count; i++)
		if (orders[i].first == abc[first] && orders[i].first_number == first_number &&
			orders[i].second == abc[second] && orders[i].second_number == second_number)
			return true;
	return false;
}

/* A lock taken many times decides less than a variable with one conflict. */
static void test_conflicts__put_rare_objects_last(void **unused)
{
	struct replay_op ops[42];
	struct replay_order *orders;
	uint32_t count;

	(void)unused;
	ops[0] = (struct replay_op){.object = 5, .number = 1, .thread = A};
	ops[1] = (struct replay_op){.object = 5, .number = 1, .thread = B};
	for (uint32_t i = 0; i < 40; i++)
		ops[2 + i] = (struct replay_op){
			.object = 7, .number = 1 + i / 2, .thread = i % 2 ? B : A};
	orders = conflicts_collect(ops, 42, 0, abc, 3, &count);
	assert_true(count > 39);
	assert_int_equal(orders[count - 1].object, 5);
	assert_int_equal(orders[0].object, 7);
	assert_order(&orders[0], A, 1, B, 1);
	free(orders);
}

/* What did not happen comes after what happened. Pending operations have no order of their own. */
static void test_conflicts__include_what_did_not_happen(void **unused)
{
	static const struct replay_op ops[] = {{.object = 7, .number = 1, .thread = A},
		{.object = 9, .number = 1, .thread = A, .is_read = true},
		{.object = 8, .number = 1, .thread = B}, {.object = 8, .number = 1, .thread = A},
		{.object = 7, .number = 1, .thread = B}, {.object = 7, .number = 1, .thread = C}};
	uint32_t count;
	struct replay_order *orders = conflicts_collect(ops, 6, 3, abc, 3, &count);

	(void)unused;
	assert_int_equal(count, 4);			   /* nobody writes object 9 */
	assert_true(has_order(orders, count, B, 1, A, 1)); /* pending at object 8 */
	assert_true(has_order(orders, count, A, 1, B, 1)); /* pending at object 7 */
	assert_true(has_order(orders, count, A, 1, C, 1));
	assert_true(has_order(orders, count, B, 1, C, 1)); /* C may access object 8 later */
	free(orders);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_conflicts__lead_to_an_equivalent_run),
		cmocka_unit_test(test_orders__do_not_stop_a_run),
		cmocka_unit_test(test_orders__keep_the_end_or_the_beginning_of_a_long_run),
		cmocka_unit_test(test_orders__of_watched_objects_have_their_numbers),
		cmocka_unit_test(test_conflicts__watch_what_two_threads_change),
		cmocka_unit_test(test_conflicts__are_those_that_do_not_follow_from_others),
		cmocka_unit_test(test_conflicts__put_rare_objects_last),
		cmocka_unit_test(test_conflicts__include_what_did_not_happen),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
