#include "exchange/contract_exchange.h"

#include <errno.h>
#include <stddef.h>
#include <string.h>
#include <sys/mman.h>

#include "strategies/strategy.h"

#define PAGE_BYTES UINT64_C(4096)

/* Maximum growth of a counter of a block in one batch. */
#define GROWTH_MOST (UINT64_C(1) << 48)

/* Longer traces are copied in chunks of this many events, each freed in shared memory after its
 * copy. */
#define TRACE_CHUNK (UINT64_C(1) << 13)

/* Offset of the range that is copied. Before it are the words on which both sides wait, and memory of the target. */
#define COPIED_START offsetof(struct contract, heartbeat)
#define LAYOUT_START offsetof(struct contract, threads_offset)
#define LAYOUT_BYTES (offsetof(struct contract, trace_count) - LAYOUT_START)

/* Maps the block far from other mappings of the command: a 32-bit index from the block never
 * reaches them (contract_fault.h). */
static void *contract_exchange_map(const struct contract_block *block)
{
	for (uint64_t at = CONTRACT_REGION_START; at < CONTRACT_REGION_END;
		at += CONTRACT_DISTANCE) {
		void *memory = mmap((void *)(uintptr_t)at, block->bytes, PROT_READ | PROT_WRITE,
			MAP_SHARED | MAP_NORESERVE | MAP_FIXED_NOREPLACE, block->file, 0);

		if (memory != MAP_FAILED || errno != EEXIST)
			return memory;
	}
	return mmap(NULL, block->bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE,
		block->file, 0);
}

static bool contract_exchange_make_private(
	struct contract *contract, uint64_t offset, uint64_t bytes)
{
	return !bytes ||
	       mmap((char *)contract + offset, (bytes + PAGE_BYTES - 1) & ~(PAGE_BYTES - 1),
		       PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1,
		       0) != MAP_FAILED;
}

int contract_separate(struct contract_block *block, struct error *err)
{
	const struct contract layout = *block->contract;
	struct contract *contract = contract_exchange_map(block);

	if (contract == MAP_FAILED)
		return error_set(err, ERROR_NOMEM,
			"no address space for the runtime's memory (%s); raise ulimit -v",
			strerror(errno));
	block->shared = block->contract;
	block->contract = contract;
	if (!contract_exchange_make_private(contract, 0, sizeof *contract) ||
		!contract_exchange_make_private(contract, layout.threads_offset,
			THREAD_CAPACITY * sizeof(struct thread_record)) ||
		!contract_exchange_make_private(
			contract, layout.schedule_offset, layout.schedule_bytes) ||
		!contract_exchange_make_private(
			contract, layout.trace_offset, layout.trace_bytes) ||
		!contract_exchange_make_private(contract, layout.runs_offset,
			STRATEGY_ROUND_MOST * sizeof(struct contract_run)))
		return error_set(err, ERROR_NOMEM, "no memory for the results of runs (%s)",
			strerror(errno));
	*contract = layout;
	contract_schedule(contract)->capacity = CONTRACT_SEGMENTS_MAX;
	return 0;
}

void contract_publish(struct contract_block *block)
{
	memcpy((char *)block->shared + COPIED_START, (const char *)block->contract + COPIED_START,
		sizeof *block->contract - COPIED_START);
	contract_expect(block);
}

void contract_expect(struct contract_block *block)
{
	block->published_plan = block->contract->plan;
	block->published_totals = block->contract->totals;
	block->runs_received = block->contract->plan.run_first;
}

uint64_t contract_runs_most(const struct contract_plan *plan)
{
	return plan->run_limit ? plan->run_limit : 1;
}

static bool contract_exchange_is_thread(struct thread_id thread)
{
	return thread.index < THREAD_CAPACITY || thread_same(thread, THREAD_NONE);
}

static bool contract_exchange_is_outcome(const struct outcome *outcome)
{
	if (outcome->kind >= OUTCOME_KIND_COUNT || outcome->wait_count > OUTCOME_WAITS_MAX ||
		outcome->op >= OP_KIND_COUNT || outcome->other_op >= OP_KIND_COUNT ||
		!contract_exchange_is_thread(outcome->thread) ||
		!contract_exchange_is_thread(outcome->other_thread))
		return false;
	for (uint32_t i = 0; i < outcome->wait_count; i++) {
		const struct wait_edge *wait = &outcome->waits[i];

		if (wait->op >= OP_KIND_COUNT || wait->call >= CALL_KIND_COUNT ||
			!contract_exchange_is_thread(wait->waiter) ||
			!contract_exchange_is_thread(wait->holder))
			return false;
	}
	return true;
}

