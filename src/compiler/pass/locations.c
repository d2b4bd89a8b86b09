/*
 * Descriptions of sites: the source position, including all inlined calls, and the accessed memory.
 * Only the command reads them, so each translation unit stores its descriptions compressed, as one
 * constant (struct site_unit).
 */
#include "compiler/pass/instrument.h"

#include <stdlib.h>
#include <string.h>

#include <llvm-c/DebugInfo.h>

#include "base/array.h"

#define INFO_SECTION "raddle_info"

/* Different byte strings, numbered from 1. */
struct numbering {
	struct numbered {
		void *bytes;
		size_t size;
	} * entries;	 /* in the order of their numbers */
	uint32_t *slots; /* hash table of numbers; 0: free */
	size_t capacity;
	uint32_t count;
};

struct writer {
	struct instrument *instrument;
	struct numbering strings, locations;
	struct field_types *fields;
	uint32_t (*sites)[SITE_COLUMNS];
};

struct plain {
	unsigned char *bytes;
	size_t used, capacity;
};

static size_t locations_slot(const struct numbering *numbering, const void *bytes, size_t size)
{
	const unsigned char *byte = bytes;
	uint64_t hash = UINT64_C(0xcbf29ce484222325);
	size_t slot;

	for (size_t i = 0; i < size; i++)
		hash = (hash ^ byte[i]) * UINT64_C(0x100000001b3);
	for (slot = hash & (numbering->capacity - 1); numbering->slots[slot];
		slot = (slot + 1) & (numbering->capacity - 1)) {
		const struct numbered *entry = &numbering->entries[numbering->slots[slot] - 1];

		if (entry->size == size && memcmp(entry->bytes, bytes, size) == 0)
			break;
	}
	return slot;
}

static void locations_grow(struct numbering *numbering)
{
	struct numbering bigger = {.count = numbering->count,
		.capacity = numbering->capacity ? 2 * numbering->capacity : 256};

	bigger.entries = array_new(bigger.capacity / 2 + 1, sizeof *bigger.entries);
	bigger.slots = array_new(bigger.capacity, sizeof *bigger.slots);
	for (uint32_t i = 0; i < numbering->count; i++) {
		const struct numbered *entry = &numbering->entries[i];

		bigger.entries[i] = *entry;
		bigger.slots[locations_slot(&bigger, entry->bytes, entry->size)] = i + 1;
	}
	free(numbering->entries);
	free(numbering->slots);
	*numbering = bigger;
}

static uint32_t locations_number_of(struct numbering *numbering, const void *bytes, size_t size)
{
	struct numbered *entry;
	size_t slot;

	if (2 * numbering->count >= numbering->capacity)
		locations_grow(numbering);
	slot = locations_slot(numbering, bytes, size);
	if (numbering->slots[slot])
		return numbering->slots[slot];
	entry = &numbering->entries[numbering->count++];
	*entry = (struct numbered){.bytes = array_new(1, size), .size = size};
	memcpy(entry->bytes, bytes, size);
	return numbering->slots[slot] = numbering->count;
}

static void locations_release(struct numbering *numbering)
{
	for (uint32_t i = 0; i < numbering->count; i++)
		free(numbering->entries[i].bytes);
	free(numbering->entries);
	free(numbering->slots);
}

/* NULL and the empty string are no strings. The zero at the end is a part of a string. */
static uint32_t locations_string(struct writer *writer, const char *text)
{
	return text && *text ? locations_number_of(&writer->strings, text, strlen(text) + 1) : 0;
}

