#include "analyses/units/atomic_sets.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/files/base_name.h"
#include "base/bug.h"
#include "base/hash_table.h"
#include "base/strbuf.h"
#include "model/op.h"

struct member_entry {
	struct {
		uint64_t address;
		uint64_t block; /* symbols_block_number(): memory may be reused for another type */
	} key;
	bool is_member;
	struct atomic_member member;
	UT_hash_handle hh;
};

struct location_entry {
	struct atomic_location location;
	UT_hash_handle hh;
};

struct atomic_sets {
	struct symbols *symbols;
	const struct atomic_rules *rules;
	const struct symbols_memory *memory;
	struct atomic_kind *kinds;
	uint32_t kind_count;
	struct member_entry *members; /* members of this run */
	struct location_entry *locations;
};

struct atomic_sets *atomic_sets_new(struct symbols *symbols, const struct atomic_rules *rules)
{
	struct atomic_sets *sets = array_new(1, sizeof *sets);

	sets->symbols = symbols;
	sets->rules = rules;
	return sets;
}

static void atomic_sets_forget_members(struct atomic_sets *sets)
{
	HASH_FREE_EACH(sets->members, entry, free(entry->member.part.location));
}

void atomic_sets_free(struct atomic_sets *sets)
{

	if (!sets)
		return;
	atomic_sets_forget_members(sets);
	HASH_FREE(sets->locations);
	for (uint32_t i = 0; i < sets->kind_count; i++) {
		struct atomic_kind *kind = &sets->kinds[i];

		for (uint32_t part = 0; part < kind->part_count; part++)
			free(kind->parts[part]);
		free(kind->parts);
		free(kind->units);
		free(kind->name);
	}
	free(sets->kinds);
	free(sets);
}

static struct symbols_access atomic_sets_access_of(
	const struct trace_event *event, uint64_t address)
{
	return (struct symbols_access){.address = address,
		.bytes = address == event->address ? event->bytes : 8,
		.site = event->site,
		.step = event->step,
		.is_brief = true};
}

void atomic_sets_begin_run(struct atomic_sets *sets, const struct symbols_memory *memory,
	const struct trace_event *events, uint64_t count)
{
	atomic_sets_forget_members(sets);
	sets->memory = memory;
	for (uint64_t i = 0; i < count && sets->symbols; i++) {
		const struct symbols_access access =
			atomic_sets_access_of(&events[i], events[i].address);

		if (op_descriptions[events[i].kind].object == OBJECT_MEMORY)
			symbols_note_access(sets->symbols, memory, &access);
	}
}

static uint32_t atomic_sets_find_kind(struct atomic_sets *sets, const char *name,
	const struct atomic_rule *rule, bool is_of_objects)
{
	struct atomic_kind *kind;

	for (uint32_t i = 0; i < sets->kind_count; i++)
		if (sets->kinds[i].rule == rule && strcmp(sets->kinds[i].name, name) == 0)
			return i;
	sets->kinds = array_room(sets->kinds, sets->kind_count, sizeof *sets->kinds);
	kind = &sets->kinds[sets->kind_count];
	*kind = (struct atomic_kind){
		.name = string_copy(name), .rule = rule, .is_of_objects = is_of_objects};
	return sets->kind_count++;
}

/* Writes "entries[].key" for ".entries[1].key", after the variable's name if the variable is no
 * struct. */
static char *atomic_sets_part_name(const struct symbols_part *part)
{
	const char *start = part->type ? part->location : part->variable;
	const char *rest = part->type ? "" : part->location;
	char *name, *to;

	BUG_ON(asprintf(&name, "%s%s", start, rest) < 0);
	to = name;
	for (const char *from = *name == '.' ? name + 1 : name; *from; from++) {
		*to++ = *from;
		if (*from == '[')
			from += strcspn(from, "]") - 1;
	}
	*to = '\0';
	return name;
}

static void atomic_sets_add_part(struct atomic_kind *kind, const struct symbols_part *part)
{
	char *name = atomic_sets_part_name(part);

	for (uint32_t i = 0; i < kind->part_count; i++) {
		if (strcmp(kind->parts[i], name) != 0)
			continue;
		free(name);
		return;
	}
	ARRAY_APPEND(kind->parts, kind->part_count, name);
}

/* Assigns the member to a set. Returns false if the member belongs to none. */
static bool atomic_sets_classify(struct atomic_sets *sets, struct atomic_member *member)
{
	const struct symbols_part *part = &member->part;
	const struct atomic_rule *rule = atomic_rules_part(sets->rules, part);
	char *name = NULL;

	if (part->is_constant || (rule && rule->verb == ATOMIC_NO_SET) ||
		(!rule && part->is_of_library && !sets->rules->has_library))
		return false;
	if (rule) {
		const bool is_of_objects = atomic_rule_is_of_objects(rule) && part->type;

		member->kind = atomic_sets_find_kind(sets, rule->name, rule, is_of_objects);
		member->instance = is_of_objects ? part->start : 0;
	} else if (part->type) {
		member->kind = atomic_sets_find_kind(sets, part->type, NULL, true);
		member->instance = part->start;
	} else if (part->file) {
		BUG_ON(asprintf(&name, "static variables of %s", base_name(part->file)) < 0);
		member->kind = atomic_sets_find_kind(sets, name, NULL, false);
		member->instance = 0;
		free(name);
	} else {
		return false;
	}
	atomic_sets_add_part(&sets->kinds[member->kind], part);
	return true;
}

