/*
 * Accesses to memory: which of them are scheduling points, and what is learnt of them. The knowledge
 * lies in the contract, so it outlives rewinds, forks and processes; see contract_memory.h.
 *
 * The first part of the way of an access, up to whether it is a point, is compiled to use general
 * registers only (CMakeLists.txt), together with all that it calls: see site_thunk.S.
 */
#include "runtime/memory.h"

#include <string.h>

#include "detectors/detector.h"
#include "base/hash.h"
#include "runtime/contexts.h"
#include "runtime/guarded_read.h"
#include "runtime/heap.h"
#include "runtime/interpose.h"
#include "runtime/runtime.h"
#include "runtime/sites.h"
#include "runtime/spinning.h"

/* Eights of bytes of a range that are looked at one by one; of longer ones only the beginning. */
#define RANGE_GRANULES_MOST 512
#define GRANULE_BYTES 8

/* ---- variables ---- */

/* The variable's entry; NULL: it is not there, and `add` is not set or there is no room. */
static struct memory_variable *memory_variable(
	struct contract_memory *memory, variable_name name, bool add)
{
	uint32_t slot = memory_variable_slot(name);

	while (memory->variables[slot].name) {
		if (memory->variables[slot].name == name)
			return &memory->variables[slot];
		slot = (slot + 1) % MEMORY_VARIABLES_MAX;
	}
	if (!add)
		return NULL;
	/* Three quarters: searches stay short, and a free slot always ends them. */
	if (memory->variable_count >= MEMORY_VARIABLES_MAX / 4 * 3) {
		memory->variables_lost++;
		return NULL;
	}
	memory->variable_count++;
	memory->variables[slot].name = name;
	return &memory->variables[slot];
}

/* ---- variables by address ---- */

static struct memory_place *memory_place(struct contract_memory *memory, uint64_t granule)
{
	return &memory->places[granule % MEMORY_PLACES_MAX];
}

void memory_next_epoch(struct contract_memory *memory)
{
	if (!++memory->places_epoch)
		memory->places_epoch = 1;
}

/* Of more, all places are forgotten. */
#define RENAMED_BYTES_MOST ((size_t)16384)

void memory_renamed(uintptr_t start, size_t bytes)
{
	struct contract_memory *memory = sites_memory();
	const uint64_t first = start / GRANULE_BYTES;
	const uint64_t end = (start + bytes + GRANULE_BYTES - 1) / GRANULE_BYTES;

	if (!memory)
		return;
	if (bytes > RENAMED_BYTES_MOST) {
		memory_next_epoch(memory);
		return;
	}
	for (uint64_t granule = first; granule < end; granule++)
		if (memory_place(memory, granule)->granule == granule)
			memory_place(memory, granule)->epoch = 0;
}

/*
 * The variable at an address, with its name; NULL: it is not in the table. *name is 0 where name_of() does
 * not know it, and not made where the variable is known to be absent and only its absence counts.
 */
static struct memory_variable *memory_variable_at(struct contract_memory *memory, uintptr_t at,
	variable_name (*name_of)(const void *address), variable_name *name)
{
	const uint64_t granule = at / GRANULE_BYTES;
	struct memory_place *place = memory_place(memory, granule);
	struct memory_variable *variable;
	bool is_lasting;

	if (place->granule == granule && place->epoch == memory->places_epoch) {
		variable =
			place->slot == MEMORY_NO_VARIABLE ? NULL : &memory->variables[place->slot];
		*name = variable ? variable->name : 1;
		return variable;
	}
	*name = memory_lasting_name((const void *)at);
	is_lasting = *name != 0;
	if (!is_lasting)
		*name = name_of((const void *)at);
	if (!*name)
		return NULL;
	variable = memory_variable(memory, *name, !memory->is_frozen);
	if (is_lasting && (variable || memory->mode != MEMORY_ALL))
		*place = (struct memory_place){granule, memory->places_epoch,
			variable ? (uint32_t)(variable - memory->variables) : MEMORY_NO_VARIABLE};
	return variable;
}

static void memory_learn(
	struct contract_memory *memory, struct memory_variable *variable, bool is_write)
{
	const thread_name self = engine_current()->name;
	const uint32_t before = variable->flags;

