/*
 * va_list operations. va_start() fills a va_list invisibly: a recorded run would need a report for
 * each use of the list. If the list is otherwise a private local, the pass lets va_start() fill
 * another list and copies that list by visible accesses. The report then covers the new list alone,
 * and uses of the original need no sites. The arguments themselves are ordinary memory that the
 * caller wrote.
 */
#include <string.h>

#include "compiler/pass/instrument.h"

/* The struct va_list of the x86-64 ABI: two 32-bit offsets and two pointers. */
#define LIST_WORDS 3

static bool lists_has_parameter_attribute(LLVMValueRef function, unsigned number, const char *name)
{
	return LLVMGetEnumAttributeAtIndex(
		function, number + 1, LLVMGetEnumAttributeKindForName(name, strlen(name)));
}

static bool lists_calls(LLVMValueRef instruction, const char *start)
{
	return LLVMIsACallInst(instruction) && starts_with(called_name(instruction), start);
}

static bool lists_is_private_list(LLVMValueRef address)
{
	while (LLVMIsAGetElementPtrInst(address) || LLVMIsABitCastInst(address))
		address = LLVMGetOperand(address, 0);
	return LLVMIsAAllocaInst(address) && filter_is_private_list(address);
}

/*
 * The first word of a fresh va_list: offsets of the first unnamed argument in the register save
 * area. The lower half is for general-purpose registers, the upper half for vector registers.
 * Returns NULL if a parameter is of another class.
 */
static LLVMValueRef lists_first_word(const struct instrument *instrument, LLVMValueRef function)
{
	uint64_t general = 0, vector = 0;

	for (unsigned i = 0; i < LLVMCountParams(function); i++) {
		LLVMTypeRef type = LLVMTypeOf(LLVMGetParam(function, i));
		const LLVMTypeKind kind = LLVMGetTypeKind(type);

		if (lists_has_parameter_attribute(function, i, "byval") ||
			lists_has_parameter_attribute(function, i, "nest"))
			return NULL;
		if (kind == LLVMPointerTypeKind ||
			(kind == LLVMIntegerTypeKind && LLVMGetIntTypeWidth(type) <= 64))
			general += general < 6;
		else if (kind == LLVMFloatTypeKind || kind == LLVMDoubleTypeKind)
			vector += vector < 8;
		else
			return NULL;
	}
	return LLVMConstInt(instrument->i64, 8 * general | (6 * 8 + 16 * vector) << 32, false);
}

/* Copies the list word by word before `before`, at the source position of `location`. */
static void lists_copy_list(struct instrument *instrument, LLVMValueRef to, LLVMValueRef from,
	LLVMValueRef first, LLVMValueRef before, LLVMValueRef location)
{
	LLVMValueRef function = LLVMGetBasicBlockParent(LLVMGetInstructionParent(before));
	LLVMTypeRef byte = LLVMInt8TypeInContext(instrument->context);

	LLVMPositionBuilderBefore(instrument->builder, before);
	for (unsigned i = 0; i < LIST_WORDS; i++) {
		LLVMValueRef offset = LLVMConstInt(instrument->i64, 8 * i, false);
		LLVMValueRef word = i ? NULL : first;
		LLVMValueRef address;

		if (!word) {
			address = LLVMBuildInBoundsGEP2(
				instrument->builder, byte, from, &offset, 1, "");
			copy_location(address, location, function);
			word = LLVMBuildLoad2(instrument->builder,
				i ? instrument->pointer : instrument->i64, address, "");
			copy_location(word, location, function);
		}
		address = LLVMBuildInBoundsGEP2(instrument->builder, byte, to, &offset, 1, "");
		copy_location(address, location, function);
		copy_location(
			LLVMBuildStore(instrument->builder, word, address), location, function);
	}
}

static LLVMValueRef lists_add_list(struct instrument *instrument, LLVMValueRef function)
{
	LLVMValueRef list;

	LLVMPositionBuilderBefore(
		instrument->builder, LLVMGetFirstInstruction(LLVMGetEntryBasicBlock(function)));
	list = LLVMBuildAlloca(
		instrument->builder, LLVMArrayType2(instrument->i64, LIST_WORDS), "started.list");
	LLVMSetAlignment(list, 16);
	return list;
}

static void lists_lower(struct instrument *instrument, LLVMValueRef function, LLVMValueRef call)
{
	LLVMValueRef next = LLVMGetNextInstruction(call);
	LLVMValueRef list, started;

	if (lists_calls(call, "llvm.va_start")) {
		list = LLVMGetArgOperand(call, 0);
		if (!lists_is_private_list(list))
			return;
		started = lists_add_list(instrument, function);
		LLVMSetOperand(call, 0, started);
		lists_copy_list(instrument, list, started, lists_first_word(instrument, function),
			next, call);
	} else if (lists_calls(call, "llvm.va_copy")) {
		list = LLVMGetArgOperand(call, 0);
		started = LLVMGetArgOperand(call, 1);
		if (!lists_is_private_list(list) && !lists_is_private_list(started))
			return;
		lists_copy_list(instrument, list, started, NULL, call, call);
		LLVMInstructionEraseFromParent(call);
	} else if (lists_calls(call, "llvm.va_end") &&
		   lists_is_private_list(LLVMGetArgOperand(call, 0))) {
		LLVMInstructionEraseFromParent(call); /* has no effect on x86-64 */
	}
}

void lower_lists(struct instrument *instrument)
{
	for (LLVMValueRef function = LLVMGetFirstFunction(instrument->module); function;
		function = LLVMGetNextFunction(function))
		for (LLVMBasicBlockRef block = LLVMGetFirstBasicBlock(function); block;
			block = LLVMGetNextBasicBlock(block)) {
			LLVMValueRef next;

			for (LLVMValueRef i = LLVMGetFirstInstruction(block); i; i = next) {
				next = LLVMGetNextInstruction(i);
				lists_lower(instrument, function, i);
			}
		}
}
