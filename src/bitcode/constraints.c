/*
 * Constraints of instructions. Every value that may carry a part of an address is followed,
 * including integers and floating-point values. The analysis follows casts, shifts and masks, but
 * not comparisons, products and quotients.
 */
#include <string.h>

#include "bitcode/points_to_internal.h"

uint64_t type_bytes(const struct analysis *analysis, LLVMTypeRef type)
{
	return LLVMTypeIsSized(type) ? LLVMABISizeOfType(analysis->layout, type) : 0;
}

/* Returns whether a value of the type may carry a part of an address. A single bit cannot; void and
 * similar types are no values. */
static bool constraints_may_point(LLVMTypeRef type)
{
	switch (LLVMGetTypeKind(type)) {
	case LLVMVoidTypeKind:
	case LLVMLabelTypeKind:
	case LLVMMetadataTypeKind:
	case LLVMTokenTypeKind:
		return false;
	case LLVMIntegerTypeKind:
		return LLVMGetIntTypeWidth(type) > 1;
	default:
		return true;
	}
}

/* Returns whether the constant is a number or a table of numbers, which point nowhere. */
static bool constraints_is_number(LLVMValueRef value)
{
	return LLVMIsAConstantInt(value) || LLVMIsAConstantFP(value) || LLVMIsAUndefValue(value) ||
	       LLVMIsAConstantPointerNull(value) || LLVMIsAConstantDataSequential(value) ||
	       LLVMIsAConstantAggregateZero(value) || LLVMIsAConstantTokenNone(value);
}

uint32_t value_node(struct analysis *analysis, LLVMValueRef value)
{
	uint32_t node = value_map_get(&analysis->nodes, value);

	if (node != NUMBER_MAP_NONE)
		return node;
	if (!constraints_may_point(LLVMTypeOf(value)) || constraints_is_number(value))
		return analysis->nothing;
	node = flow_node(&analysis->flow);
	value_map_set(&analysis->nodes, value, node);
	if (LLVMIsAConstant(value))
		constrain_constant(analysis, node, value);
	return node;
}

void flow_load(struct analysis *analysis, uint32_t to, uint32_t pointer, uint64_t bytes)
{
	const struct flow_rule rule = {.kind = FLOW_LOAD, .other = to, .bytes = bytes};

	if (to != analysis->nothing)
		flow_rule(&analysis->flow, pointer, &rule);
}

void flow_store(struct analysis *analysis, uint32_t pointer, uint32_t from, uint64_t bytes)
{
	const struct flow_rule rule = {.kind = FLOW_STORE, .other = from, .bytes = bytes};

	if (from != analysis->nothing)
		flow_rule(&analysis->flow, pointer, &rule);
}

void flow_shift(
	struct analysis *analysis, uint32_t to, uint32_t from, int64_t distance, int64_t stride)
{
	const struct flow_rule rule = {
		.kind = FLOW_SHIFT, .other = to, .distance = distance, .stride = stride};

	if (from == analysis->nothing || to == analysis->nothing)
		return;
	if (!distance && !stride)
		flow_edge(&analysis->flow, from, to);
	else
		flow_rule(&analysis->flow, from, &rule);
}

void flow_anywhere(struct analysis *analysis, uint32_t to, uint32_t from)
{
	flow_shift(analysis, to, from, 0, 1);
}

uint32_t new_object(struct analysis *analysis, enum flow_object_kind kind, LLVMValueRef value)
{
	const uint32_t node = flow_node(&analysis->flow);
	const uint32_t object = flow_object(&analysis->flow, kind, value);

	flow_point(&analysis->flow, node, flow_location(&analysis->flow, object, 0));
	return node;
}

/* Returns whether a loop advances the pointer: from `start` through address arithmetic, phis and
 * selects. */
static bool constraints_reaches_start(LLVMValueRef value, LLVMValueRef start, int depth)
{
	if (value == start)
		return true;
	if (depth == 0)
		return false;
	if (LLVMIsAGetElementPtrInst(value))
		return constraints_reaches_start(LLVMGetOperand(value, 0), start, depth - 1);
	if (LLVMIsAPHINode(value) || LLVMIsASelectInst(value)) {
		for (int i = LLVMIsASelectInst(value) ? 1 : 0; i < LLVMGetNumOperands(value); i++)
			if (constraints_reaches_start(
				    LLVMGetOperand(value, (unsigned)i), start, depth - 1))
				return true;
	}
	return false;
}

