/* Functions to code: values, control flow and everything that is neither memory nor a call. */
#include <stdlib.h>
#include <string.h>

#include "base/bug.h"
#include "rewalk/code.h"
#include "runtime/instrument_abi.h"

/* ---- types and operands ---- */

uint32_t decode_width(const struct decoder *decoder, LLVMTypeRef type)
{
	(void)decoder;
	switch (LLVMGetTypeKind(type)) {
	case LLVMIntegerTypeKind:
		return LLVMGetIntTypeWidth(type) <= 64 ? LLVMGetIntTypeWidth(type) : 0;
	case LLVMFloatTypeKind:
		return 32;
	case LLVMDoubleTypeKind:
	case LLVMPointerTypeKind:
		return 64;
	default:
		return 0;
	}
}

uint32_t decode_registers(const struct decoder *decoder, LLVMTypeRef type)
{
	uint32_t count = 0;

	switch (LLVMGetTypeKind(type)) {
	case LLVMVoidTypeKind:
	case LLVMMetadataTypeKind:
	case LLVMTokenTypeKind:
	case LLVMLabelTypeKind:
		return 0;
	case LLVMStructTypeKind:
		for (unsigned i = 0; i < LLVMCountStructElementTypes(type); i++)
			count += decode_registers(decoder, LLVMStructGetTypeAtIndex(type, i));
		return count;
	case LLVMArrayTypeKind:
		return (uint32_t)LLVMGetArrayLength2(type) *
		       decode_registers(decoder, LLVMGetElementType(type));
	case LLVMVectorTypeKind:
		return LLVMGetVectorSize(type) *
		       decode_registers(decoder, LLVMGetElementType(type));
	default:
		return 1; /* also what is too wide: it has a place, but no code that makes it */
	}
}

static int32_t add_constant(struct decoder *decoder, LLVMValueRef value)
{
	struct function *function = decoder->function;
	const uint32_t count = decode_registers(decoder, LLVMTypeOf(value));
	/* Number 0 stays free: ~0 means that a value has no register. */
	const uint32_t first = function->constant_count ? function->constant_count : 1;

	if (first + count > function->constant_capacity) {
		function->constant_capacity = 2 * (first + count) + 16;
		function->constants = realloc(function->constants,
			function->constant_capacity * sizeof *function->constants);
		BUG_ON(!function->constants);
	}
	memset(function->constants + first, 0, count * sizeof *function->constants);
	if (!decode_constant(decoder->image, function->unit, value, function->constants + first))
		decode_unknown(decoder, NULL, "a constant of this kind");
	function->constant_count = first + count;
	return ~(int32_t)first;
}

int32_t decode_operand(struct decoder *decoder, LLVMValueRef value)
{
	const uint32_t known = value_map_get(&decoder->registers, value);
	int32_t operand;

	if (known != VALUE_MAP_NONE)
		return (int32_t)known;
	if (!LLVMIsConstant(value))
		return 0; /* metadata and the like: nobody reads it */
	operand = add_constant(decoder, value);
	value_map_set(&decoder->registers, value, (uint32_t)operand);
	return operand;
}

static int32_t operand_at(struct decoder *decoder, LLVMValueRef instruction, unsigned index)
{
	return decode_operand(decoder, LLVMGetOperand(instruction, index));
}

struct code *decode_add(struct decoder *decoder, enum code_op op, LLVMValueRef instruction)
{
	struct function *function = decoder->function;
	struct code *code;
	uint32_t known;

	if (function->code_count == function->code_capacity) {
		function->code_capacity =
			function->code_capacity ? 2 * function->code_capacity : 32;
		function->codes =
			realloc(function->codes, function->code_capacity * sizeof *function->codes);
		BUG_ON(!function->codes);
	}
	code = &function->codes[function->code_count++];
	known = instruction ? value_map_get(&decoder->registers, instruction) : VALUE_MAP_NONE;
	*code = (struct code){.op = (uint8_t)op,
		.to = known == VALUE_MAP_NONE ? -1 : (int32_t)known,
		.site = SITE_NONE,
		.branch = UINT32_MAX,
		.value = instruction};
	return code;
}