const struct atomic_member *atomic_sets_member(
	struct atomic_sets *sets, const struct trace_event *event, uint64_t address)
{
	const struct symbols_access access = atomic_sets_access_of(event, address);
	struct member_entry *entry, key = {.key = {.address = address}};

	if (!sets->symbols)
		return NULL;
	key.key.block = symbols_block_number(sets->symbols, sets->memory, address, event->step);
	HASH_FIND(hh, sets->members, &key.key, sizeof key.key, entry);
	if (!entry) {
		entry = array_new(1, sizeof *entry);
		entry->key = key.key;
		entry->is_member = symbols_part_at(sets->symbols, sets->memory, &access,
					   &entry->member.part) &&
				   atomic_sets_classify(sets, &entry->member);
		if (entry->member.instance && !entry->member.part.is_lasting)
			entry->member.block = key.key.block;
		HASH_ADD(hh, sets->members, key, sizeof entry->key, entry);
	}
	return entry->is_member ? &entry->member : NULL;
}

uint32_t atomic_sets_count(const struct atomic_sets *sets)
{
	return sets->kind_count;
}

const struct atomic_kind *atomic_sets_kind(const struct atomic_sets *sets, uint32_t kind)
{
	return &sets->kinds[kind];
}

const struct atomic_location *atomic_sets_location(struct atomic_sets *sets, uint64_t address)
{
	struct symbols_routine routines[ATOMIC_INLINED_MAX];
	struct location_entry *entry;

	HASH_FIND(hh, sets->locations, &address, sizeof address, entry);
	if (entry)
		return &entry->location;
	entry = array_new(1, sizeof *entry);
	entry->location.address = address;
	if (sets->symbols && address)
		entry->location.count =
			symbols_routines_at(sets->symbols, address, routines, ATOMIC_INLINED_MAX);
	for (uint32_t i = 0; i < entry->location.count; i++)
		entry->location.routines[i] = (struct atomic_routine){.routine = routines[i],
			.verdict = atomic_rules_unit(sets->rules, routines[i].name)};
	HASH_ADD(hh, sets->locations, location.address, sizeof address, entry);
	return &entry->location;
}

static bool atomic_sets_shares_struct(
	const struct symbols_part *part, const struct symbols_routine *routine)
{
	for (uint32_t i = 0; i < part->type_count; i++)
		for (uint32_t j = 0; j < routine->type_count; j++)
			if (strcmp(part->types[i], routine->types[j]) == 0)
				return true;
	return false;
}

static bool atomic_sets_is_own_unit(
	const struct atomic_routine *routine, const struct symbols_part *part)
{
	if (!routine || routine->verdict != ATOMIC_UNSAID)
		return routine && routine->verdict == ATOMIC_YES;
	return !routine->routine.is_system && atomic_sets_shares_struct(part, &routine->routine);
}

static bool atomic_sets_is_file_unit(
	const struct atomic_call *call, const struct symbols_part *part)
{
	const struct atomic_routine *routine = call->routine;

	return routine && routine->verdict == ATOMIC_UNSAID && !call->is_first &&
	       !routine->routine.is_system && part->file && routine->routine.file &&
	       strcmp(routine->routine.file, part->file) == 0;
}

static void atomic_sets_note_unit(struct atomic_kind *kind, const char *name)
{
	for (uint32_t i = 0; i < kind->unit_count; i++)
		if (strcmp(kind->units[i], name) == 0)
			return;
	ARRAY_APPEND(kind->units, kind->unit_count, name);
}

static uint32_t atomic_sets_find_owner(
	const struct symbols_part *part, const struct atomic_call *stack, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++)
		if (atomic_sets_is_own_unit(stack[i].routine, part))
			return i;
	for (uint32_t i = 0; i < count; i++)
		if (atomic_sets_is_file_unit(&stack[i], part))
			return i;
	for (uint32_t i = count; i--;)
		if (stack[i].routine && !stack[i].routine->routine.is_system &&
			stack[i].routine->verdict != ATOMIC_NO)
			return i;
	return count;
}

uint32_t atomic_sets_owner(struct atomic_sets *sets, const struct atomic_member *member,
	const struct atomic_call *stack, uint32_t count)
{
	const uint32_t owner = atomic_sets_find_owner(&member->part, stack, count);

	if (owner < count)
		atomic_sets_note_unit(
			&sets->kinds[member->kind], stack[owner].routine->routine.name);
	return owner;
}
