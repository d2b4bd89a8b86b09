/*
 * States of exhaustive strategies from a file or another process. An input chooses a strategy and a number of runs, and
 * lists writes into the state of a search or of a task. The search continues with an accepted state: it makes runs, and
 * joins the task.
 */
#include <stdlib.h>
#include <string.h>

#include "base/bug.h"
#include "base/rng.h"
#include "fuzz/fuzz_targets.h"
#include "strategies/strategy.h"
#include "support/simulated_program.h"

#define TASK 7u
#define RUNS_AFTER 12u
#define RUNS_TO_TASK 400u
#define HEADER_BYTES 1024u

enum states_part { STATES_OWNER, STATES_TASK, STATES_COPY, STATES_PART_COUNT };

/* Odd `part`: the writes go to the state of a task. */
struct states_head {
	uint8_t strategy, runs, task_runs, part;
};

/* `at` counts from the start of the state, modulo its size or modulo HEADER_BYTES. */
struct states_write {
	uint64_t value;
	uint32_t at;
	uint8_t size, is_in_header, unused[2];
};

static const struct strategy *const states_strategies[] = {
	&strategy_dpor, &strategy_icb, &strategy_vt, &strategy_bounded};

static const struct simulated_op first_ops[] = {ADD(0, 1), LOCK(1), READ(0), UNLOCK(1), POST(0)};
static const struct simulated_op second_ops[] = {ADD(1, 1), READ(0), TAKE(0), LEAVE(1, 1)};
static const struct simulated_op third_ops[] = {LOCK(1), SET(0, 3), UNLOCK(1), ADD(1, 1)};
static const struct simulated_code states_codes[] = {
	CODE(first_ops), CODE(second_ops), CODE(third_ops)};
static const struct simulated_program states_program = {
	.codes = states_codes, .code_count = 3, .initial_count = 3};

/*
 * The smallest capacities, so that indices at their ends are reached. Blocks are reused: the sanitizer needs long for new
 * ones.
 */
static void states_open(struct simulated_campaign *campaign, uint32_t number, enum states_part part)
{
	static void
		*blocks[sizeof states_strategies / sizeof *states_strategies][STATES_PART_COUNT];
	const struct strategy *strategy = states_strategies[number];
	void **block = &blocks[number][part];

	*campaign = (struct simulated_campaign){
		.run = {.program = &states_program, .strategy = strategy},
		.config.thread_capacity = THREAD_CAPACITY,
		.seed = 1};
	for (uint32_t i = 0; strategy->options[i].name; i++)
		campaign->config.option[i] =
			strcmp(strategy->options[i].name, "steps") &&
					strcmp(strategy->options[i].name, "runs")
				? strategy->options[i].standard
				: strategy->options[i].least;
	campaign->state_bytes = strategy_state_bytes(strategy, &campaign->config);
	if (!*block)
		*block = malloc(campaign->state_bytes);
	BUG_ON(!*block);
	campaign->state = memset(*block, 0, campaign->state_bytes);
	strategy_begin_campaign(strategy, campaign->state, &campaign->config);
}

/* Returns true if the state awaits the task. */
static bool states_make_runs(struct simulated_campaign *campaign, uint32_t runs)
{
	const struct strategy *strategy = campaign->run.strategy;

	while (!strategy->search.is_exhausted(campaign->state)) {
		if (strategy->search.tasks->awaited(campaign->state))
			return true;
		if (!runs--)
			break;
		(void)simulated_campaign_run(campaign); /* any outcome is right */
	}
	return false;
}

static void states_change(struct simulated_campaign *campaign, const uint8_t *bytes, size_t size)
{
	struct states_write write;

	for (size_t at = 0; size - at >= sizeof write; at += sizeof write) {
		size_t to, length;

		memcpy(&write, bytes + at, sizeof write);
		length = (size_t)1 << write.size % 4;
		to = write.at %
		     ((write.is_in_header & 1 ? HEADER_BYTES : campaign->state_bytes) - length);
		memcpy((char *)campaign->state + to, &write.value, length);
	}
}

