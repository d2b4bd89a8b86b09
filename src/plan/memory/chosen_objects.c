/*
 * Determines which groups of sites may touch static data, found by symbol, and the locals of main,
 * found by their site.
 *
 * The unit is eight bytes, one variable of a run. Names that end in a number (".3") count as equal
 * to the name without it, because compilers and linkers number equal names.
 */
#include <stdlib.h>
#include <string.h>

#include "base/bitset.h"
#include "base/array.h"
#include "plan/memory/chosen_internal.h"
#include "symbols/tables/data_symbols.h"

#define GRANULE 8
/* Larger objects, and objects with a larger period, have one pattern for all bytes. */
#define PERIOD_MOST 4096
/* The first pattern means: groups unknown. */
#define PATTERN_UNKNOWN 0

struct placing {
	const struct chosen_grouping *grouping;
	struct contract_memory *memory;
	/* next free group number; groups after grouping->count have no sites */
	uint32_t group_end;
	uint32_t pattern_count; /* number of patterns in use */
	bool is_full;
};

/* The objects that one name may denote, and their alignment. */
struct meant {
	const struct points_to_object **objects;
	uint32_t count;
	unsigned misplaced; /* offset of the object's start from its eight-byte unit */
};

static size_t chosen_objects_plain_length(const char *name)
{
	const size_t length = strlen(name);
	size_t end = length;

	while (end && name[end - 1] >= '0' && name[end - 1] <= '9')
		end--;
	return end > 1 && end < length && name[end - 1] == '.' ? end - 1 : length;
}

static bool chosen_objects_is_one_name(const char *a, const char *b)
{
	const size_t length = chosen_objects_plain_length(a);

	return length == chosen_objects_plain_length(b) && memcmp(a, b, length) == 0;
}

/* Returns the number + 1 of a group that conflicts with these groups. 0: an empty set, or no
 * room. */
static uint16_t chosen_objects_group_of(struct placing *placing, const uint64_t *touching)
{
	const uint32_t count = placing->grouping->count;
	struct contract_memory *memory = placing->memory;
	uint64_t overlapping[CHOSEN_GROUP_WORDS] = {0};
	bool has_any = false;

	bitset_each (group, touching, count) {
		bitset_add(overlapping, placing->grouping->number[group]);
		has_any = true;
	}
	if (!has_any)
		return 0;
	for (uint32_t group = count; group < placing->group_end; group++)
		if (memcmp(memory->overlaps[group], overlapping, sizeof overlapping) == 0)
			return (uint16_t)(group + 1);
	if (placing->group_end == MEMORY_GROUPS_MAX)
		return 0;
	memcpy(memory->overlaps[placing->group_end], overlapping, sizeof overlapping);
	return (uint16_t)++placing->group_end;
}

/*
 * Returns whether the variable may lie in the eight bytes at offset `at`, perhaps negative, of its
 * object.
 */
static bool chosen_objects_lies_in_granule(
	const struct points_to_variable *variable, int64_t stride, int64_t at)
{
	for (int64_t byte = at; byte < at + GRANULE; byte++) {
		int64_t offset = byte - variable->distance;

		if (stride)
			offset = (offset % stride + stride) % stride;
		if (offset >= 0 && (uint64_t)offset < variable->bytes)
			return true;
	}
	return false;
}

/* Gathers the groups that may touch unit `number` of the object, or any unit if `is_all`. */
static void chosen_objects_gather(const struct placing *placing, const struct meant *meant,
	uint64_t number, bool is_all, uint64_t *touching)
{
	const int64_t at = (int64_t)(number * GRANULE) - (int64_t)meant->misplaced;

	memset(touching, 0, CHOSEN_GROUP_WORDS * sizeof *touching);
	for (uint32_t i = 0; i < meant->count; i++) {
		const struct points_to_object *object = meant->objects[i];

		for (uint32_t j = 0; j < object->variable_count; j++) {
			const uint32_t variable = object->first_variable + j;

			if (!is_all && !chosen_objects_lies_in_granule(
					       &placing->grouping->result->variables[variable],
					       object->stride, at))
				continue;
			for (uint32_t word = 0; word < CHOSEN_GROUP_WORDS; word++)
				touching[word] |=
					chosen_touching(placing->grouping, variable)[word];
		}
	}
}

