/*
 * Waiting loops: while (!atomic_load(&flag)), while (atomic_flag_test_and_set(&lock)), and so on.
 * In the iterations that go on, such a loop reads one location and does nothing else. The thread
 * therefore waits, as for a lock, until the location has a value that ends the loop. The site of the
 * read says so (SITE_WAITS), and passes the condition to the runtime (enum site_wait_word).
 *
 * A loop is recognised from its read: behind the read, one conditional branch depends on nothing but
 * the value that was read. One of its ways leads back to the read. On this cycle nothing else has
 * an effect or depends on the iteration: waits_state.c. Optimisers often copy the first iteration to the front of
 * the loop; the read of this copy waits for the same value and has the same exit. waits_pair.c
 * recognises loops that read two locations.
 */
#include "compiler/pass/waits_internal.h"

#include <stdlib.h>
#include <string.h>

#define DEPTH_MOST 8

bool waits_has_block(const struct waits_read *read, LLVMBasicBlockRef block)
{
	for (unsigned i = 0; i < read->block_count; i++)
		if (read->blocks[i] == block)
			return true;
	return false;
}

static bool waits_is_pause(LLVMValueRef call)
{
	LLVMValueRef callee = LLVMGetCalledValue(call);
	const char *name, *text;
	size_t length;

	if (LLVMIsAInlineAsm(callee)) {
		text = LLVMGetInlineAsmAsmString(callee, &length);
		return !assembly_names_memory(call) &&
		       LLVMGetTypeKind(LLVMTypeOf(call)) == LLVMVoidTypeKind &&
		       (length == 0 || (length < 16 && (memmem(text, length, "pause", 5) ||
							       memmem(text, length, "nop", 3))));
	}
	name = called_name(call);
	return name &&
	       (strcmp(name, "sched_yield") == 0 || strcmp(name, "llvm.x86.sse2.pause") == 0 ||
		       strncmp(name, "llvm.dbg.", 9) == 0);
}

bool waits_is_own(LLVMValueRef pointer)
{
	return LLVMIsAAllocaInst(pointer) && filter_is_private(pointer);
}

/* Returns whether an iteration may execute the instruction and leave no trace but in locals. */
static bool waits_is_pure(LLVMValueRef instruction)
{
	switch (LLVMGetInstructionOpcode(instruction)) {
	case LLVMLoad:
		return !LLVMGetVolatile(instruction) &&
		       waits_is_own(LLVMGetOperand(instruction, 0));
	case LLVMStore:
		return !LLVMGetVolatile(instruction) &&
		       waits_is_own(LLVMGetOperand(instruction, 1));
	case LLVMCall:
		return waits_is_pause(instruction);
	case LLVMFence:
	case LLVMICmp:
	case LLVMAdd:
	case LLVMSub:
	case LLVMAnd:
	case LLVMOr:
	case LLVMXor:
	case LLVMTrunc:
	case LLVMZExt:
	case LLVMSExt:
	case LLVMPtrToInt:
	case LLVMIntToPtr:
	case LLVMBitCast:
	case LLVMGetElementPtr:
	case LLVMExtractValue:
	case LLVMFreeze:
	case LLVMBr:
		return true;
	default:
		return false;
	}
}

/* Returns the value that a phi has for the way from `from`, and NULL if the way does not exist. */
static LLVMValueRef waits_incoming(LLVMValueRef phi, LLVMBasicBlockRef from)
{
	for (unsigned i = 0; i < LLVMCountIncoming(phi); i++)
		if (LLVMGetIncomingBlock(phi, i) == from)
			return LLVMGetIncomingValue(phi, i);
	return NULL;
}

/* Returns the block that follows `block` if the thread has come from `from`. Without optimisation, the
 * second branch of a && b depends on a phi, which is constant for one way. If the next block depends on
 * more than the way, returns NULL and sets the condition. */
static LLVMBasicBlockRef waits_next(
	LLVMBasicBlockRef block, LLVMBasicBlockRef from, LLVMValueRef *condition)
{
	LLVMValueRef branch = LLVMGetBasicBlockTerminator(block), value;

	*condition = NULL;
	if (!LLVMIsConditional(branch))
		return LLVMGetSuccessor(branch, 0);
	value = LLVMGetCondition(branch);
	if (from && LLVMIsAPHINode(value) && LLVMGetInstructionParent(value) == block)
		value = waits_incoming(value, from);
	if (value && LLVMIsAConstantInt(value))
		return LLVMGetSuccessor(branch, LLVMConstIntGetZExtValue(value) ? 0 : 1);
	*condition = value;
	return NULL;
}