void decode_unknown(struct decoder *decoder, LLVMValueRef instruction, const char *text)
{
	decode_add(decoder, CODE_UNKNOWN, instruction)->text = text;
}

uint32_t decode_site(const struct decoder *decoder, LLVMValueRef instruction, int first, int last)
{
	uint32_t site = value_map_get(&decoder->image->first_site, instruction);

	for (; site != SITE_NONE; site = decoder->image->sites[site].next)
		if (decoder->image->sites[site].kind >= first &&
			decoder->image->sites[site].kind <= last)
			return site;
	return SITE_NONE;
}

/* ---- control flow ---- */

static uint32_t phi_registers(const struct decoder *decoder, LLVMBasicBlockRef block)
{
	uint32_t count = 0;

	for (LLVMValueRef phi = LLVMGetFirstInstruction(block); phi && LLVMIsAPHINode(phi);
		phi = LLVMGetNextInstruction(phi))
		count += decode_registers(decoder, LLVMTypeOf(phi));
	return count;
}

static LLVMValueRef incoming(LLVMValueRef phi, LLVMBasicBlockRef from)
{
	for (unsigned i = 0; i < LLVMCountIncoming(phi); i++)
		if (LLVMGetIncomingBlock(phi, i) == from)
			return LLVMGetIncomingValue(phi, i);
	return NULL;
}

static void fill_edge(
	struct decoder *decoder, struct edge *edge, LLVMBasicBlockRef from, LLVMBasicBlockRef to)
{
	const uint32_t count = phi_registers(decoder, to);

	/* The number of the block; that of its first code when all are decoded. */
	edge->target = value_map_get(&decoder->blocks, to);
	edge->to = calloc(count + 1u, sizeof *edge->to);
	edge->from = calloc(count + 1u, sizeof *edge->from);
	BUG_ON(!edge->to || !edge->from);
	for (LLVMValueRef phi = LLVMGetFirstInstruction(to); phi && LLVMIsAPHINode(phi);
		phi = LLVMGetNextInstruction(phi)) {
		const uint32_t lanes = decode_registers(decoder, LLVMTypeOf(phi));
		const int32_t target = decode_operand(decoder, phi);
		const int32_t source = decode_operand(decoder, incoming(phi, from));

		for (uint32_t i = 0; i < lanes; i++) {
			edge->to[edge->count] = decode_lane(target, i);
			edge->from[edge->count++] = decode_lane(source, i);
		}
	}
}

struct edge *decode_edge(struct decoder *decoder, LLVMValueRef from, LLVMBasicBlockRef to)
{
	struct edge *edge = calloc(1, sizeof *edge);

	BUG_ON(!edge);
	fill_edge(decoder, edge, LLVMGetInstructionParent(from), to);
	return edge;
}

static uint32_t number_branch(struct decoder *decoder, LLVMValueRef instruction)
{
	struct code_book *book = decoder->book;

	if (book->branch_count == book->branch_capacity) {
		book->branch_capacity = book->branch_capacity ? 2 * book->branch_capacity : 64;
		book->branches =
			realloc(book->branches, book->branch_capacity * sizeof *book->branches);
		BUG_ON(!book->branches);
	}
	book->branches[book->branch_count] = instruction;
	return book->branch_count++;
}

static void decode_end(struct decoder *decoder, LLVMValueRef instruction)
{
	const unsigned count = LLVMGetNumSuccessors(instruction);
	const bool is_switch = LLVMIsASwitchInst(instruction) != NULL;
	const bool is_conditional = is_switch || LLVMIsConditional(instruction);
	const int32_t condition = is_switch ? operand_at(decoder, instruction, 0)
				  : is_conditional
					  ? decode_operand(decoder, LLVMGetCondition(instruction))
					  : 0;
	struct edge *edges = calloc(count + 1u, sizeof *edges);
	struct code *code;

	BUG_ON(!edges);
	for (unsigned i = 0; i < count; i++) {
		fill_edge(decoder, &edges[i], LLVMGetInstructionParent(instruction),
			LLVMGetSuccessor(instruction, i));
		if (is_switch && i)
			edges[i].value =
				LLVMConstIntGetZExtValue(LLVMGetOperand(instruction, 2 * i));
	}
	code = decode_add(decoder,
		is_switch	 ? CODE_SWITCH
		: is_conditional ? CODE_BRANCH
				 : CODE_GO,
		instruction);
	code->a = condition;
	code->edges = edges;
	code->count = count;
	if (is_switch)
		code->width =
			(uint8_t)decode_width(decoder, LLVMTypeOf(LLVMGetOperand(instruction, 0)));
	if (is_conditional)
		code->branch = number_branch(decoder, instruction);
}

