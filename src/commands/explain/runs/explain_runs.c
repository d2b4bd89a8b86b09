/*
 * Makes the runs for an explanation in the order of their numbers, with several workers.
 *
 * Invariant: a run depends only on its number and on the knowledge before its round
 * (strategies/strategy.h). A finished run stays with its worker until it is used, in the order of
 * the numbers. Runs that are not needed are dropped and their numbers reused.
 *
 * One worker makes all runs until the shared memory is known, and for sequential strategies.
 *
 * Concurrent processes of the program may compete for a port or a file. A failure of a new kind, or
 * a run that cannot be made, is therefore repeated in an exclusive run. If that differs, only one
 * worker works from then on.
 */
#include <string.h>

#include "base/bug.h"
#include "commands/explain/runs/explain_internal.h"
#include "investigate/probe/failure.h"
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

static bool explain_runs_is_learning(const struct explain *explain)
{
	return explain->has_learnt && !explain->is_directed &&
	       explain_runs_strategy_of(explain)->learning.learn;
}

static bool explain_runs_has_rounds(const struct explain *explain)
{
	return explain_runs_is_learning(explain) || explain->is_directed;
}

static struct directed_order *explain_runs_orders_of(const struct explain_slot *slot)
{
	return ((struct directed_state *)contract_strategy(slot->worker.contract))->orders;
}

static struct contract *explain_runs_contract_of(const struct explain *explain, uint32_t slot)
{
	return explain->slots[slot].worker.contract;
}

static void explain_runs_share(struct explain *explain)
{
	for (uint32_t i = 1; explain_runs_is_learning(explain) && i < explain->slot_count; i++)
		explain_runs_strategy_of(explain)->learning.share(
			contract_strategy(explain_runs_contract_of(explain, i)),
			contract_strategy(explain_runs_contract_of(explain, 0)));
}

static void explain_runs_begin_round(struct explain *explain, uint32_t runs)
{
	struct explain_round *round = &explain->round;

	round->number++;
	round->first = explain->run_next;
	round->runs = runs;
}

/* Returns the size of the next round. It grows with the number of runs, so that the first runs
 * learn from each other. */
static uint32_t explain_runs_next_round_size(const struct explain *explain)
{
	const uint64_t driven = explain->run_next - explain->directed_first;

	if (!explain->is_directed)
		return strategy_round_runs(explain->run_next);
	return driven < DRIVEN_ROUND_MOST ? (uint32_t)driven : DRIVEN_ROUND_MOST;
}

static void explain_runs_end_round(struct explain *explain)
{
	struct explain_round *round = &explain->round;
	void *known = contract_strategy(explain_runs_contract_of(explain, 0));
	const uint32_t next = explain_runs_next_round_size(explain);

	if (explain->is_directed) {
		directed_orders_share(explain->base, explain->known_orders, explain->order_count);
		explain_runs_begin_round(explain, next);
		return;
	}
	for (uint32_t location = 0; location < round->runs; location++)
		if (round->maker[location])
			explain_runs_strategy_of(explain)->learning.gather(known,
				contract_strategy(
					explain_runs_contract_of(explain, round->maker[location])),
				location, 1);
	explain_runs_strategy_of(explain)->learning.learn(known, round->runs, next);
	explain_runs_share(explain);
	explain_runs_begin_round(explain, next);
}

static void explain_runs_learn(struct explain *explain, const struct explain_slot *slot)
{
	if (explain_runs_is_learning(explain))
		explain->round.maker[explain->run_next - explain->round.first] =
			(uint8_t)(slot - explain->slots);
	else if (explain->is_directed)
		directed_orders_learn(explain->known_orders, explain->base,
			explain_runs_orders_of(slot), explain->order_count);
}

