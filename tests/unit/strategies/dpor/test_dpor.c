/* dpor makes every order of dependent ops, and each one once: against all schedules, and known numbers. */
#include "strategies/dpor/dpor.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/rng.h"
#include "strategies/strategy.h"
#include "support/every_schedule.h"
#include "support/random_program.h"
#include "support/seeds.h"
#include "support/simulated_program.h"
#include "support/simulated_trace.h"

#define TRACES_MOST 100000

struct traces {
	uint64_t hashes[TRACES_MOST];
	uint32_t count;
};

static int compare_hashes(const void *left, const void *right)
{
	const uint64_t a = *(const uint64_t *)left, b = *(const uint64_t *)right;

	return (a > b) - (a < b);
}

static void traces_unite(struct traces *traces)
{
	uint32_t kept = 0;

	qsort(traces->hashes, traces->count, sizeof *traces->hashes, compare_hashes);
	for (uint32_t i = 0; i < traces->count; i++)
		if (!kept || traces->hashes[i] != traces->hashes[kept - 1])
			traces->hashes[kept++] = traces->hashes[i];
	traces->count = kept;
}

/*
 * All runs of a strategy; their traces. Returns how many runs there were: by the strategy's account, where it
 * has one, which may leave out two runs from which it learnt.
 */
static uint64_t run_all(const struct simulated_program *program, const struct strategy *strategy,
	struct traces *traces, struct strategy_verdict *verdict, uint64_t most)
{
	struct simulated_campaign campaign;
	struct simulated_trace trace;
	uint64_t runs = 0;

	simulated_campaign_init(&campaign, program, strategy, 0, 1);
	campaign.run.observe = simulated_trace_add;
	campaign.run.context = &trace;
	traces->count = 0;
	while (!strategy->search.is_exhausted(campaign.state) && runs < most) {
		trace.count = 0;
		(void)simulated_campaign_run(&campaign);
		assert_true(traces->count < TRACES_MOST);
		traces->hashes[traces->count++] = simulated_trace_hash(&trace);
		runs++;
	}
	if (verdict) {
		strategy->search.verdict(campaign.state, verdict);
		assert_in_range(runs - verdict->runs, 0, 2);
		runs = verdict->runs;
	}
	simulated_campaign_release(&campaign);
	traces_unite(traces);
	return runs;
}

/* ---- known numbers ---- */

static struct traces found, wanted;

static void assert_runs(const struct simulated_program *program, uint64_t runs)
{
	struct strategy_verdict verdict;

	assert_int_equal(run_all(program, &strategy_dpor, &found, &verdict, 1000000), runs);
	assert_int_equal(found.count, runs);
	assert_true(verdict.is_complete);
	assert_int_equal(verdict.runs, runs);
	assert_int_equal(verdict.redundant, 0);
}

static const struct simulated_op write_x[] = {SET(0, 1)}, read_x[] = {READ(0)};
static const struct simulated_op lock_once[] = {LOCK(0), UNLOCK(0)};

static void dpor__of_readers_makes_two_to_the_n(void **state)
{
	struct simulated_code codes[9] = {CODE(write_x)};
	struct simulated_program program = {.codes = codes};

	(void)state;
	for (uint32_t n = 1; n <= 8; n++) {
		codes[n] = (struct simulated_code)CODE(read_x);
		program.code_count = program.initial_count = n + 1;
		assert_runs(&program, UINT64_C(1) << n);
	}
}

static void dpor__of_writers_makes_the_factorial(void **state)
{
	struct simulated_code codes[7];
	struct simulated_program program = {.codes = codes};
	uint64_t factorial = 1;

	(void)state;
	for (uint32_t n = 1; n <= 6; n++) {
		codes[n - 1] = (struct simulated_code)CODE(write_x);
		program.code_count = program.initial_count = n;
		assert_runs(&program, factorial *= n);
	}
}

static void dpor__of_lockers_makes_the_factorial(void **state)
{
	struct simulated_code codes[7];
	struct simulated_program program = {.codes = codes};
	uint64_t factorial = 1;

	(void)state;
	for (uint32_t n = 1; n <= 6; n++) {
		codes[n - 1] = (struct simulated_code)CODE(lock_once);
		program.code_count = program.initial_count = n;
		assert_runs(&program, factorial *= n);
	}
}

