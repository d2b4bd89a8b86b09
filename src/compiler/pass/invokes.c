/*
 * An invoke (a call with exception handling) continues in another block. Its result is reported at
 * the start of that block, so the block must have no other predecessor. If it has one, a new block
 * is inserted between.
 */

#include <llvm-c/DebugInfo.h>

#include "compiler/pass/instrument.h"

/* Replaces a predecessor in a phi. LLVM-C cannot change incoming blocks, so a new phi is built. */
static void invokes_replace_edge(struct instrument *instrument, LLVMValueRef phi,
	LLVMBasicBlockRef before, LLVMBasicBlockRef after)
{
	const unsigned count = LLVMCountIncoming(phi);
	LLVMMetadataRef location = LLVMInstructionGetDebugLoc(phi);
	LLVMValueRef changed;

	LLVMPositionBuilderBefore(instrument->builder, phi);
	changed = LLVMBuildPhi(instrument->builder, LLVMTypeOf(phi), "");
	for (unsigned i = 0; i < count; i++) {
		LLVMValueRef value = LLVMGetIncomingValue(phi, i);
		LLVMBasicBlockRef block = LLVMGetIncomingBlock(phi, i);

		if (block == before)
			block = after;
		LLVMAddIncoming(changed, &value, &block, 1);
	}
	LLVMInstructionSetDebugLoc(changed, location);
	LLVMReplaceAllUsesWith(phi, changed);
	LLVMInstructionEraseFromParent(phi);
}

static void invokes_split(struct instrument *instrument, LLVMValueRef invoke)
{
	LLVMBasicBlockRef from = LLVMGetInstructionParent(invoke);
	LLVMBasicBlockRef to = LLVMGetNormalDest(invoke);
	LLVMBasicBlockRef between = LLVMInsertBasicBlockInContext(instrument->context, to, "");
	LLVMMetadataRef location = LLVMInstructionGetDebugLoc(invoke);
	LLVMValueRef next;

	LLVMPositionBuilderAtEnd(instrument->builder, between);
	LLVMInstructionSetDebugLoc(LLVMBuildBr(instrument->builder, to), location);
	LLVMSetNormalDest(invoke, between);
	for (LLVMValueRef i = LLVMGetFirstInstruction(to); i && LLVMIsAPHINode(i); i = next) {
		next = LLVMGetNextInstruction(i);
		invokes_replace_edge(instrument, i, from, between);
	}
}

void split_invokes(struct instrument *instrument)
{
	for (LLVMValueRef function = LLVMGetFirstFunction(instrument->module); function;
		function = LLVMGetNextFunction(function))
		for (LLVMBasicBlockRef block = LLVMGetFirstBasicBlock(function); block;
			block = LLVMGetNextBasicBlock(block)) {
			LLVMValueRef last = LLVMGetBasicBlockTerminator(block);

			if (last && LLVMIsAInvokeInst(last) &&
				!has_one_predecessor(LLVMGetNormalDest(last)))
				invokes_split(instrument, last);
		}
}
