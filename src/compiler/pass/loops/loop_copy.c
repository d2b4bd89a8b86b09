#include "compiler/pass/loops/loops.h"

#include <stdlib.h>

#include <llvm-c/DebugInfo.h>

#include "base/array.h"

struct copies {
	struct instrument *instrument;
	const struct loop *loop;
	LLVMBasicBlockRef blocks[LOOP_BLOCKS_MOST];
	LLVMValueRef from[LOOP_INSTRUCTIONS_MOST], to[LOOP_INSTRUCTIONS_MOST];
	unsigned count;
};

static LLVMBasicBlockRef loop_copy_of_block(const struct copies *copies, LLVMBasicBlockRef block)
{
	for (unsigned i = 0; i < copies->loop->block_count; i++)
		if (copies->loop->blocks[i] == block)
			return copies->blocks[i];
	return block;
}

static LLVMValueRef loop_copy_copy_of(const struct copies *copies, LLVMValueRef value)
{
	if (!LLVMIsAInstruction(value))
		return value;
	for (unsigned i = 0; i < copies->count; i++)
		if (copies->from[i] == value)
			return copies->to[i];
	return value;
}

static bool loop_copy_is_used_behind(const struct loop *loop, LLVMValueRef value)
{
	for (LLVMUseRef use = LLVMGetFirstUse(value); use; use = LLVMGetNextUse(use))
		if (!loop_has(loop, LLVMGetUser(use)))
			return true;
	return false;
}

/* Returns whether `user` is a phi in an exit block; such a phi only gets further incoming values. */
static bool loop_copy_is_exit_phi(const struct loop *loop, LLVMValueRef user)
{
	if (!LLVMIsAPHINode(user))
		return false;
	for (unsigned i = 0; i < LLVMCountIncoming(user); i++)
		if (has_block(loop->blocks, loop->block_count, LLVMGetIncomingBlock(user, i)))
			return true;
	return false;
}

/* An exit phi that receives the value on an edge from outside the loop needs a new phi, too. */
static bool loop_copy_needs_phi(const struct loop *loop, LLVMValueRef value, LLVMValueRef user)
{
	if (loop_has(loop, user))
		return false;
	if (!loop_copy_is_exit_phi(loop, user))
		return true;
	for (unsigned i = 0; i < LLVMCountIncoming(user); i++)
		if (LLVMGetIncomingValue(user, i) == value &&
			!has_block(loop->blocks, loop->block_count, LLVMGetIncomingBlock(user, i)))
			return true;
	return false;
}

/* Returns the only exit block if all its predecessors are in the loop; else NULL. */
static LLVMBasicBlockRef loop_copy_only_exit(const struct loop *loop)
{
	LLVMBasicBlockRef exit = NULL;

	for (unsigned i = 0; i < loop->block_count; i++) {
		LLVMValueRef end = LLVMGetBasicBlockTerminator(loop->blocks[i]);

		for (unsigned j = 0; j < LLVMGetNumSuccessors(end); j++) {
			LLVMBasicBlockRef next = LLVMGetSuccessor(end, j);

			if (has_block(loop->blocks, loop->block_count, next) || next == exit)
				continue;
			if (exit)
				return NULL;
			exit = next;
		}
	}
	if (!exit)
		return NULL;
	for (LLVMUseRef use = LLVMGetFirstUse(LLVMBasicBlockAsValue(exit)); use;
		use = LLVMGetNextUse(use))
		if (!loop_has(loop, LLVMGetUser(use)))
			return NULL;
	return exit;
}

bool loop_copy_is_possible(const struct loop *loop)
{
	const bool has_only_exit = loop_copy_only_exit(loop) != NULL;

	for (unsigned i = 0; i < loop->block_count; i++)
		for (LLVMValueRef value = LLVMGetFirstInstruction(loop->blocks[i]); value;
			value = LLVMGetNextInstruction(value))
			for (LLVMUseRef use = LLVMGetFirstUse(value); use && !has_only_exit;
				use = LLVMGetNextUse(use))
				if (loop_copy_needs_phi(loop, value, LLVMGetUser(use)))
					return false;
	return true;
}