/* Treats a pointer that a loop advances by a fixed distance as walking over an array. */
static void constraints_constrain_element(struct analysis *analysis, LLVMValueRef instruction)
{
	LLVMValueRef base = LLVMGetOperand(instruction, 0);
	int64_t stride;
	int64_t distance = element_distance(analysis, instruction, &stride);

	if (!stride && distance && LLVMIsAPHINode(base) &&
		constraints_reaches_start(base, instruction, 5))
		stride = distance;
	flow_shift(analysis, value_node(analysis, instruction), value_node(analysis, base),
		distance, stride);
}

static void constraints_constrain_sum(struct analysis *analysis, LLVMValueRef instruction)
{
	const LLVMOpcode opcode = LLVMGetInstructionOpcode(instruction);
	const uint32_t result = value_node(analysis, instruction);
	LLVMValueRef left = LLVMGetOperand(instruction, 0), right = LLVMGetOperand(instruction, 1);
	const bool is_constant =
		LLVMIsAConstantInt(right) && LLVMGetIntTypeWidth(LLVMTypeOf(right)) <= 64;
	const int64_t number = is_constant ? LLVMConstIntGetSExtValue(right) : 0;

	if (is_constant && (opcode == LLVMAdd || opcode == LLVMSub)) {
		flow_shift(analysis, result, value_node(analysis, left),
			opcode == LLVMAdd ? number : -number, 0);
		return;
	}
	if (is_constant && (opcode == LLVMAnd || opcode == LLVMOr)) {
		/* Masks set or clear tag bits of pointers; an `or` with disjoint bits is a sum. */
		flow_edge(&analysis->flow, value_node(analysis, left), result);
		flow_shift(analysis, result, value_node(analysis, left),
			opcode == LLVMOr ? number : 0, 0);
		return;
	}
	flow_anywhere(analysis, result, value_node(analysis, left));
	flow_anywhere(analysis, result, value_node(analysis, right));
}

static void constraints_constrain_union(
	struct analysis *analysis, LLVMValueRef instruction, int first)
{
	const uint32_t result = value_node(analysis, instruction);

	if (result == analysis->nothing)
		return;
	for (int i = first; i < LLVMGetNumOperands(instruction); i++)
		flow_edge(&analysis->flow,
			value_node(analysis, LLVMGetOperand(instruction, (unsigned)i)), result);
}

static void constraints_constrain_return(struct analysis *analysis, LLVMValueRef instruction)
{
	LLVMValueRef function = LLVMGetBasicBlockParent(LLVMGetInstructionParent(instruction));
	const struct symbol *symbol = linkage_symbol(&analysis->linkage, function);

	if (LLVMGetNumOperands(instruction) == 0)
		return;
	for (uint32_t i = 0; i < symbol->definition_count; i++)
		if (symbol->definitions[i].function == function)
			flow_edge(&analysis->flow,
				value_node(analysis, LLVMGetOperand(instruction, 0)),
				symbol->definitions[i].returns);
}

static void constraints_constrain_access(struct analysis *analysis, LLVMValueRef instruction,
	LLVMValueRef pointer, LLVMValueRef stored)
{
	const uint32_t location = value_node(analysis, pointer);
	const LLVMTypeRef type = LLVMTypeOf(stored ? stored : instruction);
	const uint64_t bytes = type_bytes(analysis, type);

	if (value_node(analysis, instruction) != analysis->nothing)
		flow_load(analysis, value_node(analysis, instruction), location, bytes);
	if (stored)
		flow_store(analysis, location, value_node(analysis, stored), bytes);
}

static void constraints_constrain_memory(struct analysis *analysis, LLVMValueRef instruction)
{
	LLVMValueRef first = LLVMGetOperand(instruction, 0);

	switch (LLVMGetInstructionOpcode(instruction)) {
	case LLVMAlloca:
		flow_edge(&analysis->flow, new_object(analysis, FLOW_STACK, instruction),
			value_node(analysis, instruction));
		return;
	case LLVMLoad:
	case LLVMVAArg:
		constraints_constrain_access(analysis, instruction, first, NULL);
		return;
	case LLVMStore:
		constraints_constrain_access(
			analysis, instruction, LLVMGetOperand(instruction, 1), first);
		return;
	case LLVMAtomicRMW:
		constraints_constrain_access(
			analysis, instruction, first, LLVMGetOperand(instruction, 1));
		return;
	default: /* LLVMAtomicCmpXchg */
		constraints_constrain_access(
			analysis, instruction, first, LLVMGetOperand(instruction, 2));
		return;
	}
}

