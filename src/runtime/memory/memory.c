/* Decides which memory accesses are scheduling points, and learns which variables are shared
 * (contract_memory.h). The path up to the decision is compiled, with all callees, to use general
 * registers only (CMakeLists.txt): see site_thunk.S. */
#include "runtime/memory/memory_internal.h"

#include <string.h>

#include "base/hot_state.h"
#include "detectors/detector.h"
#include "engine/c11.h"
#include "engine/store_buffer.h"
#include "runtime/filter.h"
#include "runtime/heap.h"
#include "runtime/interpose.h"
#include "runtime/quick.h"
#include "runtime/runtime.h"
#include "runtime/sampling.h"
#include "runtime/sites.h"
#include "runtime/spinning.h"

/* Every granule of the beginning of a range counts. */
#define RANGE_EXACT_BYTES 4096
/* Beyond, the granules that count are this part of the distance from the nearest end of the range
 * apart: the cost of a range grows with the logarithm of its length. */
#define RANGE_PART 32

enum op_kind memory_op(uint8_t kind)
{
	switch (kind) {
	case SITE_ATOMIC_LOAD:
		return OP_ATOMIC_LOAD;
	case SITE_ATOMIC_STORE:
		return OP_ATOMIC_STORE;
	case SITE_ATOMIC_UPDATE:
	case SITE_COMPARE_EXCHANGE:
		return OP_ATOMIC_UPDATE;
	case SITE_FENCE:
		return OP_FENCE;
	default:
		return site_kind_writes(kind) ? OP_STORE : OP_LOAD;
	}
}

static inline bool memory_is_wanted(
	const struct contract_memory *memory, const struct memory_access *access, uint16_t flags)
{
	switch ((enum memory_mode)memory->mode) {
	case MEMORY_ALL:
		return true;
	case MEMORY_NONE:
		return false;
	case MEMORY_RACES:
		return flags & VARIABLE_POINT &&
		       (flags & VARIABLE_RACY || memory_kind_is_atomic(access->kind));
	case MEMORY_CHOSEN:
		return access->site_state && *access->site_state & SITE_CHOSEN &&
		       flags & (VARIABLE_CHOSEN | VARIABLE_POINT);
	case MEMORY_RACY_SITES:
		/* free() has no site. */
		return flags & VARIABLE_POINT &&
		       (memory_kind_is_atomic(access->kind) || !access->site_state ||
			       *access->site_state & SITE_CHOSEN);
	default:
		return flags & VARIABLE_POINT && (!memory->is_filtered || flags & VARIABLE_FOCUSED);
	}
}

bool memory_wants(
	const struct contract_memory *memory, const struct memory_access *access, uint16_t flags)
{
	return memory_is_wanted(memory, access, flags);
}

/* Set in a signal handler: the next access must yield. */
static HOT_STATE volatile bool turn_is_wanted;

/* Returns whether a lease (engine.h) may cover the access. */
static bool memory_is_leasable(const struct memory_access *access)
{
	return memory_kind_is_range(access->kind) ||
	       (access->kind <= SITE_STORE && access->bytes <= 2 * GRANULE_BYTES);
}

/* Returns whether a lease covers the access: the strategy is not asked even if the access is a
 * point. */
static inline bool memory_has_lease(const struct memory_access *access)
{
	struct heap_free freed;

	return __builtin_expect(sites_now.engine.lease > 0, 0) && memory_is_leasable(access) &&
	       !turn_is_wanted && !heap_was_freed(access->address, &freed);
}

/* Looks the allocation site up once per variable. */
static void memory_look_up_allocation(
	struct contract_memory *memory, struct memory_variable *variable, const void *address)
{
	struct heap_block block;

	if (!variable->allocated_at && heap_find_any(address, &block)) {
		variable->allocated_at = memory_allocation_site(block.site);
		variable->block_name = block.name;
		variable->loop = (uint16_t)block.loop;
		memory_note_news(memory, variable);
	} else if (!variable->allocated_at) {
		variable->allocated_at = MEMORY_NOT_ON_HEAP;
		memory_note_static(variable, address);
		memory_note_news(memory, variable);
	}
}