static void loop_copy_replace_operands(LLVMValueRef user, LLVMValueRef old, LLVMValueRef new)
{
	for (int i = 0; i < LLVMGetNumOperands(user); i++)
		if (LLVMGetOperand(user, (unsigned)i) == old)
			LLVMSetOperand(user, (unsigned)i, new);
}

/* Sites behind the loop keep operands of their instructions, which now use the phi. */
static void loop_copy_replace_in_sites(
	const struct copies *copies, const struct sites *sites, LLVMValueRef old, LLVMValueRef new)
{
	for (size_t i = sites->first; i < sites->end; i++)
		if (!loop_has(copies->loop, copies->instrument->sites[i].instruction))
			site_replace(&copies->instrument->sites[i], old, new);
}

/* Merges the value and its copy by a phi in the exit block, and makes all later users use the phi. */
static void loop_copy_merge_result(const struct copies *copies, const struct sites *sites,
	LLVMValueRef value, LLVMBasicBlockRef exit)
{
	LLVMBuilderRef builder = copies->instrument->builder;
	LLVMValueRef copy = loop_copy_copy_of(copies, value);
	LLVMValueRef phi = NULL;
	LLVMUseRef next;

	for (LLVMUseRef use = LLVMGetFirstUse(value); use; use = next) {
		LLVMValueRef user = LLVMGetUser(use);

		/* A user may refer to the value twice, so replacing an operand may invalidate the
		 * next use. */
		next = LLVMGetNextUse(use);
		if (user == phi || !loop_copy_needs_phi(copies->loop, value, user))
			continue;
		if (!phi) {
			LLVMPositionBuilderBeforeInstrAndDbgRecords(
				builder, LLVMGetFirstInstruction(exit));
			phi = LLVMBuildPhi(builder, LLVMTypeOf(value), "");
			next = LLVMGetFirstUse(value);
			continue;
		}
		loop_copy_replace_operands(user, value, phi);
		next = LLVMGetFirstUse(value);
	}
	if (phi)
		loop_copy_replace_in_sites(copies, sites, value, phi);
	for (unsigned i = 0; phi && i < copies->loop->block_count; i++) {
		LLVMValueRef end = LLVMGetBasicBlockTerminator(copies->loop->blocks[i]);

		for (unsigned j = 0; j < LLVMGetNumSuccessors(end); j++) {
			if (LLVMGetSuccessor(end, j) != exit)
				continue;
			LLVMAddIncoming(phi, (LLVMValueRef[]){value, copy},
				(LLVMBasicBlockRef[]){copies->loop->blocks[i], copies->blocks[i]},
				2);
		}
	}
}

static void loop_copy_extend_phis(const struct copies *copies, LLVMBasicBlockRef exit)
{
	for (LLVMValueRef phi = LLVMGetFirstInstruction(exit); LLVMIsAPHINode(phi);
		phi = LLVMGetNextInstruction(phi)) {
		const unsigned count = LLVMCountIncoming(phi);

		for (unsigned i = 0; i < count; i++) {
			LLVMBasicBlockRef from = LLVMGetIncomingBlock(phi, i);
			LLVMBasicBlockRef copy = loop_copy_of_block(copies, from);
			LLVMValueRef value =
				loop_copy_copy_of(copies, LLVMGetIncomingValue(phi, i));

			if (copy != from)
				LLVMAddIncoming(phi, &value, &copy, 1);
		}
	}
}

static void loop_copy_extend_exits(const struct copies *copies)
{
	const struct loop *loop = copies->loop;
	LLVMBasicBlockRef done[2 * LOOP_BLOCKS_MOST];
	unsigned count = 0;

	for (unsigned i = 0; i < loop->block_count; i++) {
		LLVMValueRef end = LLVMGetBasicBlockTerminator(loop->blocks[i]);

		for (unsigned j = 0; j < LLVMGetNumSuccessors(end); j++) {
			LLVMBasicBlockRef exit = LLVMGetSuccessor(end, j);
			unsigned known = 0;

			while (known < count && done[known] != exit)
				known++;
			if (has_block(loop->blocks, loop->block_count, exit) || known < count)
				continue;
			done[count++] = exit;
			loop_copy_extend_phis(copies, exit);
		}
	}
}