static int explain_runs_begin(struct explain *explain, struct explain_slot *slot, struct error *err)
{
	struct contract_plan *plan = &slot->worker.contract->plan;
	const struct explain_round *round = &explain->round;

	plan->run_first = slot->run;
	plan->run_limit = 1;
	plan->round_runs = explain_runs_is_learning(explain) ? round->runs : 0;
	plan->round = round->number;
	plan->round_first = plan->runs_before = round->first;
	if (explain->is_directed)
		directed_orders_share(
			explain_runs_orders_of(slot), explain->base, explain->order_count);
	slot->state = EXPLAIN_SLOT_BUSY;
	return worker_begin(&slot->worker, err);
}

static int explain_runs_give_runs(struct explain *explain, struct error *err)
{
	const uint64_t end = explain_runs_has_rounds(explain)
				     ? explain->round.first + explain->round.runs
				     : UINT64_MAX;
	int result = 0;

	for (uint32_t i = 0; result == 0 && i < explain->active; i++) {
		struct explain_slot *slot = &explain->slots[i];

		if (explain->only && slot != explain->only)
			continue;
		if (slot->state == EXPLAIN_SLOT_FREE && explain->run_given < end) {
			slot->run = explain->run_given++;
			slot->state = EXPLAIN_SLOT_PENDING;
		}
		if (slot->state != EXPLAIN_SLOT_PENDING)
			continue;
		result = explain_runs_begin(explain, slot, err);
		if (result < 0)
			slot->state = EXPLAIN_SLOT_PENDING;
	}
	return result;
}

static int explain_runs_use_next_restart(
	struct explain *explain, struct explain_slot *slot, struct error *err)
{
	struct contract_plan *plan = &slot->worker.contract->plan;
	enum contract_restart next = restart_next(
		(enum contract_restart)plan->restart, (enum contract_executor)plan->executor);

	if (next == RESTART_COUNT)
		return error_set(err, ERROR_TARGET,
			"raddle cannot run the program repeatedly; does raddle replay %s work?",
			explain->finding->id);
	worker_kill(&slot->worker);
	plan->restart = next;
	return 0;
}

static int explain_runs_take_report(struct explain *explain, struct explain_slot *slot,
	enum contract_report report, struct error *err)
{
	const struct contract *contract = slot->worker.contract;

	slot->state = EXPLAIN_SLOT_PENDING;
	if (report == REPORT_REFUSED && contract->outcome.code != REFUSAL_RESTART)
		return error_set(err, ERROR_TARGET, "%s", contract->outcome.text);
	if (report == REPORT_TAINTED && contract->outcome.kind != OUTCOME_TAINTED)
		slot->state = EXPLAIN_SLOT_DONE;
	else if (report != REPORT_REFUSED && report != REPORT_TAINTED && report != REPORT_DIED) {
		slot->state = EXPLAIN_SLOT_DONE;
		return 0;
	} else if (!contract->is_live && report == REPORT_DIED) {
		return error_set(err, ERROR_TARGET,
			"the program no longer creates threads; find the failure again");
	}
	return explain_runs_use_next_restart(explain, slot, err);
}

static int explain_runs_poll_slot(
	struct explain *explain, struct explain_slot *slot, struct error *err)
{
	enum contract_report report = REPORT_NONE;
	int result = 0;

	if (slot->state != EXPLAIN_SLOT_BUSY)
		return 0;
	result = worker_poll(&slot->worker, &report, err);
	if (result == 0 && report != REPORT_NONE)
		result = explain_runs_take_report(explain, slot, report, err);
	return result;
}

static void explain_runs_sleep_for_slots(struct explain *explain)
{
	struct worker *busy[EXPLAIN_SLOTS_MAX];
	unsigned count = 0;

	for (uint32_t i = 0; i < explain->active; i++)
		if (explain->slots[i].state == EXPLAIN_SLOT_BUSY)
			busy[count++] = &explain->slots[i].worker;
	if (count)
		worker_sleep(busy, count, SLEEP_NS);
}

