#include "runtime/focus.h"

#include <errno.h>
#include <string.h>

#include "base/hash.h"
#include "base/hot_state.h"
#include "model/op.h"
#include "runtime/interpose.h"
#include "runtime/main_locals.h"
#include "runtime/memory.h"
#include "runtime/memory_variable.h"
#include "runtime/runtime.h"
#include "runtime/sites.h"

/* Set when a run begins; restored with the run. */
static HOT_STATE bool focus_is_on;

/* Returns whether focus can be used. It is off when threads spin under a strategy that re-executes
 * prefixes. The time for which a spinning thread is held back depends on the number of points: the
 * strategy would not reach the same state. */
static bool focus_is_possible(const struct contract_memory *memory, const struct strategy *strategy)
{
	return memory->mode == MEMORY_LEARN && strategy->fast_path.focus && !memory->was_profile &&
	       runtime.contract->plan.memory_model == MEMORY_MODEL_SC &&
	       (!memory->has_waited || !strategy->search.is_exhausted) &&
	       !runtime.contract->spin.is_needed;
}

struct focus_groups {
	uint32_t count;
	uint16_t groups[MEMORY_FOCUS_MAX];
};

static bool focus_add_group(struct focus_groups *focus, uint16_t group)
{
	uint32_t at = 0;

	while (at < focus->count && focus->groups[at] != group)
		at++;
	if (at == MEMORY_FOCUS_MAX)
		return false;
	if (at == focus->count)
		focus->groups[focus->count++] = group;
	return true;
}

/* Adds the group for this granule of the object. Returns false if unknown, or the set is full. */
static bool focus_add_part(const struct contract_memory *memory, const struct memory_object *object,
	uint64_t distance, struct focus_groups *focus)
{
	const uint64_t number = distance / GRANULE_BYTES % object->period;
	const uint16_t group = memory->patterns[object->pattern + number];

	return group && focus_add_group(focus, group - 1u);
}

static bool focus_add_local(
	const struct contract_memory *memory, uintptr_t address, struct focus_groups *focus)
{
	const struct memory_object *local;
	uint32_t count = 0;

	while ((local = main_locals_at(memory, address, count))) {
		if (!focus_add_part(memory, local, 0, focus))
			return false;
		count++;
	}
	return count != 0;
}

static bool focus_add_static(
	const struct contract_memory *memory, uintptr_t address, struct focus_groups *focus)
{
	bool has_any = false;

	for (uint32_t i = 0; i < memory->object_count; i++) {
		const struct memory_object *object = &memory->objects[i];
		const uint64_t distance =
			address - memory->modules[object->module].records - (uint64_t)object->start;

		if (distance >= object->bytes)
			continue;
		if (!focus_add_part(memory, object, distance, focus))
			return false;
		has_any = true;
	}
	return has_any;
}

/* Adds the groups for a variable with a known address. */
static bool focus_add_placed(const struct contract_memory *memory,
	const struct memory_variable *variable, struct focus_groups *focus)
{
	const struct focus_groups before = *focus;
	const uintptr_t address = (uintptr_t)memory_static_address(variable);

	if (address &&
		(variable->loop == MEMORY_OF_MAIN ? focus_add_local(memory, address, focus)
						  : focus_add_static(memory, address, focus)))
		return true;
	*focus = before;
	return false;
}

static bool focus_add(const struct contract_memory *memory, const struct memory_variable *variable,
	struct focus_groups *focus)
{
	const uint32_t known = variable->via_known;

	if (focus_add_placed(memory, variable, focus))
		return true;
	if (!known || !variable->via[0] || variable->via[0] == MEMORY_VIA_UNKNOWN)
		return false;
	for (uint32_t i = 0; i < known && variable->via[i]; i++)
		if (!focus_add_group(focus, variable->via[i] - 1u))
			return false;
	return true;
}

/* Collects the groups of all variables of one allocation site; empty: unknown, or no room. Skips
 * variables that this version made points, whose groups a later version knows. Most of them are
 * groups of the allocation site's other variables. */
static void focus_gather_allocation(
	struct contract_memory *memory, uint16_t allocation_site, struct focus_groups *out)
{
	out->count = 0;
	for (uint32_t i = 0; i < memory->variable_count; i++) {
		const struct memory_variable *variable = memory_entry(memory, i);

		if (variable->allocated_at != allocation_site ||
			!(variable->flags & VARIABLE_POINT) || !variable->via_known)
			continue;
		if (!focus_add(memory, variable, out)) {
			out->count = 0;
			return;
		}
	}
}

/* The result is cached: it is constant for a version, and the search is slow. */
static const struct memory_allocation_groups *focus_allocation(
	struct contract_memory *memory, uint16_t allocation_site)
{
	struct memory_allocation_groups *known =
		&memory->allocation_sites[allocation_site % MEMORY_ALLOCATIONS_MAX];
	struct focus_groups found;

	if (known->version == memory->version + 1 && known->allocation_site == allocation_site)
		return known;
	focus_gather_allocation(memory, allocation_site, &found);
	*known = (struct memory_allocation_groups){.version = memory->version + 1,
		.allocation_site = allocation_site,
		.count = (uint16_t)found.count};
	memcpy(known->groups, found.groups, found.count * sizeof *found.groups);
	return known;
}