static void dpor__of_threads_apart_makes_one(void **state)
{
	static const struct simulated_op a[] = {SET(0, 1), SET(0, 2), SET(0, 3)};
	static const struct simulated_op b[] = {SET(1, 1), SET(1, 2), SET(1, 3)};
	static const struct simulated_op c[] = {LOCK(2), SET(2, 1), UNLOCK(2)};
	static const struct simulated_code codes[] = {CODE(a), CODE(b), CODE(c)};
	static const struct simulated_program program = {
		.codes = codes, .code_count = 3, .initial_count = 3};

	(void)state;
	assert_runs(&program, 1);
}

/* Accesses to one word are dependent only if they touch a common byte. */
static void dpor__of_halves_makes_the_orders_of_each(void **state)
{
	static const struct simulated_op a[] = {ADD(0, 1), SET(1, 1)}, b[] = {ADD(0, 1)};
	static const struct simulated_op c[] = {ADD(1, 1)}, both[] = {SET_BOTH(1, 2)};
	struct simulated_code codes[] = {CODE(a), CODE(b), CODE(c), CODE(both)};
	struct simulated_program program = {
		.codes = codes, .code_count = 3, .initial_count = 3, .has_halves = true};

	(void)state;
	assert_runs(&program, 2 * 2);
	program.code_count = program.initial_count = 4;
	/* 3! orders of each half, without those in which `both` is before the first and behind the last
	 * op of a. */
	assert_runs(&program, 6 * 6 - 3 * 3);
}

static void dpor__of_created_threads_makes_what_is_left(void **state)
{
	static const struct simulated_op begin[] = {SET(0, 7), CREATE(1), CREATE(1), READ(0)};
	static const struct simulated_op child[] = {SET(0, 1)};
	static const struct simulated_code codes[] = {CODE(begin), CODE(child)};
	static const struct simulated_program program = {
		.codes = codes, .code_count = 2, .initial_count = 1};

	(void)state;
	/* Two writers and one reader, all behind the creations. */
	assert_runs(&program, 6);
}

/* ---- last zero: the operations of a thread depend on the values that it reads ---- */

#define LAST_ZERO_MOST 9

struct last_zero {
	struct simulated_op ops[LAST_ZERO_MOST + 1][LAST_ZERO_MOST + 1];
	struct simulated_code codes[LAST_ZERO_MOST + 1];
	struct simulated_program program;
};

/* Thread i writes variable i after it read i - 1; thread 0 searches the last one that is zero. */
static void make_last_zero(struct last_zero *last_zero, uint32_t n, const uint16_t *variable)
{
	*last_zero = (struct last_zero){0};
	for (uint32_t i = 0; i <= n; i++)
		last_zero->ops[0][i] = (struct simulated_op){SIMULATED_LEAVE, variable[n - i], 0};
	for (uint32_t i = 1; i <= n; i++) {
		last_zero->ops[i][0] = (struct simulated_op)READ(variable[i - 1]);
		last_zero->ops[i][1] = (struct simulated_op)SET(variable[i], 1);
	}
	for (uint32_t i = 0; i <= n; i++)
		last_zero->codes[i] = (struct simulated_code){last_zero->ops[i], i ? 2 : n + 1, 1};
	last_zero->program = (struct simulated_program){
		.codes = last_zero->codes, .code_count = n + 1, .initial_count = n + 1};
}

/*
 * The first thread, if any may be first, depends on the names of variables. With these names, a
 * dpor misses traces if it examines each race only in the first run that has it.
 */
static void dpor__of_the_last_zero_asks_old_races_again(void **state)
{
	static const uint16_t variable[] = {0, 1, 6, 7, 2, 5, 3, 4};
	struct last_zero last_zero;

	(void)state;
	make_last_zero(&last_zero, 7, variable);
	assert_runs(&last_zero.program, 320);
}

/* A thread that takes a count which another thread gave back might have had that thread's count:
 * the race is between the two that take. */
