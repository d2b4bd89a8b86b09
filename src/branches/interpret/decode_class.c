/*
 * llvm.is.fpclass(), the implementation of isnan(), isinf() and others, as comparisons of the bits
 * without the sign.
 */
#include "branches/interpret/code.h"

/* Bits of the class mask. */
#define CLASS_NAN 0x003u
#define CLASS_INFINITE 0x204u
#define CLASS_NORMAL 0x108u
#define CLASS_SUBNORMAL 0x090u
#define CLASS_ZERO 0x060u
#define CLASS_ALL 0x3ffu

/* Without their sign bits, the values are ordered as integers: zero, subnormal from 1 on, normal, infinite, NaN. */
struct bounds {
	uint64_t normal, infinite;
};

/* The test (bits - minus) `predicate` than. */
struct question {
	uint32_t classes;
	LLVMIntPredicate predicate;
	uint64_t minus, than;
};

static bool find_question(uint32_t classes, const struct bounds *of, struct question *out)
{
	const struct question questions[] = {{CLASS_NAN, LLVMIntUGT, 0, of->infinite},
		{CLASS_ALL & ~CLASS_NAN, LLVMIntULE, 0, of->infinite},
		{CLASS_INFINITE, LLVMIntEQ, 0, of->infinite},
		{CLASS_ALL & ~CLASS_INFINITE, LLVMIntNE, 0, of->infinite},
		{CLASS_INFINITE | CLASS_NAN, LLVMIntUGE, 0, of->infinite},
		{CLASS_ALL & ~(CLASS_INFINITE | CLASS_NAN), LLVMIntULT, 0, of->infinite},
		{CLASS_NORMAL, LLVMIntULT, of->normal, of->infinite - of->normal},
		{CLASS_ALL & ~CLASS_NORMAL, LLVMIntUGE, of->normal, of->infinite - of->normal},
		{CLASS_SUBNORMAL, LLVMIntULT, 1, of->normal - 1}, {CLASS_ZERO, LLVMIntEQ, 0, 0},
		{CLASS_ALL & ~CLASS_ZERO, LLVMIntNE, 0, 0},
		{CLASS_ZERO | CLASS_SUBNORMAL, LLVMIntULT, 0, of->normal}};

	for (size_t i = 0; i < sizeof questions / sizeof *questions; i++)
		if (questions[i].classes == classes) {
			*out = questions[i];
			return true;
		}
	return false;
}

/* Stands for the result of the previous code. */
#define RESULT INT32_MAX

static void decode_class_add_step(struct decoder *decoder, LLVMValueRef call, enum code_op op,
	uint8_t sub, const int32_t operands[2], uint32_t width)
{
	struct code *code = decode_add(decoder, op, call);

	code->sub = sub;
	code->width = (uint8_t)width;
	code->a = operands[0] == RESULT ? code->to : operands[0];
	code->b = operands[1];
}

bool decode_class(struct decoder *decoder, LLVMValueRef call)
{
	LLVMValueRef number = LLVMGetArgOperand(call, 0), classes = LLVMGetArgOperand(call, 1);
	const LLVMTypeKind kind = LLVMGetTypeKind(LLVMTypeOf(number));
	const bool is_double = kind == LLVMDoubleTypeKind;
	const uint32_t width = is_double ? 64 : 32;
	const struct bounds bounds = {is_double ? UINT64_C(1) << 52 : UINT64_C(1) << 23,
		is_double ? UINT64_C(0x7ff) << 52 : UINT64_C(0xff) << 23};
	LLVMTypeRef type = LLVMIntTypeInContext(LLVMGetTypeContext(LLVMTypeOf(call)), width);
	struct question question;
	int32_t a, sign, minus, than;

	if ((!is_double && kind != LLVMFloatTypeKind) || !LLVMIsAConstantInt(classes) ||
		!find_question((uint32_t)LLVMConstIntGetZExtValue(classes) & CLASS_ALL, &bounds,
			&question))
		return false;
	a = decode_operand(decoder, number);
	sign = decode_operand(decoder, LLVMConstInt(type, (UINT64_C(1) << (width - 1)) - 1, false));
	minus = decode_operand(decoder, LLVMConstInt(type, question.minus, false));
	than = decode_operand(decoder, LLVMConstInt(type, question.than, false));
	decode_class_add_step(
		decoder, call, CODE_BINARY, LLVMAnd, (const int32_t[]){a, sign}, width);
	if (question.minus)
		decode_class_add_step(decoder, call, CODE_BINARY, LLVMSub,
			(const int32_t[]){RESULT, minus}, width);
	decode_class_add_step(decoder, call, CODE_COMPARE, (uint8_t)question.predicate,
		(const int32_t[]){RESULT, than}, width);
	return true;
}
