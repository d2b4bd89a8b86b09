/* Emits the condition of a waiting loop for the runtime. */
#include "compiler/pass/waits_internal.h"

/* Emits the value as a word. A load from a local is emitted again, because the original may
 * stand behind the read. */
static LLVMValueRef waits_as_word(struct instrument *instrument, LLVMValueRef value)
{
	if (LLVMIsALoadInst(value) && waits_is_own(LLVMGetOperand(value, 0)))
		value = LLVMBuildLoad2(
			instrument->builder, LLVMTypeOf(value), LLVMGetOperand(value, 0), "");
	if (LLVMGetTypeKind(LLVMTypeOf(value)) == LLVMPointerTypeKind)
		return LLVMBuildPtrToInt(instrument->builder, value, instrument->i64, "");
	return LLVMBuildIntCast2(instrument->builder, value, instrument->i64, false, "");
}

static void waits_build_other(
	struct instrument *instrument, const struct waits_read *other, LLVMValueRef *words)
{
	words[SITE_WAIT_OTHER_ADDRESS] = waits_as_word(instrument, other->site->pointer);
	words[SITE_WAIT_OTHER_BYTES] = LLVMConstInt(instrument->i64, other->site->bytes, false);
	words[SITE_WAIT_OTHER_TEST] = LLVMConstInt(instrument->i64, other->test, false);
	words[SITE_WAIT_OTHER_OPERAND] = waits_as_word(instrument, other->operand);
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
	words[SITE_WAIT_OPERAND] = waits_as_word(instrument, read->operand);
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
