/*
 * Lists of a variable number of arguments. va_start() fills in a list out of sight, so whoever recomputes a run would have to be
 * told of each step of it. Where the list is otherwise a private local, another one is filled in, and copied by
 * accesses that are in sight: then only that one is told, and the list's steps need no sites. What the arguments
 * are is memory that the caller wrote, and read as such.
 */
#include <string.h>

#include "compiler/pass/instrument.h"

/* The struct of x86-64's calling convention: two offsets of 32 bits, and two pointers. */
#define LIST_WORDS 3

static bool has_parameter_attribute(LLVMValueRef function, unsigned number, const char *name)
{
	return LLVMGetEnumAttributeAtIndex(
		function, number + 1, LLVMGetEnumAttributeKindForName(name, strlen(name)));
}

static bool calls(LLVMValueRef instruction, const char *start)
{
	const char *name = LLVMIsACallInst(instruction) ? called_name(instruction) : NULL;

	return name && strncmp(name, start, strlen(start)) == 0;
}

/* Is the address that of a local that no others know, but for calls of this kind? */
static bool is_private_list(LLVMValueRef address)
{
	while (LLVMIsAGetElementPtrInst(address) || LLVMIsABitCastInst(address))
		address = LLVMGetOperand(address, 0);
	return LLVMIsAAllocaInst(address) && filter_is_private_list(address);
}

/*
 * The first word of a list that is just started: how far into the area of registers the first argument is that has no name, of
 * general registers (8 bytes each, six of them) in the lower half, of vector registers (16 bytes, eight) in the upper.
 * NULL: the function has arguments of other kinds than these two.
 */
static LLVMValueRef first_word(const struct instrument *instrument, LLVMValueRef function)
{
	uint64_t general = 0, vector = 0;

	for (unsigned i = 0; i < LLVMCountParams(function); i++) {
		LLVMTypeRef type = LLVMTypeOf(LLVMGetParam(function, i));
		const LLVMTypeKind kind = LLVMGetTypeKind(type);

		if (has_parameter_attribute(function, i, "byval") ||
			has_parameter_attribute(function, i, "nest"))
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

/* Word by word, in front of an instruction, and at the place of another one. `first` is the first word, where it is known. */
static void copy_list(struct instrument *instrument, LLVMValueRef to, LLVMValueRef from,
	LLVMValueRef first, LLVMValueRef before, LLVMValueRef place)
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
			copy_place(address, place, function);
			word = LLVMBuildLoad2(instrument->builder,
				i ? instrument->pointer : instrument->i64, address, "");
			copy_place(word, place, function);
		}
		address = LLVMBuildInBoundsGEP2(instrument->builder, byte, to, &offset, 1, "");
		copy_place(address, place, function);
		copy_place(LLVMBuildStore(instrument->builder, word, address), place, function);
	}
}

static LLVMValueRef add_list(struct instrument *instrument, LLVMValueRef function)
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

	if (calls(call, "llvm.va_start")) {
		list = LLVMGetArgOperand(call, 0);
		if (!is_private_list(list))
			return;
		started = add_list(instrument, function);
		LLVMSetOperand(call, 0, started);
		copy_list(instrument, list, started, first_word(instrument, function), next, call);
	} else if (calls(call, "llvm.va_copy")) {
		list = LLVMGetArgOperand(call, 0);
		started = LLVMGetArgOperand(call, 1);
		if (!is_private_list(list) && !is_private_list(started))
			return;
		copy_list(instrument, list, started, NULL, call, call);
		LLVMInstructionEraseFromParent(call);
	} else if (calls(call, "llvm.va_end") && is_private_list(LLVMGetArgOperand(call, 0))) {
		LLVMInstructionEraseFromParent(call); /* it does nothing */
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