static void dpor__of_semaphores_asks_who_took_the_count_before(void **state)
{
	static const struct simulated_op hold[] = {TAKE(0), POST(0)}, post[] = {POST(0)};
	static const struct simulated_op take[] = {TAKE(0)};
	static const struct simulated_code codes[] = {CODE(hold), CODE(post), CODE(take)};
	static const struct simulated_program program = {
		.codes = codes, .code_count = 3, .initial_count = 3};

	(void)state;
	assert_int_equal(run_all(&program, &every_schedule, &wanted, NULL, TRACES_MOST), 2);
	(void)run_all(&program, &strategy_dpor, &found, NULL, TRACES_MOST);
	assert_int_equal(wanted.count, 2);
	assert_int_equal(found.count, wanted.count);
	assert_memory_equal(found.hashes, wanted.hashes, wanted.count * sizeof *wanted.hashes);
}

/* The names of variables are dealt out anew. */
static void dpor__of_the_last_zero_makes_what_it_should_in_any_order(void **state)
{
	struct last_zero last_zero;
	uint16_t variable[LAST_ZERO_MOST + 1];
	struct rng rng;

	(void)state;
	rng_seed(&rng, 6);
	for (uint16_t i = 0; i <= LAST_ZERO_MOST; i++)
		variable[i] = i;
	for (uint32_t n = 2; n <= LAST_ZERO_MOST; n++) {
		for (int deal = 0; deal < 12; deal++) {
			for (uint32_t i = n; i > 0; i--) {
				const uint32_t other = rng_below(&rng, i + 1);
				const uint16_t kept = variable[i];

				variable[i] = variable[other];
				variable[other] = kept;
			}
			make_last_zero(&last_zero, n, variable);
			assert_runs(&last_zero.program, (n + 3) * (UINT64_C(1) << n) / 4);
		}
	}
}

/* ---- random programs against all schedules ---- */

static void add_random_op(
	struct random_program *program, uint32_t thread, struct rng *rng, bool waits)
{
	const uint16_t object = (uint16_t)rng_below(rng, 2);

	switch (rng_below(rng, waits ? 7 : 4)) {
	case 0:
		add_op(program, thread, (struct simulated_op)READ(object));
		return;
	case 1:
	case 2:
		add_op(program, thread, (struct simulated_op)ADD(object, 1));
		return;
	case 3:
		add_op(program, thread, (struct simulated_op)LOCK(object));
		add_op(program, thread, (struct simulated_op)READ(0));
		add_op(program, thread, (struct simulated_op)UNLOCK(object));
		return;
	case 4:
		add_op(program, thread, (struct simulated_op)POST(object));
		return;
	case 5:
		add_op(program, thread, (struct simulated_op)TAKE(object));
		return;
	default:
		add_op(program, thread, (struct simulated_op)SIGNAL(object));
		return;
	}
}

static void make_random(struct random_program *program, struct rng *rng, bool waits)
{
	random_program_begin(program, 3);
	for (uint32_t thread = 0; thread < 3; thread++) {
		const uint32_t count = 1 + rng_below(rng, 2);

		for (uint32_t i = 0; i < count; i++)
			add_random_op(program, thread, rng, waits);
		if (waits && thread == 0 && rng_below(rng, 2)) {
			add_op(program, thread, (struct simulated_op)LOCK(0));
			add_op(program, thread,
				(struct simulated_op){
					SIMULATED_WAIT, (uint16_t)rng_below(rng, 2), 0});
			add_op(program, thread, (struct simulated_op)UNLOCK(0));
		}
	}
}

static void compare(const struct simulated_program *program, bool is_optimal)
{
	struct strategy_verdict verdict;
	const uint64_t all = run_all(program, &every_schedule, &wanted, NULL, TRACES_MOST);
	uint64_t runs;

	if (all == TRACES_MOST)
		return; /* too many to say */
	runs = run_all(program, &strategy_dpor, &found, &verdict, TRACES_MOST);
	assert_true(verdict.is_complete);
	assert_int_equal(found.count, wanted.count);
	assert_memory_equal(found.hashes, wanted.hashes, wanted.count * sizeof *wanted.hashes);
	if (is_optimal)
		assert_int_equal(runs, wanted.count);
}

