/* icb makes every schedule once, those with fewer preemptions first; vt those of few variables. */
#include "strategies/strategy.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/rng.h"
#include "support/every_schedule.h"
#include "support/simulated_program.h"

#define SCHEDULES_MOST 200000

/* Schedules by their number of preemptions, as hashes of the threads that moved. */
struct schedules {
	uint64_t hashes[SCHEDULES_MOST];
	uint32_t preemptions[SCHEDULES_MOST];
	uint32_t count;
};

static struct schedules all, made;

static uint32_t compare_count(
	const struct schedules *schedules, uint32_t preemptions, uint64_t *sum)
{
	uint32_t count = 0;

	*sum = 0;
	for (uint32_t i = 0; i < schedules->count; i++) {
		if (schedules->preemptions[i] != preemptions)
			continue;
		count++;
		*sum += schedules->hashes[i];
	}
	return count;
}

static void keep(struct schedules *schedules, const struct simulated_run *run)
{
	assert_true(schedules->count < SCHEDULES_MOST);
	schedules->hashes[schedules->count] = run->order_hash;
	schedules->preemptions[schedules->count++] = (uint32_t)run->preemption_count;
}

static void make_all(const struct simulated_program *program)
{
	struct simulated_campaign campaign;

	all.count = 0;
	simulated_campaign_init(&campaign, program, &every_schedule, 0, 1);
	while (!every_is_exhausted(campaign.state)) {
		(void)simulated_campaign_run(&campaign);
		keep(&all, &campaign.run);
	}
	simulated_campaign_release(&campaign);
}

static void make(const struct simulated_program *program, const struct strategy *strategy,
	int64_t preemptions, struct strategy_verdict *verdict)
{
	struct simulated_campaign campaign;

	made.count = 0;
	simulated_campaign_init(&campaign, program, strategy, preemptions, 1);
	while (!strategy->search.is_exhausted(campaign.state)) {
		(void)simulated_campaign_run(&campaign);
		keep(&made, &campaign.run);
	}
	strategy->search.verdict(campaign.state, verdict);
	simulated_campaign_release(&campaign);
}

/* ---- tests ---- */

static const struct simulated_op two_writes[] = {ADD(0, 1), ADD(1, 1)};
static const struct simulated_op locked[] = {LOCK(0), ADD(0, 1), UNLOCK(0)};
static const struct simulated_op other_way[] = {LOCK(1), LOCK(0), UNLOCK(0), UNLOCK(1)};
static const struct simulated_op one_way[] = {LOCK(0), LOCK(1), UNLOCK(1), UNLOCK(0)};
static const struct simulated_code codes[] = {
	CODE(two_writes), CODE(locked), CODE(other_way), CODE(one_way)};

static void assert_same_by_level(void)
{
	assert_int_equal(made.count, all.count);
	for (uint32_t level = 0; level < 12; level++) {
		uint64_t sum_all, sum_made;

		assert_int_equal(compare_count(&all, level, &sum_all),
			compare_count(&made, level, &sum_made));
		assert_true(sum_all == sum_made);
	}
	/* The order of preemptions is ascending. */
	for (uint32_t i = 1; i < made.count; i++)
		assert_true(made.preemptions[i] >= made.preemptions[i - 1]);
}

static void icb__makes_every_schedule_once_in_order(void **state)
{
	static const uint32_t sets[][3] = {{0, 0, 1}, {1, 1, 0}, {2, 3, 0}, {2, 3, 1}, {0, 0, 0}};

	(void)state;
	for (uint32_t i = 0; i < sizeof sets / sizeof *sets; i++) {
		const struct simulated_code chosen[] = {
			codes[sets[i][0]], codes[sets[i][1]], codes[sets[i][2]]};
		const struct simulated_program program = {
			.codes = chosen, .code_count = 3, .initial_count = 3};
		struct strategy_verdict verdict;

		make_all(&program);
		make(&program, &strategy_icb, 0, &verdict);
		assert_same_by_level();
		assert_true(verdict.is_complete);
		assert_string_equal(verdict.scope, "");
	}
}

static void icb__stops_at_its_bound(void **state)
{
	const struct simulated_code chosen[] = {codes[0], codes[0], codes[1]};
	const struct simulated_program program = {
		.codes = chosen, .code_count = 3, .initial_count = 3};
	struct strategy_verdict verdict;
	uint32_t wanted = 0;
	uint64_t sum;

	(void)state;
	make_all(&program);
	make(&program, &strategy_icb, 2, &verdict);
	for (uint32_t level = 0; level <= 2; level++)
		wanted += compare_count(&all, level, &sum);
	assert_int_equal(made.count, wanted);
	assert_true(verdict.is_complete);
	assert_string_equal(verdict.scope, "with at most 2 preemptions");
	assert_int_equal(verdict.runs, wanted);
}

