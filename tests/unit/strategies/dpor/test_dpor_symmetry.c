/* dpor with option `symmetry`: exact numbers of orders up to an exchange of threads, and random programs
 * against all schedules. */
#include "strategies/dpor/dpor_symmetry.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/rng.h"
#include "strategies/dpor/dpor.h"
#include "strategies/strategy.h"
#include "support/every_schedule.h"
#include "support/random_program.h"
#include "support/seeds.h"
#include "support/simulated_program.h"
#include "support/simulated_trace.h"

#define CLASSES_MOST 20000
#define SCHEDULES_MOST 5000
#define THREADS_MOST 8

/* Classes of traces. 0: the run failed. */
struct classes {
	uint64_t hashes[CLASSES_MOST];
	uint32_t count;
};

static struct classes found, wanted;

static int compare_hashes(const void *left, const void *right)
{
	const uint64_t a = *(const uint64_t *)left, b = *(const uint64_t *)right;

	return (a > b) - (a < b);
}

static void classes_unite(struct classes *classes)
{
	uint32_t kept = 0;

	qsort(classes->hashes, classes->count, sizeof *classes->hashes, compare_hashes);
	for (uint32_t i = 0; i < classes->count; i++)
		if (!kept || classes->hashes[i] != classes->hashes[kept - 1])
			classes->hashes[kept++] = classes->hashes[i];
	classes->count = kept;
}

/* ---- traces up to an exchange ---- */

struct shape {
	uint32_t first,
		count; /* threads first to first + count - 1 are interchangeable; a second group follows */
	uint32_t second_count;
};

static bool is_about_threads(const struct dpor_op *op)
{
	return dpor_class_of(op) == OBJECT_THREAD;
}

/* The hash of a trace with threads renamed by `names`. Creations and joins do not count, because their
 * order is that of the creator's program. */
static uint64_t hash_renamed(const struct simulated_trace *trace, const uint32_t *names)
{
	uint32_t ordinal[SIMULATED_EVENTS_MOST], next[16] = {0};
	uint64_t hash = 0;

	for (uint32_t i = 0; i < trace->count; i++)
		if (!is_about_threads(&trace->ops[i]))
			ordinal[i] = next[trace->ops[i].thread]++;
	for (uint32_t i = 0; i < trace->count; i++) {
		uint64_t event, past = 0;

		if (is_about_threads(&trace->ops[i]))
			continue;
		event = hash_pair(names[trace->ops[i].thread], ordinal[i]);
		for (uint32_t j = 0; j < i; j++)
			if (trace->past[i] >> j & 1 && !is_about_threads(&trace->ops[j]))
				past += hash_pair(names[trace->ops[j].thread] + 100, ordinal[j]);
		hash += hash_pair(event, past);
	}
	return hash;
}

/* Calls itself for every order of the names from `at` to `end`; then the same for the second group. */
static uint64_t least_hash(const struct simulated_trace *trace, const struct shape *shape,
	uint32_t *names, uint32_t at, uint32_t end)
{
	uint64_t least = UINT64_MAX;

	if (at + 1 >= end) {
		const uint32_t from = shape->first + shape->count;

		if (end <= from && shape->second_count > 1)
			return least_hash(trace, shape, names, from, from + shape->second_count);
		return hash_renamed(trace, names);
	}
	for (uint32_t i = at; i < end; i++) {
		const uint32_t kept = names[at];
		uint64_t hash;

		names[at] = names[i];
		names[i] = kept;
		hash = least_hash(trace, shape, names, at + 1, end);
		names[i] = names[at];
		names[at] = kept;
		least = hash < least ? hash : least;
	}
	return least;
}

static uint64_t hash_class(const struct simulated_trace *trace, const struct shape *shape)
{
	uint32_t names[16];

	for (uint32_t i = 0; i < 16; i++)
		names[i] = i;
	return least_hash(trace, shape, names, shape->first, shape->first + shape->count);
}

/* All runs of the campaign, at most `most`; returns their number. */
static uint64_t collect(struct simulated_campaign *campaign, const struct shape *shape,
	struct classes *classes, uint64_t most)
{
	const struct strategy *strategy = campaign->run.strategy;
	struct simulated_trace trace;
	uint64_t runs = 0;

