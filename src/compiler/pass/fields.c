/*
 * Finds the struct or class and the field of an access. The source is the access's TBAA tag, which
 * clang writes when it optimises, else the type of the address computation. The debug information
 * gives field names; each struct is collected once per module.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <llvm-c/DebugInfo.h>

#include "base/array.h"
#include "base/slots.h"
#include "compiler/pass/instrument.h"

#define OPERANDS_MOST 4096
/* Maximum nesting depth of structs in a field path. */
#define NESTING_MOST 6

/* Operand positions of debug information nodes, fixed by LLVM's format. */
enum { DI_NAME = 2, DI_BASE_TYPE = 3, DI_ELEMENTS = 4 };
enum { DI_TAG_POINTER = 0x0f, DI_TAG_REFERENCE = 0x10 };

struct known_type {
	char *name;
	LLVMValueRef node;
};

struct field_types {
	struct instrument *instrument;
	LLVMValueRef *queue;
	size_t queue_count;
	struct slots seen; /* addresses of the nodes in the queue */
	struct known_type *types;
	size_t type_count;
};

static void fields_enqueue(struct field_types *types, LLVMValueRef node)
{
	const uint64_t before = types->seen.count;

	if (!node || !LLVMIsAMDNode(node))
		return;
	(void)slots_add(&types->seen, sizeof(uint64_t), (uintptr_t)LLVMValueAsMetadata(node));
	if (types->seen.count != before)
		ARRAY_APPEND(types->queue, types->queue_count, node);
}

static LLVMValueRef fields_operand(LLVMValueRef node, unsigned index)
{
	LLVMValueRef operands[OPERANDS_MOST];
	const unsigned count = (unsigned)LLVMGetMDNodeNumOperands(node);

	if (count > OPERANDS_MOST || index >= count)
		return NULL;
	LLVMGetMDNodeOperands(node, operands);
	return operands[index];
}

static const char *fields_string_operand(LLVMValueRef node, unsigned index)
{
	LLVMValueRef value = fields_operand(node, index);
	unsigned length;

	return value && LLVMIsAMDString(value) ? LLVMGetMDString(value, &length) : NULL;
}

static void fields_note_type(struct field_types *types, LLVMValueRef node)
{
	const char *name = fields_string_operand(node, DI_NAME);

	if (!name || !fields_operand(node, DI_ELEMENTS))
		return;
	ARRAY_APPEND(types->types, types->type_count,
		(struct known_type){.name = strdup(name), .node = node});
}

static void fields_visit(struct field_types *types, LLVMValueRef node)
{
	LLVMValueRef operands[OPERANDS_MOST];
	const unsigned count = (unsigned)LLVMGetMDNodeNumOperands(node);

	if (LLVMGetMetadataKind(LLVMValueAsMetadata(node)) == LLVMDICompositeTypeMetadataKind)
		fields_note_type(types, node);
	if (count > OPERANDS_MOST)
		return;
	LLVMGetMDNodeOperands(node, operands);
	for (unsigned i = 0; i < count; i++)
		fields_enqueue(types, operands[i]);
}

static int fields_compare_types(const void *a, const void *b)
{
	return strcmp(((const struct known_type *)a)->name, ((const struct known_type *)b)->name);
}

struct field_types *field_types_new(struct instrument *instrument)
{
	struct field_types *types = array_new(1, sizeof *types);
	LLVMContextRef context = instrument->context;

	types->instrument = instrument;
	for (LLVMValueRef function = LLVMGetFirstFunction(instrument->module); function;
		function = LLVMGetNextFunction(function)) {
		LLVMMetadataRef subprogram = LLVMGetSubprogram(function);

		if (subprogram)
			fields_enqueue(types, LLVMMetadataAsValue(context, subprogram));
	}
	for (size_t i = 0; i < types->queue_count; i++)
		fields_visit(types, types->queue[i]);
	free(types->queue);
	slots_release(&types->seen);
	if (types->type_count)
		qsort(types->types, types->type_count, sizeof *types->types, fields_compare_types);
	return types;
}

void field_types_free(struct field_types *types)
{
	for (size_t i = 0; i < types->type_count; i++)
		free(types->types[i].name);
	free(types->types);
	free(types);
}

static LLVMValueRef fields_find_type(const struct field_types *types, const char *name)
{
	const struct known_type key = {.name = (char *)(uintptr_t)name};
	const struct known_type *found =
		types->type_count ? bsearch(&key, types->types, types->type_count,
					    sizeof *types->types, fields_compare_types)
				  : NULL;

	return found ? found->node : NULL;
}

/* Returns the type without typedefs and qualifiers; NULL for a pointer. */
static LLVMValueRef fields_strip_type(LLVMValueRef type)
{
	for (unsigned i = 0; type && i < 16; i++) {
		const LLVMMetadataRef node = LLVMValueAsMetadata(type);
		uint16_t tag;

		if (LLVMGetMetadataKind(node) != LLVMDIDerivedTypeMetadataKind)
			break;
		tag = LLVMGetDINodeTag(node);
		if (tag == DI_TAG_POINTER || tag == DI_TAG_REFERENCE)
			return NULL;
		type = fields_operand(type, DI_BASE_TYPE);
	}
	return type;
}

