#include "compiler/pass/loops/loops.h"

#include <stdlib.h>
#include <string.h>

#define TEXT(text) text, sizeof(text) - 1
/* Maximum number of memory ranges in the guard; more would make the guard too slow. */
#define RANGES_MOST 10

bool loop_has(const struct loop *loop, LLVMValueRef value)
{
	return LLVMIsAInstruction(value) &&
	       has_block(loop->blocks, loop->block_count, LLVMGetInstructionParent(value));
}

/* Collects the predecessors of the block, at most `room`. Returns their number, or a number above
 * `room`. */
static unsigned loops_predecessors(LLVMBasicBlockRef block, LLVMBasicBlockRef *ways, unsigned room)
{
	unsigned count = 0;

	for (LLVMUseRef use = LLVMGetFirstUse(LLVMBasicBlockAsValue(block)); use;
		use = LLVMGetNextUse(use)) {
		LLVMValueRef user = LLVMGetUser(use);

		if (!LLVMIsATerminatorInst(user) || count == room)
			return room + 1;
		ways[count++] = LLVMGetInstructionParent(user);
	}
	return count;
}

/* Gathers the blocks that reach the latch without the header. Returns false if there are too many
 * blocks, or another entry. */
static bool loops_gather_blocks(struct loop *loop, LLVMBasicBlockRef entry)
{
	loop->blocks[0] = loop->header;
	loop->block_count = 1;
	if (loop->latch != loop->header)
		loop->blocks[loop->block_count++] = loop->latch;
	for (unsigned i = 1; i < loop->block_count; i++) {
		LLVMBasicBlockRef ways[LOOP_BLOCKS_MOST];
		const unsigned count = loops_predecessors(loop->blocks[i], ways, LOOP_BLOCKS_MOST);

		if (count > LOOP_BLOCKS_MOST || loop->blocks[i] == entry)
			return false;
		for (unsigned j = 0; j < count; j++) {
			if (has_block(loop->blocks, loop->block_count, ways[j]))
				continue;
			if (loop->block_count == LOOP_BLOCKS_MOST)
				return false;
			loop->blocks[loop->block_count++] = ways[j];
		}
	}
	return !has_block(loop->blocks, loop->block_count, loop->outside) && loop->header != entry;
}

/* Returns whether the blocks have a topological order without the edge to the header: no inner loop. */
static bool loops_has_no_loop_inside(const struct loop *loop)
{
	bool is_done[LOOP_BLOCKS_MOST] = {true};
	bool has_moved = true;
	unsigned left = loop->block_count - 1;

	while (left && has_moved) {
		has_moved = false;
		for (unsigned i = 1; i < loop->block_count; i++) {
			LLVMBasicBlockRef ways[LOOP_BLOCKS_MOST];
			const unsigned count =
				loops_predecessors(loop->blocks[i], ways, LOOP_BLOCKS_MOST);
			unsigned before = 0;

			if (is_done[i])
				continue;
			for (unsigned j = 0; j < count; j++)
				for (unsigned k = 0; k < loop->block_count; k++)
					before += loop->blocks[k] == ways[j] && is_done[k];
			if (before < count)
				continue;
			is_done[i] = has_moved = true;
			left--;
		}
	}
	return !left;
}

static bool loops_find_loop(LLVMBasicBlockRef header, LLVMBasicBlockRef entry, struct loop *loop)
{
	LLVMBasicBlockRef ways[2];

	if (!LLVMIsAPHINode(LLVMGetFirstInstruction(header)) ||
		loops_predecessors(header, ways, 2) != 2 || ways[0] == ways[1])
		return false;
	for (unsigned i = 0; i < 2; i++) {
		*loop = (struct loop){.header = header, .latch = ways[i], .outside = ways[1 - i]};
		if (loops_gather_blocks(loop, entry) && loops_has_no_loop_inside(loop))
			return true;
	}
	return false;
}

