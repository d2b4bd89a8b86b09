/* Translates instructions that compute, select or extract values. */
#include "branches/decode/code.h"

/* Kinds of code, by LLVM opcode. Instructions without a row are binary operations (CODE_BINARY). */
static const uint8_t operations[] = {
	[LLVMFAdd] = CODE_FLOAT,
	[LLVMFSub] = CODE_FLOAT,
	[LLVMFMul] = CODE_FLOAT,
	[LLVMFDiv] = CODE_FLOAT,
	[LLVMFRem] = CODE_FLOAT,
	[LLVMFNeg] = CODE_FLOAT_NEGATE,
	[LLVMICmp] = CODE_COMPARE,
	[LLVMFCmp] = CODE_FLOAT_COMPARE,
	[LLVMZExt] = CODE_ZERO_EXTEND,
	[LLVMSExt] = CODE_SIGN_EXTEND,
	[LLVMTrunc] = CODE_TRUNCATE,
	[LLVMSIToFP] = CODE_FROM_SIGNED,
	[LLVMUIToFP] = CODE_FROM_UNSIGNED,
	[LLVMFPToSI] = CODE_TO_SIGNED,
	[LLVMFPToUI] = CODE_TO_UNSIGNED,
	[LLVMFPExt] = CODE_FLOAT_CONVERT,
	[LLVMFPTrunc] = CODE_FLOAT_CONVERT,
	[LLVMPtrToInt] = CODE_MOVE,
	[LLVMIntToPtr] = CODE_MOVE,
	[LLVMBitCast] = CODE_MOVE,
	[LLVMFreeze] = CODE_MOVE,
	[LLVMAddrSpaceCast] = CODE_MOVE,
};

static enum code_op decode_value_op_of(LLVMOpcode opcode)
{
	return opcode < sizeof operations ? (enum code_op)operations[opcode] : CODE_BINARY;
}

static uint8_t decode_value_sub_of(LLVMValueRef instruction, enum code_op op)
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
			decode_lane_type(LLVMTypeOf(LLVMGetOperand(instruction, 0))));
	}
}

/* Decodes a bit cast between types with different lanes. Returns false if the lanes are equal. */
static bool decode_reshape(struct decoder *decoder, LLVMValueRef instruction)
{
	LLVMTypeRef from = LLVMTypeOf(LLVMGetOperand(instruction, 0)), to = LLVMTypeOf(instruction);
	const int32_t a = decode_operand_at(decoder, instruction, 0);
	const uint32_t before = decode_registers(decoder, from);
	const uint32_t after = decode_registers(decoder, to);
	struct code *code;

	if (LLVMGetInstructionOpcode(instruction) != LLVMBitCast || before == after)
		return false;
	if (!decode_width(decode_lane_type(from)) || !decode_width(decode_lane_type(to)) ||
		LLVMSizeOfTypeInBits(decoder->unit->layout, to) > RESHAPED_BITS) {
		decode_unknown(decoder, instruction, "a vector taken for another");
		return true;
	}
	code = decode_add(decoder, CODE_RESHAPE, instruction);
	code->a = a;
	code->count = before;
	code->sub = (uint8_t)decode_width(decode_lane_type(from));
	code->bytes = after;
	code->width = (uint8_t)decode_width(decode_lane_type(to));
	return true;
}

