/* The values that end a waiting loop. */
#include "compiler/pass/waits/waits_internal.h"

#define DEPTH_MOST 8

/* Without optimisation each value goes through a local. If `value` is a load from a local that the
 * same block has stored to before, returns the stored value; else returns `value`. */
static LLVMValueRef waits_through_local(const struct waits_read *read, LLVMValueRef value)
{
	LLVMValueRef at;

	for (unsigned depth = 0; LLVMIsALoadInst(value) && value != read->site->instruction;
		depth++) {
		LLVMValueRef pointer = LLVMGetOperand(value, 0);

		at = LLVMGetPreviousInstruction(value);
		while (at && at != read->site->instruction &&
			!(LLVMIsAStoreInst(at) && LLVMGetOperand(at, 1) == pointer))
			at = LLVMGetPreviousInstruction(at);
		if (!at || !LLVMIsAStoreInst(at) || depth == DEPTH_MOST ||
			!waits_stores_all(at, LLVMTypeOf(value)))
			return value;
		value = LLVMGetOperand(at, 0);
	}
	return value;
}

static bool waits_is_zero(LLVMValueRef value)
{
	return LLVMIsAConstant(value) && LLVMIsNull(value);
}

/* If *value is "x & mask" or a truncation to one bit, replaces it by x and returns the mask. Else
 * returns NULL. */
static LLVMValueRef waits_mask_of(const struct waits_read *read, LLVMValueRef *value)
{
	const LLVMOpcode opcode =
		LLVMIsAInstruction(*value) ? LLVMGetInstructionOpcode(*value) : (LLVMOpcode)0;
	LLVMValueRef mask = NULL;

	if (opcode == LLVMAnd && waits_is_constant(read, LLVMGetOperand(*value, 1), 0)) {
		mask = LLVMGetOperand(*value, 1);
		*value = waits_through_local(read, LLVMGetOperand(*value, 0));
	} else if (opcode == LLVMTrunc && LLVMGetIntTypeWidth(LLVMTypeOf(*value)) == 1) {
		mask = LLVMConstInt(LLVMTypeOf(LLVMGetOperand(*value, 0)), 1, false);
		*value = waits_through_local(read, LLVMGetOperand(*value, 0));
	}
	return mask;
}

static const struct {
	LLVMIntPredicate predicate;
	enum site_wait_test test, opposite;
} waits_tests[] = {
	{LLVMIntEQ, SITE_WAIT_EQUAL, SITE_WAIT_DIFFERENT},
	{LLVMIntNE, SITE_WAIT_DIFFERENT, SITE_WAIT_EQUAL},
	{LLVMIntUGT, SITE_WAIT_ABOVE, SITE_WAIT_AT_MOST},
	{LLVMIntULE, SITE_WAIT_AT_MOST, SITE_WAIT_ABOVE},
	{LLVMIntULT, SITE_WAIT_BELOW, SITE_WAIT_AT_LEAST},
	{LLVMIntUGE, SITE_WAIT_AT_LEAST, SITE_WAIT_BELOW},
	{LLVMIntSGT, SITE_WAIT_SIGNED_ABOVE, SITE_WAIT_SIGNED_AT_MOST},
	{LLVMIntSLE, SITE_WAIT_SIGNED_AT_MOST, SITE_WAIT_SIGNED_ABOVE},
	{LLVMIntSLT, SITE_WAIT_SIGNED_BELOW, SITE_WAIT_SIGNED_AT_LEAST},
	{LLVMIntSGE, SITE_WAIT_SIGNED_AT_LEAST, SITE_WAIT_SIGNED_BELOW},
};

/* Sets the test for values with which the comparison gives `is_true`. */
static bool waits_set_comparison(struct waits_read *read, LLVMValueRef comparison, bool is_true)
{
	const LLVMIntPredicate predicate = LLVMGetICmpPredicate(comparison);
	LLVMValueRef value = waits_through_local(read, LLVMGetOperand(comparison, 0));
	LLVMValueRef operand = waits_through_local(read, LLVMGetOperand(comparison, 1));
	LLVMValueRef mask = waits_mask_of(read, &value);

	if (value != read->site->instruction)
		return false;
	if (mask) {
		const bool is_clear = (predicate == LLVMIntEQ) == is_true;

		read->test = is_clear ? SITE_WAIT_CLEAR : SITE_WAIT_SET;
		read->operand = mask;
		return waits_is_zero(operand) && (predicate == LLVMIntEQ || predicate == LLVMIntNE);
	}
	for (size_t i = 0; i < sizeof waits_tests / sizeof *waits_tests; i++) {
		if (waits_tests[i].predicate != predicate)
			continue;
		read->test = is_true ? waits_tests[i].test : waits_tests[i].opposite;
		read->operand = operand;
		return waits_is_constant(read, operand, 0);
	}
	return false;
}

/* Returns whether the value says that the exchange has succeeded. */
static bool waits_is_success(const struct waits_read *read, LLVMValueRef value)
{
	return LLVMIsAExtractValueInst(value) &&
	       LLVMGetOperand(value, 0) == read->site->instruction && *LLVMGetIndices(value) == 1;
}

/* Strips negations of a condition, and ways through a byte in memory. */
static LLVMValueRef waits_strip(const struct waits_read *read, LLVMValueRef value, bool *is_true)
{
	for (;;) {
		LLVMValueRef inner;

		value = waits_through_local(read, value);
		if (!LLVMIsAInstruction(value) ||
			LLVMGetTypeKind(LLVMTypeOf(value)) != LLVMIntegerTypeKind ||
			LLVMGetIntTypeWidth(LLVMTypeOf(value)) != 1)
			return value;
		if (LLVMGetInstructionOpcode(value) == LLVMXor &&
			LLVMIsAConstantInt(LLVMGetOperand(value, 1))) {
			*is_true ^= LLVMConstIntGetZExtValue(LLVMGetOperand(value, 1)) != 0;
			value = LLVMGetOperand(value, 0);
			continue;
		}
		if (!LLVMIsATruncInst(value))
			return value;
		inner = waits_through_local(read, LLVMGetOperand(value, 0));
		if (!LLVMIsAZExtInst(inner) ||
			LLVMGetIntTypeWidth(LLVMTypeOf(LLVMGetOperand(inner, 0))) != 1)
			return value;
		value = LLVMGetOperand(inner, 0);
	}
}

bool waits_is_same_test(const struct waits_read *read, LLVMValueRef condition, bool *is_true)
{
	return waits_strip(read, condition, is_true) == waits_strip(read, read->condition, is_true);
}

bool waits_set_test(struct waits_read *read, LLVMValueRef condition, bool is_true)
{
	LLVMValueRef value = waits_strip(read, condition, &is_true);

	if (read->site->kind == SITE_COMPARE_EXCHANGE) {
		read->operand = LLVMGetOperand(read->site->instruction, 1);
		return is_true && waits_is_success(read, value) &&
		       (waits_is_constant(read, read->operand, 0) ||
			       (LLVMIsALoadInst(read->operand) &&
				       waits_has_one_value(
					       read, LLVMGetOperand(read->operand, 0))));
	}
	if (LLVMIsAICmpInst(value))
		return waits_set_comparison(read, value, is_true);
	read->operand = waits_mask_of(read, &value);
	read->test = is_true ? SITE_WAIT_SET : SITE_WAIT_CLEAR;
	return read->operand && value == read->site->instruction;
}