static void decode_return(struct decoder *decoder, LLVMValueRef instruction)
{
	int32_t operand = 0;
	uint32_t count = 0;
	struct code *code;

	if (LLVMGetNumOperands(instruction)) {
		operand = operand_at(decoder, instruction, 0);
		count = decode_registers(decoder, LLVMTypeOf(LLVMGetOperand(instruction, 0)));
	}
	code = decode_add(decoder, CODE_RETURN, instruction);
	code->a = operand;
	code->count = count;
}

/* ---- values ---- */

static LLVMTypeRef element_of(LLVMTypeRef type)
{
	return LLVMGetTypeKind(type) == LLVMVectorTypeKind ? LLVMGetElementType(type) : type;
}

static enum code_op op_of(LLVMOpcode opcode)
{
	switch (opcode) {
	case LLVMFAdd:
	case LLVMFSub:
	case LLVMFMul:
	case LLVMFDiv:
	case LLVMFRem:
		return CODE_FLOAT;
	case LLVMFNeg:
		return CODE_FLOAT_NEGATE;
	case LLVMICmp:
		return CODE_COMPARE;
	case LLVMFCmp:
		return CODE_FLOAT_COMPARE;
	case LLVMZExt:
		return CODE_ZERO_EXTEND;
	case LLVMSExt:
		return CODE_SIGN_EXTEND;
	case LLVMTrunc:
		return CODE_TRUNCATE;
	case LLVMSIToFP:
		return CODE_FROM_SIGNED;
	case LLVMUIToFP:
		return CODE_FROM_UNSIGNED;
	case LLVMFPToSI:
		return CODE_TO_SIGNED;
	case LLVMFPToUI:
		return CODE_TO_UNSIGNED;
	case LLVMFPExt:
	case LLVMFPTrunc:
		return CODE_FLOAT_CONVERT;
	case LLVMPtrToInt:
	case LLVMIntToPtr:
	case LLVMBitCast:
	case LLVMFreeze:
	case LLVMAddrSpaceCast:
		return CODE_MOVE;
	default:
		return CODE_BINARY;
	}
}

static uint8_t sub_of(struct decoder *decoder, LLVMValueRef instruction, enum code_op op)
{
	switch (op) {
	case CODE_BINARY:
	case CODE_FLOAT:
		return (uint8_t)LLVMGetInstructionOpcode(instruction);
	case CODE_COMPARE:
		return (uint8_t)LLVMGetICmpPredicate(instruction);
	case CODE_FLOAT_COMPARE:
		return (uint8_t)LLVMGetFCmpPredicate(instruction);
	default:
		return (uint8_t)decode_width(
			decoder, element_of(LLVMTypeOf(LLVMGetOperand(instruction, 0))));
	}
}

/* Does a bitcast change how many lanes there are? */
static bool is_reshaped(const struct decoder *decoder, LLVMValueRef instruction)
{
	return decode_registers(decoder, LLVMTypeOf(instruction)) !=
	       decode_registers(decoder, LLVMTypeOf(LLVMGetOperand(instruction, 0)));
}

