/*
 * The innermost natural loop around a block (Aho, Lam, Sethi, Ullman, section 9.6): the head
 * dominates the block, and the loop consists of the blocks that reach the head again without
 * leaving the loop. A path through an outer loop does not count.
 */
#include <stdlib.h>
#include <string.h>

#include "base/bug.h"
#include "branches/solve/loops.h"

/* The search for heads takes quadratic time in the number of blocks. */
#define FUNCTION_BLOCKS_MOST 1000

struct graph {
	LLVMBasicBlockRef *blocks; /* sorted by address */
	uint32_t count, entry;
	bool *seen;
	uint32_t *list;
};

static int loops_bodies_compare(const void *left, const void *right)
{
	const uintptr_t a = (uintptr_t) * (const LLVMBasicBlockRef *)left;
	const uintptr_t b = (uintptr_t) * (const LLVMBasicBlockRef *)right;

	return a < b ? -1 : a > b;
}

static uint32_t loops_bodies_number_of(const struct graph *graph, LLVMBasicBlockRef block)
{
	const LLVMBasicBlockRef *found = bsearch(
		&block, graph->blocks, graph->count, sizeof *graph->blocks, loops_bodies_compare);

	return (uint32_t)(found - graph->blocks);
}

static void open_graph(struct graph *graph, LLVMValueRef function)
{
	graph->count = LLVMCountBasicBlocks(function);
	graph->blocks = calloc(graph->count, sizeof *graph->blocks);
	graph->seen = calloc(graph->count, sizeof *graph->seen);
	graph->list = calloc(graph->count, sizeof *graph->list);
	BUG_ON(!graph->blocks || !graph->seen || !graph->list);
	LLVMGetBasicBlocks(function, graph->blocks);
	qsort(graph->blocks, graph->count, sizeof *graph->blocks, loops_bodies_compare);
	graph->entry = loops_bodies_number_of(graph, LLVMGetEntryBasicBlock(function));
}

static void close_graph(struct graph *graph)
{
	free(graph->blocks);
	free(graph->seen);
	free(graph->list);
}

/* Whether the head dominates the block. */
static bool loops_bodies_is_behind(struct graph *graph, uint32_t head, uint32_t block)
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
			const uint32_t next =
				loops_bodies_number_of(graph, LLVMGetSuccessor(end, i));

			if (next == block)
				return false;
			if (!graph->seen[next])
				graph->list[count++] = next;
			graph->seen[next] = true;
		}
	}
	return true;
}

bool loop_body_has(const struct loop_body *body, LLVMBasicBlockRef block)
{
	for (unsigned i = 0; i < body->count; i++)
		if (body->blocks[i] == block)
			return true;
	return false;
}

/* False: the loop has too many blocks. */
static bool loops_bodies_add(struct loop_body *body, LLVMBasicBlockRef block)
{
	if (loop_body_has(body, block))
		return true;
	if (body->count == LOOP_BLOCKS_MOST)
		return false;
	body->blocks[body->count++] = block;
	return true;
}

/* Adds the predecessors of the block; for the head only those that the head dominates. */
static bool add_before(
	struct graph *graph, struct loop_body *body, LLVMBasicBlockRef block, bool is_head)
{
	for (LLVMUseRef use = LLVMGetFirstUse(LLVMBasicBlockAsValue(block)); use;
		use = LLVMGetNextUse(use)) {
		LLVMValueRef user = LLVMGetUser(use);
		LLVMBasicBlockRef from;

		if (!LLVMIsAInstruction(user) || !LLVMIsATerminatorInst(user))
			continue;
		from = LLVMGetInstructionParent(user);
		if (is_head && !loops_bodies_is_behind(graph, loops_bodies_number_of(graph, block),
				       loops_bodies_number_of(graph, from)))
			continue;
		if (!loops_bodies_add(body, from))
			return false;
	}
	return true;
}

/* Collects the loop of this head; no blocks: there is none. */
static void loops_bodies_collect(
	struct graph *graph, LLVMBasicBlockRef head, struct loop_body *body)
{
	body->count = 0;
	if (!add_before(graph, body, head, true) || !body->count || !loops_bodies_add(body, head)) {
		body->count = 0;
		return;
	}
	for (unsigned i = 0; i < body->count; i++)
		if (body->blocks[i] != head && !add_before(graph, body, body->blocks[i], false)) {
			body->count = 0;
			return;
		}
}

bool loop_around(LLVMBasicBlockRef block, struct loop_body *body)
{
	LLVMValueRef function = LLVMGetBasicBlockParent(block);
	struct loop_body heads = {.count = 0};
	struct graph graph;
	bool is_found = false;

	body->count = 0;
	if (LLVMCountBasicBlocks(function) > FUNCTION_BLOCKS_MOST)
		return false;
	open_graph(&graph, function);
	/* Backwards from the block: the first head found belongs to the innermost loop. */
	(void)loops_bodies_add(&heads, block);
	for (unsigned i = 0; i < heads.count && !is_found; i++) {
		if (loops_bodies_is_behind(&graph, loops_bodies_number_of(&graph, heads.blocks[i]),
			    loops_bodies_number_of(&graph, block)))
			loops_bodies_collect(&graph, heads.blocks[i], body);
		is_found = loop_body_has(body, block);
		(void)add_before(&graph, &heads, heads.blocks[i], false);
	}
	close_graph(&graph);
	return is_found;
}