/* Halves of two objects, and writes of both halves. */
static void make_halves(struct random_program *program, struct rng *rng)
{
	static const uint8_t kinds[] = {
		SIMULATED_READ, SIMULATED_LEAVE, SIMULATED_SET, SIMULATED_ADD, SIMULATED_SET_BOTH};
	const uint32_t threads = 3 + rng_below(rng, 2);

	random_program_begin(program, threads);
	program->program.has_halves = true;
	for (uint32_t thread = 0; thread < threads; thread++)
		for (uint32_t count = 1 + rng_below(rng, 3); count; count--)
			add_op(program, thread,
				(struct simulated_op){
					kinds[rng_below(rng, 5)], (uint16_t)rng_below(rng, 4), 1});
}

/* More threads that share more variables, with few ops each: what races in one run need not in the next. */
static void make_broad(struct random_program *program, struct rng *rng)
{
	static const uint8_t kinds[] = {
		SIMULATED_READ, SIMULATED_LEAVE, SIMULATED_SET, SIMULATED_ADD};
	const uint32_t threads = 3 + rng_below(rng, RANDOM_THREADS_MOST - 2);

	random_program_begin(program, threads);
	for (uint32_t thread = 0; thread < threads; thread++) {
		const uint32_t count = 1 + rng_below(rng, threads > 4 ? 2 : 3);

		for (uint32_t i = 0; i < count; i++)
			add_op(program, thread,
				(struct simulated_op){
					kinds[rng_below(rng, 4)], (uint16_t)rng_below(rng, 4), 1});
	}
}

static void dpor__makes_each_trace_once(void **state)
{
	struct random_program program;
	struct rng rng;

	(void)state;
	rng_seed(&rng, 3);
	for (unsigned long round = test_seeds(400); round; round--) {
		make_random(&program, &rng, false);
		compare(&program.program, true);
	}
}

/*
 * A race that is settled by the wrong branch: other runs with this race would go to an earlier
 * branch. The sleeper at that branch represents the sequence as explored, but the sequence never
 * reached it.
 */
static void dpor__settles_no_race_for_what_comes_behind_it(void **state)
{
	static const struct simulated_op add[] = {ADD(1, 1)}, set[] = {SET(0, 1)},
					 read[] = {READ(1)};
	static const struct simulated_op read_and_add[] = {READ(0), ADD(1, 1)};
	static const struct simulated_op look_twice[] = {
		{SIMULATED_LEAVE, 1, 1}, {SIMULATED_LEAVE, 0, 1}};
	static const struct simulated_code codes[] = {
		CODE(add), CODE(read_and_add), CODE(look_twice), CODE(set), CODE(read)};
	static const struct simulated_program program = {
		.codes = codes, .code_count = 5, .initial_count = 5};

	(void)state;
	assert_runs(&program, 54);
	compare(&program, true);
}

static void dpor__makes_each_trace_of_many_threads_once(void **state)
{
	struct random_program program;
	struct rng rng;

	(void)state;
	rng_seed(&rng, 5);
	for (unsigned long round = test_seeds(400); round; round--) {
		make_broad(&program, &rng);
		compare(&program.program, true);
	}
}

static void dpor__makes_each_trace_of_halves_once(void **state)
{
	struct random_program program;
	struct rng rng;

	(void)state;
	rng_seed(&rng, 8);
	for (unsigned long round = test_seeds(800); round; round--) {
		make_halves(&program, &rng);
		compare(&program.program, true);
	}
}

static void dpor__misses_no_trace_of_threads_that_wait(void **state)
{
	struct random_program program;
	struct rng rng;

	(void)state;
	rng_seed(&rng, 4);
	for (unsigned long round = test_seeds(400); round; round--) {
		make_random(&program, &rng, true);
		compare(&program.program, false);
	}
}

/* ---- waiting loops ---- */

