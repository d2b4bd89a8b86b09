#include "sensitivity/loops.h"

#include <string.h>

/* Loops that wait are short. */
#define BLOCKS_MOST 24

struct body {
	LLVMBasicBlockRef blocks[BLOCKS_MOST];
	unsigned count;
};

static bool is_member(const struct body *body, LLVMBasicBlockRef block)
{
	for (unsigned i = 0; i < body->count; i++)
		if (body->blocks[i] == block)
			return true;
	return false;
}

/* Does a way lead from the block back to `head`? `seen` bounds the search. */
static bool leads_back(LLVMBasicBlockRef block, LLVMBasicBlockRef head, struct body *seen)
{
	LLVMValueRef end = LLVMGetBasicBlockTerminator(block);

	if (block == head)
		return true;
	if (is_member(seen, block) || seen->count == BLOCKS_MOST)
		return false;
	seen->blocks[seen->count++] = block;
	for (unsigned i = 0; i < LLVMGetNumSuccessors(end); i++)
		if (leads_back(LLVMGetSuccessor(end, i), head, seen))
			return true;
	return false;
}

static bool returns_to(LLVMBasicBlockRef block, LLVMBasicBlockRef head)
{
	struct body seen = {.count = 0};

	return leads_back(block, head, &seen);
}

/* The blocks of the loop that `head` is in, as far as they lead back to it. */
static void collect(LLVMBasicBlockRef block, LLVMBasicBlockRef head, struct body *body)
{
	LLVMValueRef end = LLVMGetBasicBlockTerminator(block);

	if (is_member(body, block) || body->count == BLOCKS_MOST || !returns_to(block, head))
		return;
	body->blocks[body->count++] = block;
	for (unsigned i = 0; i < LLVMGetNumSuccessors(end); i++)
		collect(LLVMGetSuccessor(end, i), head, body);
}

static bool is_patient_call(LLVMValueRef call)
{
	static const char *const names[] = {"sched_yield", "pthread_yield", "thrd_yield", "usleep",
		"nanosleep", "sleep", "clock_nanosleep", "pthread_mutex_lock",
		"pthread_mutex_unlock", "pthread_cond_wait", "pthread_cond_timedwait",
		"pthread_spin_lock", "pthread_spin_unlock", "cnd_wait", "mtx_lock", "mtx_unlock",
		"thrd_sleep"};
	LLVMValueRef callee = LLVMGetCalledValue(call);
	size_t length;
	const char *name;

	if (LLVMIsAInlineAsm(callee))
		return true; /* "pause" and the like */
	if (!LLVMIsAFunction(callee))
		return false;
	name = LLVMGetValueName2(callee, &length);
	if (strncmp(name, "llvm.", 5) == 0)
		return true;
	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		if (strcmp(name, names[i]) == 0)
			return true;
	return false;
}

static bool only_looks(LLVMBasicBlockRef block)
{
	for (LLVMValueRef i = LLVMGetFirstInstruction(block); i; i = LLVMGetNextInstruction(i)) {
		if (LLVMIsAStoreInst(i) && !LLVMIsAAllocaInst(LLVMGetOperand(i, 1)))
			return false;
		if (LLVMIsACallInst(i) && !is_patient_call(i))
			return false;
		if (LLVMIsAInvokeInst(i) || LLVMIsAReturnInst(i))
			return false;
	}
	return true;
}

/* Something that counts on by itself is no wait: it would end without others, too. */
static bool counts(LLVMBasicBlockRef block)
{
	for (LLVMValueRef i = LLVMGetFirstInstruction(block); i && LLVMIsAPHINode(i);
		i = LLVMGetNextInstruction(i))
		for (unsigned j = 0; j < LLVMCountIncoming(i); j++) {
			LLVMValueRef value = LLVMGetIncomingValue(i, j);

			if (LLVMIsABinaryOperator(value) &&
				(LLVMGetOperand(value, 0) == i || LLVMGetOperand(value, 1) == i))
				return true;
			if (LLVMIsALoadInst(value))
				return true; /* goes along a list */
		}
	return false;
}

static bool ends_waiting_loop(LLVMValueRef branch)
{
	LLVMBasicBlockRef head = LLVMGetInstructionParent(branch);
	struct body body = {.count = 0};
	bool goes_back = false, leaves = false;

	for (unsigned i = 0; i < LLVMGetNumSuccessors(branch); i++) {
		if (returns_to(LLVMGetSuccessor(branch, i), head))
			goes_back = true;
		else
			leaves = true;
	}
	if (!goes_back || !leaves)
		return false;
	collect(head, head, &body);
	for (unsigned i = 0; i < body.count; i++)
		if (!only_looks(body.blocks[i]) || counts(body.blocks[i]))
			return false;
	return true;
}

/* Optimisers look once before the loop: then the loop's own branch is behind, on the same line. */
static LLVMValueRef branch_behind(LLVMValueRef branch, unsigned successor)
{
	LLVMBasicBlockRef block = LLVMGetSuccessor(branch, successor);
	LLVMValueRef end = LLVMGetBasicBlockTerminator(block);

	for (unsigned i = 0; i < 3 && LLVMIsABranchInst(end) && !LLVMIsConditional(end); i++)
		end = LLVMGetBasicBlockTerminator(LLVMGetSuccessor(end, 0));
	return LLVMIsABranchInst(end) && LLVMIsConditional(end) &&
			       LLVMGetDebugLocLine(end) == LLVMGetDebugLocLine(branch)
		       ? end
		       : NULL;
}

bool loop_is_waiting(LLVMValueRef branch)
{
	if (ends_waiting_loop(branch))
		return true;
	for (unsigned i = 0; i < LLVMGetNumSuccessors(branch); i++) {
		LLVMValueRef behind = branch_behind(branch, i);

		if (behind && behind != branch && ends_waiting_loop(behind))
			return true;
	}
	return false;
}
