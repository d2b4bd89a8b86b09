/* Orders that strategy `directed` forces and forbids, on simulated programs. */
#include "strategies/directed/directed_order.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "model/thread_name.h"
#include "strategies/directed/directed.h"
#include "strategies/strategy.h"
#include "support/simulated_program.h"

#define RUNS 200
#define SOME LOCK(9), UNLOCK(9), LOCK(9), UNLOCK(9), LOCK(9), UNLOCK(9)

#define PROGRAM(name, one, other)                                                                  \
	static const struct simulated_code name##_codes[] = {CODE(one), CODE(other)};              \
	static const struct simulated_program name = {                                             \
		.codes = name##_codes, .code_count = 2, .initial_count = 2}

static struct directed_access access_at(
	const struct simulated_op *op, uint8_t party, uint8_t variable)
{
	return (struct directed_access){.sites = {(uint64_t)(uintptr_t)op},
		.site_count = 1,
		.party = party,
		.variable = variable};
}

/* How many of RUNS end like this; `order` NULL: left to chance. */
static uint64_t count(const struct simulated_program *program, const struct directed_order *order,
	bool is_forbidden, enum outcome_kind outcome)
{
	struct simulated_campaign campaign;
	uint64_t found;

	simulated_campaign_init(&campaign, program, &strategy_directed, 0, 1);
	if (order) {
		struct directed_order copy = *order;

		copy.is_forbidden = is_forbidden;
		directed_state_set_orders(campaign.state, &copy, 1);
	}
	found = simulated_campaign_count(&campaign, RUNS, outcome);
	simulated_campaign_release(&campaign);
	return found;
}

/* ---- W1-R2: the reader fails when the writer was first ---- */

static const struct simulated_op writer[] = {SOME, SET(0, 1), SOME};
static const struct simulated_op reader[] = {SOME, EXPECT(0, 0), SOME};
PROGRAM(written_first, writer, reader);

static void test_order__of_two_accesses(void **state)
{
	const struct directed_order order = {
		.access_count = 2,
		.accesses = {access_at(&writer[6], 0, 0), access_at(&reader[6], 1, 0)},
	};

	(void)state;
	assert_in_range(count(&written_first, NULL, false, OUTCOME_ABORT), 1, RUNS - 1);
	assert_int_equal(count(&written_first, &order, false, OUTCOME_ABORT), RUNS);
	assert_int_equal(count(&written_first, &order, true, OUTCOME_ABORT), 0);
	assert_int_equal(count(&written_first, &order, true, OUTCOME_PASSED), RUNS);
}

/* ---- W1-W2-R1: a thread does not find what it has written ---- */

static const struct simulated_op updater[] = {SOME, SOME, SET(0, 1), EXPECT(0, 1), SOME, SOME};
static const struct simulated_op intruder[] = {SOME, SOME, SET(0, 2), SOME, SOME};
PROGRAM(update, updater, intruder);

static void test_order__of_three_accesses(void **state)
{
	const struct directed_order order = {
		.access_count = 3,
		.accesses = {access_at(&updater[12], 0, 0), access_at(&intruder[12], 1, 0),
			access_at(&updater[13], 0, 0)},
	};

	(void)state;
	/* Half of the runs let the only chance pass: fewer than 60 would have a chance below 1e-8. */
	assert_in_range(count(&update, &order, false, OUTCOME_ABORT), 60, RUNS);
	/* The control: left to chance, these are few. */
	assert_in_range(count(&update, NULL, false, OUTCOME_ABORT), 0, 40);
	assert_int_equal(count(&update, &order, true, OUTCOME_PASSED), RUNS);
}

/* ---- W1-W2-R1 of two threads at the same stops, of whom only one minds being interrupted ---- */

static const struct simulated_op minds[] = {SOME, SET(0, 1), EXPECT(0, 1), SOME};
static const struct simulated_op does_not[] = {SOME, SET(0, 2), READ(0), SOME};
PROGRAM(similar, minds, does_not);

static struct directed_access either_access(unsigned op, uint8_t party)
{
	return (struct directed_access){
		.sites = {(uint64_t)(uintptr_t)&minds[op], (uint64_t)(uintptr_t)&does_not[op]},
		.site_count = 2,
		.party = party};
}

static void test_order__between_chosen_threads(void **state)
{
	struct directed_order order = {
		.access_count = 3,
		.accesses = {either_access(6, 0), either_access(6, 1), either_access(7, 0)},
	};
	uint64_t between_any;

	(void)state;
	between_any = count(&similar, &order, false, OUTCOME_ABORT);
	order.names[0] = THREAD_NAME_MAIN;
	order.names[1] = thread_name_child(THREAD_NAME_MAIN, 0);
	/* Three quarters of the runs take the only chance, and fail; between any threads half of these. */
	assert_in_range(count(&similar, &order, false, OUTCOME_ABORT), 115, RUNS);
	assert_in_range(between_any, 1, 114);
	order.names[0] = thread_name_child(THREAD_NAME_MAIN, 0);
	order.names[1] = THREAD_NAME_MAIN;
	assert_in_range(count(&similar, &order, false, OUTCOME_ABORT), 0, 30);
}

/* ---- W1-W2-R1 at stops where a thread accesses another variable first, more often than is
 * skipped ---- */

#define ELSEWHERE SET(1, 1), EXPECT(1, 1)

static const struct simulated_op walker[] = {ELSEWHERE, ELSEWHERE, ELSEWHERE, ELSEWHERE, ELSEWHERE,
	ELSEWHERE, ELSEWHERE, SET(0, 1), EXPECT(0, 1), SOME, SOME};
static const struct simulated_op passer[] = {SOME, SOME, SOME, SET(0, 2), SOME, SOME, SOME};
PROGRAM(homes, walker, passer);

static void test_order__at_its_object(void **state)
{
	struct directed_order order = {
		.access_count = 3,
		.accesses = {{.site_count = 8}, access_at(&passer[18], 1, 0), {.site_count = 8}},
	};

	(void)state;
	for (unsigned i = 0; i < 8; i++) {
		order.accesses[0].sites[i] = (uint64_t)(uintptr_t)&walker[2 * i];
		order.accesses[2].sites[i] = (uint64_t)(uintptr_t)&walker[2 * i + 1];
	}
	assert_in_range(count(&homes, &order, false, OUTCOME_ABORT), 0, 10);
	order.homes[0] = simulated_object_name(SIMULATED_SET, 0);
	/* A quarter of the runs at least: fewer than 20 would have a chance below 1e-6. */
	assert_in_range(count(&homes, &order, false, OUTCOME_ABORT), 20, RUNS);
}

/* ---- W1x-R2x-R2y-W1y: two variables are seen half-way done ---- */

static const struct simulated_op mover[] = {SOME, SET(0, 1), SET(1, 1), SOME};
static const struct simulated_op looker[] = {SOME, READ(0), READ(1), SOME};
PROGRAM(move, mover, looker);

static uint64_t half_way;

static void look(void *context, const struct schedule_view *view, struct thread_id chosen)
{
	static unsigned stop;
	const uint64_t site = view->pending[chosen.index].site;
	const struct simulated_op *const expected[] = {
		&mover[6], &looker[6], &looker[7], &mover[7]};

	(void)context;
	if (view->step == 0)
		stop = 0;
	if (site == (uint64_t)(uintptr_t)expected[stop])
		stop++;
	else if (site == (uint64_t)(uintptr_t)expected[3])
		stop = 0;
	if (stop == 4) {
		half_way++;
		stop = 0;
	}
}

static uint64_t count_half_way(const struct directed_order *order, bool is_forbidden)
{
	struct directed_order copy = *order;
	struct simulated_campaign campaign;

	half_way = 0;
	copy.is_forbidden = is_forbidden;
	simulated_campaign_init(&campaign, &move, &strategy_directed, 0, 1);
	directed_state_set_orders(campaign.state, &copy, 1);
	campaign.run.observe = look;
	assert_int_equal(simulated_campaign_count(&campaign, RUNS, OUTCOME_PASSED), RUNS);
	simulated_campaign_release(&campaign);
	return half_way;
}

static void test_order__of_two_variables(void **state)
{
	const struct directed_order order = {
		.access_count = 4,
		.accesses = {access_at(&mover[6], 0, 0), access_at(&looker[6], 1, 0),
			access_at(&looker[7], 1, 1), access_at(&mover[7], 0, 1)},
	};

	(void)state;
	assert_in_range(count_half_way(&order, false), 60, RUNS);
	assert_int_equal(count_half_way(&order, true), 0);
}

/* ---- orders that are not possible ---- */

static const struct simulated_op locked_updater[] = {
	SOME, LOCK(1), SET(0, 1), EXPECT(0, 1), UNLOCK(1)};
static const struct simulated_op locked_intruder[] = {SOME, LOCK(1), SET(0, 2), UNLOCK(1)};
PROGRAM(locked, locked_updater, locked_intruder);

static void test_order__that_cannot_be_had_blocks_nobody(void **state)
{
	const struct directed_order order = {
		.access_count = 3,
		.accesses = {access_at(&locked_updater[7], 0, 0),
			access_at(&locked_intruder[7], 1, 0), access_at(&locked_updater[8], 0, 0)},
	};

	(void)state;
	assert_int_equal(count(&locked, &order, false, OUTCOME_PASSED), RUNS);
	assert_int_equal(count(&locked, &order, true, OUTCOME_PASSED), RUNS);
}

/* The atomic part begins before a lock that the other thread may hold then. */
static const struct simulated_op early_updater[] = {
	SOME, SET(0, 1), LOCK(1), EXPECT(0, 1), UNLOCK(1), SOME};
static const struct simulated_op early_intruder[] = {SOME, LOCK(1), SET(0, 2), UNLOCK(1), SOME};
PROGRAM(half_locked, early_updater, early_intruder);

static void test_order__learns_which_locks_prevent_it(void **state)
{
	const struct directed_order order = {
		.access_count = 3,
		.accesses = {access_at(&early_updater[6], 0, 0),
			access_at(&early_intruder[7], 1, 0), access_at(&early_updater[8], 0, 0)},
	};
	const uint64_t by_chance = count(&half_locked, NULL, false, OUTCOME_ABORT);

	(void)state;
	assert_in_range(by_chance, 20, RUNS);
	/* The first run that stood still has taught it. */
	assert_in_range(count(&half_locked, &order, true, OUTCOME_ABORT), 0, 2);
	assert_in_range(count(&half_locked, &order, true, OUTCOME_PASSED), RUNS - 2, RUNS);
}

/* ---- W1-W2-W1 of a lock: a loop acquires it at one stop, and another thread comes between ---- */

static const struct simulated_op looper[] = {SOME, LOCK(1), ADD(0, 1), UNLOCK(1)};
static const struct simulated_op between[] = {SOME, LOCK(1), REFUSE(0, 1), UNLOCK(1)};
static const struct simulated_code loop_codes[] = {CODE_REPEATED(looper, 2), CODE(between)};
static const struct simulated_program loop = {
	.codes = loop_codes, .code_count = 2, .initial_count = 2};

static void test_order__of_a_lock_lets_threads_release_it(void **state)
{
	const struct directed_order order = {
		.access_count = 3,
		.accesses = {access_at(&looper[6], 0, 0), access_at(&between[6], 1, 0),
			access_at(&looper[6], 0, 0)},
	};

	(void)state;
	/* Half of the runs skip the only opportunity. Fewer than 60 of 200 have a probability below 1e-8. */
	assert_in_range(count(&loop, &order, false, OUTCOME_ABORT), 60, RUNS);
	assert_int_equal(count(&loop, &order, true, OUTCOME_PASSED), RUNS);
}

/* Both threads are both parties: each between its accesses must not wait for the other for ever. */
static const struct simulated_op same[] = {SOME, READ(0), SET(0, 1), READ(0), SET(0, 1), SOME};
static const struct simulated_code same_codes[] = {CODE(same)};

static void test_order__of_threads_that_do_the_same(void **state)
{
	const struct simulated_op twice[] = {CREATE(1), CREATE(1), JOIN(0), JOIN(1)};
	const struct simulated_code codes[] = {CODE(twice), same_codes[0]};
	const struct simulated_program program = {
		.codes = codes, .code_count = 2, .initial_count = 1};
	const struct directed_order order = {
		.access_count = 3,
		.accesses = {access_at(&same[6], 0, 0), access_at(&same[7], 1, 0),
			access_at(&same[7], 0, 0)},
		.is_forbidden = true,
	};
	struct simulated_campaign campaign;
	const struct directed_state *directed;

	(void)state;
	simulated_campaign_init(&campaign, &program, &strategy_directed, 0, 1);
	directed_state_set_orders(campaign.state, &order, 1);
	directed = campaign.state;
	assert_int_equal(simulated_campaign_count(&campaign, RUNS, OUTCOME_PASSED), RUNS);
	assert_int_equal(directed->thrashes, 0);
	simulated_campaign_release(&campaign);
}

/* A thread that reads again after waiting has begun no order: the thread that it waits for must be
 * able to begin. */
static void test_order__is_void_for_who_looks_again(void **state)
{
	const uint64_t enabled[1] = {3};
	const thread_name names[2] = {1, 2};
	const object_name object = simulated_object_name(SIMULATED_SET, 0);
	const struct pending_op looks = {
		.kind = OP_LOAD, .flags = OP_READ, .object = object, .site = 1};
	const struct pending_op enters = {.kind = OP_STORE, .object = object, .site = 2};
	struct pending_op pending[2] = {looks, looks};
	const struct schedule_view view = {.thread_count = 2,
		.enabled_count = 2,
		.enabled = enabled,
		.pending = pending,
		.names = names};
	struct directed_order order = {
		.access_count = 3,
		.is_forbidden = true,
		.accesses = {{.sites = {1}, .site_count = 1},
			{.sites = {2}, .site_count = 1, .party = 1},
			{.sites = {2}, .site_count = 1}},
	};
	struct rng rng;

	(void)state;
	rng_seed(&rng, 1);
	directed_order_begin_run(&order, &rng);
	directed_orders_relate(&order, 1);
	assert_false(directed_order_holds(&order, 0, &view, 1));
	directed_order_executed(&order, &view, 0);
	pending[0] = enters;
	assert_true(directed_order_holds(&order, 0, &view, 1));
	pending[0] = looks;
	assert_false(directed_order_holds(&order, 0, &view, 1));
	pending[1] = enters;
	assert_false(directed_order_holds(&order, 0, &view, 1));
}

static void test_order__of_one_early_read(void **state)
{
	const struct directed_order order = {
		.access_count = 1,
		.accesses = {access_at(&reader[6], 0, 0)},
		.object = simulated_object_name(SIMULATED_SET, 0),
	};

	(void)state;
	assert_in_range(count(&written_first, NULL, false, OUTCOME_PASSED), 1, RUNS - 1);
	assert_int_equal(count(&written_first, &order, false, OUTCOME_PASSED), RUNS);
	assert_int_equal(count(&written_first, &order, true, OUTCOME_ABORT), RUNS);
}

/* The knowledge of runs that began with the same state is merged in the order in which the runs are
 * taken. */
static void test_order__runs_side_by_side_learn_for_all(void **state)
{
	const struct directed_order base[1] = {{.gates = {7}, .gate_count = 1}};
	struct directed_order known[1] = {base[0]}, first[1] = {{.access_count = 3}}, second[1];

	(void)state;
	directed_orders_share(first, base, 1);
	assert_int_equal(first->access_count, 3);
	assert_int_equal(first->gate_count, 1);
	assert_true(first->gates[0] == 7);
	second[0] = first[0];
	first->gates[first->gate_count++] = 8;
	second->gates[second->gate_count++] = 9;
	second->gates[second->gate_count++] = 8;
	second->good = (struct directed_order_draw){.skipped = 2};
	second->has_good = true;
	directed_orders_learn(known, base, first, 1);
	assert_int_equal(known->gate_count, 2);
	assert_false(known->has_good);
	directed_orders_learn(known, base, second, 1);
	assert_int_equal(known->gate_count, 3);
	assert_true(known->gates[1] == 8 && known->gates[2] == 9);
	assert_true(known->has_good);
	assert_int_equal(known->good.skipped, 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_order__runs_side_by_side_learn_for_all),
		cmocka_unit_test(test_order__of_one_early_read),
		cmocka_unit_test(test_order__of_two_accesses),
		cmocka_unit_test(test_order__of_three_accesses),
		cmocka_unit_test(test_order__between_chosen_threads),
		cmocka_unit_test(test_order__at_its_object),
		cmocka_unit_test(test_order__of_two_variables),
		cmocka_unit_test(test_order__that_cannot_be_had_blocks_nobody),
		cmocka_unit_test(test_order__learns_which_locks_prevent_it),
		cmocka_unit_test(test_order__of_a_lock_lets_threads_release_it),
		cmocka_unit_test(test_order__of_threads_that_do_the_same),
		cmocka_unit_test(test_order__is_void_for_who_looks_again),
	};

	return cmocka_run_group_tests_name("order", tests, NULL, NULL);
}
