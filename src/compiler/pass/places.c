/*
 * Descriptions of sites: the source position, including all inlined calls, and the accessed memory.
 * They are constant data with self-relative offsets: they need no relocations, so their pages stay
 * untouched until they are read.
 */
#include "compiler/pass/instrument.h"

#include <stdlib.h>
#include <string.h>

#include <llvm-c/DebugInfo.h>

#define INFO_SECTION "raddle_info"
#define STRING_SECTION "raddle_strings"

struct table_entry {
	char *text;
	LLVMMetadataRef location;
	LLVMValueRef global;
};

struct table {
	struct table_entry *entries;
	size_t capacity, count;
};

struct writer {
	struct instrument *instrument;
	LLVMTypeRef place_type, info_type;
	struct table strings, places;
	struct field_types *fields;
};

static void *places_allocate(size_t count, size_t size)
{
	void *memory = calloc(count, size);

	if (!memory)
		abort(); /* out of memory: abort as the compiler does */
	return memory;
}

static uint64_t places_hash_of(const char *text, LLVMMetadataRef location)
{
	uint64_t hash = UINT64_C(0xcbf29ce484222325);

	if (!text)
		return (uint64_t)(uintptr_t)location * UINT64_C(0x9e3779b97f4a7c15) >> 7;
	for (; *text; text++)
		hash = (hash ^ (unsigned char)*text) * UINT64_C(0x100000001b3);
	return hash;
}

static struct table_entry *places_table_slot(
	const struct table *table, const char *text, LLVMMetadataRef location)
{
	size_t slot = places_hash_of(text, location) & (table->capacity - 1);

	for (;; slot = (slot + 1) & (table->capacity - 1)) {
		struct table_entry *entry = &table->entries[slot];

		if (!entry->global)
			return entry;
		if (text ? strcmp(entry->text, text) == 0 : entry->location == location)
			return entry;
	}
}

static struct table_entry *places_table_find(
	struct table *table, const char *text, LLVMMetadataRef location)
{
	if (2 * table->count >= table->capacity) {
		struct table bigger = {.capacity = table->capacity ? 2 * table->capacity : 256,
			.count = table->count};

		bigger.entries = places_allocate(bigger.capacity, sizeof *bigger.entries);
		for (size_t i = 0; i < table->capacity; i++)
			if (table->entries[i].global)
				*places_table_slot(&bigger, table->entries[i].text,
					table->entries[i].location) = table->entries[i];
		free(table->entries);
		*table = bigger;
	}
	return places_table_slot(table, text, location);
}

static void places_table_release(struct table *table)
{
	for (size_t i = 0; i < table->capacity; i++)
		free(table->entries[i].text);
	free(table->entries);
}

static LLVMValueRef places_add_constant(
	struct instrument *instrument, LLVMTypeRef type, const char *section, unsigned alignment)
{
	LLVMValueRef global = LLVMAddGlobal(instrument->module, type, ".raddle");

	LLVMSetLinkage(global, LLVMPrivateLinkage);
	LLVMSetGlobalConstant(global, 1);
	LLVMSetSection(global, section);
	LLVMSetAlignment(global, alignment);
	return global;
}

static LLVMValueRef places_string_constant(struct writer *writer, const char *text)
{
	struct table_entry *entry = places_table_find(&writer->strings, text, NULL);
	LLVMValueRef value;

	if (entry->global)
		return entry->global;
	value = LLVMConstStringInContext2(writer->instrument->context, text, strlen(text), false);
	entry->text = strdup(text);
	entry->global =
		places_add_constant(writer->instrument, LLVMTypeOf(value), STRING_SECTION, 1);
	/* Without an address of its own, the string is mergeable: the linker keeps one of several. */
	LLVMSetUnnamedAddress(entry->global, LLVMGlobalUnnamedAddr);
	LLVMSetInitializer(entry->global, value);
	writer->strings.count++;
	return entry->global;
}

static LLVMValueRef places_member_address(const struct writer *writer, LLVMValueRef global,
	LLVMTypeRef type, const unsigned *path, unsigned count)
{
	LLVMValueRef indices[4];

	indices[0] = LLVMConstInt(writer->instrument->i32, 0, 0);
	for (unsigned i = 0; i < count; i++)
		indices[i + 1] = LLVMConstInt(writer->instrument->i32, path[i], 0);
	return LLVMConstInBoundsGEP2(type, global, indices, count + 1);
}