static uint64_t chosen_objects_period_of(const struct meant *meant, uint64_t granules)
{
	int64_t stride = meant->objects[0]->stride;

	if (meant->count != 1 || !stride)
		return granules;
	/* The stride, times eight, becomes the least common multiple. */
	while (stride % 2 == 0 && stride * GRANULE > meant->objects[0]->stride)
		stride /= 2;
	return (uint64_t)stride < granules ? (uint64_t)stride : granules;
}

/* Writes the pattern of an object; with `is_whole`, one entry for all units. Returns false if there
 * is no room. */
static bool chosen_objects_write_pattern(struct placing *placing, const struct meant *meant,
	bool is_whole, struct memory_object *out)
{
	struct contract_memory *memory = placing->memory;
	uint64_t touching[CHOSEN_GROUP_WORDS];
	uint64_t period = chosen_objects_period_of(meant, out->bytes / GRANULE);
	const bool is_all = is_whole || period > PERIOD_MOST;

	if (is_all)
		period = 1;
	if (period > MEMORY_PATTERNS_MAX - placing->pattern_count)
		return false;
	out->pattern = placing->pattern_count;
	out->period = (uint32_t)period;
	for (uint64_t i = 0; i < period; i++) {
		chosen_objects_gather(placing, meant, i, is_all, touching);
		memory->patterns[placing->pattern_count++] =
			chosen_objects_group_of(placing, touching);
	}
	return true;
}

static void chosen_objects_find_meant(
	const struct placing *placing, const char *name, struct meant *out)
{
	const struct points_to *result = placing->grouping->result;

	out->count = 0;
	for (uint32_t i = 0; i < result->object_count; i++)
		if (result->objects[i].symbol &&
			chosen_objects_is_one_name(result->objects[i].symbol, name))
			out->objects[out->count++] = &result->objects[i];
}

static int64_t chosen_objects_first_granule(const struct data_symbol *symbol)
{
	return symbol->start - (int64_t)symbol->misplaced;
}

static int64_t chosen_objects_end_granule(const struct data_symbol *symbol)
{
	return chosen_objects_first_granule(symbol) +
	       (int64_t)((symbol->misplaced + symbol->bytes + GRANULE - 1) / GRANULE * GRANULE);
}

/* Writes the groups that may touch a symbol. `meant` NULL: these groups are unknown. */
static void chosen_objects_write_symbol(struct placing *placing, uint32_t module,
	const struct data_symbol *symbol, struct meant *meant)
{
	struct contract_memory *memory = placing->memory;
	struct memory_object *object = &memory->objects[memory->object_count];

	if (memory->object_count == MEMORY_OBJECTS_MAX) {
		placing->is_full = true;
		return;
	}
	*object = (struct memory_object){.start = chosen_objects_first_granule(symbol),
		.bytes = (uint64_t)(chosen_objects_end_granule(symbol) -
				    chosen_objects_first_granule(symbol)),
		.module = module,
		.pattern = PATTERN_UNKNOWN,
		.period = 1};
	memory->object_count++;
	if (!meant)
		return;
	meant->misplaced = symbol->misplaced;
	if (!chosen_objects_write_pattern(placing, meant, false, object))
		placing->is_full = true;
}

static bool chosen_objects_is_near_known(
	const struct data_symbols *symbols, uint32_t i, int64_t known_end, const bool *is_known)
{
	const struct data_symbol *symbol = &symbols->symbols[i];
	bool is_near = chosen_objects_first_granule(symbol) < known_end;

	for (uint32_t j = i + 1;
		j < symbols->count && chosen_objects_first_granule(&symbols->symbols[j]) <
					      chosen_objects_end_granule(symbol);
		j++)
		is_near |= is_known[j];
	return is_near;
}

static bool chosen_objects_is_alias(const struct data_symbol *a, const struct data_symbol *b)
{
	return a->start == b->start && a->bytes == b->bytes;
}

/* Returns whether the unknown symbol is another name of a known one: it has the same address and
 * size. */