/* Returns where the thread arrives that goes from `from` to a block with nothing but a decided branch. */
static LLVMBasicBlockRef waits_arrive(LLVMBasicBlockRef from, LLVMBasicBlockRef block)
{
	LLVMValueRef at = LLVMGetFirstInstruction(block), condition;
	LLVMBasicBlockRef next;

	while (LLVMIsAPHINode(at))
		at = LLVMGetNextInstruction(at);
	if (!LLVMIsABranchInst(at) || !LLVMIsConditional(at))
		return block;
	next = waits_next(block, from, &condition);
	return next ? next : block;
}

LLVMBasicBlockRef waits_follow(struct waits_read *read, LLVMBasicBlockRef block, LLVMValueRef after,
	LLVMBasicBlockRef from)
{
	LLVMValueRef at = after ? LLVMGetNextInstruction(after) : LLVMGetFirstInstruction(block);
	LLVMBasicBlockRef next;

	for (;;) {
		while (at && at != read->site->instruction && LLVMIsAPHINode(at))
			at = LLVMGetNextInstruction(at);
		for (; at && at != read->site->instruction; at = LLVMGetNextInstruction(at))
			if (!waits_is_pure(at))
				return NULL;
		if (!waits_has_block(read, block)) {
			if (read->block_count == WAITS_BLOCKS_MOST)
				return NULL;
			read->blocks[read->block_count++] = block;
		} else if (!after) {
			return at ? block : NULL; /* an inner cycle without the read */
		}
		read->condition = NULL;
		next = at ? NULL : waits_next(block, from, &read->condition);
		if (!next)
			return block;
		from = block;
		block = next;
		at = LLVMGetFirstInstruction(block);
		after = NULL;
	}
}

bool waits_is_constant(const struct waits_read *read, LLVMValueRef value, unsigned depth)
{
	if (!LLVMIsAInstruction(value) || !waits_has_block(read, LLVMGetInstructionParent(value)))
		return true;
	if (depth == DEPTH_MOST)
		return false;
	switch (LLVMGetInstructionOpcode(value)) {
	case LLVMLoad:
		return waits_is_own(LLVMGetOperand(value, 0)) &&
		       !waits_is_stored(read, LLVMGetOperand(value, 0));
	case LLVMGetElementPtr:
	case LLVMTrunc:
	case LLVMZExt:
	case LLVMSExt:
	case LLVMAdd:
	case LLVMSub:
		for (int i = 0; i < LLVMGetNumOperands(value); i++)
			if (!waits_is_constant(read, LLVMGetOperand(value, (unsigned)i), depth + 1))
				return false;
		return true;
	default:
		return false;
	}
}

/* Without optimisation each value goes through a local. If `value` is a load from a local that the
 * same block has stored to before, returns the stored value; else returns `value`. */
static LLVMValueRef waits_through_local(const struct waits_read *read, LLVMValueRef value)
{
	LLVMValueRef at;

	for (unsigned depth = 0; LLVMIsALoadInst(value) && value != read->site->instruction;
		depth++) {
		LLVMValueRef pointer = LLVMGetOperand(value, 0);

		at = LLVMGetPreviousInstruction(value);
		while (at && at != read->site->instruction &&
			!(LLVMIsAStoreInst(at) && LLVMGetOperand(at, 1) == pointer))
			at = LLVMGetPreviousInstruction(at);
		if (!at || !LLVMIsAStoreInst(at) || depth == DEPTH_MOST)
			return value;
		value = LLVMGetOperand(at, 0);
	}
	return value;
}

static bool waits_is_zero(LLVMValueRef value)
{
	return LLVMIsAConstant(value) && LLVMIsNull(value);
}

/* If *value is "x & mask" or a truncation to one bit, replaces it by x and returns the mask. Else
 * returns NULL. */
static LLVMValueRef waits_mask_of(const struct waits_read *read, LLVMValueRef *value)
{
	const LLVMOpcode opcode =
		LLVMIsAInstruction(*value) ? LLVMGetInstructionOpcode(*value) : (LLVMOpcode)0;
	LLVMValueRef mask = NULL;

	if (opcode == LLVMAnd && waits_is_constant(read, LLVMGetOperand(*value, 1), 0)) {
		mask = LLVMGetOperand(*value, 1);
		*value = waits_through_local(read, LLVMGetOperand(*value, 0));
	} else if (opcode == LLVMTrunc && LLVMGetIntTypeWidth(LLVMTypeOf(*value)) == 1) {
		mask = LLVMConstInt(LLVMTypeOf(LLVMGetOperand(*value, 0)), 1, false);
		*value = waits_through_local(read, LLVMGetOperand(*value, 0));
	}
	return mask;
}

