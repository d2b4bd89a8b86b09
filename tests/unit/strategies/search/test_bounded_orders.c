/* bounded makes just the orders of dependent ops that its bounds mean: against a second account of them. */
#include "strategies/strategy.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/rng.h"
#include "strategies/order_hash.h"
#include "support/bounded_campaign.h"
#include "support/every_schedule.h"
#include "support/random_program.h"

/* ---- random programs ---- */

#define THREADS_MOST 4
#define OPS_MOST 6

static struct simulated_op random_access(struct rng *rng)
{
	static const uint8_t kinds[] = {SIMULATED_SET, SIMULATED_ADD, SIMULATED_READ};

	return (struct simulated_op){
		kinds[rng_below(rng, sizeof kinds)], (uint16_t)rng_below(rng, 2), 1};
}

/* Makes `threads` with up to four accesses to two variables, some of them under one lock, and
 * `idle` threads with a variable of their own. */
static void make_random(
	struct random_program *program, struct rng *rng, uint32_t threads, uint32_t idle)
{
	random_program_begin(program, threads + idle);
	for (uint32_t thread = 0; thread < threads + idle; thread++) {
		const uint32_t count = 1 + rng_below(rng, 4);
		const bool is_locked = thread < threads && !rng_below(rng, 3);

		if (is_locked)
			add_op(program, thread, (struct simulated_op)LOCK(0));
		for (uint32_t i = 0; i < count && thread < threads; i++)
			add_op(program, thread, random_access(rng));
		if (is_locked)
			add_op(program, thread, (struct simulated_op)UNLOCK(0));
		if (thread >= threads)
			add_op(program, thread, (struct simulated_op)ADD(2, 1));
	}
}

/*
 * All runs within (c, v), computed from the definition and independently of bounded: each order of
 * the threads. Before each access of the highest thread to a variable of two threads, this thread
 * may move to any position below the next enabled one. It moves at most c times, at v variables at
 * most.
 */
struct reference {
	struct every every; /* choices that are next */
	const struct simulated_program *program;
	uint32_t changes, variables;
	uint32_t changes_made, used_count;
	object_name used[OPS_MOST];
	uint32_t count, order[THREADS_MOST]; /* the highest first */
};

static bool is_shared(const struct simulated_program *program, object_name object)
{
	uint32_t users = 0;

	for (uint32_t i = 0; i < program->code_count; i++) {
		bool uses = false;

		for (uint32_t j = 0; j < program->codes[i].op_count; j++) {
			const struct simulated_op *op = &program->codes[i].ops[j];

			uses |= simulated_object_name((enum simulated_kind)op->kind, op->object) ==
				object;
		}
		users += uses;
	}
	return users > 1;
}

static void reference_begin_run(void *state, uint64_t seed)
{
	struct reference *reference = state;

	every_begin_run(&reference->every, seed);
	reference->changes_made = reference->used_count = reference->count = 0;
}

/* Puts the thread at that position of the order. */
static void insert(struct reference *reference, uint32_t thread, uint32_t at)
{
	for (uint32_t i = reference->count++; i > at; i--)
		reference->order[i] = reference->order[i - 1];
	reference->order[at] = thread;
}

static bool may_stop(const struct reference *reference, object_name object)
{
	if (reference->changes_made == reference->changes || !is_shared(reference->program, object))
		return false;
	for (uint32_t i = 0; i < reference->used_count; i++)
		if (reference->used[i] == object)
			return true;
	return reference->used_count < reference->variables;
}

static void note_used(struct reference *reference, object_name object)
{
	for (uint32_t i = 0; i < reference->used_count; i++)
		if (reference->used[i] == object)
			return;
	reference->used[reference->used_count++] = object;
}

static uint32_t next_enabled(
	const struct reference *reference, const struct schedule_view *view, uint32_t from)
{
	while (from < reference->count && !view_is_enabled(view, reference->order[from]))
		from++;
	return from;
}

static struct thread_id reference_choose(void *state, const struct schedule_view *view)
{
	struct reference *reference = state;
	uint32_t first, next, choice, thread;

	while (reference->count < view->thread_count)
		insert(reference, reference->count,
			every_decide(&reference->every, reference->count + 1));
	first = next_enabled(reference, view, 0);
	next = next_enabled(reference, view, first + 1);
	thread = reference->order[first];
	if (next == reference->count || !may_stop(reference, view->pending[thread].object))
		return (struct thread_id){(uint16_t)thread};
	choice = every_decide(&reference->every, 1 + reference->count - next);
	if (!choice)
		return (struct thread_id){(uint16_t)thread};
	note_used(reference, view->pending[thread].object);
	reference->changes_made++;
	for (uint32_t i = first; i + 1 < reference->count; i++)
		reference->order[i] = reference->order[i + 1];
	reference->count--;
	insert(reference, thread, next + choice - 1);
	return (struct thread_id){(uint16_t)reference->order[next_enabled(reference, view, 0)]};
}