void decode_lanes(struct decoder *decoder, LLVMValueRef instruction)
{
	const enum code_op op = decode_value_op_of(LLVMGetInstructionOpcode(instruction));
	const uint32_t lanes = decode_registers(decoder, LLVMTypeOf(instruction));
	const bool compares = op == CODE_COMPARE || op == CODE_FLOAT_COMPARE;
	const uint32_t width = decode_width(decode_lane_type(
		LLVMTypeOf(compares ? LLVMGetOperand(instruction, 0) : instruction)));
	const uint8_t sub = decode_value_sub_of(instruction, op);
	const int32_t a = decode_operand_at(decoder, instruction, 0);
	const int32_t b = LLVMGetNumOperands(instruction) > 1
				  ? decode_operand_at(decoder, instruction, 1)
				  : 0;

	if (decode_reshape(decoder, instruction))
		return;
	if (!width || (op > CODE_FLOAT_COMPARE && op != CODE_FLOAT_NEGATE && !sub)) {
		decode_unknown(decoder, instruction, "arithmetic of more than 64 bits");
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

void decode_select(struct decoder *decoder, LLVMValueRef instruction)
{
	const uint32_t lanes = decode_registers(decoder, LLVMTypeOf(instruction));
	LLVMValueRef condition = LLVMGetOperand(instruction, 0);
	const bool is_vector = LLVMGetTypeKind(LLVMTypeOf(condition)) == LLVMVectorTypeKind;
	const int32_t a = decode_operand(decoder, condition);
	const int32_t b = decode_operand_at(decoder, instruction, 1);
	const int32_t c = decode_operand_at(decoder, instruction, 2);
	const uint32_t branch = is_vector ? UINT32_MAX : decode_branch_number(decoder, instruction);

	for (uint32_t i = 0; i < lanes; i++) {
		struct code *code = decode_add(decoder, CODE_SELECT, instruction);

		code->to += (int32_t)i;
		code->a = is_vector ? decode_lane(a, i) : a;
		code->b = decode_lane(b, i);
		code->c = decode_lane(c, i);
		code->branch = i ? UINT32_MAX : branch;
		code->width = (uint8_t)decode_width(decode_lane_type(LLVMTypeOf(instruction)));
	}
}

static void decode_value_move_lanes(struct decoder *decoder, LLVMValueRef instruction,
	uint32_t first, int32_t from, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++) {
		struct code *code = decode_add(decoder, CODE_MOVE, instruction);

		code->width = 64;
		code->to += (int32_t)(first + i);
		code->a = decode_lane(from, i);
	}
}

static uint32_t decode_value_member_register(
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

void decode_member(struct decoder *decoder, LLVMValueRef instruction)
{
	LLVMTypeRef type = LLVMTypeOf(LLVMGetOperand(instruction, 0));
	const uint32_t at = decode_value_member_register(decoder, type, instruction);
	const int32_t a = decode_operand_at(decoder, instruction, 0);
	int32_t b;

	if (LLVMIsAExtractValueInst(instruction)) {
		decode_value_move_lanes(decoder, instruction, 0, decode_lane(a, at),
			decode_registers(decoder, LLVMTypeOf(instruction)));
		return;
	}
	b = decode_operand_at(decoder, instruction, 1);
	decode_value_move_lanes(decoder, instruction, 0, a, decode_registers(decoder, type));
	decode_value_move_lanes(decoder, instruction, at, b,
		decode_registers(decoder, LLVMTypeOf(LLVMGetOperand(instruction, 1))));
}

void decode_shuffle(struct decoder *decoder, LLVMValueRef instruction)
{
	const uint32_t lanes = decode_registers(decoder, LLVMTypeOf(instruction));
	const int32_t width =
		(int32_t)decode_registers(decoder, LLVMTypeOf(LLVMGetOperand(instruction, 0)));
	const int32_t a = decode_operand_at(decoder, instruction, 0);
	const int32_t b = decode_operand_at(decoder, instruction, 1);

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

void decode_element(struct decoder *decoder, LLVMValueRef instruction)
{
	const bool is_insert = LLVMIsAInsertElementInst(instruction) != NULL;
	const uint32_t lanes =
		decode_registers(decoder, LLVMTypeOf(LLVMGetOperand(instruction, 0)));
	const int32_t a = decode_operand_at(decoder, instruction, 0);
	const int32_t b = decode_operand_at(decoder, instruction, 1);
	const int32_t c = is_insert ? decode_operand_at(decoder, instruction, 2) : 0;
	struct code *code;

	if (is_insert)
		decode_value_move_lanes(decoder, instruction, 0, a, lanes);
	code = decode_add(decoder, is_insert ? CODE_LOCATION : CODE_PICK, instruction);
	code->a = a;
	code->b = b;
	code->c = c;
	code->count = lanes;
}
