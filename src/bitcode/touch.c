/*
 * The variables, and the variables that each site may touch, from the solved constraints. A
 * variable begins where some access begins, and ends where the next one begins.
 */
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/search.h"
#include "base/strbuf.h"
#include "bitcode/points_to_internal.h"
#include "abi/instrument_abi.h"

/* The beginning of some access in an object. */
struct start {
	uint32_t object;
	int64_t distance;
	uint64_t bytes;	   /* bytes of the longest access that begins there */
	const char *field; /* name of the field at a site; NULL if none */
};

/* The locations where a site's accesses may begin. */
struct reach {
	struct bitmap locations;
	uint64_t bytes; /* UINT64_MAX: to the end of the object */
	bool is_matched, is_open;
};

struct reader {
	struct analysis *analysis;
	struct points_to *result;
	struct reach *reaches; /* parallel to result->sites */
	struct start *starts;
	uint32_t start_count;
};

static void touch_add_points(struct reader *reader, struct reach *reach, LLVMValueRef pointer)
{
	const uint32_t node = value_map_get(&reader->analysis->nodes, pointer);

	if (node != NUMBER_MAP_NONE)
		(void)bitmap_unite(&reach->locations,
			&reader->analysis->flow.nodes[flow_leader(&reader->analysis->flow, node)]
				 .points);
}

static bool touch_copies(LLVMValueRef call)
{
	size_t length;
	const char *name = LLVMGetValueName2(LLVMGetCalledValue(call), &length);

	return strstr(name, "memcpy") || strstr(name, "memmove") || strstr(name, "mempcpy");
}

/* Finds the memory that a call may touch. The compiler pass has the same knowledge about the
 * arguments of copies. */
static bool touch_reach_call(
	struct reader *reader, struct reach *reach, LLVMValueRef call, uint8_t kind)
{
	const bool is_copy = touch_copies(call);
	const unsigned first = is_copy && kind == SITE_RANGE_READ ? 1 : 0;
	unsigned end = is_copy ? first + 1 : LLVMGetNumArgOperands(call);

	if (is_copy && LLVMIsAConstantInt(LLVMGetArgOperand(call, 2)))
		reach->bytes = LLVMConstIntGetZExtValue(LLVMGetArgOperand(call, 2));
	else
		reach->bytes = UINT64_MAX;
	for (unsigned i = first; i < end; i++)
		touch_add_points(reader, reach, LLVMGetArgOperand(call, i));
	return true;
}

/* Returns false if the instruction accesses no memory. */
static bool touch_reach_instruction(
	struct reader *reader, struct reach *reach, LLVMValueRef instruction, uint8_t kind)
{
	switch (LLVMGetInstructionOpcode(instruction)) {
	case LLVMLoad:
	case LLVMAtomicRMW:
	case LLVMAtomicCmpXchg:
		touch_add_points(reader, reach, LLVMGetOperand(instruction, 0));
		return true;
	case LLVMStore:
		touch_add_points(reader, reach, LLVMGetOperand(instruction, 1));
		return true;
	case LLVMCall:
	case LLVMInvoke:
		return touch_reach_call(reader, reach, instruction, kind);
	default:
		return false;
	}
}

static void touch_reach_in_units(struct reader *reader, struct reach *reach, uint32_t file,
	const struct site *site, const char *name)
{
	const struct program *program = &reader->analysis->program;

	for (uint32_t i = 0; i < program->unit_count; i++) {
		const struct unit *unit = &program->units[i];
		LLVMValueRef instruction;

		if (unit->file != file || site->function_number >= unit->function_count ||
			(name && !program_is_named(unit->functions[site->function_number], name)))
			continue;
		instruction =
			program_instruction(unit, site->function_number, site->instruction_number);
		if (instruction && touch_reach_instruction(reader, reach, instruction, site->kind))
			reach->is_matched = true;
	}
}

/* Finds what a site may touch. The site's record does not name its unit, so functions with the same
 * name and number in several units all count. */
static void touch_reach_site(
	struct reader *reader, struct reach *reach, uint32_t file, const struct site *site)
{
	const struct site_table *table = reader->analysis->program.files[file].sites;

	reach->bytes = site->bytes;
	touch_reach_in_units(reader, reach, file, site, site_table_function(table, site));
	if (!reach->is_matched)
		touch_reach_in_units(reader, reach, file, site, NULL);
	if (!reach->bytes)
		reach->bytes = UINT64_MAX;
}

static const struct flow_object *touch_object_of(const struct reader *reader, uint64_t location)
{
	const struct flow *flow = &reader->analysis->flow;

	return &flow->objects[flow->nodes[location].object];
}

