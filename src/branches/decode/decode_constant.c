/* Translates constants to registers, and constant globals to bytes. */
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "branches/decode/code.h"

static uint64_t decode_constant_mask(uint64_t value, uint32_t width)
{
	return width >= 64 ? value : value & ((UINT64_C(1) << width) - 1);
}

static uint64_t decode_constant_float_bits(LLVMValueRef constant, bool is_single)
{
	LLVMBool is_inexact;
	const double value = LLVMConstRealGetDouble(constant, &is_inexact);
	const float single = (float)value;
	uint64_t bits = 0;

	if (is_single)
		memcpy(&bits, &single, sizeof single);
	else
		memcpy(&bits, &value, sizeof value);
	return bits;
}

static bool decode_constant_scalar(
	struct image *image, uint32_t unit, LLVMValueRef constant, uint64_t *value);

static bool decode_constant_offset_of(
	struct image *image, uint32_t unit, LLVMValueRef expression, uint64_t *value)
{
	LLVMTargetDataRef layout = image->program.units[unit].layout;
	LLVMTypeRef type = LLVMGetGEPSourceElementType(expression);
	const int count = LLVMGetNumOperands(expression);

	if (!decode_constant_scalar(image, unit, LLVMGetOperand(expression, 0), value))
		return false;
	for (int i = 1; i < count; i++) {
		LLVMValueRef operand = LLVMGetOperand(expression, (unsigned)i);
		int64_t index;

		if (!LLVMIsAConstantInt(operand))
			return false;
		index = LLVMConstIntGetSExtValue(operand);
		if (i > 1 && LLVMGetTypeKind(type) == LLVMStructTypeKind) {
			*value += LLVMOffsetOfElement(layout, type, (unsigned)index);
			type = LLVMStructGetTypeAtIndex(type, (unsigned)index);
			continue;
		}
		if (i > 1)
			type = LLVMGetElementType(type);
		*value += (uint64_t)index * LLVMABISizeOfType(layout, type);
	}
	return true;
}

static bool decode_constant_expression(
	struct image *image, uint32_t unit, LLVMValueRef constant, uint64_t *value)
{
	uint64_t second;

	switch (LLVMGetConstOpcode(constant)) {
	case LLVMGetElementPtr:
		return decode_constant_offset_of(image, unit, constant, value);
	case LLVMPtrToInt:
	case LLVMIntToPtr:
	case LLVMBitCast:
	case LLVMAddrSpaceCast:
		return decode_constant_scalar(image, unit, LLVMGetOperand(constant, 0), value);
	case LLVMTrunc:
		if (!decode_constant_scalar(image, unit, LLVMGetOperand(constant, 0), value))
			return false;
		*value = decode_constant_mask(*value, LLVMGetIntTypeWidth(LLVMTypeOf(constant)));
		return true;
	case LLVMAdd:
	case LLVMSub:
	case LLVMXor:
		if (!decode_constant_scalar(image, unit, LLVMGetOperand(constant, 0), value) ||
			!decode_constant_scalar(image, unit, LLVMGetOperand(constant, 1), &second))
			return false;
		*value = LLVMGetConstOpcode(constant) == LLVMAdd   ? *value + second
			 : LLVMGetConstOpcode(constant) == LLVMSub ? *value - second
								   : *value ^ second;
		*value = decode_constant_mask(*value, LLVMGetIntTypeWidth(LLVMTypeOf(constant)));
		return true;
	default:
		return false;
	}
}

static bool decode_constant_scalar(
	struct image *image, uint32_t unit, LLVMValueRef constant, uint64_t *value)
{
	*value = 0;
	if (LLVMIsNull(constant) || LLVMIsUndef(constant) || LLVMIsPoison(constant))
		return true;
	if (LLVMIsAConstantInt(constant)) {
		if (LLVMGetIntTypeWidth(LLVMTypeOf(constant)) > 64)
			return false;
		*value = LLVMConstIntGetZExtValue(constant);
		return true;
	}
	if (LLVMIsAConstantFP(constant)) {
		const LLVMTypeKind kind = LLVMGetTypeKind(LLVMTypeOf(constant));

		if (kind != LLVMFloatTypeKind && kind != LLVMDoubleTypeKind)
			return false;
		*value = decode_constant_float_bits(constant, kind == LLVMFloatTypeKind);
		return true;
	}
	if (LLVMIsAGlobalAlias(constant))
		return decode_constant_scalar(image, unit, LLVMAliasGetAliasee(constant), value);
	if (LLVMIsAGlobalValue(constant)) {
		*value = image_address(image, unit, constant);
		return true;
	}
	return LLVMIsAConstantExpr(constant) &&
	       decode_constant_expression(image, unit, constant, value);
}

static unsigned decode_constant_member_count(LLVMTypeRef type)
{
	switch (LLVMGetTypeKind(type)) {
	case LLVMStructTypeKind:
		return LLVMCountStructElementTypes(type);
	case LLVMArrayTypeKind:
		return (unsigned)LLVMGetArrayLength2(type);
	case LLVMVectorTypeKind:
		return LLVMGetVectorSize(type);
	default:
		return 0;
	}
}

static bool decode_constant_is_aggregate(LLVMTypeRef type)
{
	const LLVMTypeKind kind = LLVMGetTypeKind(type);

	return kind == LLVMStructTypeKind || kind == LLVMArrayTypeKind ||
	       kind == LLVMVectorTypeKind;
}

