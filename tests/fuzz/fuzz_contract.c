/*
 * A target that writes over the memory that it shares with the command. An input is a list of
 * writes into the block of a correct run. The command receives the block, and uses the accepted
 * data like a campaign.
 */
#include <stddef.h>
#include <string.h>
#include <unistd.h>

#include "base/bug.h"
#include "base/rng.h"
#include "exchange/contract_exchange.h"
#include "investigate/probe/failure.h"
#include "plan/memory/memory_view.h"
#include "fuzz/fuzz_targets.h"
#include "strategies/strategy.h"

#define THREADS 3u
#define SEGMENTS 40u
#define EVENTS 200u
#define RUN_FIRST 1000u
#define RUN_LIMIT 64u
#define VIEW_EVERY 512u /* a view examines every variable */

/* Fills the block as a guest does in a batch of ten runs. */
static void play_good_guest(struct contract_block *block)
{
	struct contract *shared = block->shared;
	struct schedule *schedule = contract_shared_area(block, shared->schedule_offset);
	struct contract_run *runs = contract_shared_area(block, shared->runs_offset);
	struct contract_event *events = contract_shared_area(block, shared->trace_offset);
	struct contract_memory *memory = contract_area(shared, shared->memory_offset);

	shared->is_live = 1;
	shared->run_number = RUN_FIRST + 9;
	shared->totals.runs += 10;
	shared->totals.outcome[OUTCOME_PASSED] += 9;
	shared->totals.outcome[OUTCOME_DEADLOCK]++;
	shared->totals.failures++;
	shared->thread_count = THREADS;
	outcome_set(&shared->outcome, OUTCOME_DEADLOCK, (struct thread_id){1}, 0);
	shared->outcome.wait_count = 2;
	shared->outcome.waits[0].holder = shared->outcome.waits[1].waiter = (struct thread_id){1};
	schedule_clear(schedule);
	for (uint32_t i = 0; i < SEGMENTS; i++)
		schedule_append(schedule, (uint16_t)(i % THREADS), 0, i + 1);
	for (uint32_t i = 0; i < 10; i++)
		runs[i] = (struct contract_run){.steps = 20, .threads = THREADS};
	for (uint32_t i = 0; i < EVENTS; i++)
		events[i] = (struct contract_event){.step = i, .thread = (uint16_t)(i % THREADS)};
	shared->trace_count = EVENTS;
	memory->module_count = 1;
	memory->modules[0] = (struct memory_module){.first = 0, .count = 100};
}

static void begin_batch(struct contract_block *block)
{
	struct contract *own = block->contract;

	own->plan = (struct contract_plan){.run_first = RUN_FIRST,
		.run_limit = RUN_LIMIT,
		.round_first = RUN_FIRST,
		.round_runs = RUN_LIMIT,
		.step_limit = 10000,
		.is_traced = true};
	own->totals = (struct contract_totals){.runs = 500, .outcome[OUTCOME_PASSED] = 500};
	own->run_number = RUN_FIRST;
	contract_publish(block);
}

static uint64_t hostile_value(struct rng *rng)
{
	switch (rng_below(rng, 4)) {
	case 0:
		return rng_below(rng, 300);
	case 1:
		return UINT64_MAX - rng_below(rng, 3);
	case 2:
		return UINT64_C(1) << rng_below(rng, 64);
	default:
		return rng_next(rng);
	}
}

/* One write of the target: `size` bytes of `value` at an offset in an area, both reduced to what there is. */
struct contract_write {
	uint64_t value;
	uint16_t at;
	uint8_t area, size;
};

static void contract_write_over(struct contract_block *block, const struct contract_write *write)
{
	const struct contract *layout = block->contract;
	const struct {
		uint64_t offset, bytes;
	} areas[] = {
		{0, sizeof *layout},
		{0, sizeof *layout},
		{layout->threads_offset, THREADS * sizeof(struct thread_record)},
		{layout->schedule_offset, sizeof(struct schedule) + SEGMENTS * 8},
		{layout->runs_offset, 10 * sizeof(struct contract_run)},
		{layout->trace_offset, EVENTS * sizeof(struct contract_event)},
		{layout->memory_offset, 4096},
		{layout->memory_offset + offsetof(struct contract_memory, modules), 4096},
	};
	const uint32_t area = write->area % (sizeof areas / sizeof *areas);
	const uint32_t size = 1u << write->size % 4;
	const uint64_t at = write->at % (areas[area].bytes - size);

	memcpy((char *)block->shared + areas[area].offset + at, &write->value, size);
}