static bool touch_is_variable(const struct flow_object *object)
{
	return object->kind != FLOW_FUNCTION && object->kind != FLOW_FOREIGN;
}

static void touch_add_start(struct reader *reader, const struct start *start)
{
	ARRAY_APPEND(reader->starts, reader->start_count, *start);
}

static void touch_add_starts(
	struct reader *reader, const struct reach *reach, const struct site *site)
{
	const struct flow *flow = &reader->analysis->flow;

	bitmap_each(location, &reach->locations)
	{
		const struct flow_object *object = touch_object_of(reader, location);
		const struct start start = {.object = flow->nodes[location].object,
			.distance = flow_distance(object, flow->nodes[location].distance),
			.bytes = reach->bytes,
			.field = site->field};

		if (touch_is_variable(object))
			touch_add_start(reader, &start);
	}
}

/* Adds foreign objects that only foreign code or open sites access. */
static void touch_add_foreign_starts(struct reader *reader)
{
	const struct flow *flow = &reader->analysis->flow;

	for (uint32_t i = 0; i < flow->object_count; i++) {
		const struct start start = {.object = i, .bytes = 1};

		const bool is_constant = flow->objects[i].kind == FLOW_GLOBAL &&
					 LLVMIsGlobalConstant(flow->objects[i].value);

		if (flow->objects[i].is_foreign && touch_is_variable(&flow->objects[i]) &&
			!is_constant)
			touch_add_start(reader, &start);
	}
}

static int touch_compare_starts(const void *left, const void *right)
{
	const struct start *a = left, *b = right;

	if (a->object != b->object)
		return a->object < b->object ? -1 : 1;
	return (a->distance > b->distance) - (a->distance < b->distance);
}

/* Merges equal starts; the alphabetically first field name stays. */
static void touch_unite_starts(struct reader *reader)
{
	uint32_t kept = 0;

	qsort(reader->starts, reader->start_count, sizeof *reader->starts, touch_compare_starts);
	for (uint32_t i = 0; i < reader->start_count; i++) {
		const struct start *start = &reader->starts[i];
		struct start *last = kept ? &reader->starts[kept - 1] : NULL;

		if (!last || touch_compare_starts(last, start) != 0) {
			reader->starts[kept++] = *start;
			continue;
		}
		if (start->bytes > last->bytes)
			last->bytes = start->bytes;
		if (start->field && (!last->field || strcmp(start->field, last->field) < 0))
			last->field = start->field;
	}
	reader->start_count = kept;
}

static void touch_name_variable(const struct reader *reader, const struct start *start, char **name)
{
	const struct flow_object *object = &reader->analysis->flow.objects[start->object];
	FREE_SCOPED char *base = object_name(reader->analysis, start->object);
	struct strbuf out = STRBUF_EMPTY;

	if (object->kind == FLOW_HEAP && start->field)
		strbuf_addf(&out, "(%s)", base);
	else
		strbuf_adds(&out, base);
	if (object->stride)
		strbuf_adds(&out, "[]");
	if (object->stride != 1 && start->field)
		strbuf_addf(&out, ".%s", start->field);
	else if (start->distance)
		strbuf_addf(&out, "%+lld", (long long)start->distance);
	*name = strbuf_detach(&out);
}

static uint64_t touch_extent_of(const struct reader *reader, uint32_t i)
{
	const struct start *start = &reader->starts[i];
	const bool is_last = i + 1 == reader->start_count || start[1].object != start->object;
	const uint64_t room =
		is_last ? UINT64_MAX : (uint64_t)(start[1].distance - start->distance);

	return start->bytes < room ? start->bytes : room;
}

static void touch_make_variables(struct reader *reader)
{
	struct points_to *result = reader->result;

	result->variable_count = reader->start_count;
	result->variables = array_new(reader->start_count + 1, sizeof *result->variables);
	result->foreign = array_new(reader->start_count + 1, sizeof *result->foreign);
	for (uint32_t i = 0; i < reader->start_count; i++) {
		touch_name_variable(reader, &reader->starts[i], &result->variables[i].name);
		result->variables[i].distance = reader->starts[i].distance;
		result->variables[i].bytes = touch_extent_of(reader, i);
		if (reader->analysis->flow.objects[reader->starts[i].object].is_foreign)
			result->foreign[result->foreign_count++] = i;
	}
}

static bool touch_overlaps(const struct reader *reader, uint32_t i, int64_t at, uint64_t bytes)
{
	const struct start *start = &reader->starts[i];

	if (start->distance >= at)
		return (uint64_t)(start->distance - at) < bytes;
	return (uint64_t)(at - start->distance) < touch_extent_of(reader, i);
}