/* One code for each lane, all alike. */
static void decode_lanes(struct decoder *decoder, LLVMValueRef instruction)
{
	const enum code_op op = op_of(LLVMGetInstructionOpcode(instruction));
	const uint32_t lanes = decode_registers(decoder, LLVMTypeOf(instruction));
	const bool compares = op == CODE_COMPARE || op == CODE_FLOAT_COMPARE;
	const uint32_t width = decode_width(decoder,
		element_of(LLVMTypeOf(compares ? LLVMGetOperand(instruction, 0) : instruction)));
	const uint8_t sub = sub_of(decoder, instruction, op);
	const int32_t a = operand_at(decoder, instruction, 0);
	const int32_t b =
		LLVMGetNumOperands(instruction) > 1 ? operand_at(decoder, instruction, 1) : 0;

	if (!width || (op > CODE_FLOAT_COMPARE && op != CODE_FLOAT_NEGATE && !sub)) {
		decode_unknown(decoder, instruction, "arithmetic of more than 64 bits");
		return;
	}
	if (op == CODE_MOVE && is_reshaped(decoder, instruction)) {
		struct code *code = decode_add(decoder, CODE_INTRINSIC, instruction);

		code->sub = INTRINSIC_UNKNOWN;
		code->op = CODE_UNKNOWN;
		code->text = "a vector taken for another";
		return;
	}
	for (uint32_t i = 0; i < lanes; i++) {
		struct code *code = decode_add(decoder, op, instruction);

		code->sub = sub;
		code->width = (uint8_t)width;
		code->to += (int32_t)i;
		code->a = decode_lane(a, i);
		code->b = decode_lane(b, i);
	}
}

static void decode_select(struct decoder *decoder, LLVMValueRef instruction)
{
	const uint32_t lanes = decode_registers(decoder, LLVMTypeOf(instruction));
	LLVMValueRef condition = LLVMGetOperand(instruction, 0);
	const bool is_vector = LLVMGetTypeKind(LLVMTypeOf(condition)) == LLVMVectorTypeKind;
	const int32_t a = decode_operand(decoder, condition);
	const int32_t b = operand_at(decoder, instruction, 1);
	const int32_t c = operand_at(decoder, instruction, 2);
	const uint32_t branch = is_vector ? UINT32_MAX : number_branch(decoder, instruction);

	for (uint32_t i = 0; i < lanes; i++) {
		struct code *code = decode_add(decoder, CODE_SELECT, instruction);

		code->to += (int32_t)i;
		code->a = is_vector ? decode_lane(a, i) : a;
		code->b = decode_lane(b, i);
		code->c = decode_lane(c, i);
		code->branch = i ? UINT32_MAX : branch;
		code->width = (uint8_t)decode_width(decoder, element_of(LLVMTypeOf(instruction)));
	}
}

static void move_lanes(struct decoder *decoder, LLVMValueRef instruction, uint32_t first,
	int32_t from, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++) {
		struct code *code = decode_add(decoder, CODE_MOVE, instruction);

		code->width = 64;
		code->to += (int32_t)(first + i);
		code->a = decode_lane(from, i);
	}
}

/* The first register of a member. */
static uint32_t member_register(
	const struct decoder *decoder, LLVMTypeRef type, LLVMValueRef instruction)
{
	const unsigned *indices = LLVMGetIndices(instruction);
	uint32_t at = 0;

	for (unsigned depth = 0; depth < LLVMGetNumIndices(instruction); depth++) {
		if (LLVMGetTypeKind(type) == LLVMArrayTypeKind) {
			type = LLVMGetElementType(type);
			at += indices[depth] * decode_registers(decoder, type);
			continue;
		}
		for (unsigned i = 0; i < indices[depth]; i++)
			at += decode_registers(decoder, LLVMStructGetTypeAtIndex(type, i));
		type = LLVMStructGetTypeAtIndex(type, indices[depth]);
	}
	return at;
}

static void decode_member(struct decoder *decoder, LLVMValueRef instruction)
{
	LLVMTypeRef type = LLVMTypeOf(LLVMGetOperand(instruction, 0));
	const uint32_t at = member_register(decoder, type, instruction);
	const int32_t a = operand_at(decoder, instruction, 0);
	int32_t b;

	if (LLVMIsAExtractValueInst(instruction)) {
		move_lanes(decoder, instruction, 0, decode_lane(a, at),
			decode_registers(decoder, LLVMTypeOf(instruction)));
		return;
	}
	b = operand_at(decoder, instruction, 1);
	move_lanes(decoder, instruction, 0, a, decode_registers(decoder, type));
	move_lanes(decoder, instruction, at, b,
		decode_registers(decoder, LLVMTypeOf(LLVMGetOperand(instruction, 1))));
}

