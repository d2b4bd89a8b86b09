/* bounded finds what lies within its bounds, says when nothing is left, and finds nothing beyond. */
#include "strategies/strategy.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "strategies/search/bounded_internal.h"
#include "support/bounded_campaign.h"

/* Runs until a failure or the end; true: it failed. */
static bool search(const struct simulated_program *program, const struct bounds *bounds,
	struct strategy_verdict *verdict)
{
	struct simulated_campaign campaign;
	bool has_failed = false;

	bounded_campaign_init(&campaign, program, bounds);
	while (!has_failed && !strategy_bounded.search.is_exhausted(campaign.state))
		has_failed = simulated_campaign_run(&campaign) == OUTCOME_ABORT;
	strategy_bounded.search.verdict(campaign.state, verdict);
	simulated_campaign_release(&campaign);
	return has_failed;
}

/* A thread writes a variable between two reads of another: one preemption, one variable, two
 * threads. */
static const struct simulated_op victim[] = {READ(0), ADVANCE(0, 1)};
static const struct simulated_op reader_twice[] = {ADVANCE(0, 0), ADVANCE(0, 2), REFUSE(0, 3)};
static const struct simulated_op between[] = {ADVANCE(0, 1)};
static const struct simulated_code atomicity_codes[] = {CODE(reader_twice), CODE(between)};
static const struct simulated_program atomicity = {
	.codes = atomicity_codes, .code_count = 2, .initial_count = 2};

static const struct simulated_op both_b[] = {ADVANCE(1, 0), ADD(2, 1)};

static void bounded__finds_what_is_within_its_bounds(void **state)
{
	struct strategy_verdict verdict;

	(void)state;
	assert_true(search(&atomicity, &(struct bounds){1, 1, 2, 0}, &verdict));
	assert_true(search(&atomicity, &(struct bounds){2, 0, 0, 0}, &verdict));
}

static void bounded__finds_nothing_beyond_them_and_says_so(void **state)
{
	struct strategy_verdict verdict;

	(void)state;
	assert_false(search(&atomicity, &(struct bounds){0, 1, 2, 0}, &verdict));
	assert_true(verdict.is_complete);
	assert_string_equal(verdict.scope, "with c ≤ 0, v ≤ 1, t ≤ 2");
	assert_true(verdict.missed == 0); /* two threads have two orders */
}

static void bounded__ends_where_no_variable_is_shared(void **state)
{
	static const struct simulated_code codes[] = {CODE(both_b), CODE(victim)};
	static const struct simulated_program apart = {
		.codes = codes, .code_count = 2, .initial_count = 2};
	struct strategy_verdict verdict;

	(void)state;
	assert_false(search(&apart, &(struct bounds){2, 0, 0, 0}, &verdict));
	assert_true(verdict.is_complete);
	assert_string_equal(verdict.scope, "");
}

static void bounded__repeats_nothing_when_it_widens_v(void **state)
{
	static const struct simulated_op first[] = {ADD(0, 1), ADD(1, 1), ADD(0, 1), ADD(1, 1)};
	static const struct simulated_code codes[] = {CODE(first), CODE(first), CODE(first)};
	static const struct simulated_program program = {
		.codes = codes, .code_count = 3, .initial_count = 3};
	struct strategy_verdict one, both, walk;

	(void)state;
	assert_false(search(&program, &(struct bounds){2, 1, 2, 0}, &one));
	assert_false(search(&program, &(struct bounds){2, 2, 2, 0}, &both));
	assert_false(search(&program, &(struct bounds){2, 0, 2, 0}, &walk));
	assert_true(one.runs < both.runs);
	assert_int_equal(walk.runs, both.runs);
	assert_string_equal(walk.scope, both.scope);
}

/* ---- shards ---- */

#define ORDERS_MOST 200000

struct orders {
	uint64_t hashes[ORDERS_MOST];
	uint32_t count;
};

static struct orders all, made;

static int compare_hashes(const void *left, const void *right)
{
	const uint64_t a = *(const uint64_t *)left, b = *(const uint64_t *)right;

	return (a > b) - (a < b);
}

