/*
 * Integers of 65 to 128 bits, which optimisers use for closed forms of loop sums. They have two
 * registers, low word first.
 */
#include <stdlib.h>
#include <string.h>

#include "branches/interpret/code.h"

bool decode_is_wide(LLVMTypeRef type)
{
	return LLVMGetTypeKind(type) == LLVMIntegerTypeKind && LLVMGetIntTypeWidth(type) > 64 &&
	       LLVMGetIntTypeWidth(type) <= 128;
}

/* The C API of LLVM returns at most 64 bits of a constant, so the printed form is parsed: "i128 -5". */
void decode_wide_constant(LLVMValueRef constant, uint64_t *registers)
{
	const uint32_t width = LLVMGetIntTypeWidth(LLVMTypeOf(constant));
	char *text = LLVMPrintValueToString(constant);
	const char *at = text + strcspn(text, " ");
	wide_integer value = 0;
	bool is_negative;

	at += strspn(at, " ");
	is_negative = *at == '-';
	for (at += is_negative; *at >= '0' && *at <= '9'; at++)
		value = value * 10 + (wide_integer)(*at - '0');
	value = is_negative ? 0 - value : value;
	registers[0] = (uint64_t)value;
	registers[1] = (uint64_t)(value >> 64);
	if (width < 128)
		registers[1] &= (UINT64_C(1) << (width - 64)) - 1;
	LLVMDisposeMessage(text);
}

static uint32_t width_of(LLVMValueRef value)
{
	LLVMTypeRef type = LLVMTypeOf(value);

	return LLVMGetTypeKind(type) == LLVMIntegerTypeKind ? LLVMGetIntTypeWidth(type) : 0;
}

bool decode_wide(struct decoder *decoder, LLVMValueRef instruction)
{
	const LLVMOpcode opcode = LLVMGetInstructionOpcode(instruction);
	const uint32_t from = width_of(LLVMGetOperand(instruction, 0));
	const uint32_t to = width_of(instruction);
	int32_t a, b;
	struct code *code;

	if ((from <= 64 && to <= 64) || from > 128 || to > 128)
		return false;
	/* Conversions from or to floating point are not supported. */
	if (!from || !to || opcode == LLVMSIToFP || opcode == LLVMUIToFP)
		return false;
	a = decode_operand_at(decoder, instruction, 0);
	b = LLVMGetNumOperands(instruction) > 1 ? decode_operand_at(decoder, instruction, 1) : -1;
	code = decode_add(decoder, CODE_WIDE, instruction);
	code->sub = (uint8_t)opcode;
	code->width = (uint8_t)(opcode == LLVMICmp ? from : to);
	code->bytes = from;
	code->count = opcode == LLVMICmp ? (uint32_t)LLVMGetICmpPredicate(instruction) : 0;
	code->a = a;
	code->b = b;
	return true;
}
