/*
 * Makes the runs for an explanation in the order of their numbers, with several workers (struct
 * explain_hand).
 *
 * Invariant: a run depends only on its number and on what was known before its round began
 * (strategies/strategy.h). Its result is the same for every worker and every number of workers. A
 * finished run stays with its worker until it is taken; runs are taken in the order of their
 * numbers. Runs that are not needed are dropped and their numbers reused.
 *
 * Until the shared memory is known, only one worker works, because each such run depends on the one
 * before. The same holds for sequential strategies.
 *
 * Concurrent processes of the program may compete for a port or a file. A failure of a kind not
 * seen before, or a run that cannot be made, is therefore repeated in an exclusive run. If the
 * exclusive run differs, only one worker works from then on.
 */
#include <stdlib.h>
#include <string.h>

#include "base/bug.h"
#include "commands/explain/explain_internal.h"
#include "investigate/failure.h"
#include "plan/restart.h"
#include "detectors/patterns.h"
#include "platform/platform.h"
#include "strategies/directed/directed.h"

/* Time for runs in progress to end by themselves; longer runs are killed. */
#define GRACE_NS UINT64_C(500000000)
#define SLEEP_NS UINT64_C(100000000)

static const struct strategy *explain_runs_strategy_of(const struct explain *explain)
{
	return strategies[explain->options->strategy];
}

/* Bound on a directed round: larger rounds would delay what the runs teach. */
#define DRIVEN_ROUND_MOST 32u

static bool is_learning(const struct explain *explain)
{
	return explain->has_learnt && !explain->is_directed &&
	       explain_runs_strategy_of(explain)->learning.learn;
}

static bool has_rounds(const struct explain *explain)
{
	return is_learning(explain) || explain->is_directed;
}

static struct directed_order *explain_runs_orders_of(const struct explain_hand *hand)
{
	return ((struct directed_state *)contract_strategy(hand->worker.contract))->orders;
}

static struct contract *contract_of(const struct explain *explain, uint32_t hand)
{
	return explain->hands[hand].worker.contract;
}

static void explain_runs_share(struct explain *explain)
{
	for (uint32_t i = 1; is_learning(explain) && i < explain->hand_count; i++)
		explain_runs_strategy_of(explain)->learning.share(
			contract_strategy(contract_of(explain, i)),
			contract_strategy(contract_of(explain, 0)));
}

static void explain_runs_begin_round(struct explain *explain, uint32_t runs)
{
	struct explain_round *round = &explain->round;

	round->number++;
	round->first = explain->run_next;
	round->runs = runs;
}

/* The size grows with the number of runs, so that the first runs learn from each other. */
static uint32_t next_round_size(const struct explain *explain)
{
	const uint64_t driven = explain->run_next - explain->directed_first;

	if (!explain->is_directed)
		return strategy_round_runs(explain->run_next);
	return driven < DRIVEN_ROUND_MOST ? (uint32_t)driven : DRIVEN_ROUND_MOST;
}

static void explain_runs_end_round(struct explain *explain)
{
	struct explain_round *round = &explain->round;
	void *known = contract_strategy(contract_of(explain, 0));
	const uint32_t next = next_round_size(explain);

	if (explain->is_directed) {
		directed_orders_share(explain->base, explain->known_orders, explain->order_count);
		explain_runs_begin_round(explain, next);
		return;
	}
	for (uint32_t place = 0; place < round->runs; place++)
		if (round->maker[place])
			explain_runs_strategy_of(explain)->learning.gather(known,
				contract_strategy(contract_of(explain, round->maker[place])), place,
				1);
	explain_runs_strategy_of(explain)->learning.learn(known, round->runs, next);
	explain_runs_share(explain);
	explain_runs_begin_round(explain, next);
}

static void take_lesson(struct explain *explain, const struct explain_hand *hand)
{
	if (is_learning(explain))
		explain->round.maker[explain->run_next - explain->round.first] =
			(uint8_t)(hand - explain->hands);
	else if (explain->is_directed)
		directed_orders_learn(explain->known_orders, explain->base,
			explain_runs_orders_of(hand), explain->order_count);
}