/* A spin lock has as many orders as a mutex. */
static void dpor__of_spin_locks_makes_the_orders_of_sections(void **state)
{
	static const struct simulated_op creates[] = {CREATE(1), CREATE(1), CREATE(1), CREATE(1)};
	static const struct simulated_op section[] = {GRAB(0), ADD(1, 1), SET(0, 0)};
	const struct {
		uint32_t threads, sections;
		uint64_t orders;
	} cases[] = {{2, 1, 2}, {2, 3, 20}, {3, 1, 6}, {3, 2, 90}, {4, 1, 24}, {3, 3, 1680}};
	struct simulated_code codes[2];
	const struct simulated_program program = {
		.codes = codes, .code_count = 2, .initial_count = 1};

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		codes[0] = (struct simulated_code){creates, cases[i].threads, 1};
		codes[1] = (struct simulated_code)CODE_REPEATED(section, cases[i].sections);
		assert_runs(&program, cases[i].orders);
	}
}

/* Threads that wait for values of variables, which others raise, lower and lock. */
static void make_waiting(struct random_program *program, struct rng *rng)
{
	const uint32_t threads = 3 + rng_below(rng, 2), created = rng_below(rng, 2);

	random_program_begin(program, threads + created);
	program->program.initial_count = created ? 1 : threads;
	for (uint32_t thread = created; thread < threads + created; thread++) {
		if (created)
			add_op(program, 0, (struct simulated_op)CREATE((uint16_t)thread));
		for (uint32_t count = 1 + rng_below(rng, 3); count; count--) {
			const uint16_t variable = (uint16_t)rng_below(rng, 2);
			const struct simulated_op ops[] = {READ(variable), ADD(variable, 1),
				ADD(variable, -1), SET(variable, 1), SET(variable, 0),
				AWAIT(variable, 1), AWAIT(variable, 2), GRAB(variable),
				AWAIT_EITHER(variable, 1 - variable)};

			add_op(program, thread, ops[rng_below(rng, 9)]);
		}
	}
}

static void dpor__misses_no_trace_of_waiting_loops(void **state)
{
	struct random_program program;
	struct rng rng;

	(void)state;
	rng_seed(&rng, 7);
	for (unsigned long round = test_seeds(500); round; round--) {
		make_waiting(&program, &rng);
		compare(&program.program, false);
	}
}

/* ---- shards ---- */

static struct traces shared;

/* One shard's own runs that are not redundant: their traces are added to what was found. */
static uint64_t make_shard(const struct simulated_program *program, uint32_t shard, uint32_t shards,
	uint64_t *failed_looks)
{
	struct simulated_campaign campaign;
	struct simulated_trace trace;
	struct strategy_verdict verdict;

	simulated_campaign_init(&campaign, program, &strategy_dpor, 0, 1);
	campaign.config.shard = shard;
	campaign.config.shards = shards;
	strategy_begin_campaign(&strategy_dpor, campaign.state, &campaign.config);
	campaign.run.observe = simulated_trace_add;
	campaign.run.context = &trace;
	while (!strategy_dpor.search.is_exhausted(campaign.state)) {
		trace.count = 0;
		(void)simulated_campaign_run(&campaign);
		assert_false(campaign.run.has_false_choice);
		assert_true(found.count < TRACES_MOST);
		found.hashes[found.count++] = simulated_trace_hash(&trace);
	}
	strategy_dpor.search.verdict(campaign.state, &verdict);
	simulated_campaign_release(&campaign);
	assert_true(verdict.is_complete);
	*failed_looks += verdict.redundant;
	return verdict.runs - verdict.redundant;
}

/* Together shards make every trace, and each of their runs that is not redundant makes another
 * one. */
static void assert_dealt(const struct simulated_program *program, uint32_t shards, bool is_optimal)
{
	uint64_t runs = 0, failed_looks = 0;

	found.count = 0;
	for (uint32_t shard = 1; shard <= shards; shard++)
		runs += make_shard(program, shard, shards, &failed_looks);
	traces_unite(&found);
	assert_int_equal(found.count, shared.count);
	assert_memory_equal(found.hashes, shared.hashes, shared.count * sizeof *shared.hashes);
	if (is_optimal)
		assert_int_equal(runs, shared.count);
}

static void assert_dealt_to_all(const struct simulated_program *program, bool is_optimal)
{
	static const uint32_t shards[] = {2, 3, 5};
	struct strategy_verdict verdict;

	(void)run_all(program, &strategy_dpor, &shared, &verdict, TRACES_MOST);
	for (uint32_t i = 0; i < sizeof shards / sizeof *shards; i++)
		assert_dealt(program, shards[i], is_optimal);
}