static bool contract_exchange_are_stalls(const struct stalls *stalls)
{
	for (uint32_t i = 0; i < stalls_recorded(stalls); i++) {
		const struct stall *stall = &stalls->items[i];

		if (stall->op >= OP_KIND_COUNT || !contract_exchange_is_thread(stall->waiter) ||
			stall->thread_count > STALL_THREADS_MOST)
			return false;
		for (uint32_t thread = 0; thread < stall->thread_count; thread++)
			if (stall->threads[thread].op >= OP_KIND_COUNT ||
				!contract_exchange_is_thread(stall->threads[thread].thread))
				return false;
	}
	return true;
}

static bool contract_exchange_are_delayed_stores(const struct delayed_stores *delayed)
{
	for (uint32_t i = 0; i < delayed_stores_recorded(delayed); i++) {
		const struct delayed_store *store = &delayed->items[i];

		if (!contract_exchange_is_thread(store->writer) ||
			!contract_exchange_is_thread(store->observer) ||
			*(const unsigned char *)&store->is_read > 1 ||
			*(const unsigned char *)&store->is_unseen > 1)
			return false;
	}
	return true;
}

static bool contract_exchange_has_grown(uint64_t now, uint64_t before)
{
	return now - before < GROWTH_MOST;
}

/* Checks the counters. A killed process may have updated only one of two counters. `killed_most`:
 * maximum number of killed processes. */
static bool contract_exchange_are_totals(const struct contract_totals *now,
	const struct contract_totals *before, uint64_t run_limit, uint64_t killed_most)
{
	const uint64_t runs = now->runs - before->runs;
	uint64_t outcomes = 0, known = 0;

	if (runs > run_limit)
		return false;
	for (unsigned i = 0; i < CONTRACT_KNOWN_MAX; i++) {
		if (now->known[i] - before->known[i] > runs + killed_most)
			return false;
		known += now->known[i] - before->known[i];
	}
	for (unsigned i = 0; i < OUTCOME_KIND_COUNT; i++) {
		if (now->outcome[i] - before->outcome[i] > runs + killed_most)
			return false;
		outcomes += now->outcome[i] - before->outcome[i];
	}
	return outcomes + killed_most >= runs && outcomes <= runs + killed_most &&
	       known <= runs + killed_most &&
	       now->failures - before->failures <= runs + killed_most &&
	       now->threads_most <= THREAD_CAPACITY && now->steps_most >= before->steps_most &&
	       contract_exchange_has_grown(now->steps, before->steps) &&
	       contract_exchange_has_grown(now->switches, before->switches) &&
	       contract_exchange_has_grown(now->steps_most, before->steps_most) &&
	       contract_exchange_has_grown(now->pages_restored, before->pages_restored) &&
	       contract_exchange_has_grown(
		       now->system_calls_trapped, before->system_calls_trapped) &&
	       contract_exchange_has_grown(now->checkpoints_taken, before->checkpoints_taken) &&
	       contract_exchange_has_grown(now->runs_resumed, before->runs_resumed);
}

/* Copies the one field of the plan that the target writes, a byte that may have any value. */
static bool contract_exchange_is_plan(struct contract *copy, const struct contract_plan *published)
{
	uint8_t is_fresh;

	memcpy(&is_fresh, &copy->plan.is_fresh_state, 1);
	memcpy(&copy->plan.is_fresh_state, &published->is_fresh_state, 1);
	if (is_fresh > 1 || memcmp(&copy->plan, published, sizeof *published) != 0)
		return false;
	copy->plan.is_fresh_state = is_fresh;
	return true;
}

static bool contract_exchange_is_run_number(const struct contract_block *block, uint64_t number)
{
	const struct contract_plan *plan = &block->published_plan;

	/* Before the first run of a batch, the run number is that of the previous batch. */
	return number - plan->run_first < contract_runs_most(plan) ||
	       number == block->contract->run_number || number == plan->run_first;
}