	campaign->run.observe = simulated_trace_add;
	campaign->run.context = &trace;
	while (!strategy->search.is_exhausted(campaign->state) && runs < most) {
		enum outcome_kind outcome;

		trace.count = 0;
		outcome = simulated_campaign_run(campaign);
		assert_false(campaign->run.has_false_choice);
		assert_true(classes->count < CLASSES_MOST);
		/* A failure ends the run early: other threads have made some of their steps. */
		classes->hashes[classes->count++] =
			outcome == OUTCOME_ABORT ? 0 : hash_class(&trace, shape);
		runs++;
	}
	return runs;
}

static void begin_dpor(struct simulated_campaign *campaign, const struct simulated_program *program,
	uint32_t shard, uint32_t shards)
{
	simulated_campaign_init(campaign, program, &strategy_dpor, 0, 1);
	campaign->config.option[1] = 1;
	campaign->config.shard = shard;
	campaign->config.shards = shards;
	strategy_begin_campaign(&strategy_dpor, campaign->state, &campaign->config);
}

/* Runs of all shards that are not redundant; 0 shards: one search without shards. */
static uint64_t search(const struct simulated_program *program, const struct shape *shape,
	uint32_t shards, struct strategy_verdict *verdict)
{
	uint64_t runs = 0;

	found.count = 0;
	for (uint32_t shard = 1; shard <= shards || shard == 1; shard++) {
		struct simulated_campaign campaign;

		begin_dpor(&campaign, program, shards ? shard : 0, shards);
		(void)collect(&campaign, shape, &found, UINT64_MAX);
		strategy_dpor.search.verdict(campaign.state, verdict);
		assert_true(verdict->is_complete);
		runs += verdict->runs - verdict->redundant;
		simulated_campaign_release(&campaign);
	}
	classes_unite(&found);
	return runs;
}

/* A failing run ends early, and hides the races of the steps that it does not make. dpor therefore finds
 * a failure if there is one, and all other classes if there is none. */
static void assert_same_classes(void)
{
	if (wanted.count && !wanted.hashes[0]) {
		assert_true(found.count && !found.hashes[0]);
		return;
	}
	assert_int_equal(found.count, wanted.count);
	assert_memory_equal(found.hashes, wanted.hashes, wanted.count * sizeof *wanted.hashes);
}

/* ---- closed forms ---- */

/* Main creates `first` threads of code 1 and `second` threads of code 2, and joins all of them. */
struct symmetric_program {
	struct simulated_op main_ops[32];
	struct simulated_code codes[3];
	struct simulated_program program;
	struct shape shape;
};

static void make_symmetric_program(
	struct symmetric_program *symmetric, uint32_t first, uint32_t second)
{
	uint32_t count = 0;

	*symmetric = (struct symmetric_program){
		.shape = {.first = 1, .count = first, .second_count = second}};
	for (uint32_t i = 0; i < first + second; i++)
		symmetric->main_ops[count++] = (struct simulated_op)CREATE(i < first ? 1 : 2);
	for (uint32_t i = 0; i < first + second; i++)
		symmetric->main_ops[count++] = (struct simulated_op)JOIN((uint16_t)i);
	symmetric->codes[0] = (struct simulated_code){symmetric->main_ops, count, 1};
	symmetric->program = (struct simulated_program){.codes = symmetric->codes,
		.code_count = second ? 3 : 2,
		.initial_count = 1,
		.has_exits = true};
}

static uint64_t multinomial(uint32_t threads, uint32_t each)
{
	uint64_t ways = 1;

	for (uint32_t thread = 2; thread <= threads; thread++)
		for (uint64_t i = 1, total = (uint64_t)(thread - 1) * each; i <= each; i++)
			ways = ways * (total + i) / i;
	return ways;
}

static uint64_t factorial(uint32_t n)
{
	return n < 2 ? 1 : n * factorial(n - 1);
}

static const struct simulated_op section[] = {LOCK(0), ADD(0, 1), UNLOCK(0)};
static const struct simulated_op other_section[] = {LOCK(1), ADD(1, 1), UNLOCK(1)};