static int explain_runs_begin(struct explain *explain, struct explain_hand *hand, struct error *err)
{
	struct contract_plan *plan = &hand->worker.contract->plan;
	const struct explain_round *round = &explain->round;

	plan->run_first = hand->run;
	plan->run_limit = 1;
	plan->round_runs = is_learning(explain) ? round->runs : 0;
	plan->round = round->number;
	plan->round_first = plan->runs_before = round->first;
	if (explain->is_directed)
		directed_orders_share(
			explain_runs_orders_of(hand), explain->base, explain->order_count);
	hand->state = EXPLAIN_HAND_BUSY;
	return worker_begin(&hand->worker, err);
}

static int explain_runs_give_runs(struct explain *explain, struct error *err)
{
	const uint64_t end =
		has_rounds(explain) ? explain->round.first + explain->round.runs : UINT64_MAX;
	int result = 0;

	for (uint32_t i = 0; result == 0 && i < explain->active; i++) {
		struct explain_hand *hand = &explain->hands[i];

		if (explain->only && hand != explain->only)
			continue;
		if (hand->state == EXPLAIN_HAND_FREE && explain->run_given < end) {
			hand->run = explain->run_given++;
			hand->state = EXPLAIN_HAND_OWES;
		}
		if (hand->state != EXPLAIN_HAND_OWES)
			continue;
		result = explain_runs_begin(explain, hand, err);
		if (result < 0)
			hand->state = EXPLAIN_HAND_OWES;
	}
	return result;
}

/* The current restart does not work: tries the next allowed one. */
static int fall_back(struct explain *explain, struct explain_hand *hand, struct error *err)
{
	struct contract_plan *plan = &hand->worker.contract->plan;
	enum contract_restart next = restart_next(
		(enum contract_restart)plan->restart, (enum contract_executor)plan->executor);

	if (next == RESTART_COUNT)
		return error_set(err, ERROR_TARGET,
			"the program cannot be run again and again; does raddle replay %s work?",
			explain->finding->id);
	worker_kill(&hand->worker);
	plan->restart = next;
	return 0;
}

static int explain_runs_take_report(struct explain *explain, struct explain_hand *hand,
	enum contract_report report, struct error *err)
{
	const struct contract *contract = hand->worker.contract;

	hand->state = EXPLAIN_HAND_OWES;
	if (report == REPORT_REFUSED && contract->outcome.code != REFUSAL_RESTART)
		return error_set(err, ERROR_TARGET, "%s", contract->outcome.text);
	if (report == REPORT_TAINTED && contract->outcome.kind != OUTCOME_TAINTED)
		hand->state = EXPLAIN_HAND_DONE;
	else if (report != REPORT_REFUSED && report != REPORT_TAINTED && report != REPORT_DIED) {
		hand->state = EXPLAIN_HAND_DONE;
		return 0;
	} else if (!contract->is_live && report == REPORT_DIED) {
		return error_set(err, ERROR_TARGET,
			"the program makes no threads any more; find the failure again");
	}
	return fall_back(explain, hand, err);
}

static int poll_hand(struct explain *explain, struct explain_hand *hand, struct error *err)
{
	enum contract_report report = REPORT_NONE;
	int result = 0;

	if (hand->state != EXPLAIN_HAND_BUSY)
		return 0;
	result = worker_poll(&hand->worker, &report, err);
	if (result == 0 && report != REPORT_NONE)
		result = explain_runs_take_report(explain, hand, report, err);
	return result;
}

static void sleep_for_hands(struct explain *explain)
{
	struct worker *busy[EXPLAIN_HANDS_MAX];
	unsigned count = 0;

	for (uint32_t i = 0; i < explain->active; i++)
		if (explain->hands[i].state == EXPLAIN_HAND_BUSY)
			busy[count++] = &explain->hands[i].worker;
	if (count)
		worker_sleep(busy, count, SLEEP_NS);
}