static void memory_look_up_known(
	struct contract_memory *memory, struct memory_known *known, const void *address)
{
	memory_look_up_allocation(memory, &memory->variables[known->slot], address);
	known->allocated_at = memory->variables[known->slot].allocated_at;
}

uint16_t memory_allocated_at(
	struct contract_memory *memory, struct memory_known *known, const void *address)
{
	if (known->slot == MEMORY_NO_VARIABLE)
		return 0;
	/* The copy avoids a cache miss at each point. */
	if (__builtin_expect(!known->allocated_at, 0))
		memory_look_up_known(memory, known, address);
	return known->allocated_at > MEMORY_NOT_ON_HEAP ? (uint16_t)known->allocated_at : 0;
}

/* Decides once per variable whether it was allocated at a allocation site whose variables are points. */
static void memory_look_at_allocation(
	struct contract_memory *memory, struct memory_known *known, const void *address)
{
	(void)memory_allocated_at(memory, known, address);
	if (memory->focused_allocation_count && known->slot != MEMORY_NO_VARIABLE &&
		memory_is_focused(memory, &memory->variables[known->slot]))
		known->flags |= VARIABLE_FOCUSED;
	known->flags |= VARIABLE_PLACED;
}

bool memory_heap_position(object_name object, struct heap_position *out)
{
	const struct memory_variable *variable = NULL;

	if (runtime.contract && runtime.contract->memory_bytes)
		variable = memory_variable_of(
			contract_area(runtime.contract, runtime.contract->memory_offset), object);
	if (!variable || !memory_is_on_heap(variable))
		return false;
	*out = (struct heap_position){variable->block_name, variable->loop};
	return true;
}

/* Marks the site, which keeps the site on. */
static void memory_mark_site(struct contract_memory *memory, const struct memory_access *access)
{
	if (!access->site_state || *access->site_state & SITE_SHARED || memory->is_frozen)
		return;
	*access->site_state |= SITE_SHARED;
	memory->has_site_news = true;
}

/* Returns the next granule that counts, behind the beginning. Its address is a multiple of a power of
 * two, so that it counts for an overlapping range, too, whose ends are elsewhere. */
static uintptr_t memory_next_granule(uintptr_t start, uintptr_t end, uintptr_t at)
{
	const uintptr_t distance = at - start < end - at ? at - start : end - at;
	uintptr_t step = GRANULE_BYTES;

	if (distance >= RANGE_PART * GRANULE_BYTES)
		step = UINT64_C(1) << (63 - __builtin_clzll(distance / RANGE_PART));
	return (at + step) & ~(step - 1);
}

/* An access by the thread that freed the memory does not depend on the schedule: programs that read the links of a list
 * while they free it pass natively. */
static bool memory_is_freed_by_another(const struct memory_access *access)
{
	struct heap_free freed;

	return heap_was_freed(access->address, &freed) &&
	       !thread_same(freed.thread, engine_current()->id);
}

/* Returns whether memory_finish() must check that the memory still exists. A site that has rested is exempt, because a
 * replay has that site off. `variable` is the variable at the beginning of the access. */
static bool memory_may_be_gone_at(const struct memory_access *access, object_name variable)
{
	if (access->site_state && *access->site_state & SITE_RESTED)
		return false;
	if (memory_is_on_stack(access->address))
		return memory_is_first_on_other_stack(access->address, variable);
	return memory_is_freed_by_another(access);
}

/* Learns about the granules and finds the point among them. Returns false if a granule has no
 * quick name. */
