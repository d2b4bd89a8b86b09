/*
 * Tasks of a strategy, made ahead in other states and joined. The runs are the same, in the same
 * order, as those of one state. This holds wherever tasks are split off and however far they are
 * when they are joined. For some strategies it suffices that each order of dependent ops occurs as
 * often.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/hash.h"
#include "base/rng.h"
#include "strategies/strategy.h"
#include "support/random_program.h"
#include "support/simulated_program.h"
#include "support/simulated_trace.h"
#include "support/strategy_state.h"

#define WORKERS_MOST 5
#define RUNS_MOST 4000 /* programs with more are left out */

/* The runs that a worker has made since it was split off, by the order of their threads. */
struct log {
	uint64_t *runs;
	uint64_t count;
	struct simulated_trace trace; /* trace of the current run */
};

/* How runs are compared. */
enum sameness {
	SAME_RUNS,  /* the same runs in the same order */
	SAME_TRACES /* the same up to the order of independent ops, in any order */
};

static enum sameness sameness;
static bool is_waiting;	     /* the program */
static int64_t first_option; /* first option of the strategy; 0: its default */
/* The memory suffices for one state, but not always for what tasks add. */
static bool is_memory_short;

static void log_init(struct log *log)
{
	log->runs = malloc(RUNS_MOST * sizeof *log->runs);
	log->count = 0;
	assert_non_null(log->runs);
}

static void log_append(struct log *log, const struct log *other, uint64_t count)
{
	assert_true(log->count + count <= RUNS_MOST);
	memcpy(log->runs + log->count, other->runs, count * sizeof *log->runs);
	log->count += count;
}

/* One of several states that work on a program. */
struct player {
	struct simulated_campaign campaign;
	struct log log;
	uint32_t task;		 /* 0: it has none */
	void *synchronised;	 /* state at the last synchronisation */
	uint64_t reported_count; /* number of runs at that time; 0: not synchronised */
};

/* A state that the strategy itself made is accepted, and no part of it may lie elsewhere. */
static void assert_valid(struct player *player)
{
	const struct strategy *strategy = player->campaign.run.strategy;

	assert_true(strategy->search.is_valid(player->campaign.state, &player->campaign.config));
}

static void make_run(struct player *player)
{
	struct simulated_run *run = &player->campaign.run;
	uint64_t hash;

	player->log.trace.count = 0;
	run->observe = simulated_trace_add;
	run->context = &player->log.trace;
	(void)simulated_campaign_run(&player->campaign);
	assert_true(player->log.count < RUNS_MOST);
	hash = sameness == SAME_RUNS ? run->order_hash : simulated_trace_hash(&player->log.trace);
	player->log.runs[player->log.count++] = hash_pair(hash, run->outcome);
	assert_false(player->campaign.run.has_false_choice);
	assert_valid(player);
}

struct outcome_of_all {
	struct log log;
	struct strategy_verdict verdict;
};

/* The counts of a test: runs of joined tasks, and runs of discarded ones. */
static uint64_t joined_runs, lost_runs, parts_split;

static void make_alone(const struct simulated_program *program, const struct strategy *strategy,
	struct outcome_of_all *all)
{
	struct player player = {0};

	simulated_campaign_init(&player.campaign, program, strategy, first_option, 1);
	player.log = all->log;
	player.log.count = 0;
	while (!strategy->search.is_exhausted(player.campaign.state) &&
		player.log.count < RUNS_MOST)
		make_run(&player);
	strategy->search.verdict(player.campaign.state, &all->verdict);
	all->log = player.log;
	simulated_campaign_release(&player.campaign);
}

static void go_back(struct player *player)
{
	player->campaign.run.strategy->search.tasks->copy(
		player->campaign.state, player->synchronised);
	lost_runs += player->log.count - player->reported_count;
	player->log.count = player->reported_count;
}

/* Returns false if the task is useless. */
static bool synchronise(struct player *owner, struct player *player)
{
	const struct strategy_tasks *tasks = owner->campaign.run.strategy->search.tasks;

	if (sameness == SAME_RUNS || !tasks->synchronise || !player->task)
		return true;
	if (!tasks->synchronise(owner->campaign.state, player->campaign.state)) {
		if (player->reported_count)
			go_back(player);
		if (!player->reported_count ||
			!tasks->synchronise(owner->campaign.state, player->campaign.state)) {
			tasks->leave(owner->campaign.state, player->task);
			lost_runs += player->log.count;
			player->task = 0;
			return false;
		}
	}
	tasks->copy(player->synchronised, player->campaign.state);
	player->reported_count = player->log.count;
	return true;
}