static void dpor__is_dealt_to_shards(void **state)
{
	struct random_program program;
	struct rng rng;

	(void)state;
	rng_seed(&rng, 7);
	for (unsigned long round = test_seeds(200); round; round--) {
		make_random(&program, &rng, false);
		assert_dealt_to_all(&program.program, true);
		make_random(&program, &rng, true);
		assert_dealt_to_all(&program.program, false);
		make_broad(&program, &rng);
		assert_dealt_to_all(&program.program, true);
		make_halves(&program, &rng);
		assert_dealt_to_all(&program.program, true);
	}
}

/* Two threads lock mutexes in turn. A step depends on few others, so that the steps of the first half are not needed
 * again: their links lead out of the table. */
static void dpor__looks_back_no_further_than_a_step_of_its_own(void **state)
{
	enum { STEPS = 2000 };
	const struct strategy_config config = {.option = {STEPS}};
	const uint64_t enabled[] = {3};
	const thread_name names[] = {11, 12};
	struct pending_op pending[2] = {0};
	struct schedule_view view = {.thread_count = 2,
		.enabled_count = 2,
		.enabled = enabled,
		.pending = pending,
		.names = names};
	struct dpor *dpor = calloc(1, strategy_state_bytes(&strategy_dpor, &config));
	uint32_t locks[2] = {0};

	(void)state;
	assert_non_null(dpor);
	strategy_begin_campaign(&strategy_dpor, dpor, &config);
	strategy_dpor.begin_run(dpor, 1);
	for (uint32_t i = 0; i < STEPS; i++) {
		const uint32_t thread = i / 4 % 2;

		for (uint32_t t = 0; t < 2; t++) {
			pending[t].kind = locks[t] % 2 ? OP_MUTEX_UNLOCK : OP_MUTEX_LOCK;
			pending[t].flags = op_descriptions[pending[t].kind].flags;
			pending[t].object = locks[t] / 2 % 2 ? 5 : 6 + t;
		}
		for (uint32_t j = 0; i == STEPS / 2 && j < i - 64; j++)
			dpor_steps(dpor)[j].previous_in_bucket = dpor_steps(dpor)[j].wide =
				DPOR_NONE / 2;
		strategy_dpor.executed(dpor, &view, (struct thread_id){(uint16_t)thread});
		locks[thread]++;
		view.current.index = (uint16_t)thread;
		view.step++;
	}
	assert_int_equal(dpor->depth, STEPS);
	assert_false(dpor->has_diverged || dpor->is_lost);
	free(dpor);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(dpor__looks_back_no_further_than_a_step_of_its_own),
		cmocka_unit_test(dpor__of_readers_makes_two_to_the_n),
		cmocka_unit_test(dpor__of_writers_makes_the_factorial),
		cmocka_unit_test(dpor__of_lockers_makes_the_factorial),
		cmocka_unit_test(dpor__of_threads_apart_makes_one),
		cmocka_unit_test(dpor__of_halves_makes_the_orders_of_each),
		cmocka_unit_test(dpor__of_created_threads_makes_what_is_left),
		cmocka_unit_test(dpor__of_the_last_zero_asks_old_races_again),
		cmocka_unit_test(dpor__of_semaphores_asks_who_took_the_count_before),
		cmocka_unit_test(dpor__of_the_last_zero_makes_what_it_should_in_any_order),
		cmocka_unit_test(dpor__makes_each_trace_once),
		cmocka_unit_test(dpor__settles_no_race_for_what_comes_behind_it),
		cmocka_unit_test(dpor__makes_each_trace_of_many_threads_once),
		cmocka_unit_test(dpor__makes_each_trace_of_halves_once),
		cmocka_unit_test(dpor__misses_no_trace_of_threads_that_wait),
		cmocka_unit_test(dpor__of_spin_locks_makes_the_orders_of_sections),
		cmocka_unit_test(dpor__misses_no_trace_of_waiting_loops),
		cmocka_unit_test(dpor__is_dealt_to_shards),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
