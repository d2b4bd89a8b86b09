#include "investigate/minimise/fewer_orders.h"

#include <stdlib.h>

#include "base/array.h"
#include "base/hash.h"
#include "exchange/contract_block.h"
#include "investigate/minimise/conflicts.h"
#include "platform/platform.h"
#include "strategies/hash_set.h"

/* Each enforced order costs about one preemption. */
#define ENFORCED_MOST 8u
#define NODES_MOST (UINT32_C(1) << 16)
#define SEEN_SLOTS (UINT32_C(1) << 18)

/* A set of enforced orders, by index. */
struct fewer_orders_node {
	uint16_t enforced[ENFORCED_MOST];
	uint16_t count;
};

struct fewer_orders {
	struct fewer_preemptions *search;
	struct probe probe;
	struct failure *best;
	bool is_improved;     /* by the last run */
	struct failure found; /* its value choices are used in all runs */
	struct replay_order *orders;
	uint32_t order_count;
	struct fewer_orders_node *nodes; /* queue: fewer enforced orders first */
	uint32_t node_count;
	struct {
		struct hash_set set;
		uint64_t slots[SEEN_SLOTS];
	} * seen; /* sets of enforced orders, and of broken ones */
};

/* Repeats the failing run, observing the watched threads and objects of the plan. Returns NULL if it
 * does not fail again, or on an error. */
static struct replay_orders *fewer_orders_run_observed(
	struct fewer_orders *orders, const struct probe_plan *plan, int *result, struct error *err)
{
	*result = probe_run(&orders->probe, plan, err);
	if (*result < 0 || orders->probe.has_diverged ||
		!probe_shows(&orders->probe, &orders->found))
		return NULL;
	return replay_orders(contract_strategy(orders->probe.worker.contract));
}

/* A run without end is decided by its beginning, any other one by its end. */
static int fewer_orders_observe(struct fewer_orders *orders, struct error *err)
{
	const enum outcome_kind kind = (enum outcome_kind)orders->found.outcome.kind;
	struct probe_plan plan = probe_plan_exact(&orders->found);
	struct replay_watch *watched = NULL;
	struct replay_orders *observed;
	struct replay_op *ops;
	uint32_t count, pending;
	int result;

	plan.mode = REPLAY_OBSERVE;
	plan.op_capacity = CONFLICTS_OPS_MOST;
	plan.observes_beginning = kind == OUTCOME_HANG || kind == OUTCOME_LIVELOCK;
	observed = fewer_orders_run_observed(orders, &plan, &result, err);
	if (observed && observed->is_full) {
		/* The operations lack numbers, but show which objects matter. */
		ops = conflicts_ops(observed, &count);
		plan.watched = watched = conflicts_watch(ops, count, orders->found.names,
			orders->found.thread_count, &plan.watched_count);
		free(ops);
		observed = fewer_orders_run_observed(orders, &plan, &result, err);
		free(watched);
	}
	if (!observed)
		return result;
	ops = conflicts_ops(observed, &count);
	pending = observed->pending_count < count ? observed->pending_count : count;
	orders->orders = conflicts_collect(ops, count, pending, orders->found.names,
		orders->found.thread_count, &orders->order_count);
	free(ops);
	return result;
}

/* Returns whether the set is new. Sets do not depend on the order of their elements. */
static bool fewer_orders_is_new_set(
	struct fewer_orders *orders, const struct fewer_orders_node *node)
{
	uint64_t hash = 0;

	for (uint32_t i = 0; i < node->count; i++)
		hash += hash_mix(node->enforced[i] + UINT64_C(1));
	return hash_set_add(&orders->seen->set, hash_mix(hash | 1));
}

/* Returns whether no earlier run has broken the same orders. */
static bool fewer_orders_is_new_run(struct fewer_orders *orders, const struct replay_order *run)
{
	uint64_t hash = UINT64_C(0x9e3779b97f4a7c15);

	for (uint32_t i = 0; i < orders->order_count; i++)
		if (run[i].is_broken)
			hash = hash_pair(hash, i);
	return hash_set_add(&orders->seen->set, hash);
}