static const char *contract_exchange_check_header(
	const struct contract_block *block, struct contract *copy, uint64_t killed_most)
{
	const struct contract *own = block->contract;
	uint8_t has_random_addresses;

	if (copy->magic != own->magic || copy->version != own->version ||
		copy->bytes != own->bytes || copy->host_pid != own->host_pid ||
		memcmp((const char *)copy + LAYOUT_START, (const char *)own + LAYOUT_START,
			LAYOUT_BYTES) != 0)
		return "layout";
	if (!contract_exchange_is_plan(copy, &block->published_plan))
		return "plan";
	if (copy->is_overwritten)
		return "image";
	if (!contract_exchange_are_totals(&copy->totals, &block->published_totals,
		    contract_runs_most(&block->published_plan), killed_most))
		return "totals";
	if (!contract_exchange_is_outcome(&copy->outcome))
		return "outcome";
	if (!contract_exchange_are_stalls(&copy->stalls))
		return "stalls";
	if (!contract_exchange_are_delayed_stores(&copy->delayed))
		return "delayed stores";
	if (!contract_exchange_is_run_number(block, copy->run_number))
		return "run number";
	memcpy(&has_random_addresses, &copy->has_random_addresses, 1);
	if (has_random_addresses > 1 || copy->is_live > 1 || copy->is_elsewhere > 1 ||
		copy->has_memory_sites > 1 ||
		copy->interruption_points >= INTERRUPTION_POINTS_IN_PART ||
		copy->names > NAME_ALL || copy->taint > TAINT_SHARED ||
		copy->daemon > DAEMON_LEFT ||
		copy->known_failure > block->published_plan.known_count ||
		copy->unseen > (UNSEEN_THREAD | UNSEEN_LOCKS | UNSEEN_CALLS))
		return "state";
	if (copy->thread_count > THREAD_CAPACITY ||
		copy->spin.loop_count > sizeof copy->spin.loops / sizeof *copy->spin.loops)
		return "counts";
	return NULL;
}

/* Checks an area that stays shared: the result holds only until the next write. */
static bool contract_exchange_is_memory(const struct contract_memory *memory)
{
	const uint32_t count = memory->module_count;

	if (memory->mode >= MEMORY_MODE_COUNT || count > MEMORY_MODULES_MAX ||
		memory->site_count > MEMORY_SITES_MAX ||
		memory->variable_count > MEMORY_VARIABLES_MAX ||
		memory->focus_count > MEMORY_FOCUS_MAX ||
		memory->focused_count > MEMORY_FOCUS_MAX ||
		memory->focused_allocation_count > MEMORY_FOCUS_MAX ||
		memory->group_count > MEMORY_GROUPS_MAX ||
		memory->object_count > MEMORY_OBJECTS_MAX ||
		memory->local_count > MEMORY_LOCALS_MAX)
		return false;
	for (uint32_t i = 0; i < count; i++)
		if ((uint64_t)memory->modules[i].first + memory->modules[i].count >
			MEMORY_SITES_MAX)
			return false;
	return true;
}

static bool contract_exchange_are_threads(struct contract *own, uint32_t count)
{
	struct thread_record *threads = contract_threads(own);

	for (uint32_t i = 0; i < count; i++) {
		threads[i].label[sizeof threads[i].label - 1] = '\0';
		if (!contract_exchange_is_thread(threads[i].parent))
			return false;
	}
	return true;
}

static bool contract_exchange_copy_threads(struct contract_block *block, uint32_t count)
{
	memcpy(contract_threads(block->contract),
		contract_shared_area(block, block->contract->threads_offset),
		count * sizeof(struct thread_record));
	return contract_exchange_are_threads(block->contract, count);
}

static bool contract_exchange_are_segments(const struct schedule *schedule)
{
	for (uint32_t i = 0; i < schedule->count; i++)
		if (schedule->segments[i].flags >
				(SEGMENT_VALUE | SEGMENT_PREEMPTS | SEGMENT_STALLS) ||
			(!(schedule->segments[i].flags & SEGMENT_VALUE) &&
				schedule->segments[i].thread >= THREAD_CAPACITY))
			return false;
	return true;
}

static bool contract_exchange_copy_schedule(struct contract_block *block)
{
	struct schedule *to = contract_schedule(block->contract);
	const struct schedule *from = contract_shared_area(block, block->contract->schedule_offset);
	const uint32_t count = *(const volatile uint32_t *)&from->count;
	uint8_t is_truncated;

	memcpy(&is_truncated, &from->is_truncated, 1);
	if (count > CONTRACT_SEGMENTS_MAX || is_truncated > 1)
		return false;
	to->count = count;
	to->step_count = *(const volatile uint64_t *)&from->step_count;
	to->is_truncated = is_truncated;
	memcpy(to->segments, from->segments, count * sizeof *to->segments);
	return contract_exchange_are_segments(to);
}

