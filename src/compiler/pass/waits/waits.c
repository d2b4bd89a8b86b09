/*
 * Waiting loops: while (!atomic_load(&flag)), while (atomic_flag_test_and_set(&lock)), and so on.
 * In the iterations that go on, such a loop reads one location and does nothing else. The thread
 * therefore waits, as for a lock, until the location has a value that ends the loop. The site of the
 * read says so (SITE_WAITS), and passes the condition to the runtime (enum site_wait_word).
 *
 * A loop is recognised from its read: behind the read, one conditional branch depends on nothing but
 * the value that was read. One of its edges leads back to the read. On this cycle nothing else has
 * an effect or depends on the iteration: waits_state.c. Optimisers often copy the first iteration to the front of
 * the loop; the read of this copy waits for the same value and has the same exit. waits_pair.c
 * recognises loops that read two locations.
 */
#include "compiler/pass/waits/waits_internal.h"

#include <stdlib.h>
#include <string.h>

#define DEPTH_MOST 8

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

/* Returns whether the instruction changes nothing but local variables of the function. */
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

/* Returns the block that follows `block` if the thread has come from `edge.from`. Without optimisation, the
 * second branch of a && b depends on a phi, which is constant for one edge, and the success of a
 * compare-exchange is tested twice. If the thread may take both branches, returns NULL and sets *condition. */
static LLVMBasicBlockRef waits_next(
	LLVMBasicBlockRef block, struct waits_edge edge, LLVMValueRef *condition)
{
	LLVMValueRef branch = LLVMGetBasicBlockTerminator(block), value;
	bool is_true = true;

	*condition = NULL;
	if (!LLVMIsConditional(branch))
		return LLVMGetSuccessor(branch, 0);
	value = LLVMGetCondition(branch);
	if (edge.from && LLVMIsAPHINode(value) && LLVMGetInstructionParent(value) == block)
		value = incoming_from(value, edge.from);
	if (value && LLVMIsAConstantInt(value))
		return LLVMGetSuccessor(branch, LLVMConstIntGetZExtValue(value) ? 0 : 1);
	*condition = value;
	if (!value || !edge.branch || !waits_is_same_test(edge.branch, value, &is_true))
		return NULL;
	return LLVMGetSuccessor(branch, is_true == edge.is_true ? 0 : 1);
}

/* Returns where the thread arrives if the branch behind the read ends the loop: behind further branches that
 * the same condition decides. */
static LLVMBasicBlockRef waits_arrive(LLVMBasicBlockRef first, struct waits_edge edge)
{
	LLVMBasicBlockRef block = first, next;
	LLVMValueRef at, condition;

	for (unsigned i = 0; i < WAITS_BLOCKS_MOST; i++) {
		for (at = LLVMGetFirstInstruction(block); at; at = LLVMGetNextInstruction(at))
			if (!LLVMIsAPHINode(at) && !waits_is_pure(at))
				return first;
		next = waits_next(block, edge, &condition);
		if (!next)
			return first;
		if (LLVMIsConditional(LLVMGetBasicBlockTerminator(block)))
			first = next;
		edge.from = block;
		block = next;
	}
	return first;
}

LLVMBasicBlockRef waits_follow(struct waits_read *read, LLVMBasicBlockRef block, LLVMValueRef after,
	struct waits_edge edge)
{
	LLVMValueRef at = after ? LLVMGetNextInstruction(after) : LLVMGetFirstInstruction(block);
	LLVMBasicBlockRef next;

	for (;;) {
		while (at && at != read->site->instruction && LLVMIsAPHINode(at))
			at = LLVMGetNextInstruction(at);
		for (; at && at != read->site->instruction; at = LLVMGetNextInstruction(at))
			if (!waits_is_pure(at))
				return NULL;
		if (!has_block(read->blocks, read->block_count, block)) {
			if (read->block_count == WAITS_BLOCKS_MOST)
				return NULL;
			read->blocks[read->block_count++] = block;
		} else if (!after) {
			return at ? block : NULL; /* an inner cycle without the read */
		}
		read->condition = NULL;
		next = at ? NULL : waits_next(block, edge, &read->condition);
		if (!next)
			return block;
		edge.from = block;
		block = next;
		at = LLVMGetFirstInstruction(block);
		after = NULL;
	}
}