static void join(struct player *owner, struct player *players, uint32_t count, uint32_t number)
{
	const struct strategy_tasks *tasks = owner->campaign.run.strategy->search.tasks;
	struct player *from = NULL;

	for (uint32_t i = 1; i < count; i++)
		if (players[i].task == number)
			from = &players[i];
	assert_non_null(from);
	if (!synchronise(owner, from))
		return;
	assert_int_equal(tasks->runs(from->campaign.state), from->log.count);
	if (tasks->join(owner->campaign.state, from->campaign.state, sameness == SAME_RUNS)) {
		log_append(&owner->log, &from->log, from->log.count);
		joined_runs += from->log.count;
	} else {
		lost_runs += from->log.count;
	}
	assert_int_equal(tasks->awaited(owner->campaign.state) == number, 0);
	from->task = 0;
}

/* The next state to move is random. */
static void make_together(const struct simulated_program *program, const struct strategy *strategy,
	uint32_t count, struct rng *rng, struct outcome_of_all *all)
{
	const struct strategy_tasks *tasks = strategy->search.tasks;
	struct player players[WORKERS_MOST] = {0};
	struct player *owner = &players[0];
	uint32_t numbers = 0;

	for (uint32_t i = 0; i < count; i++) {
		simulated_campaign_init(&players[i].campaign, program, strategy, first_option, 1);
		log_init(&players[i].log);
		players[i].synchronised = strategy_state_new(players[i].campaign.state_bytes);
	}
	while (!strategy->search.is_exhausted(owner->campaign.state)) {
		struct player *player = &players[rng_below(rng, count)];
		uint32_t awaited;

		if (rng_below(rng, 4) == 0)
			(void)synchronise(owner, &players[1 + rng_below(rng, count - 1)]);
		awaited = tasks->awaited(owner->campaign.state);
		if (player == owner && awaited) {
			if (rng_below(rng, 2))
				join(owner, players, count, awaited);
		} else if (player == owner) {
			make_run(owner);
		} else if (!player->task) {
			if (!awaited && tasks->split(owner->campaign.state, player->campaign.state,
						++numbers, UINT64_MAX, sameness == SAME_RUNS)) {
				player->task = numbers;
				player->log.count = player->reported_count = 0;
				parts_split++;
			}
		} else if (!strategy->search.is_exhausted(player->campaign.state)) {
			make_run(player);
		}
	}
	strategy->search.verdict(owner->campaign.state, &all->verdict);
	all->log.count = 0;
	log_append(&all->log, &owner->log, owner->log.count);
	for (uint32_t i = 0; i < count; i++) {
		assert_true(is_memory_short || !players[i].task);
		free(players[i].log.runs);
		strategy_state_free(players[i].synchronised, players[i].campaign.state_bytes);
		simulated_campaign_release(&players[i].campaign);
	}
}

static int compare_hashes(const void *left, const void *right)
{
	const uint64_t a = *(const uint64_t *)left, b = *(const uint64_t *)right;

	return (a > b) - (a < b);
}

/* Each trace once: programs that wait may have some twice, in one order of runs or the other. */
static void unite_traces(struct log *log)
{
	uint64_t kept = 0;

	if (sameness == SAME_RUNS)
		return;
	qsort(log->runs, log->count, sizeof *log->runs, compare_hashes);
	for (uint64_t i = 0; i < log->count; i++)
		if (!kept || log->runs[i] != log->runs[kept - 1])
			log->runs[kept++] = log->runs[i];
	log->count = kept;
}

static void compare(const struct simulated_program *program, const struct strategy *strategy,
	uint32_t count, struct rng *rng)
{
	struct outcome_of_all alone = {0}, together = {0};

	log_init(&alone.log);
	log_init(&together.log);
	make_alone(program, strategy, &alone);

	if (alone.log.count < RUNS_MOST) {
		make_together(program, strategy, count, rng, &together);
		if (!is_waiting && !is_memory_short)
			assert_int_equal(together.log.count, alone.log.count);
		unite_traces(&alone.log);
		unite_traces(&together.log);
		assert_int_equal(together.log.count, alone.log.count);
		/* If the first thread's end stops others, the order of runs determines the
		 * remaining ops. */
		if (!is_waiting || sameness == SAME_RUNS) {
			assert_memory_equal(together.log.runs, alone.log.runs,
				alone.log.count * sizeof *alone.log.runs);
			assert_int_equal(together.verdict.runs, alone.verdict.runs);
			assert_int_equal(together.verdict.redundant, alone.verdict.redundant);
		}
		assert_int_equal(together.verdict.is_complete, alone.verdict.is_complete);
		assert_string_equal(together.verdict.scope, alone.verdict.scope);
	}
	free(alone.log.runs);
	free(together.log.runs);
}

/* ---- programs ---- */