static const struct {
	LLVMIntPredicate predicate;
	enum site_wait_test test, opposite;
} waits_tests[] = {
	{LLVMIntEQ, SITE_WAIT_EQUAL, SITE_WAIT_DIFFERENT},
	{LLVMIntNE, SITE_WAIT_DIFFERENT, SITE_WAIT_EQUAL},
	{LLVMIntUGT, SITE_WAIT_ABOVE, SITE_WAIT_AT_MOST},
	{LLVMIntULE, SITE_WAIT_AT_MOST, SITE_WAIT_ABOVE},
	{LLVMIntULT, SITE_WAIT_BELOW, SITE_WAIT_AT_LEAST},
	{LLVMIntUGE, SITE_WAIT_AT_LEAST, SITE_WAIT_BELOW},
	{LLVMIntSGT, SITE_WAIT_SIGNED_ABOVE, SITE_WAIT_SIGNED_AT_MOST},
	{LLVMIntSLE, SITE_WAIT_SIGNED_AT_MOST, SITE_WAIT_SIGNED_ABOVE},
	{LLVMIntSLT, SITE_WAIT_SIGNED_BELOW, SITE_WAIT_SIGNED_AT_LEAST},
	{LLVMIntSGE, SITE_WAIT_SIGNED_AT_LEAST, SITE_WAIT_SIGNED_BELOW},
};

/* Sets the test for values with which the comparison gives `is_true`. */
static bool waits_set_comparison(struct waits_read *read, LLVMValueRef comparison, bool is_true)
{
	const LLVMIntPredicate predicate = LLVMGetICmpPredicate(comparison);
	LLVMValueRef value = waits_through_local(read, LLVMGetOperand(comparison, 0));
	LLVMValueRef operand = waits_through_local(read, LLVMGetOperand(comparison, 1));
	LLVMValueRef mask = waits_mask_of(read, &value);

	if (value != read->site->instruction)
		return false;
	if (mask) {
		const bool is_clear = (predicate == LLVMIntEQ) == is_true;

		read->test = is_clear ? SITE_WAIT_CLEAR : SITE_WAIT_SET;
		read->operand = mask;
		return waits_is_zero(operand) && (predicate == LLVMIntEQ || predicate == LLVMIntNE);
	}
	for (size_t i = 0; i < sizeof waits_tests / sizeof *waits_tests; i++) {
		if (waits_tests[i].predicate != predicate)
			continue;
		read->test = is_true ? waits_tests[i].test : waits_tests[i].opposite;
		read->operand = operand;
		return waits_is_constant(read, operand, 0);
	}
	return false;
}

/* Returns whether the value says that the exchange has succeeded. */
static bool waits_is_success(const struct waits_read *read, LLVMValueRef value)
{
	return LLVMIsAExtractValueInst(value) &&
	       LLVMGetOperand(value, 0) == read->site->instruction && *LLVMGetIndices(value) == 1;
}

bool waits_set_test(struct waits_read *read, LLVMValueRef condition, bool is_true)
{
	LLVMValueRef value = waits_through_local(read, condition);

	while (LLVMIsAInstruction(value) && LLVMGetInstructionOpcode(value) == LLVMXor &&
		LLVMIsAConstantInt(LLVMGetOperand(value, 1)) &&
		LLVMGetIntTypeWidth(LLVMTypeOf(value)) == 1) {
		is_true ^= LLVMConstIntGetZExtValue(LLVMGetOperand(value, 1)) != 0;
		value = waits_through_local(read, LLVMGetOperand(value, 0));
	}
	if (read->site->kind == SITE_COMPARE_EXCHANGE) {
		read->operand = LLVMGetOperand(read->site->instruction, 1);
		return is_true && waits_is_success(read, value) &&
		       waits_is_constant(read, read->operand, 0);
	}
	if (LLVMIsAICmpInst(value))
		return waits_set_comparison(read, value, is_true);
	read->operand = waits_mask_of(read, &value);
	read->test = is_true ? SITE_WAIT_SET : SITE_WAIT_CLEAR;
	return read->operand && value == read->site->instruction;
}

/* Returns whether an update that does not end the loop can leave the memory as it is. */
static bool waits_may_keep(const struct site *site)
{
	LLVMAtomicRMWBinOp operation;

	if (site->kind != SITE_ATOMIC_UPDATE)
		return true;
	operation = LLVMGetAtomicRMWBinOp(site->instruction);
	return operation == LLVMAtomicRMWBinOpXchg || operation == LLVMAtomicRMWBinOpOr;
}

