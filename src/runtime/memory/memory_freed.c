/* Freeing a block counts as a write of the whole block, if instrumented code has accessed it. A later access at a site
 * that is on is a failure. A use after free is detected until the allocator reuses the memory (heap.h). */
#include "engine/c11.h"
#include "engine/store_buffer.h"
#include "runtime/heap.h"
#include "runtime/memory/memory_internal.h"
#include "runtime/record.h"
#include "runtime/runtime.h"
#include "runtime/sites.h"
#include "runtime/spinning.h"

/* Only the beginning of a longer block counts. */
#define FREED_BYTES_MOST 4096
/* In long runs most freed blocks were accessed at no site that is on, and each name is a cache miss. */
#define FREED_BYTES_LONG_RUN 256

void memory_keep_for_replay(const struct memory_access *access)
{
	struct contract_memory *memory = sites_memory();

	if (access->site_state)
		memory->failed_site = 1 + (uint32_t)(access->site_state - memory->sites);
}

__attribute__((noinline)) static void memory_freed_fail(
	const struct memory_access *access, enum outcome_kind kind, const struct heap_free *freed)
{
	struct outcome verdict;

	memory_keep_for_replay(access);
	outcome_set(&verdict, kind, engine_current()->id, 0);
	verdict.site = access->site;
	verdict.op = (uint8_t)memory_op(access->kind);
	verdict.address = (uint64_t)(uintptr_t)access->address;
	verdict.other_site = freed->site;
	verdict.other_step = freed->step;
	verdict.other_thread = freed->thread;
	verdict.other_op = OP_STORE;
	engine_fail_by_verdict(&verdict);
}

void memory_check_freed(const struct memory_access *access, enum outcome_kind kind)
{
	struct heap_free freed;

	if (heap_was_freed(access->address, &freed))
		memory_freed_fail(access, kind, &freed);
	else if (__builtin_expect(memory_is_on_stack(access->address), 0))
		memory_check_left_frame(access);
}

/* Returns whether the free counts as an access of its thread. */
static bool memory_freed_is_learnt(const struct contract_memory *memory)
{
	return !memory->is_frozen && (memory->mode != MEMORY_RACY_SITES || memory->was_profile);
}

/* Returns whether the variable was known before the round, or this run has accessed it. Runs of other
 * workers may have added it in this round, which must not matter. */
static bool memory_freed_is_known(struct contract_memory *memory, uintptr_t at)
{
	const struct memory_variable *variable;

	if (memory_is_cached(memory, at))
		return true;
	variable = memory_find_variable(memory, memory_variable_name((const void *)at), false);
	return variable && !(variable->news & VARIABLE_ADDED);
}

/* Creates no variables. Returns true if accesses to the granule are points. */
static bool memory_free_variable(
	struct contract_memory *memory, struct memory_visit *visit, uintptr_t at)
{
	struct memory_known *known;

	if (memory_freed_is_learnt(memory) && !memory_freed_is_known(memory, at))
		return false;
	known = memory_known_at(memory, at, memory_variable_name, false);
	if (memory_freed_is_learnt(memory) && !(known->flags & VARIABLE_POINT)) {
		memory_learn(memory, known, true);
		if (memory->group_count)
			(void)memory_allocated_at(memory, known, (const void *)at);
	}
	if (!visit->point && known->flags & VARIABLE_POINT &&
		memory_wants(memory, &visit->access, known->flags)) {
		visit->point = known->name;
		visit->allocated_at = memory_allocated_at(memory, known, (const void *)at);
	}
	return known->flags & VARIABLE_POINT;
}

/* Returns true if accesses to any of the first visit->access.bytes of the block are points. */
static bool memory_free_variables(
	struct contract_memory *memory, struct memory_visit *visit, const struct heap_block *block)
{
	const bool is_learnt = memory_freed_is_learnt(memory);
	const uint64_t count = (visit->access.bytes + GRANULE_BYTES - 1) / GRANULE_BYTES;
	bool is_shared = false;
	uint64_t group = 0;

	for (uint64_t i = 0; i < count && (!visit->point || is_learnt); i++) {
		if (i % MEMORY_GROUP_GRANULES == 0)
			group = memory_block_group(block, i);
		if (is_learnt || memory_may_be_point(memory, memory_group_name(group, i)))
			is_shared |= memory_free_variable(
				memory, visit, block->start + i * GRANULE_BYTES);
	}
	return is_shared;
}

void memory_freed(const void *start, uint64_t site)
{
	/* Within the call instruction: the return address may belong to another source line. */
	struct memory_visit visit = {
		.access = {
			.address = start, .site = site - 1, .kind = SITE_STORE, .call = CALL_FREE}};
	struct memory_access *access = &visit.access;
	bool is_long_run, is_shared;
	size_t bytes_most;
	struct engine_op op;
	struct heap_block block;

	if (!start || record_is_on() || !memory_is_watched())
		return;
	memory_check_freed(access, OUTCOME_DOUBLE_FREE);
	if (!heap_find(start, &block) || block.start != (uintptr_t)start)
		return;
	/* The allocator writes into the block. */
	engine_drain_freed(start, block.bytes);
	c11_forget(start, block.bytes);
	/* Which blocks a run has accessed depends on the sites that are on. A replay of a watched run has
	 * fewer of them on, and must make the same points. */
	is_long_run = sites_memory()->mode == MEMORY_RACY_SITES;
	if (!block.is_used && !is_long_run)
		return;
	bytes_most = is_long_run ? FREED_BYTES_LONG_RUN : FREED_BYTES_MOST;
	access->bytes = block.bytes < bytes_most ? block.bytes : bytes_most;
	is_shared = memory_free_variables(sites_memory(), &visit, &block);
	if (visit.point) {
		memory_point(&visit, visit.point);
		memory_check_freed(access, OUTCOME_DOUBLE_FREE);
		c11_forget(start, block.bytes);
		spinning_note(access);
	} else if (is_shared && runtime_looks_for_races()) {
		op = memory_engine_op(access, 0);
		engine_note_access(&op);
	}
}