static int explain_runs_wait_for(
	struct explain *explain, const struct explain_slot *wanted, struct error *err)
{
	while (wanted->state != EXPLAIN_SLOT_DONE) {
		int result = explain_runs_give_runs(explain, err);

		for (uint32_t i = 0; result == 0 && i < explain->active; i++)
			result = explain_runs_poll_slot(explain, &explain->slots[i], err);
		if (result < 0)
			return result;
		if (*explain->options->is_interrupted) {
			explain_runs_drop(explain);
			return error_set(err, ERROR_INTERRUPTED, "interrupted");
		}
		if (wanted->state == EXPLAIN_SLOT_BUSY)
			explain_runs_sleep_for_slots(explain);
	}
	return 0;
}

/* Lets runs in progress end for GRACE_NS, then kills them; they are repeated later. */
static void explain_runs_drain_runs(struct explain *explain)
{
	const uint64_t until_ns = platform_monotonic_ns() + GRACE_NS;

	for (uint32_t i = 0; i < explain->active; i++) {
		struct explain_slot *slot = &explain->slots[i];
		struct worker *const alone = &slot->worker;

		while (slot->state == EXPLAIN_SLOT_BUSY && !*explain->options->is_interrupted &&
			platform_monotonic_ns() < until_ns &&
			explain_runs_poll_slot(explain, slot, NULL) == 0)
			if (slot->state == EXPLAIN_SLOT_BUSY)
				worker_sleep(&alone, 1, GRACE_NS / 100);
		if (slot->state != EXPLAIN_SLOT_BUSY && slot->state != EXPLAIN_SLOT_PENDING)
			continue;
		worker_kill(&slot->worker);
		slot->state = EXPLAIN_SLOT_PENDING;
	}
}

void explain_runs_drop(struct explain *explain)
{
	explain_runs_drain_runs(explain);
	for (uint32_t i = 0; i < explain->active; i++)
		explain->slots[i].state = EXPLAIN_SLOT_FREE;
	explain->run_given = explain->run_next;
}

/* Worker 0 works alone. Runs made ahead are repeated; runs already used stay valid. */
static void explain_runs_serialise(struct explain *explain)
{
	explain_runs_drop(explain);
	for (uint32_t i = 0; i < explain->active; i++)
		worker_kill(&explain->slots[i].worker);
	explain->active = 1;
	explain->is_disturbed = true;
}

/* Returns whether this failure was seen while no other process of the program ran. */
static bool explain_runs_is_known(const struct explain *explain, uint64_t key)
{
	for (uint32_t i = 0; i < explain->known_count; i++)
		if (explain->known[i] == key)
			return true;
	/* Every failure has another key: repeating runs would teach nothing. */
	return explain->known_count == EXPLAIN_KNOWN_MAX;
}

static void explain_runs_learn_key(struct explain *explain, uint64_t key)
{
	if (!explain_runs_is_known(explain, key))
		explain->known[explain->known_count++] = key;
}

/* Makes the run exclusively. *is_same false: the outcome differs. */
static int explain_runs_make_alone(
	struct explain *explain, struct explain_slot *slot, bool *is_same, struct error *err)
{
	const uint64_t key = failure_key(&slot->worker.contract->outcome);
	const uint32_t active = explain->active;
	int result;

	explain_runs_drain_runs(explain);
	for (uint32_t i = 0; i < active; i++)
		worker_kill(&explain->slots[i].worker);
	slot->state = EXPLAIN_SLOT_PENDING;
	explain->only = slot;
	result = explain_runs_wait_for(explain, slot, err);
	explain->only = NULL;
	*is_same = result == 0 && worker_is_failure(&slot->worker) &&
		   failure_key(&slot->worker.contract->outcome) == key;
	return result;
}

static struct explain_slot *explain_runs_slot_of(struct explain *explain, uint64_t run)
{
	for (uint32_t i = 0; i < explain->active; i++)
		if (explain->slots[i].state != EXPLAIN_SLOT_FREE && explain->slots[i].run == run)
			return &explain->slots[i];
	return NULL;
}