/*
 * The words of a constant with two registers. LLVM's C API returns at most 64 bits, so the printed
 * form is parsed: "i128 -5", or "x86_fp80 0xK3FFF8000000000000000" with sign and exponent first.
 * Returns false if the constant is an expression.
 */
static bool decode_constant_wide(LLVMValueRef constant, uint64_t *registers)
{
	char *text = LLVMPrintValueToString(constant);
	const char *at = text + strcspn(text, " ") + 1;
	const bool is_negative = *at == '-';
	__extension__ unsigned __int128 value = 0;
	char exponent[5] = {0};

	if (LLVMIsAConstantFP(constant) && strlen(at) == 23) {
		memcpy(exponent, at + 3, 4);
		registers[0] = strtoull(at + 7, NULL, 16);
		registers[1] = strtoull(exponent, NULL, 16);
	} else {
		for (at += is_negative; *at >= '0' && *at <= '9'; at++)
			value = value * 10 + (uint64_t)(*at - '0');
		value = is_negative ? 0 - value : value;
		registers[0] = (uint64_t)value;
		registers[1] = (uint64_t)(value >> 64);
		if (LLVMIsAConstantInt(constant))
			registers[1] = decode_constant_mask(
				registers[1], LLVMGetIntTypeWidth(LLVMTypeOf(constant)) - 64);
	}
	LLVMDisposeMessage(text);
	return LLVMIsAConstantFP(constant) || LLVMIsAConstantInt(constant) || LLVMIsUndef(constant);
}

static bool decode_constant_fill_registers(struct image *image, uint32_t unit,
	LLVMValueRef constant, uint64_t *registers, uint32_t *at)
{
	LLVMTypeRef type = LLVMTypeOf(constant);

	if (decode_is_wide(type)) {
		*at += 2;
		return decode_constant_wide(constant, &registers[*at - 2]);
	}
	if (!decode_constant_is_aggregate(type))
		return decode_constant_scalar(image, unit, constant, &registers[(*at)++]);
	for (unsigned i = 0; i < decode_constant_member_count(type); i++) {
		LLVMValueRef part = LLVMGetAggregateElement(constant, i);

		if (!part || !decode_constant_fill_registers(image, unit, part, registers, at))
			return false;
	}
	return true;
}

bool decode_constant(struct image *image, uint32_t unit, LLVMValueRef constant, uint64_t *registers)
{
	uint32_t at = 0;

	return decode_constant_fill_registers(image, unit, constant, registers, &at);
}

static uint64_t decode_constant_member_offset(
	LLVMTargetDataRef layout, LLVMTypeRef type, LLVMValueRef part, unsigned index)
{
	if (LLVMGetTypeKind(type) == LLVMStructTypeKind)
		return LLVMOffsetOfElement(layout, type, index);
	return index * LLVMABISizeOfType(layout, LLVMTypeOf(part));
}

static void decode_constant_fill_bytes(
	struct image *image, uint32_t unit, LLVMValueRef constant, uint8_t *bytes)
{
	LLVMTargetDataRef layout = image->program.units[unit].layout;
	LLVMTypeRef type = LLVMTypeOf(constant);
	uint64_t words[2];

	if (LLVMIsNull(constant) || LLVMIsUndef(constant))
		return;
	if (!decode_constant_is_aggregate(type)) {
		const uint64_t size = LLVMStoreSizeOfType(layout, type);

		if (decode_is_wide(type) ? decode_constant_wide(constant, words)
					 : decode_constant_scalar(image, unit, constant, &words[0]))
			memcpy(bytes, words, size < sizeof words ? size : sizeof words);
		return;
	}
	for (unsigned i = 0; i < decode_constant_member_count(type); i++) {
		LLVMValueRef part = LLVMGetAggregateElement(constant, i);

		if (part)
			decode_constant_fill_bytes(image, unit, part,
				bytes + decode_constant_member_offset(layout, type, part, i));
	}
}

/* Finds the definition of the global: in this unit, or in another one under the same name. */
static LLVMValueRef decode_constant_find_definition(
	const struct image *image, uint32_t *unit, LLVMValueRef global)
{
	size_t length;
	const char *name = LLVMGetValueName2(global, &length);

	if (LLVMGetInitializer(global))
		return global;
	for (uint32_t i = 0; i < image->program.unit_count; i++) {
		LLVMValueRef other = LLVMGetNamedGlobal(image->program.units[i].module, name);

		if (other && LLVMGetInitializer(other)) {
			*unit = i;
			return other;
		}
	}
	return NULL;
}

const struct constant_block *decode_constant_block(struct decoder *decoder, LLVMValueRef global)
{
	struct code_book *book = decoder->book;
	uint32_t unit = decoder->function->unit;
	struct constant_block *block;
	LLVMValueRef definition = decode_constant_find_definition(decoder->image, &unit, global);

	if (!definition)
		return NULL;
	for (uint32_t i = 0; i < book->constant_count; i++)
		if (book->constants[i]->global == global)
			return book->constants[i];
	block = array_new(1, sizeof *block);
	ARRAY_APPEND(book->constants, book->constant_count, block);
	block->global = global;
	block->address = image_address(decoder->image, decoder->function->unit, global);
	block->size = LLVMABISizeOfType(
		decoder->image->program.units[unit].layout, LLVMGlobalGetValueType(definition));
	block->bytes = array_new(block->size + 8, 1);
	decode_constant_fill_bytes(
		decoder->image, unit, LLVMGetInitializer(definition), block->bytes);
	return block;
}