static bool fields_member_holds(LLVMValueRef member, uint64_t offset, uint64_t *start)
{
	LLVMMetadataRef type = LLVMValueAsMetadata(member);

	if (LLVMGetMetadataKind(type) != LLVMDIDerivedTypeMetadataKind)
		return false;
	*start = LLVMDITypeGetOffsetInBits(type) / 8;
	return offset >= *start && offset - *start < (LLVMDITypeGetSizeInBits(type) + 7) / 8;
}

static bool fields_is_bit_field(LLVMValueRef member)
{
	return LLVMDITypeGetFlags(LLVMValueAsMetadata(member)) & LLVMDIFlagBitField;
}

struct field_path {
	char *text;
	size_t size;
	bool is_bit_field;
};

static void fields_add_path(
	LLVMValueRef type, uint64_t offset, struct field_path *path, unsigned depth)
{
	LLVMValueRef elements = type ? fields_operand(type, DI_ELEMENTS) : NULL;
	const unsigned count = elements ? (unsigned)LLVMGetMDNodeNumOperands(elements) : 0;

	for (unsigned i = 0; i < count && depth < NESTING_MOST; i++) {
		LLVMValueRef member = fields_operand(elements, i);
		const size_t length = strlen(path->text);
		const char *name;
		uint64_t start;

		if (!member || !LLVMIsAMDNode(member) ||
			!fields_member_holds(member, offset, &start))
			continue;
		name = fields_string_operand(member, DI_NAME);
		if (name && *name && length + strlen(name) + 2 < path->size)
			(void)snprintf(path->text + length, path->size - length, "%s%s",
				length ? "." : "", name);
		path->is_bit_field |= fields_is_bit_field(member);
		fields_add_path(fields_strip_type(fields_operand(member, DI_BASE_TYPE)),
			offset - start, path, depth + 1);
		return;
	}
}

/* Reads the TBAA tag: (base type, access type, offset). Returns false if it names no struct. */
static bool fields_field_by_tag(const struct site *site, const char **type, uint64_t *offset)
{
	LLVMValueRef tag = LLVMGetMetadata(site->instruction, LLVMGetMDKindID("tbaa", 4));
	LLVMValueRef base, location;

	if (!tag || LLVMGetMDNodeNumOperands(tag) < 3)
		return false;
	base = fields_operand(tag, 0);
	location = fields_operand(tag, 2);
	if (!base || base == fields_operand(tag, 1) || !location || !LLVMIsAConstantInt(location))
		return false;
	*type = fields_string_operand(base, 0);
	*offset = LLVMConstIntGetZExtValue(location);
	return *type && **type;
}

/* Reads the struct type of the address computation, for example "struct.account". */
static bool fields_field_by_address(
	struct instrument *instrument, const struct site *site, const char **type, uint64_t *offset)
{
	LLVMValueRef index;
	LLVMTypeRef source;
	const char *name;

	if (!site->pointer || !LLVMIsAGetElementPtrInst(site->pointer))
		return false;
	source = LLVMGetGEPSourceElementType(site->pointer);
	if (LLVMGetTypeKind(source) != LLVMStructTypeKind || LLVMGetNumOperands(site->pointer) < 3)
		return false;
	name = LLVMGetStructName(source);
	index = LLVMGetOperand(site->pointer, 2);
	if (!name || !LLVMIsAConstantInt(index))
		return false;
	*type = strchr(name, '.') ? strchr(name, '.') + 1 : name;
	*offset = LLVMOffsetOfElement(
		instrument->layout, source, (unsigned)LLVMConstIntGetZExtValue(index));
	return true;
}

/* Demangles a type name; "_ZTS7account" and "_ZTSN4bank7accountE" give the last component. */
static const char *fields_plain_name(const char *type, char *buffer, size_t size)
{
	const char *at = type;

	if (strncmp(type, "_ZTS", 4) != 0)
		return type;
	at += 4;
	at += *at == 'N';
	buffer[0] = '\0';
	while (*at >= '1' && *at <= '9') {
		char *end;
		const unsigned long length = strtoul(at, &end, 10);

		if (length >= size || strlen(end) < length)
			return type;
		(void)snprintf(buffer, size, "%.*s", (int)length, end);
		at = end + length;
	}
	/* The debug information names templates with their arguments, so their mangled name is kept. */
	return *buffer && (*at == 'E' || !*at) ? buffer : type;
}

bool site_field(const struct field_types *types, struct site *site, char *type, size_t type_size,
	char *field, size_t field_size)
{
	struct field_path path = {.text = field, .size = field_size};
	const char *name;
	uint64_t offset;

	if (!fields_field_by_tag(site, &name, &offset) &&
		!fields_field_by_address(types->instrument, site, &name, &offset))
		return false;
	(void)snprintf(type, type_size, "%s", fields_plain_name(name, field, field_size));
	field[0] = '\0';
	fields_add_path(fields_find_type(types, type), offset, &path, 0);
	if (path.is_bit_field)
		site->flags |= SITE_BIT_FIELD;
	if (!field[0])
		(void)snprintf(field, field_size, "+%llu", (unsigned long long)offset);
	return true;
}