static void loop_copy_instructions(struct copies *copies, unsigned block)
{
	LLVMBuilderRef builder = copies->instrument->builder;
	LLVMValueRef one = LLVMGetFirstInstruction(copies->loop->blocks[block]);

	LLVMPositionBuilderAtEnd(builder, copies->blocks[block]);
	for (; one; one = LLVMGetNextInstruction(one)) {
		LLVMValueRef copy;

		if (LLVMIsAPHINode(one)) {
			copy = LLVMBuildPhi(builder, LLVMTypeOf(one), "");
		} else {
			copy = LLVMInstructionClone(one);
			LLVMInsertIntoBuilder(builder, copy);
			LLVMInstructionSetDebugLoc(copy, LLVMInstructionGetDebugLoc(one));
		}
		copies->from[copies->count] = one;
		copies->to[copies->count++] = copy;
	}
}

/* Fills a phi of the copy. The edge from outside starts at `entry`. */
static void loop_copy_connect_phi(
	const struct copies *copies, LLVMValueRef phi, LLVMValueRef copy, LLVMBasicBlockRef entry)
{
	for (unsigned i = 0; i < LLVMCountIncoming(phi); i++) {
		LLVMBasicBlockRef from = LLVMGetIncomingBlock(phi, i);
		LLVMBasicBlockRef block =
			from == copies->loop->outside ? entry : loop_copy_of_block(copies, from);
		LLVMValueRef value = loop_copy_copy_of(copies, LLVMGetIncomingValue(phi, i));

		LLVMAddIncoming(copy, &value, &block, 1);
	}
}

static void loop_copy_connect(const struct copies *copies, LLVMBasicBlockRef entry)
{
	for (unsigned i = 0; i < copies->count; i++) {
		LLVMValueRef copy = copies->to[i];

		if (LLVMIsAPHINode(copy)) {
			loop_copy_connect_phi(copies, copies->from[i], copy, entry);
			continue;
		}
		for (int j = 0; j < LLVMGetNumOperands(copy); j++) {
			LLVMValueRef operand = LLVMGetOperand(copy, (unsigned)j);

			if (LLVMIsAInstruction(operand))
				LLVMSetOperand(
					copy, (unsigned)j, loop_copy_copy_of(copies, operand));
		}
		if (!LLVMIsATerminatorInst(copy))
			continue;
		for (unsigned j = 0; j < LLVMGetNumSuccessors(copy); j++)
			LLVMSetSuccessor(
				copy, j, loop_copy_of_block(copies, LLVMGetSuccessor(copy, j)));
	}
}

LLVMBasicBlockRef loop_copy(struct instrument *instrument, const struct sites *sites,
	const struct loop *loop, LLVMBasicBlockRef entry)
{
	struct copies *copies = array_new(1, sizeof *copies);
	LLVMBasicBlockRef exit = loop_copy_only_exit(loop);
	LLVMBasicBlockRef header;

	copies->instrument = instrument;
	copies->loop = loop;
	for (unsigned i = 0; i < loop->block_count; i++)
		copies->blocks[i] = LLVMAppendBasicBlockInContext(
			instrument->context, LLVMGetBasicBlockParent(loop->header), "");
	for (unsigned i = 0; i < loop->block_count; i++)
		loop_copy_instructions(copies, i);
	loop_copy_connect(copies, entry);
	loop_copy_extend_exits(copies);
	for (unsigned i = 0; exit && i < copies->count; i++)
		if (loop_copy_is_used_behind(loop, copies->from[i]))
			loop_copy_merge_result(copies, sites, copies->from[i], exit);
	header = copies->blocks[0];
	free(copies);
	return header;
}