/* Makes the allocation site's variables points. Returns false if the groups are unknown, or there is no
 * room. */
static bool focus_on_allocation(
	struct contract_memory *memory, uint16_t allocation_site, struct focus_groups *focus)
{
	const struct memory_allocation_groups *known;

	if (memory->focused_allocation_count == MEMORY_FOCUS_MAX)
		return false;
	known = focus_allocation(memory, allocation_site);
	for (uint32_t i = 0; i < known->count; i++)
		if (!focus_add_group(focus, known->groups[i]))
			return false;
	memory->focused_allocations[memory->focused_allocation_count++] = allocation_site;
	return known->count != 0;
}

static void focus_forget(struct contract_memory *memory)
{
	for (uint32_t i = 0; i < memory->focused_count; i++)
		memory->variables[memory->focused[i]].flags &= (uint16_t)~VARIABLE_FOCUSED;
	memory->focused_count = memory->focused_allocation_count = 0;
}

/* Makes variables of that name points. Returns false if there is no room. */
static bool focus_on(struct contract_memory *memory, object_name object)
{
	uint32_t slot = memory_variable_slot(object);

	for (; memory->variables[slot].name; slot = (slot + 1) % MEMORY_VARIABLES_MAX) {
		if (!memory_has_object(&memory->variables[slot], object))
			continue;
		if (memory->focused_count == MEMORY_FOCUS_MAX)
			return false;
		memory->variables[slot].flags |= VARIABLE_FOCUSED;
		memory->focused[memory->focused_count++] = slot;
	}
	return true;
}

/* Collects the groups of the strategy's objects. Returns false if an object is unknown. */
static bool focus_find(struct contract_memory *memory, const object_name *objects, uint32_t count,
	struct focus_groups *focus)
{
	for (uint32_t i = 0; i < count; i++) {
		const struct memory_variable *variable;

		if (objects[i] <= OP_ALLOCATION_SITE_MOST) {
			if (!focus_on_allocation(memory, (uint16_t)objects[i], focus))
				return false;
			continue;
		}
		variable = memory_variable_of(memory, objects[i]);
		/* An object that is not memory has no sites. */
		if (variable &&
			(!focus_add(memory, variable, focus) || !focus_on(memory, objects[i])))
			return false;
	}
	return true;
}

/* Returns a hash of the variables that alone are points; 0: there may be other points. */
static uint64_t focus_points(const struct contract_memory *memory)
{
	uint64_t points = 1;

	if (!memory->is_filtered)
		return 0;
	for (uint32_t i = 0; i < memory->focused_count; i++)
		points = hash_pair(points, memory->focused[i]);
	for (uint32_t i = 0; i < memory->focused_allocation_count; i++)
		points = hash_pair(points, UINT64_C(1) << 32 | memory->focused_allocations[i]);
	return points;
}

bool focus_prepare_run(uint64_t number)
{
	struct contract *contract = runtime.contract;
	struct contract_memory *memory = sites_memory();
	const struct strategy *strategy = strategies[contract->plan.strategy];
	void *state = contract_area(contract, contract->strategy_offset);
	object_name objects[MEMORY_FOCUS_MAX];
	struct focus_groups focus = {0};
	uint64_t points;
	uint32_t count;
	bool is_renewed, is_partial = false;

	if (!memory || !memory->group_count || memory->is_frozen)
		return false;
	is_renewed = runtime_renew_strategy();
	runtime_begin_position(number);
	count = focus_is_possible(memory, strategy)
			? strategy->fast_path.focus(
				  state, runtime_seed(number), objects, MEMORY_FOCUS_MAX)
			: 0;
	points = focus_points(memory);
	focus_forget(memory);
	if (count)
		is_partial = focus_find(memory, objects, count, &focus);
	if (!is_partial)
		focus.count = 0;
	/* Spinning must be seen at any variable. */
	memory->is_filtered = is_partial && !memory_has_waited(memory);
	memory_next_epoch(memory); /* drops flags that are cached by address */
	if (is_partial == memory->is_partial && focus.count == memory->focus_count &&
		memcmp(focus.groups, memory->focus, focus.count * sizeof *focus.groups) == 0)
		return is_renewed || points != focus_points(memory);
	memory->is_partial = is_partial;
	memory->focus_count = focus.count;
	memcpy(memory->focus, focus.groups, sizeof focus.groups);
	memory_choose_sites(memory, memory->was_profile);
	memory->must_switch = true;
	return true;
}

void focus_begin_run(void)
{
	const struct contract_memory *memory = sites_memory();

	focus_is_on = memory && memory->is_partial;
	if (!runtime.contract->has_memory_sites &&
		runtime.interruption_points == INTERRUPTION_POINTS_ALL)
		focus_is_on = true;
}

void focus_left(const char *unused)
{
	int error;

	(void)unused;
	if (__builtin_expect(!focus_is_on, 1) || !engine_has_woken() || !engine_is_live() ||
		runtime.is_forked_child || runtime.is_run_over)
		return;
	error = errno;
	engine_point(OP_AFTER_ENABLE, NULL, engine_current()->last_site);
	errno = error;
}