/* Adds what the shard makes to what was made, but for what is another one's. */
static uint64_t make_shard(const struct simulated_program *program, const struct strategy *strategy,
	uint32_t shard, uint32_t shards)
{
	struct simulated_campaign campaign;
	struct strategy_verdict verdict;
	const uint32_t before = made.count;

	simulated_campaign_init(&campaign, program, strategy, 0, 1);
	campaign.config.shard = shard;
	campaign.config.shards = shards;
	strategy_begin_campaign(strategy, campaign.state, &campaign.config);
	while (!strategy->search.is_exhausted(campaign.state)) {
		(void)simulated_campaign_run(&campaign);
		if (!strategy->search.is_elsewhere(campaign.state))
			keep(&made, &campaign.run);
	}
	strategy->search.verdict(campaign.state, &verdict);
	simulated_campaign_release(&campaign);
	assert_true(verdict.is_complete);
	assert_int_equal(verdict.runs, made.count - before);
	return verdict.runs;
}

/* Together they make every schedule once, and none makes nearly all of them. */
static void icb__is_dealt_to_shards(void **state)
{
	static const uint32_t sets[][3] = {{0, 0, 1}, {1, 1, 0}, {2, 3, 0}, {0, 0, 0}};

	(void)state;
	for (uint32_t i = 0; i < sizeof sets / sizeof *sets; i++) {
		const struct simulated_code chosen[] = {
			codes[sets[i][0]], codes[sets[i][1]], codes[sets[i][2]]};
		const struct simulated_program program = {
			.codes = chosen, .code_count = 3, .initial_count = 3};

		make_all(&program);
		for (uint32_t shards = 1; shards <= 5; shards += 2) {
			made.count = 0;
			for (uint32_t shard = 1; shard <= shards; shard++)
				assert_true(make_shard(&program, &strategy_icb, shard, shards) <=
					    (shards == 1 ? all.count : all.count * 3 / 4));
			assert_int_equal(made.count, all.count);
			for (uint32_t level = 0; level < 12; level++) {
				uint64_t sum_all, sum_made;

				assert_int_equal(compare_count(&all, level, &sum_all),
					compare_count(&made, level, &sum_made));
				assert_true(sum_all == sum_made);
			}
		}
	}
}

/* A bug of two variables needs v = 2, one of one does not; vt makes fewer runs than icb. */
static const struct simulated_op pair_writer[] = {SET(0, 1), SET(1, 1), SET(2, 1), SET(2, 0)};
static const struct simulated_op pair_reader[] = {READ(2), READ(0), READ(1), READ(2)};

static void vt__makes_fewer_runs_than_icb(void **state)
{
	static const struct simulated_code chosen[] = {CODE(pair_writer), CODE(pair_reader)};
	static const struct simulated_program program = {
		.codes = chosen, .code_count = 2, .initial_count = 2};
	struct strategy_verdict verdict;
	uint32_t of_icb, of_two;

	(void)state;
	make(&program, &strategy_icb, 0, &verdict);
	of_icb = made.count;
	assert_int_equal(of_icb, 70); /* 8 over 4 */
	make(&program, &strategy_vt, 0, &verdict);
	of_two = made.count;
	assert_true(of_two < of_icb);
	assert_true(verdict.is_complete);
	assert_non_null(strstr(verdict.scope, "at most 2 variables"));
}

/* A state of shards that the campaign does not have would skip nearly all points for hours. */
static void icb__refuses_a_state_of_other_shards(void **unused)
{
	struct strategy_config config = {.thread_capacity = 4};
	const struct strategy *strategy = &strategy_icb;
	void *state;

	(void)unused;
	for (unsigned i = 0; strategy->options[i].name; i++)
		config.option[i] = strategy->options[i].standard;
	state = calloc(1, strategy_state_bytes(strategy, &config));
	assert_non_null(state);
	config.shard = 1;
	config.shards = 2;
	strategy->begin_campaign(state, &config);
	assert_true(strategy->search.is_valid(state, &config));
	config.shard = config.shards = 0;
	assert_false(strategy->search.is_valid(state, &config));
	free(state);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(icb__makes_every_schedule_once_in_order),
		cmocka_unit_test(icb__stops_at_its_bound),
		cmocka_unit_test(icb__is_dealt_to_shards),
		cmocka_unit_test(icb__refuses_a_state_of_other_shards),
		cmocka_unit_test(vt__makes_fewer_runs_than_icb),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
