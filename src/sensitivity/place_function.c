/* Functions as people know them: that of the source, of inlined code too, and demangled. */
#include <llvm-c/DebugInfo.h>

#include "sensitivity/sensitivity_internal.h"
#include "symbols/symbols.h"

/* Lexical blocks within each other. */
#define DEPTH_MOST 64
/* A subprogram has some twenty operands; blocks a handful. */
#define OPERANDS_MOST 32
enum { OPERAND_SCOPE = 1, OPERAND_NAME, OPERAND_LINKAGE_NAME };

/* The operands of a scope, as LLVM writes them; false: it has others. */
static bool read_operands(
	LLVMContextRef context, LLVMMetadataRef scope, LLVMValueRef operands[OPERANDS_MOST])
{
	LLVMValueRef node = LLVMMetadataAsValue(context, scope);
	const unsigned count = LLVMGetMDNodeNumOperands(node);

	if (count < OPERAND_NAME || count > OPERANDS_MOST)
		return false;
	LLVMGetMDNodeOperands(node, operands);
	return true;
}

/* As linked, else as written; NULL: debug information tells none. */
static const char *name_of(LLVMContextRef context, LLVMMetadataRef scope)
{
	for (unsigned depth = 0; scope && depth < DEPTH_MOST; depth++) {
		LLVMValueRef operands[OPERANDS_MOST] = {NULL};
		unsigned length;

		if (!read_operands(context, scope, operands))
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

char *places_function(LLVMValueRef instruction)
{
	LLVMValueRef function = LLVMGetBasicBlockParent(LLVMGetInstructionParent(instruction));
	LLVMMetadataRef location = LLVMInstructionGetDebugLoc(instruction);
	const char *name = NULL;
	size_t length;

	if (location)
		name = name_of(LLVMGetModuleContext(LLVMGetGlobalParent(function)),
			LLVMDILocationGetScope(location));
	return symbols_readable_name(name ? name : LLVMGetValueName2(function, &length));
}