static LLVMValueRef places_distance(const struct writer *writer, LLVMValueRef to, LLVMValueRef from)
{
	const struct instrument *instrument = writer->instrument;

	return LLVMConstTrunc(LLVMConstSub(LLVMConstPtrToInt(to, instrument->i64),
				      LLVMConstPtrToInt(from, instrument->i64)),
		instrument->i32);
}

static LLVMValueRef places_number(const struct writer *writer, uint32_t value)
{
	return LLVMConstInt(writer->instrument->i32, value, 0);
}

static LLVMMetadataRef places_subprogram_of(const struct writer *writer, LLVMMetadataRef scope)
{
	for (unsigned depth = 0; scope && depth < 64; depth++) {
		LLVMValueRef operands[2];
		LLVMValueRef node;

		switch (LLVMGetMetadataKind(scope)) {
		case LLVMDISubprogramMetadataKind:
			return scope;
		case LLVMDILexicalBlockMetadataKind:
		case LLVMDILexicalBlockFileMetadataKind:
			break;
		default:
			return NULL;
		}
		node = LLVMMetadataAsValue(writer->instrument->context, scope);
		if (LLVMGetMDNodeNumOperands(node) < 2)
			return NULL;
		{
			LLVMValueRef all[16];

			if (LLVMGetMDNodeNumOperands(node) > 16)
				return NULL;
			LLVMGetMDNodeOperands(node, all);
			operands[1] = all[1]; /* operands: file, scope */
		}
		scope = operands[1] ? LLVMValueAsMetadata(operands[1]) : NULL;
	}
	return NULL;
}

/* Returns the subprogram's linkage name, else its name, which the caller frees; NULL if there is
 * none. -gline-tables-only omits linkage names; then the symbol names `function` and functions
 * specialised from it. */
static char *places_subprogram_name(
	const struct writer *writer, LLVMMetadataRef subprogram, const char *function)
{
	LLVMValueRef operands[32];
	const char *name = NULL;
	LLVMValueRef node;
	unsigned length;

	if (!subprogram)
		return function ? strdup(function) : NULL;
	node = LLVMMetadataAsValue(writer->instrument->context, subprogram);
	if (LLVMGetMDNodeNumOperands(node) < 4 || LLVMGetMDNodeNumOperands(node) > 32)
		return NULL;
	LLVMGetMDNodeOperands(node, operands); /* operands: file, scope, name, linkage name, ... */
	if (operands[3])
		name = LLVMGetMDString(operands[3], &length);
	if ((!name || !*name) && function && strncmp(function, "_Z", 2) == 0)
		return strndup(function, strcspn(function, "."));
	if ((!name || !*name) && operands[2])
		name = LLVMGetMDString(operands[2], &length);
	return name ? strdup(name) : NULL;
}

static LLVMValueRef places_place_global(
	struct writer *writer, LLVMMetadataRef location, const char *function);

static LLVMValueRef places_place_value(struct writer *writer, LLVMMetadataRef location,
	const char *function, LLVMValueRef global, LLVMTypeRef type, const unsigned *path,
	unsigned count)
{
	struct instrument *instrument = writer->instrument;
	LLVMMetadataRef scope = location ? LLVMDILocationGetScope(location) : NULL;
	LLVMMetadataRef subprogram = places_subprogram_of(writer, scope);
	LLVMMetadataRef file = scope ? LLVMDIScopeGetFile(scope) : NULL;
	LLVMMetadataRef outer = location ? LLVMDILocationGetInlinedAt(location) : NULL;
	unsigned length = 0;
	const char *file_name = file ? LLVMDIFileGetFilename(file, &length) : NULL;
	char *name = places_subprogram_name(writer, subprogram, outer ? NULL : function);
	LLVMValueRef targets[3] = {NULL, NULL, NULL};
	LLVMValueRef members[6];
	unsigned member[4];

	targets[0] = name && *name ? places_string_constant(writer, name) : NULL;
	targets[1] = file_name && *file_name ? places_string_constant(writer, file_name) : NULL;
	targets[2] = outer ? places_place_global(writer, outer, function) : NULL;
	free(name);
	for (unsigned i = 0; i < count; i++)
		member[i] = path[i];
	for (unsigned i = 0; i < 3; i++) {
		member[count] = i;
		members[i] = targets[i] ? places_distance(writer, targets[i],
						  places_member_address(
							  writer, global, type, member, count + 1))
					: places_number(writer, 0);
	}
	members[3] = places_number(writer, location ? LLVMDILocationGetLine(location) : 0);
	members[4] =
		LLVMConstInt(instrument->i16, location ? LLVMDILocationGetColumn(location) : 0, 0);
	members[5] = LLVMConstInt(instrument->i16, 0, 0);
	return LLVMConstStructInContext(instrument->context, members, 6, false);
}

