/* Tests a duty of every strategy that learns: the assignment of a round's runs to workers makes no
 * difference. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/hash.h"
#include "support/simulated_program.h"

#define RUNS 700u
#define WORKERS_MOST 3u

/* Locks, memory, a thread that is created late, and runs of different lengths. */
static const struct simulated_op helper[] = {ADD(3, 1), LOCK(1), ADD(0, 1), UNLOCK(1)};
static const struct simulated_op starter[] = {
	CREATE(2), LOCK(0), ADD(0, 1), UNLOCK(0), ADD(1, 1), LEAVE(2, 1), ADD(1, 1), JOIN(0)};
static const struct simulated_op other[] = {
	LOCK(1), ADD(1, 1), UNLOCK(1), ADD(2, 1), LOCK(0), ADD(0, 1), UNLOCK(0)};
static const struct simulated_code codes[] = {CODE(starter), CODE(other), CODE(helper)};
static const struct simulated_program program = {
	.codes = codes, .code_count = 3, .initial_count = 2};

/* The ordered runs of a round are made again from position 0, after another worker or the same one has
 * made some of them. */
enum repetition { REPEATED_NEVER, REPEATED_BY_ANOTHER, REPEATED_BY_THE_SAME };

/* How the runs of a round are dealt to workers: by turns, or in parts. */
static uint32_t worker_of(uint32_t position, uint32_t runs, uint32_t workers, bool is_in_parts)
{
	return is_in_parts ? position * workers / runs : position % workers;
}

/* Makes one run in the worker's state, as the runtime does. */
static uint64_t make_run(struct simulated_campaign *worker, uint64_t number, uint32_t position)
{
	struct simulated_run *run = &worker->run;
	struct run_summary summary;

	run->state = worker->state;
	run->seed = hash_pair(worker->seed, number);
	if (run->strategy->learning.begin_position)
		run->strategy->learning.begin_position(run->state, position);
	simulated_run(run);
	summary = simulated_summary(run);
	if (run->strategy->end_run)
		run->strategy->end_run(run->state, &summary);
	return hash_pair(run->order_hash, run->outcome);
}

static uint32_t round_runs(uint32_t before)
{
	const uint32_t runs = before ? before : 1;

	return runs < RUNS - before ? runs : RUNS - before;
}

/* Makes half of the ordered runs, and loses their results. */
static void lose_runs(struct simulated_campaign *worker, uint32_t before, uint32_t ordered)
{
	for (uint32_t position = 0; position < (ordered + 1) / 2; position++)
		(void)make_run(worker, before + position, position);
}

/* Returns a hash of the actions of all runs, in their order. */
static uint64_t campaign(const struct strategy *strategy, uint32_t workers, bool is_in_parts,
	enum repetition repetition)
{
	struct simulated_campaign knowledge, worker[WORKERS_MOST];
	uint64_t hash[RUNS], digest = 0;
	uint32_t before = 0;

	simulated_campaign_init(&knowledge, &program, strategy, 0, 5);
	for (uint32_t i = 0; i < workers; i++)
		simulated_campaign_init(&worker[i], &program, strategy, 0, 5);
	while (before < RUNS) {
		const uint32_t runs = round_runs(before);
		const uint32_t ordered = strategy->learning.ordered
						 ? strategy->learning.ordered(knowledge.state)
						 : 0;

		if (repetition != REPEATED_NEVER)
			lose_runs(&worker[repetition == REPEATED_BY_ANOTHER ? 0 : workers - 1],
				before, ordered);
		/* The last worker makes the ordered positions. The others are made from the end. */
		for (uint32_t next = 0; next < runs; next++) {
			const uint32_t position = next < ordered ? next : runs + ordered - 1 - next;
			const uint32_t i =
				next < ordered ? workers - 1
					       : worker_of(position, runs, workers, is_in_parts);

			hash[before + position] = make_run(&worker[i], before + position, position);
			if (strategy->learning.gather)
				strategy->learning.gather(
					knowledge.state, worker[i].state, position, 1);
		}
		before += runs;
		if (strategy->learning.learn)
			strategy->learning.learn(knowledge.state, runs, round_runs(before));
		for (uint32_t i = 0; strategy->learning.share && i < workers; i++)
			strategy->learning.share(worker[i].state, knowledge.state);
	}
	for (uint32_t i = 0; i < RUNS; i++)
		digest = hash_pair(digest, hash[i]);
	for (uint32_t i = 0; i < workers; i++)
		simulated_campaign_release(&worker[i]);
	simulated_campaign_release(&knowledge);
	return digest;
}

static void test_rounds__are_independent_of_the_worker(void **unused)
{
	uint32_t tested = 0;

	(void)unused;
	for (uint32_t i = 0; i < strategy_count; i++) {
		const struct strategy *strategy = strategies[i];
		uint64_t expected;

		if (strategy_is_sequential(strategy) || strategy == &strategy_replay ||
			strategy == &strategy_directed)
			continue;
		expected = campaign(strategy, 1, false, REPEATED_NEVER);
		assert_true(campaign(strategy, 2, false, REPEATED_NEVER) == expected);
		assert_true(campaign(strategy, 2, true, REPEATED_NEVER) == expected);
		assert_true(campaign(strategy, 3, true, REPEATED_NEVER) == expected);
		tested++;
	}
	assert_true(tested >= 7);
}

/* The loss of ordered runs does not change a campaign. The portfolio has such runs. */
static void test_rounds__ordered_runs_can_be_made_again(void **unused)
{
	const struct strategy *strategy = &strategy_portfolio;
	const uint64_t expected = campaign(strategy, 1, false, REPEATED_NEVER);

	(void)unused;
	assert_true(campaign(strategy, 1, false, REPEATED_BY_THE_SAME) == expected);
	assert_true(campaign(strategy, 3, false, REPEATED_BY_THE_SAME) == expected);
	assert_true(campaign(strategy, 3, false, REPEATED_BY_ANOTHER) == expected);
}

/* Learning makes a difference; otherwise the test above could not fail. */
static void test_rounds__learning_makes_other_runs(void **unused)
{
	(void)unused;
	for (uint32_t i = 0; i < strategy_count; i++) {
		struct strategy ignorant = *strategies[i];

		if (!ignorant.learning.learn)
			continue;
		ignorant.learning.learn = NULL;
		assert_true(campaign(&ignorant, 1, false, REPEATED_NEVER) !=
			    campaign(strategies[i], 1, false, REPEATED_NEVER));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_rounds__are_independent_of_the_worker),
		cmocka_unit_test(test_rounds__ordered_runs_can_be_made_again),
		cmocka_unit_test(test_rounds__learning_makes_other_runs),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
