/*
 * Replaces computed gotos by switches over label numbers. A label's address is unknown to a reader
 * of the bitcode, whereas numbers are equal in every run. The program cannot observe the
 * difference, because a label is only valid for gotos of its own function.
 */
#include <stdlib.h>

#include <llvm-c/DebugInfo.h>

#include "base/array.h"
#include "compiler/pass/instrument.h"

struct labels {
	LLVMBasicBlockRef *blocks;
	unsigned count;
};

static LLVMValueRef labels_goto_of(LLVMBasicBlockRef block)
{
	LLVMValueRef last = LLVMGetBasicBlockTerminator(block);

	return last && LLVMIsAIndirectBrInst(last) ? last : NULL;
}

static unsigned labels_number_of(const struct labels *labels, LLVMBasicBlockRef block)
{
	unsigned number = 0;

	while (number < labels->count && labels->blocks[number] != block)
		number++;
	return number;
}

/* Returns whether a call or inline assembly uses the label: assembly may jump to it. */
static bool labels_label_escapes(LLVMValueRef label)
{
	for (LLVMUseRef use = LLVMGetFirstUse(label); use; use = LLVMGetNextUse(use))
		if (LLVMIsACallInst(LLVMGetUser(use)) || LLVMIsACallBrInst(LLVMGetUser(use)))
			return true;
	return false;
}

static bool labels_collect(LLVMValueRef function, struct labels *labels)
{
	for (LLVMBasicBlockRef block = LLVMGetFirstBasicBlock(function); block;
		block = LLVMGetNextBasicBlock(block)) {
		LLVMValueRef jump = labels_goto_of(block);

		for (unsigned i = 0; jump && i < LLVMGetNumSuccessors(jump); i++) {
			LLVMBasicBlockRef to = LLVMGetSuccessor(jump, i);

			if (labels_number_of(labels, to) < labels->count)
				continue;
			if (labels_label_escapes(LLVMBlockAddress(function, to)))
				return false;
			ARRAY_APPEND(labels->blocks, labels->count, to);
		}
	}
	return labels->count != 0;
}

static void labels_replace_goto(
	struct instrument *instrument, const struct labels *labels, LLVMValueRef jump)
{
	const unsigned ways = LLVMGetNumSuccessors(jump);
	LLVMMetadataRef location = LLVMInstructionGetDebugLoc(jump);
	LLVMBasicBlockRef nowhere = LLVMAppendBasicBlockInContext(
		instrument->context, LLVMGetBasicBlockParent(LLVMGetInstructionParent(jump)), "");
	LLVMValueRef number, choice;

	LLVMPositionBuilderAtEnd(instrument->builder, nowhere);
	LLVMInstructionSetDebugLoc(LLVMBuildUnreachable(instrument->builder), location);
	LLVMPositionBuilderBefore(instrument->builder, jump);
	number = LLVMBuildPtrToInt(
		instrument->builder, LLVMGetOperand(jump, 0), instrument->i64, "");
	if (LLVMIsAInstruction(number))
		LLVMInstructionSetDebugLoc(number, location);
	choice = LLVMBuildSwitch(instrument->builder, number, nowhere, ways);
	LLVMInstructionSetDebugLoc(choice, location);
	for (unsigned i = 0; i < ways; i++) {
		LLVMBasicBlockRef to = LLVMGetSuccessor(jump, i);
		unsigned value = labels_number_of(labels, to) + 1;

		/* Duplicate edges must be preserved, because phis have one entry per edge. */
		for (unsigned before = 0; before < i; before++)
			if (LLVMGetSuccessor(jump, before) == to)
				value = labels->count + 1 + i;
		LLVMAddCase(choice, LLVMConstInt(instrument->i64, value, false), to);
	}
	LLVMInstructionEraseFromParent(jump);
}

static void labels_lower(struct instrument *instrument, LLVMValueRef function)
{
	struct labels labels = {0};

	if (labels_collect(function, &labels)) {
		for (unsigned i = 0; i < labels.count; i++)
			LLVMReplaceAllUsesWith(LLVMBlockAddress(function, labels.blocks[i]),
				LLVMConstIntToPtr(LLVMConstInt(instrument->i64, i + 1, false),
					instrument->pointer));
		for (LLVMBasicBlockRef block = LLVMGetFirstBasicBlock(function); block;
			block = LLVMGetNextBasicBlock(block))
			if (labels_goto_of(block))
				labels_replace_goto(instrument, &labels, labels_goto_of(block));
	}
	free(labels.blocks);
}

void lower_gotos(struct instrument *instrument)
{
	for (LLVMValueRef function = LLVMGetFirstFunction(instrument->module); function;
		function = LLVMGetNextFunction(function))
		labels_lower(instrument, function);
}
