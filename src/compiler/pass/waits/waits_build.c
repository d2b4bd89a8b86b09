/* Emits the condition of a waiting loop for the runtime. */
#include "compiler/pass/waits/waits_internal.h"

/* Emits the value before the read. A value that is computed in the cycle is computed again, because the
 * original may stand behind the read (waits_is_constant()). */
static LLVMValueRef waits_before(
	struct instrument *instrument, const struct waits_read *read, LLVMValueRef value)
{
	LLVMValueRef copy;

	if (!LLVMIsAInstruction(value) ||
		!has_block(read->blocks, read->block_count, LLVMGetInstructionParent(value)))
		return value;
	copy = LLVMInstructionClone(value);
	for (int i = 0; !LLVMIsALoadInst(value) && i < LLVMGetNumOperands(value); i++)
		LLVMSetOperand(copy, (unsigned)i,
			waits_before(instrument, read, LLVMGetOperand(value, (unsigned)i)));
	LLVMInsertIntoBuilder(instrument->builder, copy);
	return copy;
}

static LLVMValueRef waits_as_word(struct instrument *instrument, LLVMValueRef value)
{
	if (LLVMGetTypeKind(LLVMTypeOf(value)) == LLVMPointerTypeKind)
		return LLVMBuildPtrToInt(instrument->builder, value, instrument->i64, "");
	return LLVMBuildIntCast2(instrument->builder, value, instrument->i64, false, "");
}

static LLVMValueRef waits_word_before(
	struct instrument *instrument, const struct waits_read *read, LLVMValueRef value)
{
	return waits_as_word(instrument, waits_before(instrument, read, value));
}

static void waits_build_other(
	struct instrument *instrument, const struct waits_read *other, LLVMValueRef *words)
{
	words[SITE_WAIT_OTHER_ADDRESS] = waits_word_before(instrument, other, other->site->pointer);
	words[SITE_WAIT_OTHER_BYTES] = LLVMConstInt(instrument->i64, other->site->bytes, false);
	words[SITE_WAIT_OTHER_TEST] = LLVMConstInt(instrument->i64, other->test, false);
	words[SITE_WAIT_OTHER_OPERAND] = waits_word_before(instrument, other, other->operand);
}

/* Emits what the runtime reads (enum site_wait_word), in a local of the function. */
static void waits_build(struct instrument *instrument, const struct waits_read *read)
{
	LLVMBuilderRef builder = instrument->builder;
	const unsigned count = read->other ? SITE_WAIT_WORDS : SITE_WAIT_WORDS_OF_ONE;
	LLVMTypeRef type = LLVMArrayType2(instrument->i64, count);
	LLVMValueRef zero = LLVMConstInt(instrument->i64, 0, false);
	LLVMValueRef words[SITE_WAIT_WORDS], local;
	struct site *site = read->site;

	LLVMPositionBuilderBeforeInstrAndDbgRecords(
		builder, LLVMGetFirstInstruction(LLVMGetEntryBasicBlock(site->function)));
	LLVMSetCurrentDebugLocation2(builder, NULL);
	local = LLVMBuildAlloca(builder, type, "");
	LLVMPositionBuilderBeforeInstrAndDbgRecords(builder, site->instruction);
	words[SITE_WAIT_TEST] = LLVMConstInt(
		instrument->i64, read->test | (read->other ? SITE_WAIT_EITHER : 0), false);
	words[SITE_WAIT_OPERAND] = waits_word_before(instrument, read, read->operand);
	words[SITE_WAIT_MASK] = words[SITE_WAIT_KEPT] = zero;
	if (site->kind == SITE_ATOMIC_UPDATE) {
		words[SITE_WAIT_KEPT] =
			waits_as_word(instrument, LLVMGetOperand(site->instruction, 1));
		words[SITE_WAIT_MASK] =
			LLVMGetAtomicRMWBinOp(site->instruction) == LLVMAtomicRMWBinOpOr
				? words[SITE_WAIT_KEPT]
				: LLVMConstAllOnes(instrument->i64);
	}
	if (read->other)
		waits_build_other(instrument, read->other, words);
	for (unsigned i = 0; i < count; i++) {
		LLVMValueRef index = LLVMConstInt(instrument->i64, i, false);

		(void)LLVMBuildStore(builder, words[i],
			LLVMBuildGEP2(builder, instrument->i64, local, &index, 1, ""));
	}
	site->length = local;
}

void waits_mark(struct instrument *instrument, struct waits_read *read)
{
	read->site->flags |= SITE_WAITS;
	if (read->site->kind != SITE_COMPARE_EXCHANGE)
		waits_build(instrument, read);
}