static bool memory_look(struct contract_memory *memory, struct memory_visit *visit,
	variable_name (*name_of)(const void *address))
{
	const struct memory_access *access = &visit->access;
	const uintptr_t start = (uintptr_t)access->address & ~(uintptr_t)(GRANULE_BYTES - 1);
	const uintptr_t end = (uintptr_t)access->address + (access->bytes ? access->bytes : 1);
	const bool is_write = site_kind_writes(access->kind);
	bool may_be_gone = memory_is_on_stack(access->address);
	object_name first = 0;

	for (uintptr_t at = start, next; at < end; at = next) {
		struct memory_known *known =
			memory_known_at(memory, at, name_of, !memory->is_frozen);

		next = at - start < RANGE_EXACT_BYTES ? at + GRANULE_BYTES
						      : memory_next_granule(start, end, at);
		if (!known)
			return false;
		may_be_gone |= (known->flags & VARIABLE_FREED) != 0;
		memory_learn_access(memory, known, at, is_write);
		if ((known->flags & (VARIABLE_POINT | VARIABLE_PLACED)) == VARIABLE_POINT &&
			!known->group && !memory->is_frozen)
			memory_look_at_allocation(memory, known, (const void *)at);
		if (access->site_state && *access->site_state & SITE_RESTED) {
			visit->is_sampled |= memory_wants(memory, access, known->flags);
		} else if (!visit->point && memory_is_wanted(memory, access, known->flags)) {
			visit->point = known->name;
			if (memory_has_lease(access)) /* the engine does not see the access */
				visit->unplaced = at;
			else
				visit->allocated_at =
					memory_allocated_at(memory, known, (const void *)at);
		}
		if (known->flags & VARIABLE_POINT) {
			if (!visit->reported && memory_mode_needs_races(memory->mode))
				visit->reported = known->name;
			memory_mark_site(memory, access);
			sampling_keep(memory, access->site_state);
			if (memory->group_count && !memory->is_frozen)
				memory_note_group(memory, known, access->site_state);
		}
		if (at == start)
			first = known->name;
		else if (at == start + GRANULE_BYTES && visit->point == first)
			visit->next = known->name;
	}
	if (__builtin_expect(may_be_gone, 0))
		visit->may_be_gone = memory_may_be_gone_at(access, first);
	return true;
}

/* Looks up what memory_look() left out, for an access that had a lease but enters the engine. */
static void memory_allocation_site_point(struct memory_visit *visit)
{
	struct contract_memory *memory = sites_memory();
	const uintptr_t at = visit->unplaced;

	visit->allocated_at = memory_allocated_at(memory,
		memory_known_at(memory, at, memory_variable_name, !memory->is_frozen),
		(const void *)at);
}

struct engine_op memory_engine_op(const struct memory_access *access, object_name name)
{
	return (struct engine_op){.kind = (uint8_t)memory_op(access->kind),
		.address = access->address,
		.site = access->site,
		.deadline_ns = ENGINE_FOREVER,
		.object = name,
		.bytes = access->bytes > UINT32_MAX ? UINT32_MAX : (uint32_t)access->bytes,
		.argument = access->expected,
		.order = access->order,
		.call = access->call,
		.order_of_failure = access->order_of_failure,
		.exchange = access->kind != SITE_COMPARE_EXCHANGE ? EXCHANGE_NONE
			    : access->knows_expected		  ? EXCHANGE_OF_EXPECTED
								  : EXCHANGE_UNKNOWN};
}

void memory_point(const struct memory_visit *visit, object_name name)
{
	const enum memory_model model = engine_memory_model();
	struct engine_op op = memory_engine_op(&visit->access, name);

	op.second = visit->allocated_at;
	op.next_object = visit->next;
	if (__builtin_expect(visit->access.waits, 0))
		memory_wait_for_value(&visit->access, &op);
	op.is_reported_later = model == MEMORY_MODEL_C11;
	(void)engine_perform(&op);
	switch (model) {
	case MEMORY_MODEL_TSO:
		engine_note_direct_access(&op);
		return;
	case MEMORY_MODEL_C11:
		c11_access(&op, true);
		if (op.is_reported_later)
			engine_note_point(&op); /* the detectors need the store that is read */
		return;
	default:
		if (memory_kind_is_atomic(visit->access.kind) &&
			visit->access.order != SITE_SEQUENTIAL)
			engine_note_feature(FEATURE_WEAK_ORDER);
		return;
	}
}