static void decode_shuffle(struct decoder *decoder, LLVMValueRef instruction)
{
	const uint32_t lanes = decode_registers(decoder, LLVMTypeOf(instruction));
	const int32_t width =
		(int32_t)decode_registers(decoder, LLVMTypeOf(LLVMGetOperand(instruction, 0)));
	const int32_t a = operand_at(decoder, instruction, 0);
	const int32_t b = operand_at(decoder, instruction, 1);

	for (uint32_t i = 0; i < lanes; i++) {
		const int from = LLVMGetMaskValue(instruction, i);
		struct code *code;

		if (from == LLVMGetUndefMaskElem())
			continue;
		code = decode_add(decoder, CODE_MOVE, instruction);
		code->width = 64;
		code->to += (int32_t)i;
		code->a = from < width ? decode_lane(a, (uint32_t)from)
				       : decode_lane(b, (uint32_t)(from - width));
	}
}

static void decode_element(struct decoder *decoder, LLVMValueRef instruction)
{
	const bool is_insert = LLVMIsAInsertElementInst(instruction) != NULL;
	const uint32_t lanes =
		decode_registers(decoder, LLVMTypeOf(LLVMGetOperand(instruction, 0)));
	const int32_t a = operand_at(decoder, instruction, 0);
	const int32_t b = operand_at(decoder, instruction, 1);
	const int32_t c = is_insert ? operand_at(decoder, instruction, 2) : 0;
	struct code *code;

	if (is_insert)
		move_lanes(decoder, instruction, 0, a, lanes);
	code = decode_add(decoder, is_insert ? CODE_PLACE : CODE_PICK, instruction);
	code->a = a;
	code->b = b;
	code->c = c;
	code->count = lanes;
}

static void decode_instruction(struct decoder *decoder, LLVMValueRef instruction)
{
	switch (LLVMGetInstructionOpcode(instruction)) {
	case LLVMPHI:
		return;
	case LLVMBr:
	case LLVMSwitch:
		decode_end(decoder, instruction);
		return;
	case LLVMRet:
		decode_return(decoder, instruction);
		return;
	case LLVMUnreachable:
	case LLVMResume:
		decode_add(decoder, CODE_STOP, instruction);
		return;
	case LLVMSelect:
		decode_select(decoder, instruction);
		return;
	case LLVMExtractValue:
	case LLVMInsertValue:
		decode_member(decoder, instruction);
		return;
	case LLVMShuffleVector:
		decode_shuffle(decoder, instruction);
		return;
	case LLVMExtractElement:
	case LLVMInsertElement:
		decode_element(decoder, instruction);
		return;
	case LLVMLandingPad:
		decode_add(decoder, CODE_LANDING, instruction)->site =
			decode_site(decoder, instruction, SITE_LANDING, SITE_LANDING);
		return;
	case LLVMCall:
	case LLVMInvoke:
		decode_call(decoder, instruction);
		return;
	case LLVMAlloca:
	case LLVMLoad:
	case LLVMStore:
	case LLVMGetElementPtr:
	case LLVMFence:
	case LLVMAtomicRMW:
	case LLVMAtomicCmpXchg:
		decode_memory(decoder, instruction);
		return;
	case LLVMCallBr:
	case LLVMIndirectBr:
	case LLVMVAArg:
		decode_unknown(decoder, instruction, "computed goto, asm goto or va_arg");
		return;
	default:
		decode_lanes(decoder, instruction);
	}
}

/* ---- functions ---- */

