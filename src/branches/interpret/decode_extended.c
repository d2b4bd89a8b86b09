/* Translates 80-bit floating point, the type long double of x86-64, to two registers. */
#include <stdlib.h>
#include <string.h>

#include "branches/interpret/code.h"

bool decode_is_extended(LLVMTypeRef type)
{
	return LLVMGetTypeKind(type) == LLVMX86_FP80TypeKind;
}

/* The printed form is exact: "x86_fp80 0xK3FFF8000000000000000", sign and exponent first. */
bool decode_extended_constant(LLVMValueRef constant, uint64_t registers[2])
{
	char *text = LLVMPrintValueToString(constant);
	const char *at = strstr(text, "0xK");
	char high[5] = {0};

	registers[0] = registers[1] = 0;
	if (at && strlen(at) >= 23) {
		memcpy(high, at + 3, 4);
		registers[1] = strtoull(high, NULL, 16);
		registers[0] = strtoull(at + 7, NULL, 16);
	}
	LLVMDisposeMessage(text);
	return at || LLVMIsNull(constant) || LLVMIsUndef(constant);
}

bool decode_extended(struct decoder *decoder, LLVMValueRef instruction)
{
	LLVMTypeRef from = LLVMTypeOf(LLVMGetOperand(instruction, 0)), to = LLVMTypeOf(instruction);
	const bool is_from = decode_is_extended(from), is_to = decode_is_extended(to);
	const LLVMOpcode opcode = LLVMGetInstructionOpcode(instruction);
	int32_t a, b;
	struct code *code;

	/* The other type of a conversion must have one register, except for a bitcast. */
	if ((!is_from && !is_to) ||
		(!is_from && !decode_width(decoder, from) && opcode != LLVMBitCast) ||
		(!is_to && !decode_width(decoder, to) && opcode != LLVMBitCast))
		return false;
	a = decode_operand_at(decoder, instruction, 0);
	b = LLVMGetNumOperands(instruction) > 1 ? decode_operand_at(decoder, instruction, 1) : -1;
	code = decode_add(decoder, CODE_EXTENDED, instruction);
	code->sub = (uint8_t)opcode;
	code->width = is_to ? 80 : (uint8_t)decode_width(decoder, to);
	code->bytes = is_from ? 80 : decode_width(decoder, from);
	if (opcode == LLVMBitCast)
		code->bytes = code->width = 80;
	code->count = opcode == LLVMFCmp ? (uint32_t)LLVMGetFCmpPredicate(instruction) : 0;
	code->a = a;
	code->b = b;
	code->c = -1;
	return true;
}

bool decode_extended_intrinsic(struct decoder *decoder, LLVMValueRef call, enum intrinsic number)
{
	const unsigned count = LLVMGetNumArgOperands(call);
	int32_t operands[3] = {-1, -1, -1};
	struct code *code;

	if (!decode_is_extended(LLVMTypeOf(LLVMGetArgOperand(call, 0))) ||
		number < INTRINSIC_FUSED || number > INTRINSIC_ROUND)
		return false;
	for (unsigned i = 0; i < count && i < 3; i++)
		operands[i] = decode_operand(decoder, LLVMGetArgOperand(call, i));
	code = decode_add(decoder, CODE_EXTENDED_INTRINSIC, call);
	code->sub = (uint8_t)number;
	code->width = 80;
	code->bytes = 80;
	code->a = operands[0];
	code->b = operands[1];
	code->c = operands[2];
	return true;
}