static bool contract_exchange_copy_runs(struct contract_block *block, uint64_t last)
{
	const struct contract_run *from = contract_shared_area(block, block->contract->runs_offset);
	const uint64_t first = block->published_plan.round_first;

	for (uint64_t number = block->runs_received; number <= last; number++) {
		struct contract_run *to = contract_run_of(block->contract, number);
		uint8_t is_failure;

		if (!to)
			break;
		memcpy(&is_failure, &from[number - first].is_failure, 1);
		if (is_failure > 1)
			return false;
		memcpy(to, &from[number - first], offsetof(struct contract_run, is_failure));
		to->is_failure = is_failure;
		if (to->outcome >= OUTCOME_KIND_COUNT || to->threads > THREAD_CAPACITY ||
			to->known > block->published_plan.known_count)
			return false;
		block->runs_received = number;
	}
	return true;
}

static bool contract_exchange_copy_trace(struct contract_block *block, uint64_t count)
{
	struct contract *own = block->contract;
	const uint64_t capacity = own->trace_bytes / sizeof(struct contract_event);
	struct contract_event *to = contract_area(own, own->trace_offset);
	const struct contract_event *from = contract_shared_area(block, own->trace_offset);

	if (count > capacity)
		count = capacity;
	for (uint64_t at = 0; at < count; at += TRACE_CHUNK) {
		const uint64_t part = count - at < TRACE_CHUNK ? count - at : TRACE_CHUNK;

		memcpy(to + at, from + at, part * sizeof *to);
		if (count > TRACE_CHUNK)
			contract_block_clear(
				block, own->trace_offset + at * sizeof *to, part * sizeof *to);
		for (uint64_t i = at; i < at + part; i++)
			if (to[i].thread >= THREAD_CAPACITY || to[i].other > THREAD_CAPACITY ||
				to[i].kind >= OP_KIND_COUNT || to[i].call >= CALL_KIND_COUNT)
				return false;
	}
	return true;
}

/* Copies the header except the words that both sides wait on. */
static void contract_exchange_accept_header(struct contract *own, struct contract *copy)
{
	copy->outcome.text[sizeof copy->outcome.text - 1] = '\0';
	copy->taint_text[sizeof copy->taint_text - 1] = '\0';
	copy->checkpoint_text[sizeof copy->checkpoint_text - 1] = '\0';
	copy->default_suppressions[sizeof copy->default_suppressions - 1] = '\0';
	memcpy((char *)own + COPIED_START, (const char *)copy + COPIED_START,
		sizeof *own - COPIED_START);
}

const char *contract_receive(struct contract_block *block)
{
	struct contract *own = block->contract;
	struct contract copy;
	const char *damage;

	memcpy(&copy, block->shared, sizeof copy);
	damage = contract_exchange_check_header(block, &copy, 1);
	if (damage)
		return damage;
	if (!contract_exchange_is_memory(contract_memory(own)))
		return "memory";
	if (!contract_exchange_copy_threads(block, copy.thread_count))
		return "threads";
	if (!contract_exchange_copy_schedule(block))
		return "schedule";
	if (!contract_exchange_copy_runs(block, copy.run_number))
		return "runs";
	if (copy.plan.is_traced && !contract_exchange_copy_trace(block, copy.trace_count))
		return "trace";
	contract_exchange_accept_header(own, &copy);
	return NULL;
}

bool contract_is_batch_plan(const struct contract *own, const struct contract_plan *plan)
{
#define FLAG(name) offsetof(struct contract_plan, name)
	static const size_t flags[] = {FLAG(has_spurious_wakeups), FLAG(has_forked_children),
		FLAG(is_fresh_state), FLAG(stop_at_failure), FLAG(is_traced), FLAG(inspect),
		FLAG(stop_for_debugger), FLAG(without_dispatch), FLAG(without_virtual_time),
		FLAG(repeats_waits), FLAG(ends_alone), FLAG(is_recorded), FLAG(has_chosen_sites),
		FLAG(has_contexts), FLAG(has_digest), FLAG(has_operations), FLAG(is_task)};
#undef FLAG

	/* A byte other than 0 and 1 is no value of `bool`. */
	for (size_t i = 0; i < sizeof flags / sizeof *flags; i++)
		if (((const unsigned char *)plan)[flags[i]] > 1)
			return false;
	return plan->restart < RESTART_COUNT && plan->checkpoints <= CHECKPOINTS_NEVER &&
	       plan->memory_model < MEMORY_MODEL_COUNT && plan->judged_model < MEMORY_MODEL_COUNT &&
	       plan->strengthened_count <= STRENGTHENED_MOST &&
	       plan->executor == own->plan.executor && plan->strategy == own->plan.strategy &&
	       plan->detectors == own->plan.detectors &&
	       plan->thread_pool == own->plan.thread_pool &&
	       plan->round_runs <= STRATEGY_ROUND_MOST && plan->known_count <= CONTRACT_KNOWN_MAX;
}