static void number_registers(struct decoder *decoder)
{
	struct function *function = decoder->function;
	uint32_t next = 0;

	for (unsigned i = 0; i < LLVMCountParams(function->value); i++) {
		LLVMValueRef parameter = LLVMGetParam(function->value, i);

		value_map_set(&decoder->registers, parameter, next);
		next += decode_registers(decoder, LLVMTypeOf(parameter));
	}
	function->parameter_registers = next;
	for (LLVMBasicBlockRef block = LLVMGetFirstBasicBlock(function->value); block;
		block = LLVMGetNextBasicBlock(block)) {
		for (LLVMValueRef i = LLVMGetFirstInstruction(block); i;
			i = LLVMGetNextInstruction(i)) {
			const uint32_t count = decode_registers(decoder, LLVMTypeOf(i));

			if (!count)
				continue;
			value_map_set(&decoder->registers, i, next);
			next += count;
		}
	}
	function->register_count = next;
}

/* Sites that tell of parameters stand at the first instruction. */
static void read_parameters(struct decoder *decoder)
{
	struct function *function = decoder->function;
	LLVMValueRef first = LLVMGetFirstInstruction(LLVMGetEntryBasicBlock(function->value));
	const unsigned most = LLVMCountParams(function->value) + 1;
	uint32_t site = value_map_get(&decoder->image->first_site, first);

	function->argument_sites = calloc(most, sizeof *function->argument_sites);
	function->address_registers = calloc(most, sizeof *function->address_registers);
	BUG_ON(!function->argument_sites || !function->address_registers);
	for (; site != SITE_NONE; site = decoder->image->sites[site].next) {
		const struct image_site *of = &decoder->image->sites[site];

		if (of->kind == SITE_ARGUMENT && of->bytes + 1u < most + 1 &&
			function->argument_count < most)
			function->argument_sites[function->argument_count++] = value_map_get(
				&decoder->registers, LLVMGetParam(function->value, of->bytes));
		if (of->kind == SITE_ADDRESS && of->bytes && of->bytes < most)
			function->address_registers[function->address_count++] = value_map_get(
				&decoder->registers, LLVMGetParam(function->value, of->bytes - 1u));
	}
}

static void fix_edge(struct edge *edge, const uint32_t *starts)
{
	edge->target = starts[edge->target];
}

static void fix_edges(struct function *function, const uint32_t *starts)
{
	for (uint32_t i = 0; i < function->code_count; i++) {
		struct code *code = &function->codes[i];

		if (code->op == CODE_GO || code->op == CODE_BRANCH || code->op == CODE_SWITCH)
			for (uint32_t j = 0; j < code->count; j++)
				fix_edge(&code->edges[j], starts);
		if (code->normal) {
			fix_edge(code->normal, starts);
			fix_edge(code->unwind, starts);
		}
	}
}

static void decode_block(struct decoder *decoder, LLVMBasicBlockRef block)
{
	uint32_t instructions = 0;

	for (LLVMValueRef i = LLVMGetFirstInstruction(block); i; i = LLVMGetNextInstruction(i)) {
		decode_instruction(decoder, i);
		instructions++;
	}
	if (decoder->function->code_count)
		decoder->function->codes[decoder->function->code_count - 1].instructions =
			instructions;
}

void code_decode(struct code_book *book, struct function *function)
{
	struct decoder decoder = {.book = book,
		.image = book->image,
		.function = function,
		.unit = &book->image->program.units[function->unit]};
	uint32_t count = 0, *starts;

	if (function->is_decoded)
		return;
	function->is_decoded = true;
	number_registers(&decoder);
	for (LLVMBasicBlockRef block = LLVMGetFirstBasicBlock(function->value); block;
		block = LLVMGetNextBasicBlock(block))
		value_map_set(&decoder.blocks, block, count++);
	starts = calloc(count + 1u, sizeof *starts);
	BUG_ON(!starts);
	read_parameters(&decoder);
	count = 0;
	for (LLVMBasicBlockRef block = LLVMGetFirstBasicBlock(function->value); block;
		block = LLVMGetNextBasicBlock(block)) {
		starts[count++] = function->code_count;
		decode_block(&decoder, block);
	}
	fix_edges(function, starts);
	free(starts);
	value_map_release(&decoder.registers);
	value_map_release(&decoder.blocks);
}