/* The last orders matter most often (conflicts.h), and are tried first. */
static void fewer_orders_add_nodes(
	struct fewer_orders *orders, struct fewer_orders_node node, const struct replay_order *run)
{
	if (node.count == ENFORCED_MOST)
		return;
	node.count++;
	for (uint32_t i = orders->order_count; i-- > 0 && orders->node_count < NODES_MOST;) {
		node.enforced[node.count - 1] = (uint16_t)i;
		if (run[i].is_broken && !run[i].is_enforced &&
			fewer_orders_is_new_set(orders, &node))
			ARRAY_APPEND(orders->nodes, orders->node_count, node);
	}
}

static int fewer_orders_try(
	struct fewer_orders *orders, struct fewer_orders_node node, struct error *err)
{
	const struct probe_plan plan = {
		.mode = REPLAY_ORDERS,
		.segments = orders->found.segments,
		.segment_count = orders->found.segment_count,
		.orders = orders->orders,
		.order_count = orders->order_count,
		.step_limit = failure_step_limit(orders->best, orders->search->steps_most),
	};
	struct contract *contract = orders->probe.worker.contract;
	const struct replay_order *run;
	uint32_t preemptions;
	int result;

	for (uint32_t i = 0; i < node.count; i++)
		orders->orders[node.enforced[i]].is_enforced = true;
	result = probe_run(&orders->probe, &plan, err);
	for (uint32_t i = 0; i < node.count; i++)
		orders->orders[node.enforced[i]].is_enforced = false;
	if (result < 0)
		return result;
	(void)schedule_switch_count(contract_schedule(contract), &preemptions);
	if (preemptions > orders->best->preemptions)
		return 0;
	orders->is_improved =
		fewer_preemptions_accept(orders->search, &orders->probe, orders->best);
	if (orders->is_improved)
		return 0;
	run = replay_orders(contract_strategy(contract))->orders;
	if (fewer_orders_is_new_run(orders, run))
		fewer_orders_add_nodes(orders, node, run);
	return 0;
}

/* After an improvement, the search makes at most this many times the runs so far: a better schedule
 * enforces few orders more. */
#define RUNS_AFTER_FIND 3

static int fewer_orders_make_runs(struct fewer_orders *orders, struct error *err)
{
	const uint64_t begun_ns = platform_monotonic_ns();
	struct budget budget = orders->search->budget;
	int result = 0;

	for (uint32_t i = 0; i < orders->node_count && result == 0 && orders->best->preemptions &&
			     budget_allows(&budget, i, begun_ns);
		i++) {
		orders->is_improved = false;
		result = fewer_orders_try(orders, orders->nodes[i], err);
		if (orders->is_improved && (uint64_t)(i + 1) * (1 + RUNS_AFTER_FIND) < budget.runs)
			budget.runs = (uint64_t)(i + 1) * (1 + RUNS_AFTER_FIND);
	}
	return result;
}

int fewer_orders_search(
	struct fewer_preemptions *search, struct failure *failure, struct error *err)
{
	struct fewer_orders orders = {.search = search, .best = failure};
	int result;

	search->is_found = false;
	if (failure->preemptions == 0 || failure->is_truncated)
		return 0;
	result = probe_open(&orders.probe, &search->probe, err);
	if (result < 0)
		return result;
	failure_copy(&orders.found, failure);
	orders.seen = array_new(1, sizeof *orders.seen);
	orders.seen->set =
		(struct hash_set){.distance = sizeof orders.seen->set, .mask = SEEN_SLOTS - 1};
	result = fewer_orders_observe(&orders, err);
	if (result == 0 && orders.order_count) {
		ARRAY_APPEND(orders.nodes, orders.node_count, (struct fewer_orders_node){0});
		result = fewer_orders_make_runs(&orders, err);
	}
	failure_release(&orders.found);
	free(orders.orders);
	free(orders.nodes);
	free(orders.seen);
	probe_close(&orders.probe);
	return result;
}