/* Handles an access that is no scheduling point. */
static void memory_pass(const struct memory_visit *visit)
{
	const struct engine_op op = memory_engine_op(&visit->access, visit->reported);

	if (engine_memory_model() == MEMORY_MODEL_C11)
		c11_access(&op, false);
	if (visit->reported || memory_kind_is_atomic(visit->access.kind))
		engine_note_access(&op);
}

/* Returns whether the memory model must see the access although it is no scheduling point. */
static bool memory_model_needs(const struct memory_access *access)
{
	switch (engine_memory_model()) {
	case MEMORY_MODEL_TSO:
		return engine_has_buffered() && site_kind_writes(access->kind);
	case MEMORY_MODEL_C11:
		return memory_kind_is_atomic(access->kind) ||
		       (site_kind_writes(access->kind) &&
			       c11_knows(access->address, access->bytes));
	default:
		return false;
	}
}

void memory_give_turn(void)
{
	turn_is_wanted = true;
	filter_suspend();
	engine_end_lease();
	quick_forget_all();
}

bool memory_turn_is_wanted(void)
{
	return turn_is_wanted;
}

bool memory_is_watched(void)
{
	return runtime.contract && engine_is_live() && !runtime.is_forked_child &&
	       !runtime.is_run_over;
}

/* Remembers the access, so that equal ones use the fast path of quick.h. */
static void memory_done(const struct memory_visit *visit)
{
	const struct memory_access *access = &visit->access;

	if (memory_kind_is_range(access->kind) && !visit->reported)
		quick_remember_range((uint64_t)(uintptr_t)access->address, access->bytes,
			memory_kind_writes_range(access->kind));
	if (access->kind <= SITE_STORE && access->bytes <= QUICK_BYTES_MOST)
		quick_remember((uint64_t)(uintptr_t)access->address,
			quick_properties(access->kind, access->order, (uint16_t)access->bytes),
			!visit->reported);
}

/* Returns whether the moving thread has already read (or written) the variable. */
static bool memory_is_learnt(const struct memory_known *known, bool is_write)
{
	return known->flags & (is_write ? VARIABLE_WRITTEN : VARIABLE_READ) &&
	       (known->flags & VARIABLE_MANY || known->thread == engine_current()->name);
}

/* quick.h handles further accesses to these granules while the lease lasts. A granule of a range
 * that is no point needs nothing more from this thread. */
static void memory_remember_points(const struct memory_access *access)
{
	const struct contract_memory *memory = sites_memory();
	const uint64_t address = (uint64_t)(uintptr_t)access->address;
	const bool is_write = site_kind_writes(access->kind);
	const uint64_t end = address + access->bytes;

	if (!memory_is_leasable(access) || access->bytes > QUICK_RANGE_MOST)
		return;
	for (uint64_t at = address; at < end; at = (at | (GRANULE_BYTES - 1)) + 1) {
		const uint64_t granule = at / GRANULE_BYTES;
		const struct memory_known *known = &memory->known[granule % MEMORY_KNOWN_MAX];

		if (known->granule != granule || known->epoch != memory->known_epoch)
			continue;
		if (memory_wants(memory, access, known->flags))
			quick_remember_point(at, quick_properties(is_write, 0, 1));
		else if (memory_kind_is_range(access->kind) && memory_is_learnt(known, is_write))
			quick_remember_range(at, 1, is_write);
	}
}

/* Spends one access of the lease. Returns true if the thread continues without a scheduling
 * point. */
static bool memory_is_leased(const struct memory_visit *visit)
{
	if (!visit->point || !visit->is_named || visit->reported ||
		!memory_has_lease(&visit->access))
		return false;
	sites_now.engine.lease--;
	memory_remember_points(&visit->access);
	return true;
}

/* Counts the access, and finds out whether the thread waits by reading. If some sites are off, the
 * thread's writes may be missed. */
static inline void memory_count(struct contract_memory *memory, struct memory_visit *visit)
{
	if (visit->point) {
		memory->visits++;
		return;
	}
	visit->would_wait = visit->access.waits && memory->mode != MEMORY_NONE &&
			    memory_would_wait(&visit->access);
	if (visit->would_wait || (!quick_watches() && memory->mode == MEMORY_LEARN))
		return;
	visit->is_waiting =
		memory->mode != MEMORY_NONE && !memory->is_partial && memory_waits(&visit->access);
	if (!visit->is_waiting)
		return;
	memory->has_waited = 1;
	quick_watch_longer();
}

