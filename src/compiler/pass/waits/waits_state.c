/* What an iteration of a waiting loop leaves behind: values that the next iteration, or code behind the
 * loop, uses. Without optimisation all values are in locals, most of which are dead at the read. */
#include "compiler/pass/waits/waits_internal.h"

/* A search beyond this number of blocks ends without a proof. */
#define SEARCHED_MOST 64

bool waits_is_stored(const struct waits_read *read, LLVMValueRef local)
{
	for (LLVMUseRef use = LLVMGetFirstUse(local); use; use = LLVMGetNextUse(use)) {
		LLVMValueRef user = LLVMGetUser(use);

		if (!LLVMIsALoadInst(user) &&
			has_block(read->blocks, read->block_count, LLVMGetInstructionParent(user)))
			return true;
	}
	return false;
}

bool waits_stores(const struct waits_read *read)
{
	for (unsigned i = 0; i < read->block_count; i++)
		for (LLVMValueRef at = LLVMGetFirstInstruction(read->blocks[i]); at;
			at = LLVMGetNextInstruction(at))
			if (LLVMIsAStoreInst(at) && waits_is_own(LLVMGetOperand(at, 1)))
				return true;
	return false;
}

struct waits_search {
	LLVMBasicBlockRef blocks[SEARCHED_MOST];
	unsigned count;
};

/* Returns false if there are too many blocks. */
static bool waits_search_add(struct waits_search *search, LLVMBasicBlockRef block)
{
	for (unsigned i = 0; i < search->count; i++)
		if (search->blocks[i] == block)
			return true;
	if (search->count == SEARCHED_MOST)
		return false;
	search->blocks[search->count++] = block;
	return true;
}

bool waits_stores_all(LLVMValueRef store, LLVMTypeRef type)
{
	LLVMTargetDataRef layout = LLVMGetModuleDataLayout(
		LLVMGetGlobalParent(LLVMGetBasicBlockParent(LLVMGetInstructionParent(store))));

	return LLVMStoreSizeOfType(layout, LLVMTypeOf(LLVMGetOperand(store, 0))) ==
	       LLVMStoreSizeOfType(layout, type);
}

/* Returns whether the instruction writes all of the local. */
static bool waits_writes(LLVMValueRef instruction, LLVMValueRef local)
{
	return LLVMIsAStoreInst(instruction) && LLVMGetOperand(instruction, 1) == local &&
	       waits_stores_all(instruction, LLVMGetAllocatedType(local));
}

/* Searches one block from `at` on. Returns false if it may read the local before it writes all of it. */
static bool waits_search_block(struct waits_search *search, LLVMValueRef at, LLVMValueRef local)
{
	LLVMValueRef end = LLVMGetBasicBlockTerminator(LLVMGetInstructionParent(at));

	for (; at; at = LLVMGetNextInstruction(at)) {
		if (waits_writes(at, local))
			return true;
		if (LLVMIsALoadInst(at) && LLVMGetOperand(at, 0) == local)
			return false;
	}
	for (unsigned i = 0; i < LLVMGetNumSuccessors(end); i++)
		if (!waits_search_add(search, LLVMGetSuccessor(end, i)))
			return false;
	return true;
}

/* Returns whether all code from `at` on writes the local before it reads it. */
static bool waits_is_dead(LLVMValueRef at, LLVMValueRef local)
{
	struct waits_search search = {.count = 0};

	for (LLVMUseRef use = LLVMGetFirstUse(local); use; use = LLVMGetNextUse(use))
		if (!LLVMIsALoadInst(LLVMGetUser(use)) && !LLVMIsAStoreInst(LLVMGetUser(use)))
			return false;
	if (!waits_search_block(&search, at, local))
		return false;
	for (unsigned i = 0; i < search.count; i++)
		if (!waits_search_block(&search, LLVMGetFirstInstruction(search.blocks[i]), local))
			return false;
	return true;
}

/* Returns the value of the last store to the local in an iteration; NULL: unknown. */
static LLVMValueRef waits_last_value(const struct waits_read *read, LLVMValueRef local)
{
	LLVMValueRef at = LLVMGetPreviousInstruction(read->site->instruction);

	for (unsigned i = read->block_count; i-- > 0; at = LLVMGetLastInstruction(read->blocks[i]))
		for (; at; at = LLVMGetPreviousInstruction(at))
			if (waits_writes(at, local))
				return LLVMGetOperand(at, 0);
	return NULL;
}

