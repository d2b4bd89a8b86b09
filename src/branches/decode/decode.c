/* Translates functions from LLVM bitcode to code: types, operands, dispatch by instruction. */
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "branches/decode/code.h"
#include "abi/instrument_abi.h"

bool decode_is_wide(LLVMTypeRef type)
{
	return LLVMGetTypeKind(type) == LLVMX86_FP80TypeKind ||
	       (LLVMGetTypeKind(type) == LLVMIntegerTypeKind && LLVMGetIntTypeWidth(type) > 64 &&
		       LLVMGetIntTypeWidth(type) <= 128);
}

uint32_t decode_width(LLVMTypeRef type)
{
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
		/* Also for types that are too wide: they have a register, but no code computes them */
		return decode_is_wide(type) ? 2 : 1;
	}
}

/* Allocates constant registers after those of values; each frame gets a copy. */
static int32_t decode_add_constant(struct decoder *decoder, LLVMValueRef value)
{
	struct function *function = decoder->function;
	const uint32_t count = decode_registers(decoder, LLVMTypeOf(value));
	const uint32_t first = function->constant_count;

	if (first + count > function->constant_capacity) {
		function->constant_capacity = 2 * (first + count) + 16;
		function->constants = array_resize(function->constants, function->constant_capacity,
			sizeof *function->constants);
	}
	memset(function->constants + first, 0, count * sizeof *function->constants);
	if (!decode_constant(decoder->image, function->unit, value, function->constants + first))
		decode_unknown(decoder, NULL, "a constant of this kind");
	function->constant_count = first + count;
	return (int32_t)(function->value_count + first);
}

int32_t decode_operand(struct decoder *decoder, LLVMValueRef value)
{
	const uint32_t known = value_map_get(&decoder->registers, value);
	int32_t operand;

	if (known != NUMBER_MAP_NONE)
		return (int32_t)known;
	if (!LLVMIsConstant(value))
		return 0; /* metadata and the like: never read */
	operand = decode_add_constant(decoder, value);
	value_map_set(&decoder->registers, value, (uint32_t)operand);
	return operand;
}

struct code *decode_add(struct decoder *decoder, enum code_op op, LLVMValueRef instruction)
{
	struct function *function = decoder->function;
	struct code *code;
	uint32_t known;