/* The layout is the command's own: the target's may lie. */
static void repair_layout(struct contract_block *block, const struct contract *layout)
{
	memcpy(block->shared, layout, sizeof *layout);
	memset(contract_shared_area(block, layout->memory_offset), 0, 4096);
}

static void use(struct contract_block *block, bool has_view)
{
	struct contract *own = block->contract;
	const struct contract_event *events = contract_area(own, own->trace_offset);
	const uint64_t capacity = own->trace_bytes / sizeof *events;
	struct failure failure = {0};
	uint64_t runs = 0;

	failure_take(&failure, own);
	(void)failure_key(&failure.outcome);
	BUG_ON(failure.thread_count > THREAD_CAPACITY);
	BUG_ON(!outcome_descriptions[own->outcome.kind].word);
	for (uint32_t i = 0; i < own->outcome.wait_count; i++)
		BUG_ON(!op_descriptions[own->outcome.waits[i].op].name);
	for (uint64_t i = 0; i < own->trace_count && i < capacity; i++)
		BUG_ON(events[i].kind >= OP_KIND_COUNT || events[i].thread >= THREAD_CAPACITY);
	for (unsigned i = 0; i < OUTCOME_KIND_COUNT; i++)
		runs += own->totals.outcome[i];
	BUG_ON(own->totals.runs - 500 > RUN_LIMIT || runs > own->totals.runs + 1);
	BUG_ON(strlen(own->outcome.text) >= sizeof own->outcome.text);
	if (has_view) {
		struct memory_view view;

		memory_view_take(&view, contract_memory(own));
		memory_view_release(&view);
	}
	failure_release(&failure);
}

static struct contract_block contract_block;
static struct contract contract_layout;

static void contract_open(void)
{
	const struct contract_sizes sizes = {.strategy_bytes = 4096, .trace_events = EVENTS};

	BUG_ON(contract_block_open(&contract_block, &sizes, NULL) < 0);
	BUG_ON(ftruncate(contract_block.file, 4096) == 0); /* the command would end with SIGBUS */
	contract_layout = *contract_block.contract;
	BUG_ON(contract_separate(&contract_block, NULL) < 0);
}

static bool contract_run_writes(const uint8_t *bytes, size_t size)
{
	static uint32_t count;
	struct contract_write write;

	if (!contract_layout.bytes)
		contract_open();
	repair_layout(&contract_block, &contract_layout);
	begin_batch(&contract_block);
	play_good_guest(&contract_block);
	for (size_t at = 0; size - at >= sizeof write; at += sizeof write) {
		memcpy(&write, bytes + at, sizeof write);
		contract_write_over(&contract_block, &write);
	}
	if (contract_refresh(&contract_block) || contract_receive(&contract_block))
		return false;
	use(&contract_block, count++ % VIEW_EVERY == 0);
	return true;
}

/* Writes the value that an event has: the block stays correct. */
static size_t contract_make_seed(uint8_t *bytes, size_t capacity)
{
	const struct contract_write write = {.area = 5, .size = 3};

	BUG_ON(capacity < sizeof write);
	memcpy(bytes, &write, sizeof write);
	return sizeof write;
}

static size_t contract_damage(struct rng *rng, uint8_t *bytes, size_t size, size_t capacity)
{
	for (uint32_t count = 1 + rng_below(rng, 4); count > 0; count--) {
		const struct contract_write write = {.value = hostile_value(rng),
			.at = (uint16_t)rng_below(rng, UINT16_MAX),
			.area = (uint8_t)rng_below(rng, 8),
			.size = (uint8_t)rng_below(rng, 4)};

		if (size > capacity - sizeof write)
			break;
		memcpy(bytes + size, &write, sizeof write);
		size += sizeof write;
	}
	return size;
}

const struct fuzz_target fuzz_target_contract = {.name = "contract",
	.run = contract_run_writes,
	.make_seed = contract_make_seed,
	.damage = contract_damage};