bool memory_begin(struct memory_visit *visit)
{
	struct contract_memory *memory = sites_memory();
	const struct memory_access *access = &visit->access;

	visit->access.fence = ORDER_RELAXED;
	if (runtime.contract->plan.strengthened_count)
		memory_strengthen(&visit->access);
	visit->point = visit->next = visit->reported = 0;
	visit->allocated_at = 0;
	visit->unplaced = 0;
	visit->is_named = true;
	visit->is_waiting = visit->would_wait = visit->is_sampled = visit->may_be_gone = false;
	if (access->site_state && !memory->is_frozen && !(*access->site_state & SITE_SEEN)) {
		*access->site_state |= SITE_SEEN;
		memory->has_site_news = true;
	}
	if (access->kind == SITE_FENCE) {
		memory_mark_site(memory, access); /* keeps the site on */
		return memory->mode != MEMORY_NONE;
	}
	visit->is_named = memory_look(memory, visit, memory_quick_name);
	if (!access->fence && memory_is_leased(visit))
		return false;
	if (visit->is_named)
		memory_count(memory, visit);
	if (visit->point || access->fence || !visit->is_named || visit->is_waiting ||
		visit->would_wait || visit->may_be_gone || turn_is_wanted ||
		memory_model_needs(access) || memory_must_report(memory, visit) ||
		(memory_kind_is_atomic(access->kind) && runtime_looks_for_races()))
		return true;
	if (!visit->is_sampled)
		memory_done(visit);
	return false;
}

static void memory_fence_before(const struct memory_access *access)
{
	struct memory_visit fence = {
		.access = {.kind = SITE_FENCE, .order = access->fence, .site = access->site}};

	memory_finish(&fence);
}

void memory_finish(struct memory_visit *visit)
{
	if (visit->access.fence)
		memory_fence_before(&visit->access);
	if (turn_is_wanted) {
		turn_is_wanted = false;
		filter_resume();
		engine_spin_point(visit->access.site);
		runtime_test_cancel_anywhere();
	}
	if (visit->access.kind == SITE_FENCE) {
		if (engine_memory_model() != MEMORY_MODEL_SC &&
			visit->access.order != SITE_SEQUENTIAL)
			memory_pass(visit); /* only its own thread sees the fence */
		else
			memory_point(
				visit, engine_memory_model() == MEMORY_MODEL_C11 ? C11_FENCES : 0);
		return;
	}
	if (!visit->is_named) {
		visit->point = visit->next = visit->reported = 0;
		visit->unplaced = 0;
		(void)memory_look(sites_memory(), visit, memory_variable_name);
		memory_count(sites_memory(), visit);
	}
	if (!visit->point && visit->is_waiting) {
		engine_delay_current();
		if (engine_is_live())
			engine_clock_note_calls(WAITING_VISITS);
	}
	if (!visit->point && (visit->is_waiting || visit->would_wait))
		visit->point = (object_name)memory_variable_name(visit->access.address);
	if (memory_buffer_write(visit))
		return;
	if (!visit->point) {
		memory_pass(visit);
		if (visit->reported || visit->may_be_gone)
			memory_check_freed(&visit->access, OUTCOME_USE_AFTER_FREE);
		return;
	}
	if (__builtin_expect(visit->unplaced != 0, 0))
		memory_allocation_site_point(visit);
	memory_point(visit, visit->point);
	/* Another thread may have freed the memory at the scheduling point. */
	memory_check_freed(&visit->access, OUTCOME_USE_AFTER_FREE);
	spinning_note(&visit->access);
	if (sites_now.engine.lease > 0)
		memory_remember_points(&visit->access);
	runtime_test_cancel_anywhere();
}

void memory_access(const struct memory_access *access)
{
	struct memory_visit visit = {.access = *access};

	if (memory_is_watched() && memory_begin(&visit))
		memory_finish(&visit);
}