	if (!variable->thread)
		variable->thread = self;
	variable->flags |= is_write ? VARIABLE_WRITTEN : VARIABLE_READ;
	if (variable->thread != self)
		variable->flags |= VARIABLE_MANY;
	if (memory_flags_shared(before) || !memory_flags_shared(variable->flags))
		return;
	if (memory->newly_shared < MEMORY_NEWLY_SHARED_MAX)
		memory->newly_shared_slots[memory->newly_shared] =
			(uint32_t)(variable - memory->variables);
	memory->newly_shared++;
}

/* ---- an access ---- */

static bool memory_is_write(uint8_t kind)
{
	switch (kind) {
	case SITE_LOAD:
	case SITE_ATOMIC_LOAD:
	case SITE_RANGE_READ:
	case SITE_STRING_READ:
		return false;
	default:
		return true;
	}
}

static enum op_kind memory_op(uint8_t kind)
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
		return memory_is_write(kind) ? OP_STORE : OP_LOAD;
	}
}

static bool memory_wants(const struct contract_memory *memory, const struct memory_access *access,
	const struct memory_variable *variable)
{
	switch ((enum memory_mode)memory->mode) {
	case MEMORY_ALL:
		return true;
	case MEMORY_NONE:
		return false;
	case MEMORY_CHOSEN:
		return access->site_state && *access->site_state & SITE_CHOSEN && variable &&
		       variable->flags & (VARIABLE_CHOSEN | VARIABLE_POINT);
	default:
		return variable && variable->flags & VARIABLE_POINT;
	}
}

/* An access on its way to the point. */
struct memory_visit {
	struct memory_access access;
	uint16_t allocated_at; /* of the point's variable */
	object_name point;     /* name of its first part that is a point, 0: none is */
	object_name next; /* if the first part is the point: of the second, where there is one */
	bool is_named;	  /* the names of all its parts are known */
	bool is_waiting;  /* a point all the same: see memory_waits() */
};

/* Looked up once per variable: 1 is the number of no site. */
#define NOT_ON_HEAP 1

static uint16_t memory_allocated_at(struct memory_variable *variable, const void *address)
{
	struct heap_block block;

	if (!variable->allocated_at && heap_find_any(address, &block)) {
		variable->allocated_at = (uint16_t)(hash_mix(block.site) | 3);
		variable->block_name = block.name;
		variable->loop = (uint16_t)block.loop;
	} else if (!variable->allocated_at) {
		variable->allocated_at = NOT_ON_HEAP;
	}
	return variable->allocated_at == NOT_ON_HEAP ? 0 : variable->allocated_at;
}

bool memory_place(object_name object, struct object_place *out)
{
	const struct memory_variable *variable = NULL;

	if (runtime.contract && runtime.contract->memory_bytes)
		variable = memory_variable(
			contract_area(runtime.contract, runtime.contract->memory_offset), object,
			false);
	if (!variable || variable->allocated_at <= NOT_ON_HEAP)
		return false;
	*out = (struct object_place){variable->block_name, variable->loop};
	return true;
}

/* Learns of every part of the access, and finds its point. False: a part has no quick name. */
static bool memory_look(struct contract_memory *memory, struct memory_visit *visit,
	variable_name (*name_of)(const void *address))
{
	const struct memory_access *access = &visit->access;
	const uintptr_t start = (uintptr_t)access->address & ~(uintptr_t)(GRANULE_BYTES - 1);
	const uintptr_t end = (uintptr_t)access->address + (access->bytes ? access->bytes : 1);
	const bool is_write = memory_is_write(access->kind);
	object_name first = 0;

	for (uintptr_t at = start; at < end; at += GRANULE_BYTES) {
		variable_name name;
		struct memory_variable *variable = memory_variable_at(memory, at, name_of, &name);

		if (!name)
			return false;
		/* Of those that are points there is nothing more to learn. */
		if (variable && !memory->is_frozen && !(variable->flags & VARIABLE_POINT))
			memory_learn(memory, variable, is_write);
		if (!visit->point && memory_wants(memory, access, variable)) {
			visit->point = (object_name)name;
			visit->allocated_at =
				variable ? memory_allocated_at(variable, (const void *)at) : 0;
		}
		if (variable && variable->flags & VARIABLE_POINT && access->site_state &&
			!(*access->site_state & SITE_SHARED) && !memory->is_frozen)
			*access->site_state |= SITE_SHARED;
		if (at == start)
			first = name;
		else if (at == start + GRANULE_BYTES && visit->point == first)
			visit->next = name;
		if (at - start >= RANGE_GRANULES_MOST * GRANULE_BYTES)
			break;
	}
	return true;
}