static void dpor_symmetry__of_critical_sections_makes_the_multinomial_by_the_factorial(void **state)
{
	static const uint8_t sizes[][2] = {
		{2, 1}, {2, 5}, {3, 1}, {3, 2}, {3, 3}, {4, 2}, {5, 1}, {6, 1}};
	struct strategy_verdict verdict;
	struct symmetric_program symmetric;

	(void)state;
	for (uint32_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
		const uint32_t threads = sizes[i][0], each = sizes[i][1];
		uint64_t runs;

		make_symmetric_program(&symmetric, threads, 0);
		symmetric.codes[1] = (struct simulated_code)CODE_REPEATED(section, each);
		runs = search(&symmetric.program, &symmetric.shape, 0, &verdict);
		assert_int_equal(runs, multinomial(threads, each) / factorial(threads));
		assert_int_equal(verdict.redundant, 0);
		assert_int_equal(found.count, runs);
		assert_string_not_equal(verdict.exchange, "");
	}
	assert_string_equal(verdict.exchange, "main.0, main.1, main.2, main.3, main.4 and main.5");
}

static void dpor_symmetry__divides_by_the_exchanges_of_each_group(void **state)
{
	struct strategy_verdict verdict;
	struct symmetric_program symmetric;
	uint64_t runs;

	(void)state;
	make_symmetric_program(&symmetric, 3, 2);
	symmetric.codes[1] = (struct simulated_code)CODE_REPEATED(section, 2);
	symmetric.codes[2] = (struct simulated_code)CODE_REPEATED(other_section, 3);
	runs = search(&symmetric.program, &symmetric.shape, 0, &verdict);
	assert_int_equal(runs, multinomial(3, 2) / 6 * multinomial(2, 3) / 2);
	assert_int_equal(found.count, runs);
	assert_int_equal(verdict.redundant, 0);
	assert_string_equal(verdict.exchange, "main.0, main.1 and main.2; main.3 and main.4");
}

static void dpor_symmetry__of_shards_is_each_class_once(void **state)
{
	static const uint32_t shards[] = {2, 3, 5};
	struct strategy_verdict verdict;
	struct symmetric_program symmetric;

	(void)state;
	make_symmetric_program(&symmetric, 3, 0);
	symmetric.codes[1] = (struct simulated_code)CODE_REPEATED(section, 3);
	for (uint32_t i = 0; i < sizeof shards / sizeof *shards; i++) {
		assert_int_equal(
			search(&symmetric.program, &symmetric.shape, shards[i], &verdict), 280);
		assert_int_equal(found.count, 280);
	}
}

/* ---- random programs ---- */

static struct simulated_op random_op(struct rng *rng)
{
	static const uint8_t kinds[] = {SIMULATED_READ, SIMULATED_SET, SIMULATED_ADD,
		SIMULATED_LEAVE, SIMULATED_ADVANCE, SIMULATED_REFUSE};
	const uint8_t kind = kinds[rng_below(rng, sizeof kinds)];

	return (struct simulated_op){kind, (uint16_t)rng_below(rng, 2),
		kind == SIMULATED_REFUSE ? 4 : (int32_t)rng_below(rng, 2) + 1};
}

#define CODE_OPS_MOST 8

static uint32_t make_random_code(struct simulated_op *ops, struct rng *rng, bool waits)
{
	const uint32_t parts = 1 + rng_below(rng, 3);
	uint32_t count = 0;

	for (uint32_t i = 0; i < parts && count + 3 <= CODE_OPS_MOST; i++) {
		const uint16_t mutex = (uint16_t)rng_below(rng, 2);

		switch (rng_below(rng, waits ? 6 : 4)) {
		case 0:
			ops[count++] = (struct simulated_op)LOCK(mutex);
			ops[count++] = random_op(rng);
			if (ops[count - 1].kind == SIMULATED_LEAVE)
				ops[count - 1].kind = SIMULATED_READ;
			ops[count++] = (struct simulated_op)UNLOCK(mutex);
			break;
		case 4:
			ops[count++] = (struct simulated_op)POST(mutex);
			break;
		case 5:
			ops[count++] = (struct simulated_op)TAKE(mutex);
			break;
		default:
			ops[count++] = random_op(rng);
			break;
		}
	}
	return count;
}

/* Interchangeable threads beside main and sometimes a different thread or a second group. Some programs
 * break a condition: a step of main between two creations, or between two joins. */
static void make_random_program(struct symmetric_program *symmetric, struct simulated_op *codes,
	struct rng *rng, bool waits)
{
	const uint32_t first = 2 + rng_below(rng, 2), second = rng_below(rng, first == 2 ? 3 : 2);
	const uint32_t between = rng_below(rng, 4); /* where main has a step of its own */
	uint32_t count = 0;