static const struct strategy reference_strategy = {
	.name = "reference",
	.summary = "all runs within bounds",
	.state_bytes = sizeof(struct reference),
	.begin_campaign = every_begin_campaign,
	.begin_run = reference_begin_run,
	.choose = reference_choose,
	.choose_value = every_choose_value,
	.end_run = every_end_run,
	.search = {.is_exhausted = every_is_exhausted},
};

/* ---- the orders of dependent ops ---- */

#define ORDERS_MOST 8192

/* Orders of the first `threads`; ops of others are left out. */
struct order_set {
	uint32_t threads, count;
	uint64_t orders[ORDERS_MOST]; /* ascending */
	struct order_hash hash;	      /* hash of the current run */
};

static void note_op(void *context, const struct schedule_view *view, struct thread_id chosen)
{
	struct order_set *set = context;

	if (chosen.index < set->threads)
		order_hash_add(&set->hash, view, chosen);
}

static void add_order(struct order_set *set, uint64_t order)
{
	uint32_t at = 0;

	while (at < set->count && set->orders[at] < order)
		at++;
	if (at < set->count && set->orders[at] == order)
		return;
	assert_true(set->count < ORDERS_MOST);
	memmove(&set->orders[at + 1], &set->orders[at], (set->count - at) * sizeof *set->orders);
	set->orders[at] = order;
	set->count++;
}

/* One run. */
static void run_into(struct order_set *set, struct simulated_campaign *campaign)
{
	enum outcome_kind outcome;

	order_hash_begin(&set->hash);
	campaign->run.observe = note_op;
	campaign->run.context = set;
	outcome = simulated_campaign_run(campaign);
	assert_true(outcome == OUTCOME_PASSED || outcome == OUTCOME_DEADLOCK);
	add_order(set, set->hash.value);
}

static void reference_orders(
	struct order_set *set, const struct simulated_program *program, const struct bounds *bounds)
{
	struct simulated_campaign campaign;
	struct reference *reference;

	set->count = 0;
	simulated_campaign_init(&campaign, program, &reference_strategy, 0, 1);
	reference = campaign.state;
	reference->program = program;
	reference->changes = (uint32_t)bounds->preemptions;
	reference->variables = (uint32_t)bounds->variables;
	while (!reference->every.is_exhausted)
		run_into(set, &campaign);
	simulated_campaign_release(&campaign);
}

/* The run that only learns is not among those of the bounds. Returns how many it made. */
static uint64_t bounded_orders(
	struct order_set *set, const struct simulated_program *program, const struct bounds *bounds)
{
	struct simulated_campaign campaign;
	struct strategy_verdict verdict;

	set->count = 0;
	bounded_campaign_init(&campaign, program, bounds);
	run_into(set, &campaign);
	set->count = 0;
	while (!strategy_bounded.search.is_exhausted(campaign.state))
		run_into(set, &campaign);
	strategy_bounded.search.verdict(campaign.state, &verdict);
	assert_true(verdict.is_complete);
	simulated_campaign_release(&campaign);
	return verdict.runs;
}

/* Orders of the first that the second lacks. */
static uint32_t count_missing(const struct order_set *all, const struct order_set *set)
{
	uint32_t missing = 0, at = 0;

	for (uint32_t i = 0; i < all->count; i++) {
		while (at < set->count && set->orders[at] < all->orders[i])
			at++;
		missing += at == set->count || set->orders[at] != all->orders[i];
	}
	return missing;
}

/* Makes a program and bounds for it; v is at most its number of variables. Returns false if it has
 * no variable. */
static bool make_case(struct random_program *program, struct bounds *bounds, struct rng *rng,
	uint32_t threads, uint32_t idle)
{
	static const struct simulated_op objects[] = {LOCK(0), READ(0), READ(1), READ(2)};
	int64_t shared = 0;

	make_random(program, rng, threads, idle);
	for (uint32_t i = 0; i < sizeof objects / sizeof *objects; i++)
		shared += is_shared(&program->program,
			simulated_object_name(
				(enum simulated_kind)objects[i].kind, objects[i].object));
	*bounds = (struct bounds){rng_below(rng, 3), 1 + rng_below(rng, 2), threads, 0};
	if (bounds->variables > shared)
		bounds->variables = shared;
	return shared > 0;
}

static struct order_set expected, found;

static void bounded__makes_just_the_orders_within_its_bounds(void **state)
{
	uint32_t missing = 0, beyond = 0, orders = 0;
	struct random_program program;
	struct bounds bounds;
	struct rng rng;

	(void)state;
	rng_seed(&rng, 5);
	for (int round = 0; round < 600; round++) {
		if (!make_case(&program, &bounds, &rng, 3, 0))
			continue;
		expected.threads = found.threads = 3;
		reference_orders(&expected, &program.program, &bounds);
		(void)bounded_orders(&found, &program.program, &bounds); /* runs do not matter */
		missing += count_missing(&expected, &found);
		beyond += count_missing(&found, &expected);
		orders += expected.count;
	}
	assert_true(orders > 1000);
	assert_int_equal(missing, 0);
	assert_int_equal(beyond, 0);
}