	code = ARRAY_NEXT(function->codes, function->code_count);
	known = instruction ? value_map_get(&decoder->registers, instruction) : NUMBER_MAP_NONE;
	*code = (struct code){.op = (uint8_t)op,
		.to = known == NUMBER_MAP_NONE ? -1 : (int32_t)known,
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

static void decode_stop(struct decoder *decoder, LLVMValueRef instruction)
{
	decode_add(decoder, CODE_STOP, instruction);
}

static void decode_landing(struct decoder *decoder, LLVMValueRef instruction)
{
	decode_add(decoder, CODE_LANDING, instruction)->site =
		decode_site(decoder, instruction, SITE_LANDING, SITE_LANDING);
}

static void decode_fence(struct decoder *decoder, LLVMValueRef instruction)
{
	decode_add(decoder, CODE_REPORT, instruction)->site =
		decode_site(decoder, instruction, SITE_FENCE, SITE_FENCE);
}

static void decode_unsupported(struct decoder *decoder, LLVMValueRef instruction)
{
	decode_unknown(decoder, instruction, "asm goto or va_arg");
}

/* Decodes an instruction that computes its result from its operands, if nothing records it. */
static void decode_value(struct decoder *decoder, LLVMValueRef instruction)
{
	if (decode_site(decoder, instruction, SITE_RESULT, SITE_RESULT) != SITE_NONE)
		decode_recorded(decoder, instruction);
	else
		decode_lanes(decoder, instruction);
}

/* Decoders of instructions, by LLVM opcode. decode_value() decodes the instructions that have no row. */
static void (*const decoders[])(struct decoder *decoder, LLVMValueRef instruction) = {
	[LLVMRet] = decode_return,
	[LLVMBr] = decode_end,
	[LLVMSwitch] = decode_end,
	[LLVMIndirectBr] = decode_unsupported,
	[LLVMInvoke] = decode_call,
	[LLVMUnreachable] = decode_stop,
	[LLVMAlloca] = decode_local,
	[LLVMLoad] = decode_access,
	[LLVMStore] = decode_access,
	[LLVMGetElementPtr] = decode_address,
	[LLVMCall] = decode_call,
	[LLVMSelect] = decode_select,
	[LLVMVAArg] = decode_unsupported,
	[LLVMExtractElement] = decode_element,
	[LLVMInsertElement] = decode_element,
	[LLVMShuffleVector] = decode_shuffle,
	[LLVMExtractValue] = decode_member,
	[LLVMInsertValue] = decode_member,
	[LLVMFence] = decode_fence,
	[LLVMAtomicCmpXchg] = decode_access,
	[LLVMAtomicRMW] = decode_access,
	[LLVMResume] = decode_stop,
	[LLVMLandingPad] = decode_landing,
	[LLVMCallBr] = decode_unsupported,
};

static void decode_instruction(struct decoder *decoder, LLVMValueRef instruction)
{
	const LLVMOpcode opcode = LLVMGetInstructionOpcode(instruction);

	if (opcode < sizeof decoders / sizeof *decoders && decoders[opcode])
		decoders[opcode](decoder, instruction);
	else
		decode_value(decoder, instruction);
}

static void decode_number_registers(struct decoder *decoder)
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
	function->value_count = next;
}

/* Reads the sites that report parameters, which are attached to the first instruction. */
static void decode_read_parameters(struct decoder *decoder)
{
	struct function *function = decoder->function;
	LLVMValueRef first = LLVMGetFirstInstruction(LLVMGetEntryBasicBlock(function->value));
	const unsigned most = LLVMCountParams(function->value) + 1;
	uint32_t site = value_map_get(&decoder->image->first_site, first);

	function->argument_sites = array_new(most, sizeof *function->argument_sites);
	function->address_registers = array_new(most, sizeof *function->address_registers);
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

static void decode_fix_edges(struct function *function, const uint32_t *starts)
{
	for (uint32_t i = 0; i < function->code_count; i++) {
		struct code *code = &function->codes[i];

		if (code->op == CODE_GO || code->op == CODE_BRANCH || code->op == CODE_SWITCH)
			for (uint32_t j = 0; j < code->count; j++)
				code->edges[j].target = starts[code->edges[j].target];
		if (code->normal) {
			code->normal->target = starts[code->normal->target];
			code->unwind->target = starts[code->unwind->target];
		}
	}
}

static void decode_block(struct decoder *decoder, LLVMBasicBlockRef block)
{
	uint32_t instructions = 0;

	for (LLVMValueRef i = LLVMGetFirstInstruction(block); i; i = LLVMGetNextInstruction(i)) {
		if (!LLVMIsAPHINode(i)) /* the moves along edges replace it */
			decode_instruction(decoder, i);
		decoder->function->is_marked &=
			!(LLVMIsACallInst(i) && LLVMGetTailCallKind(i) == LLVMTailCallKindMustTail);
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
	function->is_marked = !LLVMHasPrefixData(function->value);
	decode_number_registers(&decoder);
	for (LLVMBasicBlockRef block = LLVMGetFirstBasicBlock(function->value); block;
		block = LLVMGetNextBasicBlock(block))
		value_map_set(&decoder.blocks, block, count++);
	starts = array_new(count + 1u, sizeof *starts);
	decode_read_parameters(&decoder);
	count = 0;
	for (LLVMBasicBlockRef block = LLVMGetFirstBasicBlock(function->value); block;
		block = LLVMGetNextBasicBlock(block)) {
		starts[count++] = function->code_count;
		decode_block(&decoder, block);
	}
	decode_fix_edges(function, starts);
	function->register_count = function->value_count + function->constant_count;
	code_make_ops(function);
	free(starts);
	number_map_release(&decoder.registers);
	number_map_release(&decoder.blocks);
}
