#include "branches/solve/loops.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"

/* Longer loops do not count as waiting. */
#define LOOP_BLOCKS_MOST 24

struct loop_body {
	LLVMBasicBlockRef blocks[LOOP_BLOCKS_MOST];
	unsigned count;
};

/*
 * Finds the innermost natural loop around a block (Aho, Lam, Sethi, Ullman, section 9.6). The head
 * dominates the block; the loop consists of the blocks that reach the head again without leaving
 * the loop. A path through an outer loop does not count.
 */

/* The search for heads takes quadratic time in the number of blocks. */
#define FUNCTION_BLOCKS_MOST 1000

struct graph {
	LLVMBasicBlockRef *blocks; /* sorted by address */
	uint32_t count, entry;
	bool *seen;
	uint32_t *list;
};

static int loops_compare(const void *left, const void *right)
{
	const uintptr_t a = (uintptr_t) * (const LLVMBasicBlockRef *)left;
	const uintptr_t b = (uintptr_t) * (const LLVMBasicBlockRef *)right;

	return a < b ? -1 : a > b;
}

static uint32_t loops_number_of(const struct graph *graph, LLVMBasicBlockRef block)
{
	const LLVMBasicBlockRef *found =
		bsearch(&block, graph->blocks, graph->count, sizeof *graph->blocks, loops_compare);

	return (uint32_t)(found - graph->blocks);
}

static void loops_open_graph(struct graph *graph, LLVMValueRef function)
{
	graph->count = LLVMCountBasicBlocks(function);
	graph->blocks = array_new(graph->count, sizeof *graph->blocks);
	graph->seen = array_new(graph->count, sizeof *graph->seen);
	graph->list = array_new(graph->count, sizeof *graph->list);
	LLVMGetBasicBlocks(function, graph->blocks);
	qsort(graph->blocks, graph->count, sizeof *graph->blocks, loops_compare);
	graph->entry = loops_number_of(graph, LLVMGetEntryBasicBlock(function));
}

static bool loops_is_behind(struct graph *graph, uint32_t head, uint32_t block)
{
	uint32_t count = 0;

	if (head == block || head == graph->entry)
		return true;
	if (block == graph->entry)
		return false;
	memset(graph->seen, 0, graph->count * sizeof *graph->seen);
	graph->seen[head] = graph->seen[graph->entry] = true;
	graph->list[count++] = graph->entry;
	while (count) {
		LLVMValueRef end = LLVMGetBasicBlockTerminator(graph->blocks[graph->list[--count]]);

		for (unsigned i = 0; i < LLVMGetNumSuccessors(end); i++) {
			const uint32_t next = loops_number_of(graph, LLVMGetSuccessor(end, i));

			if (next == block)
				return false;
			if (!graph->seen[next])
				graph->list[count++] = next;
			graph->seen[next] = true;
		}
	}
	return true;
}

static bool loops_body_has(const struct loop_body *body, LLVMBasicBlockRef block)
{
	for (unsigned i = 0; i < body->count; i++)
		if (body->blocks[i] == block)
			return true;
	return false;
}

/* Returns false if the loop has too many blocks. */
static bool loops_add(struct loop_body *body, LLVMBasicBlockRef block)
{
	if (loops_body_has(body, block))
		return true;
	if (body->count == LOOP_BLOCKS_MOST)
		return false;
	body->blocks[body->count++] = block;
	return true;
}

/* Adds the predecessors of a block; for the head, only those that the head dominates. */
static bool loops_add_before(
	struct graph *graph, struct loop_body *body, LLVMBasicBlockRef block, bool is_head)
{
	for (LLVMUseRef use = LLVMGetFirstUse(LLVMBasicBlockAsValue(block)); use;
		use = LLVMGetNextUse(use)) {
		LLVMValueRef user = LLVMGetUser(use);
		LLVMBasicBlockRef from;

		if (!LLVMIsAInstruction(user) || !LLVMIsATerminatorInst(user))
			continue;
		from = LLVMGetInstructionParent(user);
		if (is_head && !loops_is_behind(graph, loops_number_of(graph, block),
				       loops_number_of(graph, from)))
			continue;
		if (!loops_add(body, from))
			return false;
	}
	return true;
}

/* Collects the blocks of the loop; 0 blocks: the head has no loop. */
static void loops_collect(struct graph *graph, LLVMBasicBlockRef head, struct loop_body *body)
{
	body->count = 0;
	if (!loops_add_before(graph, body, head, true) || !body->count || !loops_add(body, head)) {
		body->count = 0;
		return;
	}
	for (unsigned i = 0; i < body->count; i++)
		if (body->blocks[i] != head &&
			!loops_add_before(graph, body, body->blocks[i], false)) {
			body->count = 0;
			return;
		}
}

