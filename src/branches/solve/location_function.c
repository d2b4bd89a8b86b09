/* Readable names of functions, also of inlined code; and the callers of an instruction. */
#include <llvm-c/DebugInfo.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/strbuf.h"
#include "branches/solve/sensitivity_internal.h"
#include "symbols/symbols.h"

/* Limit of nested lexical blocks. */
#define DEPTH_MOST 64
/* A subprogram has about twenty operands, a lexical block a handful. */
#define OPERANDS_MOST 32
enum { OPERAND_SCOPE = 1, OPERAND_NAME, OPERAND_LINKAGE_NAME };

/* Reads the metadata operands of a scope in LLVM's layout; false: another layout. */
static bool location_function_read_operands(
	LLVMContextRef context, LLVMMetadataRef scope, LLVMValueRef operands[OPERANDS_MOST])
{
	LLVMValueRef node = LLVMMetadataAsValue(context, scope);
	const unsigned count = LLVMGetMDNodeNumOperands(node);

	if (count < OPERAND_NAME || count > OPERANDS_MOST)
		return false;
	LLVMGetMDNodeOperands(node, operands);
	return true;
}

/* Returns the linkage name, else the source name; NULL if there is no debug information. */
static const char *location_function_name_of(LLVMContextRef context, LLVMMetadataRef scope)
{
	for (unsigned depth = 0; scope && depth < DEPTH_MOST; depth++) {
		LLVMValueRef operands[OPERANDS_MOST] = {NULL};
		unsigned length;

		if (!location_function_read_operands(context, scope, operands))
			return NULL;
		if (LLVMGetMetadataKind(scope) == LLVMDISubprogramMetadataKind) {
			LLVMValueRef name = operands[OPERAND_LINKAGE_NAME]
						    ? operands[OPERAND_LINKAGE_NAME]
						    : operands[OPERAND_NAME];

			return name ? LLVMGetMDString(name, &length) : NULL;
		}
		if (LLVMGetMetadataKind(scope) != LLVMDILexicalBlockMetadataKind &&
			LLVMGetMetadataKind(scope) != LLVMDILexicalBlockFileMetadataKind)
			return NULL;
		scope = operands[OPERAND_SCOPE] ? LLVMValueAsMetadata(operands[OPERAND_SCOPE])
						: NULL;
	}
	return NULL;
}

char *locations_function(LLVMValueRef instruction)
{
	LLVMValueRef function = LLVMGetBasicBlockParent(LLVMGetInstructionParent(instruction));
	LLVMMetadataRef location = LLVMInstructionGetDebugLoc(instruction);
	const char *name = NULL;
	size_t length;

	if (location)
		name = location_function_name_of(
			LLVMGetModuleContext(LLVMGetGlobalParent(function)),
			LLVMDILocationGetScope(location));
	return symbols_readable_name(name ? name : LLVMGetValueName2(function, &length));
}

static char *location_function_file_of(LLVMMetadataRef location)
{
	LLVMMetadataRef file = LLVMDIScopeGetFile(LLVMDILocationGetScope(location));
	unsigned length = 0;
	const char *text = file ? LLVMDIFileGetFilename(file, &length) : "";
	char *path = string_copy_part(text, length);

	if (*path == '/')
		symbols_simplify_path(path);
	return path;
}

/* Returns whether the file is a header of the system, or one of raddle's replacements for parts of
 * libstdc++. */
static bool location_function_is_of_system(const char *file)
{
	return strncmp(file, "/usr/", 5) == 0 || strncmp(file, "raddle/stdcxx/", 14) == 0;
}

/* Returns the innermost location outside of system headers; may be NULL. The caller frees *file. */
static LLVMMetadataRef location_function_find_own(LLVMMetadataRef location, char **file)
{
	for (; location; location = LLVMDILocationGetInlinedAt(location)) {
		*file = location_function_file_of(location);
		if (!location_function_is_of_system(*file))
			return location;
		free(*file);
	}
	return NULL;
}

static char *location_function_describe(
	LLVMContextRef context, LLVMMetadataRef location, const char *file)
{
	const char *raw = location_function_name_of(context, LLVMDILocationGetScope(location));
	FREE_SCOPED char *name = symbols_readable_name(raw ? raw : "");
	struct strbuf text = STRBUF_EMPTY;

	strbuf_addf(&text, "%s:%u", file, LLVMDILocationGetLine(location));
	if (*name)
		strbuf_addf(&text, " in %s", name);
	return strbuf_detach(&text);
}

char *locations_called_from(
	LLVMValueRef instruction, const LLVMValueRef *callers, uint32_t caller_count)
{
	LLVMContextRef context = LLVMGetTypeContext(LLVMTypeOf(instruction));
	LLVMMetadataRef own = LLVMInstructionGetDebugLoc(instruction), location;
	char *file = NULL, *text;

	location = location_function_find_own(own, &file);
	for (uint32_t i = 0; i < caller_count && !location; i++)
		location =
			location_function_find_own(LLVMInstructionGetDebugLoc(callers[i]), &file);
	if (!location)
		return NULL;
	text = location == own ? NULL : location_function_describe(context, location, file);
	free(file);
	return text;
}