static bool chosen_objects_has_known_alias(
	const struct data_symbols *symbols, uint32_t i, const bool *is_known)
{
	const struct data_symbol *symbol = &symbols->symbols[i];

	for (uint32_t j = i; j-- > 0 && chosen_objects_is_alias(&symbols->symbols[j], symbol);)
		if (is_known[j])
			return true;
	for (uint32_t j = i + 1;
		j < symbols->count && chosen_objects_is_alias(&symbols->symbols[j], symbol); j++)
		if (is_known[j])
			return true;
	return false;
}

static void chosen_objects_write_file(
	struct placing *placing, uint32_t module, const char *path, struct meant *meant)
{
	struct data_symbols symbols;
	int64_t known_end = INT64_MIN;
	FREE_SCOPED bool *is_known = NULL;

	data_symbols_read(&symbols, path);
	is_known = array_new(symbols.count + 1, sizeof *is_known);
	for (uint32_t i = 0; i < symbols.count; i++) {
		chosen_objects_find_meant(placing, symbols.symbols[i].name, meant);
		is_known[i] = meant->count;
	}
	for (uint32_t i = 0; i < symbols.count && !placing->is_full; i++) {
		const struct data_symbol *symbol = &symbols.symbols[i];

		if (is_known[i]) {
			chosen_objects_find_meant(placing, symbol->name, meant);
			chosen_objects_write_symbol(placing, module, symbol, meant);
			known_end = chosen_objects_end_granule(symbol) > known_end
					    ? chosen_objects_end_granule(symbol)
					    : known_end;
		} else if (chosen_objects_is_near_known(&symbols, i, known_end, is_known) &&
			   !chosen_objects_has_known_alias(&symbols, i, is_known)) {
			chosen_objects_write_symbol(placing, module, symbol, NULL);
		}
	}
	data_symbols_release(&symbols);
}

/* Writes one pattern for a local, whose offset within an eight-byte unit is unknown. Returns false
 * if there is no room. */
static bool chosen_objects_write_local(
	struct placing *placing, const struct points_to_object *local, struct meant *meant)
{
	struct contract_memory *memory = placing->memory;
	const uint32_t module =
		chosen_module_in(memory, &placing->grouping->chosen->modules[local->file]);
	struct memory_object *object = &memory->locals[memory->local_count];

	if (module == UINT32_MAX || memory->local_count == MEMORY_LOCALS_MAX)
		return false;
	*object = (struct memory_object){.start = memory->modules[module].first + local->index,
		.bytes = local->bytes,
		.module = module};
	meant->objects[0] = local;
	meant->count = 1;
	meant->misplaced = 0;
	if (!chosen_objects_write_pattern(placing, meant, true, object))
		return false;
	memory->local_count++;
	return true;
}

/* Writes all locals or none, because several locals may share an eight-byte unit. */
static void chosen_objects_write_locals(struct placing *placing, struct meant *meant)
{
	const struct points_to *result = placing->grouping->result;

	for (uint32_t i = 0; i < result->object_count; i++) {
		if (result->objects[i].symbol ||
			chosen_objects_write_local(placing, &result->objects[i], meant))
			continue;
		placing->memory->local_count = 0;
		return;
	}
}

void chosen_write_objects(const struct chosen_grouping *grouping, struct contract_memory *memory)
{
	struct placing placing = {.grouping = grouping,
		.memory = memory,
		.group_end = grouping->count,
		.pattern_count = PATTERN_UNKNOWN + 1};
	struct meant meant = {0};

	meant.objects = array_new(grouping->result->object_count + 1, sizeof *meant.objects);
	memory->object_count = memory->local_count = 0;
	chosen_objects_write_locals(&placing, &meant);
	for (uint32_t i = 0; i < grouping->files->count; i++) {
		const uint32_t module = chosen_module_in(memory, &grouping->chosen->modules[i]);

		if (module != UINT32_MAX)
			chosen_objects_write_file(
				&placing, module, grouping->files->paths[i], &meant);
	}
	/* A missing object may share a unit with a listed one, which would then look unshared. */
	if (placing.is_full)
		memory->object_count = 0;
	free(meant.objects);
}