static void constraints_constrain_instruction(struct analysis *analysis, LLVMValueRef instruction)
{
	switch (LLVMGetInstructionOpcode(instruction)) {
	case LLVMAlloca:
	case LLVMLoad:
	case LLVMVAArg:
	case LLVMStore:
	case LLVMAtomicRMW:
	case LLVMAtomicCmpXchg:
		constraints_constrain_memory(analysis, instruction);
		return;
	case LLVMGetElementPtr:
		constraints_constrain_element(analysis, instruction);
		return;
	case LLVMSelect:
	case LLVMPHI:
	case LLVMFreeze:
	case LLVMBitCast:
	case LLVMPtrToInt:
	case LLVMIntToPtr:
	case LLVMAddrSpaceCast:
	case LLVMTrunc:
	case LLVMZExt:
	case LLVMSExt:
	case LLVMExtractElement:
	case LLVMInsertElement:
	case LLVMShuffleVector:
	case LLVMExtractValue:
	case LLVMInsertValue:
		constraints_constrain_union(analysis, instruction, 0);
		return;
	case LLVMAdd:
	case LLVMSub:
	case LLVMAnd:
	case LLVMOr:
	case LLVMXor:
	case LLVMShl:
	case LLVMLShr:
	case LLVMAShr:
		constraints_constrain_sum(analysis, instruction);
		return;
	case LLVMRet:
		constraints_constrain_return(analysis, instruction);
		return;
	case LLVMCall:
	case LLVMInvoke:
	case LLVMCallBr:
		constrain_call(analysis, instruction);
		return;
	case LLVMLandingPad:
	case LLVMCatchPad:
	case LLVMCleanupPad:
		if (value_node(analysis, instruction) != analysis->nothing)
			flow_edge(&analysis->flow, analysis->flow.foreign,
				value_node(analysis, instruction));
		return;
	default:
		return; /* control flow, comparisons, other arithmetic */
	}
}

/* Opens the symbols that foreign code may use from the start: main, constructors and destructors,
 * exported symbols, and llvm.used. */
static void constraints_open_symbols(struct analysis *analysis, uint32_t file)
{
	const struct program_file *opened = &analysis->program.files[file];

	for (uint32_t i = 0; i < opened->export_count; i++) {
		const struct symbol *symbol = linkage_named(&analysis->linkage, opened->exports[i]);

		if (symbol)
			flow_point(&analysis->flow, analysis->flow.foreign,
				flow_location(&analysis->flow, symbol->object, 0));
	}
}

static bool constraints_is_kept_by_name(const char *name)
{
	return strcmp(name, "llvm.global_ctors") == 0 || strcmp(name, "llvm.global_dtors") == 0;
}

static void constraints_open_unit(struct analysis *analysis, LLVMModuleRef module)
{
	for (LLVMValueRef v = LLVMGetFirstGlobal(module); v; v = LLVMGetNextGlobal(v)) {
		size_t length;
		const char *name = LLVMGetValueName2(v, &length);

		if (constraints_is_kept_by_name(name) && LLVMGetInitializer(v))
			flow_edge(&analysis->flow, value_node(analysis, LLVMGetInitializer(v)),
				analysis->flow.foreign);
	}
}

static void constraints_constrain_unit(struct analysis *analysis, uint32_t number)
{
	const struct unit *unit = &analysis->program.units[number];

	analysis->unit = number;
	analysis->layout = unit->layout;
	constraints_open_unit(analysis, unit->module);
	for (LLVMValueRef v = LLVMGetFirstGlobal(unit->module); v; v = LLVMGetNextGlobal(v))
		constrain_initialiser(analysis, v);
	for (uint32_t i = 0; i < unit->first_instruction[unit->function_count]; i++)
		constraints_constrain_instruction(analysis, unit->instructions[i]);
	analysis->instruction_count += unit->first_instruction[unit->function_count];
}

/* Opens globals that the program only declares, because they belong to foreign code. */
static void constraints_open_declarations(struct analysis *analysis)
{
	for (uint32_t i = 0; i < analysis->linkage.count; i++) {
		const struct symbol *symbol = &analysis->linkage.symbols[i];

		if (!symbol->is_defined || (symbol->name && strcmp(symbol->name, "main") == 0))
			flow_point(&analysis->flow, analysis->flow.foreign,
				flow_location(&analysis->flow, symbol->object, 0));
	}
}

void constrain_program(struct analysis *analysis)
{
	for (uint32_t i = 0; i < analysis->program.unit_count; i++)
		constraints_constrain_unit(analysis, i);
	for (uint32_t i = 0; i < analysis->program.file_count; i++)
		constraints_open_symbols(analysis, i);
	constraints_open_declarations(analysis);
}