bool waits_may_wait(const struct site *site)
{
	switch (site->kind) {
	case SITE_LOAD:
	case SITE_ATOMIC_LOAD:
		return LLVMIsALoadInst(site->instruction) && site->bytes <= sizeof(uint64_t) &&
		       LLVMGetTypeKind(LLVMTypeOf(site->instruction)) != LLVMVectorTypeKind;
	case SITE_ATOMIC_UPDATE:
		return LLVMIsAAtomicRMWInst(site->instruction) && site->bytes <= sizeof(uint64_t) &&
		       waits_may_keep(site);
	case SITE_COMPARE_EXCHANGE:
		return LLVMIsAAtomicCmpXchgInst(site->instruction) && site->order & SITE_EXPECTED;
	default:
		return false;
	}
}

bool waits_find_branch(struct waits_read *read, unsigned way)
{
	LLVMValueRef branch;

	read->branching = waits_follow(read, LLVMGetInstructionParent(read->site->instruction),
		read->site->instruction, NULL);
	if (!read->branching || !read->condition)
		return false;
	branch = LLVMGetBasicBlockTerminator(read->branching);
	read->back = LLVMGetSuccessor(branch, way);
	read->exit = waits_arrive(read->branching, LLVMGetSuccessor(branch, 1 - way));
	return true;
}

bool waits_leads_to(const struct waits_read *from, struct waits_read *to)
{
	LLVMValueRef condition = to->condition;
	const bool leads = waits_follow(to, from->back, NULL, from->branching) ==
			   LLVMGetInstructionParent(to->site->instruction);

	to->condition = condition;
	return leads;
}

/* Finds the branch behind the read whose one way leads back to the read. */
static bool waits_find_cycle(struct waits_read *read)
{
	const struct waits_read start = *read;

	for (unsigned way = 0; way < 2; way++) {
		*read = start;
		if (!waits_find_branch(read, way))
			return false;
		if (waits_leads_to(read, read) && !waits_has_block(read, read->exit) &&
			waits_has_no_state(read) &&
			waits_is_constant(read, read->site->pointer, 0) &&
			waits_set_test(read, read->condition, way == 1))
			return true;
	}
	return false;
}

/* Returns whether both exits lead to the same place with the same values, but for the values read. */
static bool waits_has_same_exit(const struct waits_read *first, const struct waits_read *loop)
{
	if (first->exit != loop->exit)
		return false;
	for (LLVMValueRef phi = LLVMGetFirstInstruction(first->exit); LLVMIsAPHINode(phi);
		phi = LLVMGetNextInstruction(phi)) {
		LLVMValueRef a = waits_incoming(phi, first->branching);
		LLVMValueRef b = waits_incoming(phi, loop->branching);

		if (!a || (a != b &&
				  !(a == first->site->instruction && b == loop->site->instruction)))
			return false;
	}
	return true;
}

/* Recognises the copy of the first iteration in front of the loop. */
static bool waits_find_first(struct waits_read *read, const struct waits_read *loop)
{
	const struct waits_read start = *read;
	struct waits_read probe;

	for (unsigned way = 0; way < 2; way++) {
		*read = start;
		if (!waits_find_branch(read, way))
			return false;
		probe = (struct waits_read){.site = loop->site};
		if (waits_has_same_exit(read, loop) && waits_leads_to(read, &probe) &&
			!waits_stores(read) && !waits_stores(&probe) && !waits_stores(loop) &&
			waits_set_test(read, read->condition, way == 1) &&
			read->test == loop->test && read->operand == loop->operand)
			return true;
	}
	return false;
}

/* Marks the reads in front of the loop, at the same address in the same function. */
static void waits_mark_first(
	struct instrument *instrument, const struct sites *sites, const struct waits_read *loop)
{
	for (size_t i = sites->first; i < sites->end; i++) {
		struct waits_read read = {.site = &instrument->sites[i]};

		if (read.site != loop->site && read.site->kind == loop->site->kind &&
			read.site->pointer == loop->site->pointer &&
			read.site->bytes == loop->site->bytes && !(read.site->flags & SITE_WAITS) &&
			waits_may_wait(read.site) && waits_find_first(&read, loop))
			waits_mark(instrument, &read);
	}
}

void find_waits(struct instrument *instrument)
{
	struct sites sites;

	for (sites.first = 0; sites.first < instrument->site_count; sites.first = sites.end) {
		sites.end = sites_end_of_function(instrument, sites.first);
		for (size_t i = sites.first; i < sites.end; i++) {
			struct waits_read read = {.site = &instrument->sites[i]};

			if (!waits_may_wait(read.site))
				continue;
			if (waits_find_cycle(&read)) {
				waits_mark_first(instrument, &sites, &read);
				waits_mark(instrument, &read);
			} else {
				waits_mark_pair(instrument, &sites, i);
			}
		}
	}
}