	make_symmetric_program(symmetric, first, second);
	for (uint32_t i = 0; i < first + second; i++) {
		symmetric->main_ops[count++] = (struct simulated_op)CREATE(i < first ? 1 : 2);
		if (between == 1 && i == 0)
			symmetric->main_ops[count++] = random_op(rng);
	}
	if (rng_below(rng, 2))
		symmetric->main_ops[count++] = random_op(rng);
	if (rng_below(rng, 4))
		for (uint32_t i = 0; i < first + second; i++) {
			symmetric->main_ops[count++] = (struct simulated_op)JOIN((uint16_t)i);
			if (between == 2 && i == 0)
				symmetric->main_ops[count++] =
					waits ? (struct simulated_op)POST(0) : random_op(rng);
		}
	symmetric->main_ops[count++] = (struct simulated_op)REFUSE(0, 4);
	symmetric->codes[0].op_count = count;
	for (uint32_t code = 1; code <= 2; code++)
		symmetric->codes[code] = (struct simulated_code){codes + code * CODE_OPS_MOST,
			make_random_code(codes + code * CODE_OPS_MOST, rng, waits), 1};
}

/* Classes of all schedules or, if there are too many, of dpor without symmetry. Returns false if these
 * are too many, too. */
static bool collect_wanted(const struct symmetric_program *symmetric)
{
	uint64_t runs;

	struct simulated_campaign campaign;

	wanted.count = 0;
	simulated_campaign_init(&campaign, &symmetric->program, &every_schedule, 0, 1);
	runs = collect(&campaign, &symmetric->shape, &wanted, SCHEDULES_MOST);
	if (!every_schedule.search.is_exhausted(campaign.state)) {
		simulated_campaign_release(&campaign);
		wanted.count = 0;
		simulated_campaign_init(&campaign, &symmetric->program, &strategy_dpor, 0, 1);
		runs = collect(&campaign, &symmetric->shape, &wanted, CLASSES_MOST - 1);
	}
	simulated_campaign_release(&campaign);
	classes_unite(&wanted);
	return runs < CLASSES_MOST - 1;
}

static void compare_random(unsigned seed, bool waits, bool has_halves, uint32_t shards)
{
	struct simulated_op codes[3 * CODE_OPS_MOST];
	uint32_t reduced = 0, rounds = 0;
	struct strategy_verdict verdict;
	struct symmetric_program symmetric;
	struct rng rng;

	rng_seed(&rng, seed);
	for (unsigned long round = test_seeds(200); round; round--) {
		make_random_program(&symmetric, codes, &rng, waits);
		symmetric.program.has_halves = has_halves;
		if (!collect_wanted(&symmetric))
			continue;
		(void)search(&symmetric.program, &symmetric.shape, shards, &verdict);
		assert_same_classes();
		if (!verdict.exchange[0]) { /* every single order */
			symmetric.shape.count = symmetric.shape.second_count = 1;
			(void)collect_wanted(&symmetric);
			(void)search(&symmetric.program, &symmetric.shape, shards, &verdict);
			assert_same_classes();
		}
		reduced += verdict.exchange[0] != '\0';
		rounds++;
	}
	assert_in_range(reduced, rounds / 5, rounds - 1);
}

static void dpor_symmetry__misses_no_class_of_random_programs(void **state)
{
	(void)state;
	compare_random(1, false, false, 0);
}

static void dpor_symmetry__misses_no_class_of_threads_that_wait(void **state)
{
	(void)state;
	compare_random(2, true, false, 0);
}

static void dpor_symmetry__misses_no_class_in_shards(void **state)
{
	(void)state;
	compare_random(3, true, false, 3);
}

static void dpor_symmetry__misses_no_class_of_halves(void **state)
{
	(void)state;
	compare_random(4, false, true, 0);
	compare_random(5, true, true, 3);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
			dpor_symmetry__of_critical_sections_makes_the_multinomial_by_the_factorial),
		cmocka_unit_test(dpor_symmetry__divides_by_the_exchanges_of_each_group),
		cmocka_unit_test(dpor_symmetry__of_shards_is_each_class_once),
		cmocka_unit_test(dpor_symmetry__misses_no_class_of_random_programs),
		cmocka_unit_test(dpor_symmetry__misses_no_class_of_threads_that_wait),
		cmocka_unit_test(dpor_symmetry__misses_no_class_of_halves),
		cmocka_unit_test(dpor_symmetry__misses_no_class_in_shards),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