static void touch_make_objects(struct reader *reader)
{
	struct points_to *result = reader->result;
	uint32_t end;

	result->objects = array_new(reader->start_count + 1, sizeof *result->objects);
	for (uint32_t i = 0; i < reader->start_count; i = end) {
		const uint32_t number = reader->starts[i].object;
		struct points_to_object *object = &result->objects[result->object_count];

		for (end = i; end < reader->start_count && reader->starts[end].object == number;)
			end++;
		if (!describe_object(reader->analysis, number, object))
			continue;
		object->first_variable = i;
		object->variable_count = end - i;
		result->object_count++;
	}
}

static uint32_t touch_first_start(const struct reader *reader, uint32_t object)
{
	uint32_t low;

	SEARCH(low, 0, reader->start_count, reader->starts[low].object < object);
	return low;
}

static void touch_object(
	const struct reader *reader, struct bitmap *touched, uint64_t location, uint64_t bytes)
{
	const struct flow_object *object = touch_object_of(reader, location);
	const uint32_t number = reader->analysis->flow.nodes[location].object;
	const int64_t at = flow_distance(object, reader->analysis->flow.nodes[location].distance);

	for (uint32_t i = touch_first_start(reader, number);
		i < reader->start_count && reader->starts[i].object == number; i++) {
		const bool is_all = object->stride && bytes >= (uint64_t)object->stride;

		if (is_all || touch_overlaps(reader, i, at, bytes) ||
			(object->stride && touch_overlaps(reader, i, at - object->stride, bytes)))
			(void)bitmap_add(touched, i);
	}
}

static void touch(struct reader *reader, struct reach *reach, struct points_to_site *site)
{
	struct bitmap touched = {0};
	uint32_t count = 0;

	bitmap_each(location, &reach->locations)
	{
		if (touch_object_of(reader, location)->kind == FLOW_FOREIGN)
			site->is_open = true;
		else if (touch_is_variable(touch_object_of(reader, location)))
			touch_object(reader, &touched, location, reach->bytes);
	}
	site->is_unmatched = !reach->is_matched;
	bitmap_each(ignored, &touched) count += !!(ignored + 1);
	site->variables = array_new(count + 1, sizeof *site->variables);
	bitmap_each(variable, &touched) site->variables[site->variable_count++] =
		(uint32_t)variable;
	bitmap_release(&touched);
}

static char *touch_describe_location(const struct site *site)
{
	struct strbuf out = STRBUF_EMPTY;

	add_demangled(&out, site->location.function ? site->location.function : "?");
	strbuf_addf(&out, " (%s:%u)", site->location.file ? site->location.file : "?",
		site->location.line);
	return strbuf_detach(&out);
}

static bool touch_has_address(const struct site *site)
{
	return site->kind != SITE_FENCE && site->kind < SITE_FUNCTION_ENTRY;
}

static void touch_read_sites(struct reader *reader)
{
	const struct program *program = &reader->analysis->program;
	struct points_to *result = reader->result;
	uint32_t most = 1;

	for (uint32_t file = 0; file < program->file_count; file++)
		most += site_table_count(program->files[file].sites);
	result->sites = array_new(most, sizeof *result->sites);
	reader->reaches = array_new(most, sizeof *reader->reaches);
	for (uint32_t file = 0; file < program->file_count; file++) {
		const struct site_table *table = program->files[file].sites;

		for (uint32_t i = 0; i < site_table_count(table); i++) {
			const struct site *site = site_table_at(table, i);
			struct reach *reach = &reader->reaches[result->site_count];

			if (!touch_has_address(site))
				continue;
			touch_reach_site(reader, reach, file, site);
			touch_add_starts(reader, reach, site);
			result->sites[result->site_count++] = (struct points_to_site){.file = file,
				.index = i,
				.kind = site->kind,
				.location = touch_describe_location(site)};
		}
	}
}

struct points_to *read_result(struct analysis *analysis)
{
	struct points_to *result = array_new(1, sizeof *result);
	struct reader reader = {.analysis = analysis, .result = result};

	touch_read_sites(&reader);
	touch_add_foreign_starts(&reader);
	touch_unite_starts(&reader);
	touch_make_variables(&reader);
	touch_make_objects(&reader);
	for (uint32_t i = 0; i < result->site_count; i++) {
		touch(&reader, &reader.reaches[i], &result->sites[i]);
		bitmap_release(&reader.reaches[i].locations);
	}
	free(reader.reaches);
	free(reader.starts);
	result->instruction_count = analysis->instruction_count;
	result->node_count = analysis->flow.node_count;
	return result;
}