static bool loops_touches_no_memory(LLVMValueRef call)
{
	static const char *const harmless[] = {
		"llvm.assume", "llvm.experimental.noalias.scope.decl"};
	const unsigned memory = LLVMGetEnumAttributeKindForName("memory", 6);
	const char *name = called_name(call);
	LLVMAttributeRef attribute;

	for (unsigned i = 0; name && i < sizeof harmless / sizeof *harmless; i++)
		if (strcmp(name, harmless[i]) == 0)
			return true;
	if (!name || strncmp(name, "llvm.", 5) != 0)
		return false;
	attribute = LLVMGetEnumAttributeAtIndex(
		LLVMGetCalledValue(call), LLVMAttributeFunctionIndex, memory);
	return attribute && LLVMGetEnumAttributeValue(attribute) == 0;
}

/* Returns false if the instruction allows a context switch or accesses memory in an unsupported way. */
static bool loops_is_fit_instruction(LLVMValueRef instruction)
{
	switch (LLVMGetInstructionOpcode(instruction)) {
	case LLVMLoad:
	case LLVMStore:
		return !LLVMGetVolatile(instruction) &&
		       LLVMGetOrdering(instruction) == LLVMAtomicOrderingNotAtomic;
	case LLVMCall:
		return loops_touches_no_memory(instruction);
	case LLVMBr:
	case LLVMSwitch:
		return true;
	case LLVMAlloca:
	case LLVMFence:
	case LLVMAtomicCmpXchg:
	case LLVMAtomicRMW:
	case LLVMVAArg:
		return false;
	default:
		return !LLVMIsATerminatorInst(instruction);
	}
}

static bool loops_is_loop_fit(const struct loop *loop)
{
	unsigned count = 0;

	for (unsigned i = 0; i < loop->block_count; i++)
		for (LLVMValueRef one = LLVMGetFirstInstruction(loop->blocks[i]); one;
			one = LLVMGetNextInstruction(one))
			if (++count > LOOP_INSTRUCTIONS_MOST || !loops_is_fit_instruction(one))
				return false;
	return true;
}

/* Collects the accesses of the loop. Value sites are ignored: in recorded runs the guard never
 * selects the copy without points. */
static bool loops_gather_accesses(
	struct instrument *instrument, const struct sites *sites, struct loop *loop)
{
	for (size_t i = sites->first; i < sites->end; i++) {
		const struct site *site = &instrument->sites[i];

		if (!loop_has(loop, site->instruction) || site->kind > SITE_OPAQUE)
			continue;
		if (site->kind > SITE_STORE || site->order || site->behind || !site->pointer ||
			loop->access_count == LOOP_ACCESSES_MOST ||
			!affine_is_known(instrument, loop, site->pointer))
			return false;
		loop->accesses[loop->access_count++] = site;
	}
	return loop->access_count != 0;
}

/* A range of addresses that differ by constants only. */
struct range {
	LLVMValueRef root;
	int64_t first, end;
};

static LLVMValueRef loops_root_of(
	const struct instrument *instrument, LLVMValueRef pointer, int64_t *offset)
{
	*offset = 0;
	while (LLVMIsAGetElementPtrInst(pointer) && LLVMGetNumOperands(pointer) == 2 &&
		LLVMIsAConstantInt(LLVMGetOperand(pointer, 1))) {
		*offset += LLVMConstIntGetSExtValue(LLVMGetOperand(pointer, 1)) *
			   (int64_t)LLVMABISizeOfType(
				   instrument->layout, LLVMGetGEPSourceElementType(pointer));
		pointer = LLVMGetOperand(pointer, 0);
	}
	return pointer;
}

static unsigned loops_gather_ranges(const struct instrument *instrument, const struct loop *loop,
	struct range ranges[RANGES_MOST])
{
	unsigned count = 0;

	for (unsigned i = 0; i < loop->access_count; i++) {
		int64_t first, end;
		LLVMValueRef root = loops_root_of(instrument, loop->accesses[i]->pointer, &first);
		unsigned at = 0;

		end = first + loop->accesses[i]->bytes;
		while (at < count && ranges[at].root != root)
			at++;
		if (at == RANGES_MOST)
			return RANGES_MOST + 1;
		if (at == count)
			ranges[count++] = (struct range){root, first, end};
		ranges[at].first = first < ranges[at].first ? first : ranges[at].first;
		ranges[at].end = end > ranges[at].end ? end : ranges[at].end;
	}
	return count;
}