static void add_random_op(struct random_program *program, uint32_t thread, struct rng *rng)
{
	const uint16_t object = (uint16_t)rng_below(rng, 3);

	switch (rng_below(rng, is_waiting ? 8 : 5)) {
	case 0:
		add_op(program, thread, (struct simulated_op)READ(object));
		return;
	case 1:
		add_op(program, thread, (struct simulated_op)LEAVE(object, 1));
		return;
	case 2:
	case 3:
		add_op(program, thread, (struct simulated_op)ADD(object, 1));
		return;
	case 4:
		add_op(program, thread, (struct simulated_op)LOCK(object));
		add_op(program, thread, (struct simulated_op)READ(0));
		add_op(program, thread, (struct simulated_op)UNLOCK(object));
		return;
	case 5:
		add_op(program, thread, (struct simulated_op)POST(object));
		return;
	case 6:
		add_op(program, thread, (struct simulated_op)TAKE(object));
		return;
	default:
		add_op(program, thread, (struct simulated_op)SIGNAL(object));
		return;
	}
}

/* `ops`: about how many there are. */
static void make_random(struct random_program *program, struct rng *rng, uint32_t ops)
{
	const uint32_t threads = 2 + rng_below(rng, RANDOM_THREADS_MOST - 1);

	random_program_begin(program, threads);
	for (uint32_t thread = 0; thread < threads; thread++) {
		const uint32_t count = 1 + rng_below(rng, 2 * ops / threads);

		for (uint32_t i = 0; i < count && i < 3; i++)
			add_random_op(program, thread, rng);
		if (is_waiting && thread == 0 && rng_below(rng, 3) == 0) {
			add_op(program, thread, (struct simulated_op)LOCK(0));
			add_op(program, thread,
				(struct simulated_op){
					SIMULATED_WAIT, (uint16_t)rng_below(rng, 2), 0});
			add_op(program, thread, (struct simulated_op)UNLOCK(0));
		}
	}
}

static void of_random_programs(const struct strategy *strategy, uint32_t rounds, uint32_t ops)
{
	struct random_program program;
	struct rng rng;

	joined_runs = lost_runs = parts_split = 0;
	rng_seed(&rng, 11);
	for (uint32_t round = 0; round < rounds; round++) {
		is_waiting = round % 2;
		make_random(&program, &rng, ops);
		compare(&program.program, strategy, 2 + round % (WORKERS_MOST - 1), &rng);
	}
	print_message("%s: %lu tasks, %lu runs joined, %lu discarded\n", strategy->name,
		(unsigned long)parts_split, (unsigned long)joined_runs, (unsigned long)lost_runs);
	assert_true(parts_split > rounds / 2);
	assert_true(sameness == SAME_RUNS || joined_runs > 2 * lost_runs);
}

static void of_writers(const struct strategy *strategy, uint32_t threads, uint32_t writes)
{
	static const struct simulated_op write_x[] = {SET(0, 1)};
	struct simulated_code codes[8];
	struct simulated_program program = {.codes = codes};
	struct rng rng;

	is_waiting = false;
	joined_runs = lost_runs = parts_split = 0;
	rng_seed(&rng, 12);
	for (uint32_t i = 0; i < threads; i++)
		codes[i] = (struct simulated_code)CODE_REPEATED(write_x, writes);
	program.code_count = program.initial_count = threads;
	for (uint32_t count = 2; count <= WORKERS_MOST; count++)
		compare(&program, strategy, count, &rng);
	print_message("%s: %lu tasks, %lu runs joined, %lu discarded\n", strategy->name,
		(unsigned long)parts_split, (unsigned long)joined_runs, (unsigned long)lost_runs);
	assert_true(sameness == SAME_RUNS || joined_runs > 2 * lost_runs);
}

static void parts__of_dpor_make_the_traces_of_one(void **state)
{
	(void)state;
	sameness = SAME_TRACES;
	of_random_programs(&strategy_dpor, 200, 6);
	of_writers(&strategy_dpor, 6, 1);
	of_writers(&strategy_dpor, 3, 3);
}

/* Orders of one race that begin with other ops, some of which a task finds first: this lost one in forty. */
static void parts__of_dpor_tell_nothing_that_hides_orders(void **state)
{
	static const struct simulated_op first[] = {ADD(0, 1), LOCK(1), READ(0), UNLOCK(1)};
	static const struct simulated_op second[] = {ADD(1, 1), READ(1)};
	static const struct simulated_op third[] = {LEAVE(1, 1), LOCK(1), READ(0), UNLOCK(1)};
	static const struct simulated_op fourth[] = {
		LOCK(1), READ(0), UNLOCK(1), ADD(2, 1), LOCK(0), READ(0), UNLOCK(0)};
	struct simulated_code codes[] = {CODE(first), CODE(second), CODE(third), CODE(fourth)};
	const struct simulated_program program = {
		.codes = codes, .code_count = 4, .initial_count = 4};
	struct rng rng;

	(void)state;
	sameness = SAME_TRACES;
	is_waiting = false;
	rng_seed(&rng, 5);
	/* 0.97^300 < 2e-4: what was wrong once would show. */
	for (uint32_t i = 0; i < 300; i++)
		compare(&program, &strategy_dpor, 2, &rng);
}