static LLVMValueRef places_place_global(
	struct writer *writer, LLVMMetadataRef location, const char *function)
{
	LLVMValueRef global = places_table_find(&writer->places, NULL, location)->global;
	struct table_entry *entry;

	if (global)
		return global;
	global = places_add_constant(writer->instrument, writer->place_type, INFO_SECTION, 4);
	entry = places_table_find(&writer->places, NULL, location);
	entry->location = location;
	entry->global = global;
	writer->places.count++;
	LLVMSetInitializer(global, places_place_value(writer, location, function, global,
					   writer->place_type, NULL, 0));
	return global;
}

static LLVMValueRef places_text_offset(
	struct writer *writer, const char *text, unsigned index, unsigned member)
{
	const struct instrument *instrument = writer->instrument;
	const unsigned path[2] = {index, member};

	if (!*text)
		return places_number(writer, 0);
	return places_distance(writer, places_string_constant(writer, text),
		places_member_address(
			writer, instrument->descriptions, instrument->descriptions_type, path, 2));
}

static LLVMValueRef places_info_value(struct writer *writer, struct site *site, unsigned index)
{
	struct instrument *instrument = writer->instrument;
	LLVMMetadataRef location = LLVMInstructionGetDebugLoc(site->instruction);
	const unsigned path[2] = {index, 0};
	char type[512], field[512];
	const bool has_field =
		site_field(writer->fields, site, type, sizeof type, field, sizeof field);
	size_t length;
	LLVMValueRef members[6];

	members[0] =
		places_place_value(writer, location, LLVMGetValueName2(site->function, &length),
			instrument->descriptions, instrument->descriptions_type, path, 2);
	members[1] = places_text_offset(writer, has_field ? type : "", index, 1);
	members[2] = places_text_offset(writer, has_field ? field : "", index, 2);
	members[3] = places_number(writer, site->flags);
	members[4] = places_number(writer, site->function_number);
	members[5] = places_number(writer, site->instruction_number);
	return LLVMConstStructInContext(instrument->context, members, 6, false);
}

void describe_sites(struct instrument *instrument)
{
	LLVMTypeRef place[6] = {instrument->i32, instrument->i32, instrument->i32, instrument->i32,
		instrument->i16, instrument->i16};
	struct writer writer = {.instrument = instrument};
	LLVMTypeRef info[6];
	LLVMValueRef *values;

	writer.fields = field_types_new(instrument);
	values = places_allocate(instrument->site_count, sizeof(*values));

	writer.place_type = LLVMStructTypeInContext(instrument->context, place, 6, false);
	info[0] = writer.place_type;
	for (unsigned i = 1; i < 6; i++)
		info[i] = instrument->i32;
	writer.info_type = LLVMStructTypeInContext(instrument->context, info, 6, false);
	instrument->descriptions_type = LLVMArrayType2(writer.info_type, instrument->site_count);
	instrument->descriptions =
		places_add_constant(instrument, instrument->descriptions_type, INFO_SECTION, 4);
	for (size_t i = 0; i < instrument->site_count; i++)
		values[i] = places_info_value(&writer, &instrument->sites[i], (unsigned)i);
	LLVMSetInitializer(instrument->descriptions,
		LLVMConstArray2(writer.info_type, values, instrument->site_count));
	keep_global(instrument, instrument->descriptions);
	field_types_free(writer.fields);
	places_table_release(&writer.strings);
	places_table_release(&writer.places);
	free(values);
}

LLVMValueRef site_description(const struct instrument *instrument, size_t index)
{
	LLVMValueRef indices[2] = {
		LLVMConstInt(instrument->i32, 0, 0), LLVMConstInt(instrument->i64, index, 0)};

	return LLVMConstInBoundsGEP2(
		instrument->descriptions_type, instrument->descriptions, indices, 2);
}

void copy_place(LLVMValueRef to, LLVMValueRef of, LLVMValueRef function)
{
	LLVMMetadataRef location = LLVMInstructionGetDebugLoc(of);
	LLVMMetadataRef subprogram = LLVMGetSubprogram(function);

	/* The verifier requires a location for calls in a function with debug information. */
	if (!location && subprogram)
		location = LLVMDIBuilderCreateDebugLocation(
			LLVMGetModuleContext(LLVMGetGlobalParent(function)), 0, 0, subprogram,
			NULL);
	if (location)
		LLVMInstructionSetDebugLoc(to, location);
}