/* The default for programs that run without raddle: no memory is observed. */
static LLVMValueRef loops_default_wanted(struct instrument *instrument)
{
	static const char name[] = "raddle.nothing_wanted";
	LLVMValueRef global = LLVMGetNamedGlobal(instrument->module, name);
	LLVMValueRef words[2 * WANTED_PARTS];
	LLVMValueRef value;

	if (global)
		return global;
	for (unsigned i = 0; i < 2 * WANTED_PARTS; i++)
		words[i] = LLVMConstInt(instrument->i64, i % 2 ? 0 : UINT64_MAX, false);
	value = LLVMConstArray2(instrument->i64, words, 2 * WANTED_PARTS);
	global = LLVMAddGlobal(instrument->module, LLVMTypeOf(value), name);
	LLVMSetInitializer(global, value);
	LLVMSetLinkage(global, LLVMInternalLinkage);
	LLVMSetGlobalConstant(global, true);
	return global;
}

/* Loads the bounds of the observed memory, from the runtime's struct wanted_memory if the runtime
 * is loaded. */
static void loops_load_wanted(struct instrument *instrument, LLVMValueRef words[2 * WANTED_PARTS])
{
	LLVMBuilderRef builder = instrument->builder;
	LLVMTypeRef type = LLVMFunctionType(instrument->pointer, NULL, 0, false);
	LLVMValueRef wanted = LLVMBuildCall2(builder, type,
		LLVMGetInlineAsm(type,
			TEXT(".weak raddle_wanted_v5\n\t"
			     "movq raddle_wanted_v5@GOTPCREL(%rip), $0"),
			TEXT("=r"), false, false, LLVMInlineAsmDialectATT, false),
		NULL, 0, "");

	wanted = LLVMBuildSelect(builder, LLVMBuildIsNull(builder, wanted, ""),
		loops_default_wanted(instrument), wanted, "");
	for (unsigned i = 0; i < 2 * WANTED_PARTS; i++)
		words[i] = LLVMBuildLoad2(builder, instrument->i64,
			LLVMBuildGEP2(builder, instrument->i64, wanted,
				(LLVMValueRef[]){LLVMConstInt(instrument->i64, i, false)}, 1, ""),
			"");
}

/* Emits the test that no memory of the range is observed. */
static LLVMValueRef loops_build_missed(struct instrument *instrument, const struct loop *loop,
	const struct range *range, LLVMValueRef last_turn, LLVMValueRef words[2 * WANTED_PARTS])
{
	LLVMBuilderRef builder = instrument->builder;
	LLVMValueRef first, last, start, end, is_rising, all = NULL;

	affine_ends(instrument, loop, range->root, last_turn, &first, &last);
	is_rising = LLVMBuildICmp(builder, LLVMIntULE, first, last, "");
	start = LLVMBuildAdd(builder, LLVMBuildSelect(builder, is_rising, first, last, ""),
		LLVMConstInt(instrument->i64, (uint64_t)range->first, true), "");
	end = LLVMBuildAdd(builder, LLVMBuildSelect(builder, is_rising, last, first, ""),
		LLVMConstInt(instrument->i64, (uint64_t)range->end, true), "");
	for (unsigned i = 0; i < WANTED_PARTS; i++) {
		LLVMValueRef is_missed = LLVMBuildOr(builder,
			LLVMBuildICmp(builder, LLVMIntULE, end, words[2 * i], ""),
			LLVMBuildICmp(builder, LLVMIntUGE, start, words[2 * i + 1], ""), "");

		all = all ? LLVMBuildAnd(builder, all, is_missed, "") : is_missed;
	}
	return all;
}

static void loops_build_guard(struct instrument *instrument, const struct loop *loop,
	const struct range *ranges, unsigned count, LLVMBasicBlockRef copy)
{
	LLVMBuilderRef builder = instrument->builder;
	LLVMValueRef words[2 * WANTED_PARTS];
	struct loop_turns turns;
	LLVMValueRef all;

	LLVMSetCurrentDebugLocation2(builder, NULL);
	LLVMPositionBuilderAtEnd(builder, loop->outside);
	turns = affine_turns(instrument, loop);
	loops_load_wanted(instrument, words);
	all = turns.is_fit;
	for (unsigned i = 0; i < count; i++)
		all = LLVMBuildAnd(builder, all,
			loops_build_missed(instrument, loop, &ranges[i], turns.last, words), "");
	LLVMBuildCondBr(builder, all, copy, loop->header);
}