static struct engine_op memory_engine_op(const struct memory_access *access, object_name name)
{
	return (struct engine_op){.kind = (uint8_t)memory_op(access->kind),
		.address = access->address,
		.site = access->site,
		.deadline_ns = ENGINE_FOREVER,
		.object = name,
		.bytes = access->bytes > UINT32_MAX ? UINT32_MAX : (uint32_t)access->bytes,
		.argument = access->kind == SITE_COMPARE_EXCHANGE ? access->expected : 0,
		.order = access->order,
		.order_of_failure = access->order_of_failure,
		.exchange = access->kind != SITE_COMPARE_EXCHANGE ? EXCHANGE_NONE
			    : access->knows_expected		  ? EXCHANGE_OF_EXPECTED
								  : EXCHANGE_UNKNOWN};
}

static void memory_point(const struct memory_visit *visit, object_name name)
{
	struct engine_op op = memory_engine_op(&visit->access, name);

	op.second = visit->allocated_at;
	op.next_object = visit->next;
	(void)engine_perform(&op); /* always WAIT_DONE */
}

/* An access that is no scheduling point. */
static void memory_pass(const struct memory_access *access)
{
	const struct engine_op op = memory_engine_op(access, 0);

	if (memory_kind_is_atomic(access->kind))
		engine_note_access(&op);
}

/*
 * A thread may wait in a loop for a variable that is not yet known to be shared: no access of it is a
 * point then. So a read is one, too, when it has come again and again at the same place and address with
 * no point and no write in between. Loops that wait pass few other reads; what adds up an array does not
 * come back. Restored with the run, so that it is the same in each.
 */
#define WAITING_VISITS 1000
#define WAITING_READS_BETWEEN 64

static struct {
	uint64_t step; /* at the last visit */
	uint64_t site;
	const void *address;
	uint32_t visits;
	uint32_t reads_between;
} waiting;

static bool memory_waits(const struct memory_access *access)
{
	const bool is_anchor = access->site == waiting.site && access->address == waiting.address;

	if (access->kind == SITE_STORE || access->kind == SITE_ATOMIC_STORE) {
		waiting.visits = 0;
		return false;
	}
	if (is_anchor && engine_step() == waiting.step) {
		waiting.reads_between = 0;
		if (++waiting.visits < WAITING_VISITS)
			return false;
		waiting.visits = 0;
		return true;
	}
	if (engine_step() == waiting.step && ++waiting.reads_between < WAITING_READS_BETWEEN)
		return false;
	waiting.step = engine_step();
	waiting.site = access->site;
	waiting.address = access->address;
	waiting.visits = waiting.reads_between = 0;
	return false;
}

/* Set by memory_give_turn() in a signal handler. */
static volatile bool turn_is_wanted;

void memory_give_turn(void)
{
	turn_is_wanted = true;
}

static bool memory_is_watched(void)
{
	return runtime.contract && engine_is_live() && !runtime.is_forked_child &&
	       engine_is_in_control() && !runtime.is_run_over;
}

/*
 * First part of the visit: general registers only, and nothing that leaves this file but for names.
 * False: that was all.
 */
static bool memory_begin(struct memory_visit *visit)
{
	struct contract_memory *memory = sites_memory();
	const struct memory_access *access = &visit->access;

	visit->point = visit->next = 0;
	visit->allocated_at = 0;
	visit->is_named = true;
	visit->is_waiting = false;
	if (access->site_state && !memory->is_frozen && !(*access->site_state & SITE_SEEN)) {
		*access->site_state |= SITE_SEEN;
		memory->has_changed = true;
	}
	if (access->kind == SITE_FENCE) {
		if (access->site_state && !memory->is_frozen)
			*access->site_state |= SITE_SHARED; /* stays on */
		return memory->mode != MEMORY_NONE;
	}
	visit->is_named = memory_look(memory, visit, memory_quick_name);
	if (!visit->point && memory->mode != MEMORY_NONE)
		visit->is_waiting = memory_waits(access);
	return visit->point || !visit->is_named || visit->is_waiting || turn_is_wanted ||
	       (memory_kind_is_atomic(access->kind) &&
		       runtime.contract->plan.detectors >> DETECTOR_race & 1);
}