bool waits_is_constant(const struct waits_read *read, LLVMValueRef value, unsigned depth)
{
	if (!LLVMIsAInstruction(value) ||
		!has_block(read->blocks, read->block_count, LLVMGetInstructionParent(value)))
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

bool waits_find_branch(struct waits_read *read, unsigned edge)
{
	LLVMValueRef branch;

	read->branching = waits_follow(read, LLVMGetInstructionParent(read->site->instruction),
		read->site->instruction, (struct waits_edge){.from = NULL});
	if (!read->branching || !read->condition)
		return false;
	branch = LLVMGetBasicBlockTerminator(read->branching);
	read->continues_if = edge == 0;
	read->back = LLVMGetSuccessor(branch, edge);
	read->exit = waits_arrive(LLVMGetSuccessor(branch, 1 - edge),
		(struct waits_edge){read->branching, read, !read->continues_if});
	return true;
}

bool waits_leads_to(const struct waits_read *from, struct waits_read *to)
{
	LLVMValueRef condition = to->condition;
	const struct waits_read branch = *from;
	const bool leads =
		waits_follow(to, from->back, NULL,
			(struct waits_edge){from->branching, &branch, from->continues_if}) ==
		LLVMGetInstructionParent(to->site->instruction);

	to->condition = condition;
	return leads;
}

/* Finds the branch behind the read whose one edge leads back to the read. */
static bool waits_find_cycle(struct waits_read *read)
{
	const struct waits_read start = *read;

	for (unsigned edge = 0; edge < 2; edge++) {
		*read = start;
		if (!waits_find_branch(read, edge))
			return false;
		if (waits_leads_to(read, read) &&
			!has_block(read->blocks, read->block_count, read->exit) &&
			waits_has_no_state(read) &&
			waits_is_constant(read, read->site->pointer, 0) &&
			waits_set_test(read, read->condition, edge == 1))
			return true;
	}
	return false;
}

/* Returns whether both exits lead to the same location with the same values, but for the values read. */
static bool waits_has_same_exit(const struct waits_read *first, const struct waits_read *loop)
{
	if (first->exit != loop->exit)
		return false;
	for (LLVMValueRef phi = LLVMGetFirstInstruction(first->exit); LLVMIsAPHINode(phi);
		phi = LLVMGetNextInstruction(phi)) {
		LLVMValueRef a = incoming_from(phi, first->branching);
		LLVMValueRef b = incoming_from(phi, loop->branching);

		if (!a || (a != b &&
				  !(a == first->site->instruction && b == loop->site->instruction)))
			return false;
	}
	return true;
}

bool waits_is_copy(struct waits_read *read, const struct waits_read *loop, struct site *next)
{
	struct site *site = read->site;

	if (site == loop->site || site->kind != loop->site->kind ||
		site->pointer != loop->site->pointer || site->bytes != loop->site->bytes ||
		!waits_may_wait(site) || waits_stores(loop))
		return false;
	for (unsigned edge = 0; edge < 2; edge++) {
		struct waits_read probe = {.site = next};

		*read = (struct waits_read){.site = site};
		if (!waits_find_branch(read, edge))
			return false;
		if (waits_has_same_exit(read, loop) && waits_leads_to(read, &probe) &&
			!waits_stores(read) && !waits_stores(&probe) &&
			waits_set_test(read, read->condition, edge == 1) &&
			read->test == loop->test && read->operand == loop->operand)
			return true;
	}
	return false;
}

/* Marks the copies of the first iteration in front of the loop. */
static void waits_mark_first(
	struct instrument *instrument, const struct sites *sites, const struct waits_read *loop)
{
	for (size_t i = sites->first; i < sites->end; i++) {
		struct waits_read read = {.site = &instrument->sites[i]};

		if (!(read.site->flags & SITE_WAITS) && waits_is_copy(&read, loop, loop->site))
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