const char *contract_receive_report(struct contract_block *block, const struct contract *header)
{
	struct contract *own = block->contract;
	struct contract copy = *header;
	const uint64_t runs = contract_runs_most(&block->published_plan);
	const struct schedule *schedule = contract_schedule(own);
	const char *damage;
	uint8_t is_truncated;

	/* the header has the process id of another rank's command */
	copy.host_pid = own->host_pid;
	copy.plan = block->published_plan;
	damage = contract_exchange_check_header(block, &copy,
		block->published_plan.restart == RESTART_EXEC && runs < GROWTH_MOST ? runs : 1);
	if (damage)
		return damage;
	if (!contract_exchange_are_threads(own, copy.thread_count))
		return "threads";
	memcpy(&is_truncated, &schedule->is_truncated, 1);
	if (schedule->count > CONTRACT_SEGMENTS_MAX || is_truncated > 1 ||
		!contract_exchange_are_segments(schedule))
		return "schedule";
	contract_exchange_accept_header(own, &copy);
	return NULL;
}

static uint64_t contract_exchange_load(const uint64_t *word)
{
	return __atomic_load_n(word, __ATOMIC_RELAXED);
}

static uint32_t contract_exchange_load_word(const uint32_t *word)
{
	return __atomic_load_n(word, __ATOMIC_RELAXED);
}

const char *contract_refresh(struct contract_block *block)
{
	const struct contract *shared = block->shared;
	struct contract *own = block->contract;
	const uint64_t runs = contract_exchange_load(&shared->totals.runs);
	const uint64_t number = contract_exchange_load(&shared->run_number);
	const uint32_t threads = contract_exchange_load_word(&shared->thread_count);
	/* Acquire: pairs with the release store by which the guest publishes unseen_sites. */
	const uint32_t unseen = __atomic_load_n(&shared->unseen, __ATOMIC_ACQUIRE);
	uint8_t has_random_addresses;

	if (runs - block->published_totals.runs > contract_runs_most(&block->published_plan))
		return "totals";
	if (!contract_exchange_is_run_number(block, number))
		return "run number";
	if (threads > THREAD_CAPACITY)
		return "counts";
	own->totals.runs = runs;
	own->totals.failures = contract_exchange_load(&shared->totals.failures);
	own->totals.steps = contract_exchange_load(&shared->totals.steps);
	own->totals.outcome[OUTCOME_TAINTED] =
		contract_exchange_load(&shared->totals.outcome[OUTCOME_TAINTED]);
	own->run_number = number;
	own->thread_count = threads;
	own->heartbeat = contract_exchange_load(&shared->heartbeat);
	own->hang_extensions = contract_exchange_load_word(&shared->hang_extensions);
	own->is_waiting_outside = contract_exchange_load_word(&shared->is_waiting_outside);
	/* Acquire: the guest stores the three properties below before it stores is_live. */
	own->is_live = __atomic_load_n(&shared->is_live, __ATOMIC_ACQUIRE) != 0;
	own->has_dispatch = contract_exchange_load_word(&shared->has_dispatch) != 0;
	own->has_memory_sites = contract_exchange_load_word(&shared->has_memory_sites) != 0;
	memcpy(&has_random_addresses, &shared->has_random_addresses, 1);
	own->has_random_addresses = has_random_addresses == 1;
	/* Acquire: pairs with the release store by which the guest publishes limit_site. */
	own->features = __atomic_load_n(&shared->features, __ATOMIC_ACQUIRE);
	own->limit_site = contract_exchange_load(&shared->limit_site);
	own->names = contract_exchange_load_word(&shared->names) & NAME_ALL;
	own->spin.is_unseen = contract_exchange_load_word(&shared->spin.is_unseen) != 0;
	own->unseen = unseen & (UNSEEN_THREAD | UNSEEN_LOCKS | UNSEEN_CALLS);
	for (uint32_t i = 0; i < UNSEEN_SITES; i++)
		own->unseen_sites[i] = contract_exchange_load(&shared->unseen_sites[i]);
	return NULL;
}