static int explain_runs_wait_for(
	struct explain *explain, const struct explain_hand *wanted, struct error *err)
{
	while (wanted->state != EXPLAIN_HAND_DONE) {
		int result = explain_runs_give_runs(explain, err);

		for (uint32_t i = 0; result == 0 && i < explain->active; i++)
			result = poll_hand(explain, &explain->hands[i], err);
		if (result < 0)
			return result;
		if (*explain->options->is_interrupted) {
			explain_runs_drop(explain);
			return error_set(err, ERROR_INTERRUPTED, "interrupted");
		}
		if (wanted->state == EXPLAIN_HAND_BUSY)
			sleep_for_hands(explain);
	}
	return 0;
}

/* Lets runs in progress end for GRACE_NS, then kills them; they are repeated later. */
static void come_to_rest(struct explain *explain)
{
	const uint64_t until_ns = platform_monotonic_ns() + GRACE_NS;

	for (uint32_t i = 0; i < explain->active; i++) {
		struct explain_hand *hand = &explain->hands[i];
		struct worker *const alone = &hand->worker;

		while (hand->state == EXPLAIN_HAND_BUSY && !*explain->options->is_interrupted &&
			platform_monotonic_ns() < until_ns && poll_hand(explain, hand, NULL) == 0)
			if (hand->state == EXPLAIN_HAND_BUSY)
				worker_sleep(&alone, 1, GRACE_NS / 100);
		if (hand->state != EXPLAIN_HAND_BUSY && hand->state != EXPLAIN_HAND_OWES)
			continue;
		worker_kill(&hand->worker);
		hand->state = EXPLAIN_HAND_OWES;
	}
}

void explain_runs_drop(struct explain *explain)
{
	come_to_rest(explain);
	for (uint32_t i = 0; i < explain->active; i++)
		explain->hands[i].state = EXPLAIN_HAND_FREE;
	explain->run_given = explain->run_next;
}

/* From now on worker 0 works alone. Runs made ahead are repeated; runs already taken stay valid. */
static void explain_runs_go_on_alone(struct explain *explain)
{
	explain_runs_drop(explain);
	for (uint32_t i = 0; i < explain->active; i++)
		worker_kill(&explain->hands[i].worker);
	explain->active = 1;
	explain->is_disturbed = true;
}

/* Was this failure seen while no other process of the program ran? */
static bool explain_runs_is_known(const struct explain *explain, uint64_t key)
{
	for (uint32_t i = 0; i < explain->known_count; i++)
		if (explain->known[i] == key)
			return true;
	/* Every failure has another key: repeating runs would teach nothing. */
	return explain->known_count == EXPLAIN_KNOWN_MAX;
}

static void learn_key(struct explain *explain, uint64_t key)
{
	if (!explain_runs_is_known(explain, key))
		explain->known[explain->known_count++] = key;
}

/* Repeats the worker's run exclusively. *is_same false: the outcome differs. */
static int explain_runs_make_alone(
	struct explain *explain, struct explain_hand *hand, bool *is_same, struct error *err)
{
	const uint64_t key = failure_key(&hand->worker.contract->outcome);
	const uint32_t active = explain->active;
	int result;

	come_to_rest(explain);
	for (uint32_t i = 0; i < active; i++)
		worker_kill(&explain->hands[i].worker);
	hand->state = EXPLAIN_HAND_OWES;
	explain->only = hand;
	result = explain_runs_wait_for(explain, hand, err);
	explain->only = NULL;
	*is_same = result == 0 && worker_is_failure(&hand->worker) &&
		   failure_key(&hand->worker.contract->outcome) == key;
	return result;
}

static struct explain_hand *explain_runs_hand_of(struct explain *explain, uint64_t run)
{
	for (uint32_t i = 0; i < explain->active; i++)
		if (explain->hands[i].state != EXPLAIN_HAND_FREE && explain->hands[i].run == run)
			return &explain->hands[i];
	return NULL;
}

static int make_next(struct explain *explain, struct explain_hand **out, struct error *err)
{
	int result = explain_runs_give_runs(explain, err);

	*out = explain_runs_hand_of(explain, explain->run_next);
	if (result == 0)
		result = explain_runs_wait_for(explain, *out, err);
	if (result == ERROR_INTERRUPTED || result == 0 || explain->active == 1)
		return result;
	explain_runs_go_on_alone(explain);
	return make_next(explain, out, err);
}