static bool loops_around(LLVMBasicBlockRef block, struct loop_body *body)
{
	LLVMValueRef function = LLVMGetBasicBlockParent(block);
	struct loop_body heads = {.count = 0};
	struct graph graph;
	bool is_found = false;

	body->count = 0;
	if (LLVMCountBasicBlocks(function) > FUNCTION_BLOCKS_MOST)
		return false;
	loops_open_graph(&graph, function);
	/* Backwards from the block: the first head found belongs to the innermost loop. */
	(void)loops_add(&heads, block);
	for (unsigned i = 0; i < heads.count && !is_found; i++) {
		if (loops_is_behind(&graph, loops_number_of(&graph, heads.blocks[i]),
			    loops_number_of(&graph, block)))
			loops_collect(&graph, heads.blocks[i], body);
		is_found = loops_body_has(body, block);
		(void)loops_add_before(&graph, &heads, heads.blocks[i], false);
	}
	free(graph.blocks);
	free(graph.seen);
	free(graph.list);
	return is_found;
}

/* Returns whether a waiting loop may contain the call. `is_spinning`: no lock or condition
 * variable. */
static bool loops_may_contain_call(LLVMValueRef call, bool is_spinning)
{
	/* The names of locks and condition variables precede the others. */
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
		if (LLVMIsACallInst(i) && !loops_may_contain_call(i, is_spinning))
			return false;
		if (LLVMIsAInvokeInst(i) || LLVMIsAReturnInst(i))
			return false;
	}
	return true;
}

/* Limit of operations between a value and its value in the previous iteration. */
#define CHAIN_MOST 6

static bool loops_depends_on_phi(LLVMValueRef value, LLVMValueRef phi, unsigned most)
{
	if (value == phi)
		return true;
	if (!most || !LLVMIsAInstruction(value) || LLVMIsAPHINode(value) || LLVMIsACallInst(value))
		return false;
	for (int i = 0; i < LLVMGetNumOperands(value); i++)
		if (loops_depends_on_phi(LLVMGetOperand(value, (unsigned)i), phi, most - 1))
			return true;
	return false;
}

/* Returns whether the loop counts, or follows a list or table. Such a loop ends without other
 * threads: it does not wait. */
static bool loops_counts(LLVMBasicBlockRef block)
{
	for (LLVMValueRef i = LLVMGetFirstInstruction(block); i && LLVMIsAPHINode(i);
		i = LLVMGetNextInstruction(i))
		for (unsigned j = 0; j < LLVMCountIncoming(i); j++) {
			LLVMValueRef value = LLVMGetIncomingValue(i, j);

			if ((value != i && loops_depends_on_phi(value, i, CHAIN_MOST)) ||
				LLVMIsALoadInst(value))
				return true;
		}
	return false;
}

/* Returns the last successor outside of the loop; -1: the branch does not end a waiting loop. */
static int loops_end_of_waiting_loop(LLVMValueRef branch, bool is_spinning)
{
	struct loop_body body;
	int leaves = -1;

	if (!loops_around(LLVMGetInstructionParent(branch), &body))
		return -1;
	for (unsigned i = 0; i < LLVMGetNumSuccessors(branch); i++)
		if (!loops_body_has(&body, LLVMGetSuccessor(branch, i)))
			leaves = (int)i;
	for (unsigned i = 0; i < body.count; i++)
		if (!loops_only_looks(body.blocks[i], is_spinning) || loops_counts(body.blocks[i]))
			return -1;
	return leaves;
}

/* Optimisers peel the first test of a loop: the loop's branch is a successor on the same line. */
static LLVMValueRef loops_branch_behind(LLVMValueRef branch, unsigned successor)
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

static int loops_end_of_wait(LLVMValueRef branch, bool is_spinning)
{
	const unsigned count = LLVMGetNumSuccessors(branch);
	const int leaves = loops_end_of_waiting_loop(branch, is_spinning);

	if (leaves >= 0)
		return leaves;
	for (unsigned i = 0; i < count; i++) {
		LLVMValueRef behind = loops_branch_behind(branch, i);

		if (behind && behind != branch &&
			loops_end_of_waiting_loop(behind, is_spinning) >= 0)
			return i ? 0 : (int)count - 1;
	}
	return -1;
}

bool loop_is_waiting(LLVMValueRef branch)
{
	return loops_end_of_wait(branch, false) >= 0;
}

int loop_spin_leaves(LLVMValueRef branch)
{
	return LLVMGetNumSuccessors(branch) == 2 ? loops_end_of_wait(branch, true) : -1;
}