void site_replace(struct site *site, LLVMValueRef old, LLVMValueRef new)
{
	site->pointer = site->pointer == old ? new : site->pointer;
	site->length = site->length == old ? new : site->length;
	site->items = site->items == old ? new : site->items;
	site->value = site->value == old ? new : site->value;
}

/* Inserts a block in front of the loop. Its phis are rebuilt, because LLVM-C cannot change incoming
 * blocks. */
static void loops_add_entry(
	struct instrument *instrument, struct loop *loop, const struct sites *sites)
{
	LLVMBasicBlockRef entry =
		LLVMInsertBasicBlockInContext(instrument->context, loop->header, "");
	LLVMValueRef end = LLVMGetBasicBlockTerminator(loop->outside);
	LLVMValueRef phi = LLVMGetFirstInstruction(loop->header);

	while (LLVMIsAPHINode(phi)) {
		LLVMValueRef new, next = LLVMGetNextInstruction(phi);

		LLVMPositionBuilderBefore(instrument->builder, phi);
		new = LLVMBuildPhi(instrument->builder, LLVMTypeOf(phi), "");
		for (unsigned i = 0; i < 2; i++) {
			LLVMValueRef value = LLVMGetIncomingValue(phi, i);
			LLVMBasicBlockRef from = LLVMGetIncomingBlock(phi, i);

			from = from == loop->outside ? entry : from;
			LLVMAddIncoming(new, &value, &from, 1);
		}
		LLVMReplaceAllUsesWith(phi, new);
		for (size_t i = sites->first; i < sites->end; i++)
			site_replace(&instrument->sites[i], phi, new);
		LLVMInstructionEraseFromParent(phi);
		phi = next;
	}
	for (unsigned i = 0; i < LLVMGetNumSuccessors(end); i++)
		if (LLVMGetSuccessor(end, i) == loop->header)
			LLVMSetSuccessor(end, i, entry);
	loop->outside = entry;
}

static void loops_split(struct instrument *instrument, struct loop *loop, const struct sites *sites)
{
	struct range ranges[RANGES_MOST];
	LLVMBasicBlockRef copy;
	unsigned count;

	if (loops_gather_ranges(instrument, loop, ranges) > RANGES_MOST)
		return;
	loops_add_entry(instrument, loop, sites);
	/* The header has new phis. */
	if (!affine_count(loop))
		abort(); /* cannot fail: it succeeded before */
	count = loops_gather_ranges(instrument, loop, ranges);
	copy = loop_copy(instrument, sites, loop, loop->outside);
	loops_build_guard(instrument, loop, ranges, count, copy);
}

static bool loops_is_small(LLVMValueRef function)
{
	static const char *const names[] = {"optsize", "minsize", "optnone"};

	for (unsigned i = 0; i < sizeof names / sizeof *names; i++)
		if (LLVMGetEnumAttributeAtIndex(function, LLVMAttributeFunctionIndex,
			    LLVMGetEnumAttributeKindForName(names[i], strlen(names[i]))))
			return true;
	return false;
}

static void loops_split_of_function(struct instrument *instrument, const struct sites *sites)
{
	LLVMValueRef function = instrument->sites[sites->first].function;
	LLVMBasicBlockRef entry = LLVMGetEntryBasicBlock(function);
	LLVMBasicBlockRef last = LLVMGetLastBasicBlock(function);
	LLVMBasicBlockRef next;

	if (loops_is_small(function))
		return;
	for (LLVMBasicBlockRef block = entry;; block = next) {
		struct loop loop;

		next = LLVMGetNextBasicBlock(block);
		if (loops_find_loop(block, entry, &loop) && loops_is_loop_fit(&loop) &&
			affine_count(&loop) && loops_gather_accesses(instrument, sites, &loop) &&
			loop_copy_is_possible(&loop))
			loops_split(instrument, &loop, sites);
		if (block == last) /* the following blocks are copies */
			return;
	}
}

void split_loops(struct instrument *instrument)
{
	struct sites sites;

	for (sites.first = 0; sites.first < instrument->site_count; sites.first = sites.end) {
		sites.end = sites_end_of_function(instrument, sites.first);
		loops_split_of_function(instrument, &sites);
	}
}