static LLVMMetadataRef locations_subprogram_of(const struct writer *writer, LLVMMetadataRef scope)
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
static char *locations_subprogram_name(
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

static uint32_t locations_location(
	struct writer *writer, LLVMMetadataRef location, const char *function)
{
	LLVMMetadataRef scope = location ? LLVMDILocationGetScope(location) : NULL;
	LLVMMetadataRef subprogram = locations_subprogram_of(writer, scope);
	LLVMMetadataRef file = scope ? LLVMDIScopeGetFile(scope) : NULL;
	LLVMMetadataRef outer = location ? LLVMDILocationGetInlinedAt(location) : NULL;
	unsigned length = 0;
	char *name = locations_subprogram_name(writer, subprogram, outer ? NULL : function);
	uint32_t numbers[LOCATION_COLUMNS] = {0};

	numbers[LOCATION_FUNCTION] = locations_string(writer, name);
	free(name);
	/* The outer location comes first, so that a reader needs no check for cycles. */
	numbers[LOCATION_OUTER] = outer ? locations_location(writer, outer, function) : 0;
	if (file)
		numbers[LOCATION_FILE] =
			locations_string(writer, LLVMDIFileGetFilename(file, &length));
	if (location) {
		numbers[LOCATION_LINE] = LLVMDILocationGetLine(location);
		numbers[LOCATION_COLUMN] = LLVMDILocationGetColumn(location);
	}
	return locations_number_of(&writer->locations, numbers, sizeof numbers);
}

static void locations_describe(struct writer *writer, struct site *site, uint32_t row[SITE_COLUMNS])
{
	char type[512], field[512];
	const bool has_field =
		site_field(writer->fields, site, type, sizeof type, field, sizeof field);
	size_t length;

	row[SITE_LOCATION] =
		locations_location(writer, LLVMInstructionGetDebugLoc(site->instruction),
			LLVMGetValueName2(site->function, &length));
	row[SITE_TYPE] = has_field ? locations_string(writer, type) : 0;
	row[SITE_FIELD] = has_field ? locations_string(writer, field) : 0;
	row[SITE_FUNCTION_NUMBER] = site->function_number;
	row[SITE_INSTRUCTION_NUMBER] = site->instruction_number;
}

static void locations_add(struct plain *plain, const void *bytes, size_t size)
{
	if (size > plain->capacity - plain->used) {
		plain->capacity = 2 * plain->capacity + size + 4096;
		plain->bytes = array_resize(plain->bytes, plain->capacity, 1);
	}
	memcpy(plain->bytes + plain->used, bytes, size);
	plain->used += size;
}

static void locations_add_number(struct plain *plain, uint64_t number)
{
	unsigned char bytes[10];
	size_t size = 0;

	for (; number >= 0x80; number >>= 7)
		bytes[size++] = (unsigned char)(number | 0x80);
	bytes[size++] = (unsigned char)number;
	locations_add(plain, bytes, size);
}

static void locations_add_difference(struct plain *plain, uint32_t before, uint32_t number)
{
	const int64_t difference = (int64_t)number - before;

	locations_add_number(
		plain, difference < 0 ? (uint64_t)-difference * 2 - 1 : (uint64_t)difference * 2);
}

static void locations_write(const struct writer *writer, struct plain *plain)
{
	locations_add_number(plain, writer->locations.count);
	locations_add_number(plain, writer->strings.count);
	for (unsigned column = 0; column < LOCATION_COLUMNS; column++) {
		uint32_t before = 0;

		for (uint32_t i = 0; i < writer->locations.count; i++) {
			const uint32_t *location = writer->locations.entries[i].bytes;

			locations_add_difference(plain, before, location[column]);
			before = location[column];
		}
	}
	for (unsigned column = 0; column < SITE_COLUMNS; column++) {
		uint32_t before = 0;

		for (size_t i = 0; i < writer->instrument->site_count; i++) {
			locations_add_difference(plain, before, writer->sites[i][column]);
			before = writer->sites[i][column];
		}
	}
	for (uint32_t i = 0; i < writer->strings.count; i++)
		locations_add(
			plain, writer->strings.entries[i].bytes, writer->strings.entries[i].size);
}

static LLVMValueRef locations_bytes(
	const struct instrument *instrument, const unsigned char *bytes, size_t size)
{
	return LLVMConstStringInContext2(instrument->context, (const char *)bytes, size, true);
}

/* Makes the constant: struct site_unit, the flags, the compressed columns. */
static void locations_make_unit(struct instrument *instrument, const struct plain *plain)
{
	unsigned char *flags = array_new(instrument->site_count + 1, 1);
	unsigned char *stored;
	const size_t size = compress_bytes(plain->bytes, plain->used, &stored);
	const uint32_t header[] = {INSTRUMENT_MAGIC, (uint32_t)instrument->site_count,
		(uint32_t)plain->used, (uint32_t)size};
	LLVMValueRef members[6], value;

	for (size_t i = 0; i < instrument->site_count; i++)
		flags[i] = (unsigned char)instrument->sites[i].flags;
	for (unsigned i = 0; i < 4; i++)
		members[i] = LLVMConstInt(instrument->i32, header[i], 0);
	members[4] = locations_bytes(instrument, flags, instrument->site_count);
	members[5] = locations_bytes(instrument, stored, size);
	value = LLVMConstStructInContext(instrument->context, members, 6, true);
	instrument->descriptions_type = LLVMTypeOf(value);
	instrument->descriptions =
		LLVMAddGlobal(instrument->module, instrument->descriptions_type, ".raddle");
	LLVMSetLinkage(instrument->descriptions, LLVMPrivateLinkage);
	LLVMSetGlobalConstant(instrument->descriptions, 1);
	LLVMSetSection(instrument->descriptions, INFO_SECTION);
	LLVMSetAlignment(instrument->descriptions, SITE_UNIT_ALIGNMENT);
	LLVMSetInitializer(instrument->descriptions, value);
	keep_global(instrument, instrument->descriptions);
	free(flags);
	free(stored);
}

void describe_sites(struct instrument *instrument)
{
	struct writer writer = {.instrument = instrument};
	struct plain plain = {0};

	writer.fields = field_types_new(instrument);
	writer.sites = array_new(instrument->site_count + 1, sizeof *writer.sites);
	for (size_t i = 0; i < instrument->site_count; i++)
		locations_describe(&writer, &instrument->sites[i], writer.sites[i]);
	locations_write(&writer, &plain);
	locations_make_unit(instrument, &plain);
	field_types_free(writer.fields);
	locations_release(&writer.strings);
	locations_release(&writer.locations);
	free(writer.sites);
	free(plain.bytes);
}

LLVMValueRef site_description(const struct instrument *instrument, size_t index)
{
	LLVMValueRef indices[3] = {LLVMConstInt(instrument->i32, 0, 0),
		LLVMConstInt(instrument->i32, 4, 0), LLVMConstInt(instrument->i64, index, 0)};

	return LLVMConstInBoundsGEP2(
		instrument->descriptions_type, instrument->descriptions, indices, 3);
}

void copy_location(LLVMValueRef to, LLVMValueRef of, LLVMValueRef function)
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