/* However many others there are that have nothing to do with it, two threads have all their orders. */
static void bounded__counts_threads_not_what_stops_cut_them_into(void **state)
{
	struct random_program program;
	uint32_t missing = 0, orders = 0;
	struct bounds bounds;
	struct rng rng;

	(void)state;
	rng_seed(&rng, 6);
	for (int round = 0; round < 200; round++) {
		struct random_program alone;

		if (!make_case(&program, &bounds, &rng, 2, 2))
			continue;
		alone = program;
		alone.program.codes = alone.codes;
		alone.program.code_count = alone.program.initial_count = 2;
		expected.threads = found.threads = 2;
		reference_orders(&expected, &alone.program, &bounds);
		(void)bounded_orders(&found, &program.program, &bounds);
		missing += count_missing(&expected, &found);
		orders += expected.count;
	}
	assert_true(orders > 300);
	assert_int_equal(missing, 0);
}

/* t = 3 has orders that t = 2 does not have. Otherwise the test before the last would show nothing
 * about t. */
static void bounded__misses_orders_of_more_threads(void **state)
{
	struct random_program program;
	uint32_t missing = 0;
	struct bounds bounds;
	struct rng rng;

	(void)state;
	rng_seed(&rng, 5);
	for (int round = 0; round < 200; round++) {
		if (!make_case(&program, &bounds, &rng, 3, 0))
			continue;
		expected.threads = found.threads = 3;
		reference_orders(&expected, &program.program, &bounds);
		bounds.threads = 2;
		(void)bounded_orders(&found, &program.program, &bounds);
		missing += count_missing(&expected, &found);
	}
	assert_true(missing > 100);
}

/* Pruning leaves nothing out; that of the paper does, so programs as these would show it. */
static void bounded__prunes_no_order(void **state)
{
	enum { STATES, GRAPHS, NONE };
	uint32_t missing[] = {0, 0, 0};
	uint64_t runs[] = {0, 0, 0};
	struct random_program program;
	struct bounds bounds;
	struct rng rng;

	(void)state;
	rng_seed(&rng, 7);
	for (int round = 0; round < 100; round++) {
		if (!make_case(&program, &bounds, &rng, 3, 0))
			continue;
		bounds.preemptions = 2;
		expected.threads = found.threads = 3;
		for (int pruning = NONE; pruning >= STATES; pruning--) {
			bounds.pruning = pruning;
			runs[pruning] += bounded_orders(
				pruning == NONE ? &expected : &found, &program.program, &bounds);
			if (pruning != NONE)
				missing[pruning] += count_missing(&expected, &found);
		}
	}
	assert_int_equal(missing[STATES], 0);
	assert_true(missing[GRAPHS] > 0);
	assert_true(runs[STATES] < runs[NONE] / 2);
}

/* Two that wait for a condition and one that signals it; random accesses before, between and behind. */
static void make_waiters(struct random_program *program, struct rng *rng)
{
	random_program_begin(program, 3);
	for (uint32_t thread = 0; thread < 3; thread++) {
		if (!rng_below(rng, 3))
			add_op(program, thread, random_access(rng));
		add_op(program, thread, (struct simulated_op)LOCK(0));
		if (thread < 2)
			add_op(program, thread, (struct simulated_op)WAIT(0, 0));
		else
			add_op(program, thread, (struct simulated_op)SIGNAL(0));
		add_op(program, thread, (struct simulated_op)UNLOCK(0));
		if (thread == 2 && rng_below(rng, 2))
			add_op(program, thread, (struct simulated_op)SIGNAL(0));
		else
			add_op(program, thread, random_access(rng));
	}
}

/* Whom a signal wakes is a choice of every run, however many preemptions it has. */
static void bounded__makes_all_choices_within_its_bounds(void **state)
{
	uint32_t missing = 0, beyond = 0;
	struct random_program program;
	struct rng rng;

	(void)state;
	rng_seed(&rng, 8);
	for (int round = 0; round < 150; round++) {
		const struct bounds bounds = {rng_below(&rng, 3), 1 + rng_below(&rng, 2), 3, 0};

		make_waiters(&program, &rng);
		expected.threads = found.threads = 3;
		reference_orders(&expected, &program.program, &bounds);
		(void)bounded_orders(&found, &program.program, &bounds);
		missing += count_missing(&expected, &found);
		beyond += count_missing(&found, &expected);
	}
	assert_int_equal(missing, 0);
	assert_int_equal(beyond, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(bounded__makes_just_the_orders_within_its_bounds),
		cmocka_unit_test(bounded__makes_all_choices_within_its_bounds),
		cmocka_unit_test(bounded__counts_threads_not_what_stops_cut_them_into),
		cmocka_unit_test(bounded__misses_orders_of_more_threads),
		cmocka_unit_test(bounded__prunes_no_order),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