static int explain_runs_execute_next(
	struct explain *explain, struct explain_slot **out, struct error *err)
{
	int result = explain_runs_give_runs(explain, err);

	*out = explain_runs_slot_of(explain, explain->run_next);
	if (result == 0)
		result = explain_runs_wait_for(explain, *out, err);
	if (result == ERROR_INTERRUPTED || result == 0 || explain->active == 1)
		return result;
	explain_runs_serialise(explain);
	return explain_runs_execute_next(explain, out, err);
}

int explain_runs_take(struct explain *explain, struct error *err)
{
	struct explain_slot *slot;
	bool is_same = true;
	int result = explain_runs_execute_next(explain, &slot, err);

	if (result < 0)
		return result;
	if (explain->active > 1 && worker_is_failure(&slot->worker) &&
		!explain_runs_is_known(explain, failure_key(&slot->worker.contract->outcome)))
		result = explain_runs_make_alone(explain, slot, &is_same, err);
	if (result == ERROR_INTERRUPTED)
		return result;
	if (!is_same || result < 0) {
		explain_runs_serialise(explain);
		result = explain_runs_execute_next(explain, &slot, err);
		if (result < 0)
			return result;
	}
	if (worker_is_failure(&slot->worker))
		explain_runs_learn_key(explain, failure_key(&slot->worker.contract->outcome));
	explain_runs_learn(explain, slot);
	explain->made = slot;
	explain->run_next++;
	return 0;
}

void explain_runs_resume(struct explain *explain)
{
	explain->made->state = EXPLAIN_SLOT_FREE;
	if (explain_runs_has_rounds(explain) &&
		explain->run_next == explain->round.first + explain->round.runs)
		explain_runs_end_round(explain);
	if (explain->has_learnt)
		/* A run that cannot be started now is tried again when it is needed. */
		(void)explain_runs_give_runs(explain, NULL);
}

static uint32_t explain_runs_directed_index(void)
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
	for (uint32_t i = 0; i < explain->slot_count; i++) {
		struct worker *worker = &explain->slots[i].worker;
		struct contract *contract = worker->contract;

		worker_clear_strategy(worker, sizeof(struct directed_state));
		contract->plan.strategy = explain_runs_directed_index();
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

static int explain_runs_open_slot(struct explain *explain, uint32_t number, struct error *err)
{
	const struct explain_slot *first = &explain->slots[0];
	struct explain_slot *slot = &explain->slots[number];
	struct contract *contract;
	const int result = worker_open(&slot->worker, &first->worker.params, err);

	if (result < 0)
		return result;
	contract = slot->worker.contract;
	contract->plan = first->worker.contract->plan;
	contract->spin = first->worker.contract->spin;
	contract->spin.is_watched = 0;
	memory_view_apply(&explain->memory, contract_memory(contract));
	races_apply(&explain->setting.settings.races, contract);
	patterns_configure(explain_patterns_state(&slot->worker), explain->options->window);
	patterns_include_orders(explain_patterns_state(&slot->worker), explain->has_orders);
	strategy_begin_campaign(explain_runs_strategy_of(explain), contract_strategy(contract),
		&explain->options->strategy_config);
	slot->worker.is_strategy_fresh = false;
	return 0;
}

void explain_runs_spread(struct explain *explain, uint32_t slots)
{
	explain->has_learnt = true;
	/* Processes that bind the same name disturb each other. */
	if (explain->slots[0].worker.contract->names & NAME_TAKEN)
		slots = 1;
	while (!strategy_is_sequential(explain_runs_strategy_of(explain)) &&
		explain->slot_count < slots && explain->slot_count < EXPLAIN_SLOTS_MAX &&
		explain_runs_open_slot(explain, explain->slot_count, NULL) == 0)
		explain->slot_count++;
	explain->active = explain->slot_count;
	explain_runs_begin_round(explain, 1); /* the strategy has planned a round of one run */
	explain_runs_share(explain);
}