/* A task took a race for settled by its own findings, but the owner had found an earlier branch. */
static void parts__of_dpor_settle_no_race_outside_of_themselves(void **state)
{
	static const struct simulated_op first[] = {ADD(0, 1), ADD(2, 1)};
	static const struct simulated_op second[] = {LEAVE(1, 1)};
	static const struct simulated_op third[] = {READ(0), ADD(1, 1)};
	static const struct simulated_op fourth[] = {LEAVE(2, 1), READ(1)};
	static const struct simulated_op fifth[] = {ADD(1, 1), LEAVE(2, 1)};
	struct simulated_code codes[] = {
		CODE(first), CODE(second), CODE(third), CODE(fourth), CODE(fifth)};
	const struct simulated_program program = {
		.codes = codes, .code_count = 5, .initial_count = 5};
	struct rng rng;

	(void)state;
	sameness = SAME_TRACES;
	is_waiting = false;
	rng_seed(&rng, 5);
	for (uint32_t i = 0; i < 20; i++) /* nearly every time */
		compare(&program, &strategy_dpor, 4, &rng);
}

#define PAIRS 8

/* A search whose memory the branches of tasks filled had no verdict, and never ended. */
static void parts__of_dpor_end_where_the_memory_suffices_for_one(void **state)
{
	static struct simulated_op ops[PAIRS][1];
	struct simulated_code codes[2 * PAIRS];
	const struct simulated_program program = {
		.codes = codes, .code_count = 2 * PAIRS, .initial_count = 2 * PAIRS};
	struct rng rng;

	(void)state;
	sameness = SAME_TRACES;
	is_waiting = false;
	is_memory_short = true;
	first_option = 2 * PAIRS;
	rng_seed(&rng, 5); /* half of the searches begin again */
	for (uint16_t i = 0; i < PAIRS; i++) {
		ops[i][0] = (struct simulated_op)SET(i, 1);
		codes[i] = codes[PAIRS + i] = (struct simulated_code)CODE(ops[i]);
	}
	for (uint32_t i = 0; i < 20; i++)
		compare(&program, &strategy_dpor, 4, &rng);
	is_memory_short = false;
	first_option = 0;
}

static void parts__of_dpor_make_the_runs_of_one(void **state)
{
	(void)state;
	sameness = SAME_RUNS;
	of_random_programs(&strategy_dpor, 200, 6);
}

static void parts__of_dpor_make_the_runs_of_one_among_writers(void **state)
{
	(void)state;
	sameness = SAME_RUNS;
	of_writers(&strategy_dpor, 6, 1);
	of_writers(&strategy_dpor, 3, 3); /* 9! / 3!^3 */
}

static void parts__of_icb_make_the_runs_of_one(void **state)
{
	(void)state;
	sameness = SAME_RUNS;
	of_random_programs(&strategy_icb, 50, 4);
}

static void parts__of_vt_make_the_runs_of_one(void **state)
{
	(void)state;
	sameness = SAME_RUNS;
	of_random_programs(&strategy_vt, 50, 4);
}

/* The comparison includes the runs that bounded leaves out as equivalent. */
static void parts__of_bounded_make_the_runs_of_one(void **state)
{
	(void)state;
	sameness = SAME_RUNS;
	first_option = 3; /* changes of priority: children of children are left out, too */
	of_random_programs(&strategy_bounded, 24, 9);
	first_option = 0;
	assert_true(joined_runs > 1000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(parts__of_icb_make_the_runs_of_one),
		cmocka_unit_test(parts__of_vt_make_the_runs_of_one),
		cmocka_unit_test(parts__of_bounded_make_the_runs_of_one),
		cmocka_unit_test(parts__of_dpor_make_the_runs_of_one),
		cmocka_unit_test(parts__of_dpor_make_the_traces_of_one),
		cmocka_unit_test(parts__of_dpor_tell_nothing_that_hides_orders),
		cmocka_unit_test(parts__of_dpor_settle_no_race_outside_of_themselves),
		cmocka_unit_test(parts__of_dpor_make_the_runs_of_one_among_writers),
		cmocka_unit_test(parts__of_dpor_end_where_the_memory_suffices_for_one),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