int explain_runs_take(struct explain *explain, struct error *err)
{
	struct explain_hand *hand;
	bool is_same = true;
	int result = make_next(explain, &hand, err);

	if (result < 0)
		return result;
	if (explain->active > 1 && worker_is_failure(&hand->worker) &&
		!explain_runs_is_known(explain, failure_key(&hand->worker.contract->outcome)))
		result = explain_runs_make_alone(explain, hand, &is_same, err);
	if (result == ERROR_INTERRUPTED)
		return result;
	if (!is_same || result < 0) {
		explain_runs_go_on_alone(explain);
		result = make_next(explain, &hand, err);
		if (result < 0)
			return result;
	}
	if (worker_is_failure(&hand->worker))
		learn_key(explain, failure_key(&hand->worker.contract->outcome));
	take_lesson(explain, hand);
	explain->made = hand;
	explain->run_next++;
	return 0;
}

void explain_runs_go_on(struct explain *explain)
{
	explain->made->state = EXPLAIN_HAND_FREE;
	if (has_rounds(explain) && explain->run_next == explain->round.first + explain->round.runs)
		explain_runs_end_round(explain);
	if (explain->has_learnt)
		/* A run that cannot be started now is tried again when it is needed. */
		(void)explain_runs_give_runs(explain, NULL);
}

static uint32_t directed_index(void)
{
	for (uint32_t i = 0; i < strategy_count; i++)
		if (strategies[i] == &strategy_directed)
			return i;
	BUG_ON(true);
	return 0;
}

void explain_runs_direct(
	struct explain *explain, const struct directed_order *orders, uint32_t count)
{
	explain_runs_drop(explain);
	for (uint32_t i = 0; i < explain->hand_count; i++) {
		struct worker *worker = &explain->hands[i].worker;
		struct contract *contract = worker->contract;

		worker_clear_strategy(worker, sizeof(struct directed_state));
		contract->plan.strategy = directed_index();
		contract->plan.strategy_config =
			(struct strategy_config){.thread_capacity = THREAD_CAPACITY};
		directed_state_set_orders(contract_strategy(contract), orders, count);
	}
	memcpy(explain->base, orders, count * sizeof *orders);
	memcpy(explain->known_orders, orders, count * sizeof *orders);
	explain->order_count = count;
	explain->is_directed = true;
	explain->directed_first = explain->run_next;
	explain_runs_begin_round(explain, 1);
}

static int open_hand(struct explain *explain, uint32_t number, struct error *err)
{
	const struct explain_hand *first = &explain->hands[0];
	struct explain_hand *hand = &explain->hands[number];
	struct contract *contract;
	const int result = worker_open(&hand->worker, &first->worker.params, err);

	if (result < 0)
		return result;
	contract = hand->worker.contract;
	contract->plan = first->worker.contract->plan;
	contract->spin = first->worker.contract->spin;
	contract->spin.is_watched = 0;
	memory_view_apply(&explain->memory, contract_memory(contract));
	races_apply(&explain->setting.settings.races, contract);
	patterns_configure(explain_patterns_state(&hand->worker), explain->options->window);
	patterns_include_orders(explain_patterns_state(&hand->worker), explain->has_orders);
	explain_runs_strategy_of(explain)->begin_campaign(
		contract_strategy(contract), &explain->options->strategy_config);
	hand->worker.is_strategy_fresh = false;
	return 0;
}

void explain_runs_spread(struct explain *explain, uint32_t hands)
{
	explain->has_learnt = true;
	/* Processes that bind the same name disturb each other. */
	if (explain->hands[0].worker.contract->takes_name)
		hands = 1;
	while (!strategy_is_sequential(explain_runs_strategy_of(explain)) &&
		explain->hand_count < hands && explain->hand_count < EXPLAIN_HANDS_MAX &&
		open_hand(explain, explain->hand_count, NULL) == 0)
		explain->hand_count++;
	explain->active = explain->hand_count;
	explain_runs_begin_round(explain, 1); /* the strategy has planned a round of one run */
	explain_runs_share(explain);
}