/* The owner joins the task, as a campaign with several workers does. */
static void states_join(struct simulated_campaign *owner, struct simulated_campaign *task)
{
	const struct strategy_tasks *tasks = owner->run.strategy->search.tasks;
	const bool is_exact = !tasks->synchronise;

	if (!is_exact && !tasks->synchronise(owner->state, task->state)) {
		tasks->leave(owner->state, TASK);
		return;
	}
	if (states_make_runs(owner, RUNS_TO_TASK))
		(void)tasks->join(owner->state, task->state, is_exact); /* it may be refused */
}

static void states_use(
	struct simulated_campaign *owner, struct simulated_campaign *task, void *copy)
{
	const struct strategy *strategy = owner->run.strategy;
	struct strategy_verdict verdict = {0};

	if (task->state) {
		(void)states_make_runs(task, RUNS_AFTER);
		strategy->search.tasks->copy(copy, task->state);
		states_join(owner, task);
	}
	(void)states_make_runs(owner, RUNS_AFTER);
	strategy->search.tasks->leave(owner->state, 0);
	(void)states_make_runs(owner, RUNS_AFTER);
	strategy->search.verdict(owner->state, &verdict);
}

static bool states_run(const uint8_t *bytes, size_t size)
{
	struct simulated_campaign owner, task = {0}, copy, *changed = &owner;
	const struct strategy_search *search;
	struct states_head head;

	if (size < sizeof head)
		return false;
	memcpy(&head, bytes, sizeof head);
	head.strategy %= sizeof states_strategies / sizeof *states_strategies;
	search = &states_strategies[head.strategy]->search;
	states_open(&owner, head.strategy, STATES_OWNER);
	states_open(&copy, head.strategy, STATES_COPY);
	(void)states_make_runs(&owner, head.runs);
	if (head.part & 1) {
		states_open(&task, head.strategy, STATES_TASK);
		if (search->tasks->split(owner.state, task.state, TASK, UINT64_MAX,
			    !search->tasks->synchronise)) {
			(void)states_make_runs(&task, head.task_runs);
			changed = &task;
		} else {
			task.state = NULL;
		}
	}
	BUG_ON(!search->is_valid(changed->state, &changed->config));
	states_change(changed, bytes + sizeof head, size - sizeof head);
	if (!search->is_valid(changed->state, &changed->config))
		return false;
	states_use(&owner, &task, copy.state);
	return true;
}

static size_t states_make_seed(uint8_t *bytes, size_t capacity)
{
	const struct states_head head = {.runs = 9, .task_runs = 3, .part = 1};

	BUG_ON(capacity < sizeof head);
	memcpy(bytes, &head, sizeof head);
	return sizeof head;
}

static uint64_t states_make_value(struct rng *rng)
{
	switch (rng_below(rng, 4)) {
	case 0:
		return rng_below(rng, 70);
	case 1:
		return UINT64_MAX - rng_below(rng, 3);
	case 2:
		return UINT64_C(1) << rng_below(rng, 64);
	default:
		return rng_next(rng);
	}
}

static size_t states_damage(struct rng *rng, uint8_t *bytes, size_t size, size_t capacity)
{
	const struct states_head head = {.strategy = (uint8_t)rng_below(rng, 4),
		.runs = (uint8_t)rng_below(rng, 40),
		.task_runs = (uint8_t)rng_below(rng, 9),
		.part = (uint8_t)rng_below(rng, 2)};

	if (size < sizeof head)
		return size;
	memcpy(bytes, &head, sizeof head);
	for (uint32_t count = 1 + rng_below(rng, 3); count > 0; count--) {
		const struct states_write write = {.value = states_make_value(rng),
			.at = rng_below(rng, 1 << 16) * (rng_below(rng, 2) ? 4 : 64),
			.size = (uint8_t)rng_below(rng, 4),
			.is_in_header = (uint8_t)rng_below(rng, 2)};

		if (size > capacity - sizeof write)
			break;
		memcpy(bytes + size, &write, sizeof write);
		size += sizeof write;
	}
	return size;
}

const struct fuzz_target fuzz_target_states = {.name = "states",
	.run = states_run,
	.make_seed = states_make_seed,
	.damage = states_damage};
