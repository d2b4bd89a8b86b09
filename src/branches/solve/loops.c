#include "branches/solve/loops.h"

#include <string.h>

/*
 * Whether a waiting loop may contain the call. `is_spinning`: only calls that involve no lock or
 * condition variable.
 */
static bool is_patient_call(LLVMValueRef call, bool is_spinning)
{
	/* Locks and condition variables come first. */
	static const char *const names[] = {"pthread_mutex_lock", "pthread_mutex_unlock",
		"pthread_cond_wait", "pthread_cond_timedwait", "pthread_spin_lock",
		"pthread_spin_unlock", "cnd_wait", "mtx_lock", "mtx_unlock", "sched_yield",
		"pthread_yield", "thrd_yield", "usleep", "nanosleep", "sleep", "clock_nanosleep",
		"thrd_sleep"};
	const size_t others = 9;
	LLVMValueRef callee = LLVMGetCalledValue(call);
	size_t length;
	const char *name;

	if (LLVMIsAInlineAsm(callee))
		return true; /* "pause" and similar instructions */
	if (!LLVMIsAFunction(callee))
		return false;
	name = LLVMGetValueName2(callee, &length);
	if (strncmp(name, "llvm.", 5) == 0)
		return true;
	for (size_t i = is_spinning ? others : 0; i < sizeof names / sizeof *names; i++)
		if (strcmp(name, names[i]) == 0)
			return true;
	return false;
}

static bool loops_only_looks(LLVMBasicBlockRef block, bool is_spinning)
{
	for (LLVMValueRef i = LLVMGetFirstInstruction(block); i; i = LLVMGetNextInstruction(i)) {
		if (LLVMIsAStoreInst(i) && !LLVMIsAAllocaInst(LLVMGetOperand(i, 1)))
			return false;
		if (LLVMIsACallInst(i) && !is_patient_call(i, is_spinning))
			return false;
		if (LLVMIsAInvokeInst(i) || LLVMIsAReturnInst(i))
			return false;
	}
	return true;
}

/* Limit of operations between a value and its value in the previous iteration. */
#define CHAIN_MOST 6

static bool comes_from(LLVMValueRef value, LLVMValueRef phi, unsigned most)
{
	if (value == phi)
		return true;
	if (!most || !LLVMIsAInstruction(value) || LLVMIsAPHINode(value) || LLVMIsACallInst(value))
		return false;
	for (int i = 0; i < LLVMGetNumOperands(value); i++)
		if (comes_from(LLVMGetOperand(value, (unsigned)i), phi, most - 1))
			return true;
	return false;
}

/*
 * A loop that counts, or walks along a list or table, ends without other threads: it does not wait.
 */
static bool loops_counts(LLVMBasicBlockRef block)
{
	for (LLVMValueRef i = LLVMGetFirstInstruction(block); i && LLVMIsAPHINode(i);
		i = LLVMGetNextInstruction(i))
		for (unsigned j = 0; j < LLVMCountIncoming(i); j++) {
			LLVMValueRef value = LLVMGetIncomingValue(i, j);

			if ((value != i && comes_from(value, i, CHAIN_MOST)) ||
				LLVMIsALoadInst(value))
				return true;
		}
	return false;
}

/* The last successor outside of the loop; -1: the branch does not end a waiting loop. */
static int end_of_waiting_loop(LLVMValueRef branch, bool is_spinning)
{
	struct loop_body body;
	int leaves = -1;

	if (!loop_around(LLVMGetInstructionParent(branch), &body))
		return -1;
	for (unsigned i = 0; i < LLVMGetNumSuccessors(branch); i++)
		if (!loop_body_has(&body, LLVMGetSuccessor(branch, i)))
			leaves = (int)i;
	for (unsigned i = 0; i < body.count; i++)
		if (!loops_only_looks(body.blocks[i], is_spinning) || loops_counts(body.blocks[i]))
			return -1;
	return leaves;
}

/*
 * Optimisers peel the first test of a loop. The loop's own branch is then a successor on the same
 * source line.
 */
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

/* The same for the peeled test in front of such a loop. */
static int end_of_wait(LLVMValueRef branch, bool is_spinning)
{
	const unsigned count = LLVMGetNumSuccessors(branch);
	const int leaves = end_of_waiting_loop(branch, is_spinning);

	if (leaves >= 0)
		return leaves;
	for (unsigned i = 0; i < count; i++) {
		LLVMValueRef behind = branch_behind(branch, i);

		if (behind && behind != branch && end_of_waiting_loop(behind, is_spinning) >= 0)
			return i ? 0 : (int)count - 1;
	}
	return -1;
}

bool loop_is_waiting(LLVMValueRef branch)
{
	return end_of_wait(branch, false) >= 0;
}

int loop_spin_leaves(LLVMValueRef branch)
{
	return LLVMGetNumSuccessors(branch) == 2 ? end_of_wait(branch, true) : -1;
}