/* The runs of a shard that are its own; 0: all there are. */
static void make_runs(const struct simulated_program *program, const struct bounds *bounds,
	uint32_t shard, uint32_t shards, struct orders *orders, struct strategy_verdict *verdict)
{
	struct simulated_campaign campaign;
	const uint32_t before = orders->count;

	bounded_campaign_init(&campaign, program, bounds);
	campaign.config.shard = shard;
	campaign.config.shards = shards;
	campaign.config.seed = 99;
	memset(campaign.state, 0, campaign.state_bytes);
	strategy_begin_campaign(&strategy_bounded, campaign.state, &campaign.config);
	while (!strategy_bounded.search.is_exhausted(campaign.state)) {
		(void)simulated_campaign_run(&campaign);
		assert_true(orders->count < ORDERS_MOST);
		if (!strategy_bounded.search.is_elsewhere(campaign.state))
			orders->hashes[orders->count++] = campaign.run.order_hash;
	}
	strategy_bounded.search.verdict(campaign.state, verdict);
	simulated_campaign_release(&campaign);
	assert_true(verdict->is_complete);
	assert_int_equal(verdict->runs, orders->count - before);
}

/* Together they make the runs of one, each as often as that makes it, and agree on what they have dealt out. */
static void assert_dealt(const struct simulated_program *program, const struct bounds *bounds)
{
	struct strategy_verdict whole, first = {0}, verdict;

	all.count = 0;
	make_runs(program, bounds, 0, 0, &all, &whole);
	qsort(all.hashes, all.count, sizeof *all.hashes, compare_hashes);
	for (uint32_t shards = 2; shards <= 5; shards++) {
		made.count = 0;
		for (uint32_t shard = 1; shard <= shards; shard++) {
			make_runs(program, bounds, shard, shards, &made, &verdict);
			if (shard == 1)
				first = verdict;
			assert_string_equal(verdict.scope, whole.scope);
			assert_int_equal(verdict.scope_order, first.scope_order);
			assert_memory_equal(verdict.plans, first.plans, sizeof first.plans);
		}
		qsort(made.hashes, made.count, sizeof *made.hashes, compare_hashes);
		assert_int_equal(made.count, all.count);
		assert_memory_equal(made.hashes, all.hashes, all.count * sizeof *all.hashes);
	}
}

static void bounded__is_dealt_to_shards(void **state)
{
	static const struct simulated_op first[] = {ADD(0, 1), ADD(1, 1), ADD(0, 1), ADD(1, 1)};
	static const struct simulated_op locks[] = {
		LOCK(0), READ(0), UNLOCK(0), LOCK(1), ADD(0, 1), UNLOCK(1)};
	static const struct simulated_op other[] = {
		LOCK(1), READ(1), UNLOCK(1), READ(2), ADD(0, 1)};
	static const struct simulated_code codes[] = {CODE(first), CODE(first), CODE(first)};
	static const struct simulated_code mixed[] = {CODE(locks), CODE(other), CODE(first)};
	static const struct simulated_program programs[] = {
		{.codes = codes, .code_count = 3, .initial_count = 3},
		{.codes = mixed, .code_count = 3, .initial_count = 3}};

	(void)state;
	for (uint32_t i = 0; i < 2; i++) {
		assert_dealt(&programs[i], &(struct bounds){1, 1, 2, 0});
		assert_dealt(&programs[i], &(struct bounds){2, 1, 2, 0});
		assert_dealt(&programs[i], &(struct bounds){2, 2, 2, 0});
		assert_dealt(&programs[i], &(struct bounds){2, 0, 2, 0});
	}
	assert_dealt(&atomicity, &(struct bounds){2, 0, 2, 0});
}

/* The search for the next bounds would not end. */
static void bounded__refuses_bounds_that_no_search_reaches(void **state)
{
	const struct bounds bounds = {0};
	struct simulated_campaign campaign;
	struct bounded *bounded;

	(void)state;
	bounded_campaign_init(&campaign, &atomicity, &bounds);
	bounded = campaign.state;
	assert_true(strategy_bounded.search.is_valid(bounded, &campaign.config));
	bounded->variables = bounded->threads = BOUNDS_SUM_MOST;
	assert_false(strategy_bounded.search.is_valid(bounded, &campaign.config));
	bounded->variables = bounded->threads = 0;
	assert_false(strategy_bounded.search.is_valid(bounded, &campaign.config));
	simulated_campaign_release(&campaign);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(bounded__finds_what_is_within_its_bounds),
		cmocka_unit_test(bounded__finds_nothing_beyond_them_and_says_so),
		cmocka_unit_test(bounded__ends_where_no_variable_is_shared),
		cmocka_unit_test(bounded__repeats_nothing_when_it_widens_v),
		cmocka_unit_test(bounded__is_dealt_to_shards),
		cmocka_unit_test(bounded__refuses_bounds_that_no_search_reaches),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