static void memory_finish(struct memory_visit *visit)
{
	if (turn_is_wanted) {
		turn_is_wanted = false;
		engine_spin_point(visit->access.site);
	}
	if (visit->access.kind == SITE_FENCE) {
		memory_point(visit, 0);
		return;
	}
	if (!visit->is_named) {
		visit->point = visit->next = 0;
		(void)memory_look(sites_memory(), visit, memory_variable_name);
	}
	if (!visit->point && visit->is_waiting) {
		engine_give_way();
		visit->point = (object_name)memory_variable_name(visit->access.address);
	}
	if (!visit->point) {
		memory_pass(&visit->access);
		return;
	}
	memory_point(visit, visit->point);
	spinning_note(&visit->access);
}

void memory_access(const struct memory_access *access)
{
	struct memory_visit visit = {.access = *access};

	if (memory_is_watched() && memory_begin(&visit))
		memory_finish(&visit);
}

/* As of ranges, only the beginning is looked at. */
#define FREED_BYTES_MOST 4096

/* Variables that nobody has accessed are not made for this. */
static bool memory_free_variable(struct contract_memory *memory, uintptr_t at)
{
	struct memory_variable *variable =
		memory_variable(memory, memory_variable_name((const void *)at), false);

	if (!variable)
		return false;
	if (!memory->is_frozen)
		memory_learn(memory, variable, true);
	return variable->flags & VARIABLE_POINT;
}

void memory_freed(const void *start, uint64_t site)
{
	struct memory_access access = {.address = start, .site = site, .kind = SITE_STORE};
	bool is_shared = false;
	struct engine_op op;
	struct heap_block block;

	if (!memory_is_watched() || !(runtime.contract->plan.detectors >> DETECTOR_race & 1) ||
		!heap_find(start, &block) || block.start != (uintptr_t)start)
		return;
	access.bytes = block.bytes < FREED_BYTES_MOST ? block.bytes : FREED_BYTES_MOST;
	for (size_t done = 0; done < access.bytes; done += GRANULE_BYTES)
		is_shared |= memory_free_variable(sites_memory(), block.start + done);
	if (!is_shared)
		return;
	op = memory_engine_op(&access, 0);
	engine_note_access(&op);
}

/* ---- from the thunk ---- */

/* From site_reached() to site_perform(); nothing of the target moves in between. */
static struct memory_visit site_visit;

/* Where the access begins, of those to the end of a string. */
static void memory_append(struct memory_access *access, const struct site_record *record)
{
	size_t bytes;

	if (record->bytes != SITE_APPENDS)
		return;
	bytes = guarded_string_bytes(access->address, SIZE_MAX);
	access->address = (const char *)access->address + (bytes ? bytes - 1 : 0);
}

bool site_reached(
	const void *address, size_t length, const struct site_record *record, uintptr_t frame)
{
	struct memory_access *access = &site_visit.access;

	if (!memory_is_watched())
		return false;
	contexts_note(record, frame);
	if (record->kind >= SITE_FUNCTION_ENTRY)
		return false;
	access->address = address;
	access->bytes = record->bytes;
	access->site = (uint64_t)(uintptr_t)&record->point + (uint64_t)(int64_t)record->point;
	access->kind = record->kind;
	access->order = (uint8_t)site_record_order(record);
	access->site_state = site_state(record);
	switch (record->kind) {
	case SITE_RANGE_READ:
	case SITE_RANGE_WRITE:
		access->bytes = length;
		if (!length)
			return false;
		memory_append(access, record);
		break;
	case SITE_STRING_READ:
		access->bytes = guarded_string_bytes(address, length);
		break;
	case SITE_STRING_WRITE:
		/* Calls that gave nothing return no string. */
		if (!length)
			return false;
		access->bytes = guarded_string_bytes((const char *)length, SIZE_MAX);
		memory_append(access, record);
		break;
	case SITE_COMPARE_EXCHANGE:
		access->order_of_failure = (uint8_t)site_record_order_of_failure(record);
		access->knows_expected = record->order & SITE_EXPECTED;
		access->expected = length;
		break;
	default:
		break;
	}
	return memory_begin(&site_visit);
}

uint64_t memory_last_site(void)
{
	return site_visit.access.site;
}

void site_perform(void)
{
	struct memory_visit visit = site_visit;

	memory_finish(&visit);
}