bool waits_has_one_value(const struct waits_read *read, LLVMValueRef local)
{
	LLVMValueRef value = waits_last_value(read, local);

	if (!value || !LLVMIsAConstant(value) || read->other)
		return false;
	for (LLVMUseRef use = LLVMGetFirstUse(local); use; use = LLVMGetNextUse(use)) {
		LLVMValueRef user = LLVMGetUser(use);

		if (!LLVMIsALoadInst(user) &&
			(!waits_writes(user, local) ||
				(LLVMGetOperand(user, 0) != value &&
					!has_block(read->blocks, read->block_count,
						LLVMGetInstructionParent(user)))))
			return false;
	}
	return true;
}

/* Returns whether the load may read what the iteration before has stored in a local. */
static bool waits_is_of_last_iteration(const struct waits_read *read, LLVMValueRef load)
{
	LLVMValueRef local = LLVMGetOperand(load, 0);
	LLVMValueRef at = LLVMGetPreviousInstruction(load);

	if (!waits_is_own(local) || !waits_is_stored(read, local))
		return false;
	while (at && !(LLVMIsAStoreInst(at) && LLVMGetOperand(at, 1) == local))
		at = LLVMGetPreviousInstruction(at);
	return !at && !waits_has_one_value(read, local);
}

/* Returns whether the phi is used only by the end of its own block, behind which the read does not lie. */
static bool waits_is_used_at_once(const struct waits_read *read, LLVMValueRef phi)
{
	LLVMBasicBlockRef block = LLVMGetInstructionParent(phi);

	for (LLVMUseRef use = LLVMGetFirstUse(phi); use; use = LLVMGetNextUse(use))
		if (LLVMGetUser(use) != LLVMGetBasicBlockTerminator(block))
			return false;
	return LLVMGetInstructionParent(read->site->instruction) != block;
}

/* Returns whether the phi has another value in the next iteration. */
static bool waits_is_changing(const struct waits_read *read, LLVMValueRef phi)
{
	for (unsigned i = 0; i < LLVMCountIncoming(phi); i++)
		if (has_block(read->blocks, read->block_count, LLVMGetIncomingBlock(phi, i)) &&
			LLVMGetIncomingValue(phi, i) != phi)
			return !waits_is_used_at_once(read, phi);
	return false;
}

static bool waits_leaves_state(const struct waits_read *read, LLVMValueRef instruction)
{
	switch (LLVMGetInstructionOpcode(instruction)) {
	case LLVMPHI:
		return waits_is_changing(read, instruction);
	case LLVMLoad:
		return waits_is_of_last_iteration(read, instruction);
	case LLVMStore:
		return !waits_is_dead(LLVMGetNextInstruction(read->site->instruction),
			       LLVMGetOperand(instruction, 1)) &&
		       !waits_has_one_value(read, LLVMGetOperand(instruction, 1));
	default:
		return false;
	}
}

bool waits_has_no_state(const struct waits_read *read)
{
	for (unsigned i = 0; i < read->block_count; i++)
		for (LLVMValueRef at = LLVMGetFirstInstruction(read->blocks[i]); at;
			at = LLVMGetNextInstruction(at))
			if (waits_leaves_state(read, at))
				return false;
	return true;
}

/* Returns whether code outside of the cycle uses the result. */
static bool waits_is_used_behind(const struct waits_read *read, LLVMValueRef instruction)
{
	for (LLVMUseRef use = LLVMGetFirstUse(instruction); use; use = LLVMGetNextUse(use))
		if (!has_block(read->blocks, read->block_count,
			    LLVMGetInstructionParent(LLVMGetUser(use))))
			return true;
	return LLVMIsAStoreInst(instruction) &&
	       !waits_is_dead(LLVMGetFirstInstruction(read->exit), LLVMGetOperand(instruction, 1));
}

bool waits_is_forgotten(const struct waits_read *read)
{
	for (unsigned i = 0; i < read->block_count; i++)
		for (LLVMValueRef at = LLVMGetFirstInstruction(read->blocks[i]); at;
			at = LLVMGetNextInstruction(at))
			if (waits_is_used_behind(read, at))
				return false;
	return true;
}
