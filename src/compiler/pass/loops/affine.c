/*
 * Addresses that are affine in the iteration number of a loop (loops.h): sums of loop invariants
 * and of phis with a constant increment. The emitted arithmetic is modulo 2^64 and omits the flags
 * of the loop's own code (nsw, inbounds). The reason: the computed last iteration may lie slightly
 * later than the real one.
 */
#include "compiler/pass/loops/loops.h"

#define DEPTH_MOST 12
/* Least number of iterations for which the guard is worth its cost. */
#define TURNS_LEAST 8
#define TURNS_MOST (UINT64_C(1) << 40)

/* Returns false if the byte offset of the pointer arithmetic is not constant. */
static bool affine_constant_offset(LLVMValueRef gep, int64_t *bytes, LLVMTargetDataRef layout)
{
	if (LLVMGetNumOperands(gep) != 2 || !LLVMIsAConstantInt(LLVMGetOperand(gep, 1)))
		return false;
	*bytes = LLVMConstIntGetSExtValue(LLVMGetOperand(gep, 1)) *
		 (int64_t)LLVMABISizeOfType(layout, LLVMGetGEPSourceElementType(gep));
	return true;
}

/* Finds the constant increment of a phi in the header; false: not an induction variable. */
static bool affine_step_of(const struct loop *loop, LLVMValueRef phi, int64_t *step)
{
	LLVMValueRef next;

	if (!LLVMIsAPHINode(phi) || LLVMGetInstructionParent(phi) != loop->header)
		return false;
	next = incoming_from(phi, loop->latch);
	if (!LLVMIsAInstruction(next) || LLVMGetNumOperands(next) < 2 ||
		LLVMGetOperand(next, 0) != phi)
		return false;
	if (LLVMIsAGetElementPtrInst(next)) {
		LLVMModuleRef module = LLVMGetGlobalParent(LLVMGetBasicBlockParent(loop->header));

		return affine_constant_offset(next, step, LLVMGetModuleDataLayout(module));
	}
	if (LLVMGetInstructionOpcode(next) != LLVMAdd ||
		!LLVMIsAConstantInt(LLVMGetOperand(next, 1)) ||
		LLVMGetIntTypeWidth(LLVMTypeOf(phi)) > 64)
		return false;
	*step = LLVMConstIntGetSExtValue(LLVMGetOperand(next, 1));
	return true;
}

/* Returns the counter if `value` is the counter or its next value, else NULL. */
static LLVMValueRef affine_counter_of(const struct loop *loop, LLVMValueRef value)
{
	int64_t step;

	if (affine_step_of(loop, value, &step))
		return value;
	if (!LLVMIsAInstruction(value) || LLVMGetNumOperands(value) < 1)
		return NULL;
	value = LLVMGetOperand(value, 0);
	return affine_step_of(loop, value, &step) ? value : NULL;
}

static LLVMIntPredicate affine_inverse(LLVMIntPredicate predicate)
{
	static const LLVMIntPredicate inverses[] = {
		[LLVMIntEQ] = LLVMIntNE,
		[LLVMIntNE] = LLVMIntEQ,
		[LLVMIntUGT] = LLVMIntULE,
		[LLVMIntUGE] = LLVMIntULT,
		[LLVMIntULT] = LLVMIntUGE,
		[LLVMIntULE] = LLVMIntUGT,
		[LLVMIntSGT] = LLVMIntSLE,
		[LLVMIntSGE] = LLVMIntSLT,
		[LLVMIntSLT] = LLVMIntSGE,
		[LLVMIntSLE] = LLVMIntSGT,
	};

	return inverses[predicate];
}

/* Returns whether `counter predicate bound` becomes false when the counter has moved far enough. */
static bool affine_predicate_ends(LLVMIntPredicate predicate, int64_t step)
{
	switch (predicate) {
	case LLVMIntNE:
		return true;
	case LLVMIntULT:
	case LLVMIntULE:
	case LLVMIntSLT:
	case LLVMIntSLE:
		return step > 0;
	case LLVMIntUGT:
	case LLVMIntUGE:
	case LLVMIntSGT:
	case LLVMIntSGE:
		return step < 0;
	default:
		return false;
	}
}

static bool affine_count_at(struct loop *loop, LLVMBasicBlockRef block)
{
	LLVMValueRef branch = LLVMGetBasicBlockTerminator(block);
	LLVMValueRef compare, next;
	LLVMIntPredicate predicate;

	if (!LLVMIsABranchInst(branch) || !LLVMIsConditional(branch))
		return false;
	compare = LLVMGetCondition(branch);
	if (!LLVMIsAICmpInst(compare) ||
		has_block(loop->blocks, loop->block_count, LLVMGetSuccessor(branch, 0)) ==
			has_block(loop->blocks, loop->block_count, LLVMGetSuccessor(branch, 1)))
		return false;
	predicate = LLVMGetICmpPredicate(compare);
	if (!has_block(loop->blocks, loop->block_count, LLVMGetSuccessor(branch, 0)))
		predicate = affine_inverse(predicate);
	loop->counter = affine_counter_of(loop, LLVMGetOperand(compare, 0));
	loop->bound = LLVMGetOperand(compare, 1);
	if (!loop->counter || loop_has(loop, loop->bound) ||
		!affine_step_of(loop, loop->counter, &loop->step))
		return false;
	/* The compared value must be the counter or its next value, not another value derived from
	 * the counter. */
	next = incoming_from(loop->counter, loop->latch);
	if (LLVMGetOperand(compare, 0) != loop->counter && LLVMGetOperand(compare, 0) != next)
		return false;
	loop->is_exact = predicate == LLVMIntNE;
	return loop->step && loop->step > -INT32_MAX && loop->step < INT32_MAX &&
	       affine_predicate_ends(predicate, loop->step);
}

bool affine_count(struct loop *loop)
{
	return affine_count_at(loop, loop->latch) || affine_count_at(loop, loop->header);
}

static LLVMValueRef affine_widened(struct instrument *instrument, LLVMValueRef value)
{
	if (LLVMGetTypeKind(LLVMTypeOf(value)) == LLVMPointerTypeKind)
		return LLVMBuildPtrToInt(instrument->builder, value, instrument->i64, "");
	return LLVMBuildIntCast2(instrument->builder, value, instrument->i64, true, "");
}

static bool affine_is_narrow(LLVMValueRef value)
{
	return LLVMGetTypeKind(LLVMTypeOf(value)) == LLVMIntegerTypeKind &&
	       LLVMGetIntTypeWidth(LLVMTypeOf(value)) < 64;
}

static LLVMValueRef affine_number(struct instrument *instrument, uint64_t value)
{
	return LLVMConstInt(instrument->i64, value, false);
}

struct loop_turns affine_turns(struct instrument *instrument, const struct loop *loop)
{
	LLVMBuilderRef builder = instrument->builder;
	const uint64_t step = (uint64_t)(loop->step > 0 ? loop->step : -loop->step);
	LLVMValueRef start = incoming_from(loop->counter, loop->outside);
	LLVMValueRef first = affine_widened(instrument, start),
		     end = affine_widened(instrument, loop->bound);
	LLVMValueRef distance = loop->step > 0 ? LLVMBuildSub(builder, end, first, "")
					       : LLVMBuildSub(builder, first, end, "");
	LLVMValueRef turns = LLVMBuildUDiv(builder, distance, affine_number(instrument, step), "");
	LLVMValueRef fit = LLVMBuildICmp(builder, LLVMIntULT,
		LLVMBuildSub(builder, turns, affine_number(instrument, TURNS_LEAST), ""),
		affine_number(instrument, TURNS_MOST), "");

	/* The counter may otherwise step over the bound. */
	if (loop->is_exact && step > 1)
		fit = LLVMBuildAnd(builder, fit,
			LLVMBuildICmp(builder, LLVMIntEQ,
				LLVMBuildURem(
					builder, distance, affine_number(instrument, step), ""),
				affine_number(instrument, 0), ""),
			"");
	/* If neither is negative, signed and unsigned comparisons are equivalent. */
	if (affine_is_narrow(loop->counter))
		fit = LLVMBuildAnd(builder, fit,
			LLVMBuildICmp(builder, LLVMIntSGE, LLVMBuildOr(builder, first, end, ""),
				affine_number(instrument, 0), ""),
			"");
	return (struct loop_turns){.is_fit = fit,
		.last = loop->is_exact
				? turns
				: LLVMBuildAdd(builder, turns, affine_number(instrument, 1), "")};
}

/* The traversal of an expression. If is_built is set, it emits code; otherwise it only tests
 * whether the expression is affine. `turn` is the iteration number, NULL for the first
 * iteration. */
struct affine {
	struct instrument *instrument;
	const struct loop *loop;
	LLVMValueRef turn;
	bool is_built;
};

static bool affine(
	const struct affine *affine_of, LLVMValueRef value, unsigned depth, LLVMValueRef *out);

static bool affine_phi(const struct affine *at, LLVMValueRef phi, LLVMValueRef *out)
{
	LLVMBuilderRef builder = at->instrument->builder;
	int64_t step;

	if (!affine_step_of(at->loop, phi, &step))
		return false;
	if (!at->is_built)
		return true;
	*out = affine_widened(at->instrument, incoming_from(phi, at->loop->outside));
	if (at->turn)
		*out = LLVMBuildAdd(builder, *out,
			LLVMBuildMul(builder, at->turn,
				affine_number(at->instrument, (uint64_t)step), ""),
			"");
	return true;
}

static bool affine_add_index(const struct affine *at, LLVMValueRef index, uint64_t bytes,
	unsigned depth, LLVMValueRef *sum)
{
	LLVMBuilderRef builder = at->instrument->builder;
	LLVMValueRef value = NULL;

	if (affine_is_narrow(index) && loop_has(at->loop, index))
		return false;
	if (!affine(at, index, depth + 1, &value))
		return false;
	if (at->is_built)
		*sum = LLVMBuildAdd(builder, *sum,
			LLVMBuildMul(builder, value, affine_number(at->instrument, bytes), ""), "");
	return true;
}

static bool affine_gep(const struct affine *at, LLVMValueRef gep, unsigned depth, LLVMValueRef *out)
{
	LLVMTargetDataRef layout = at->instrument->layout;
	LLVMTypeRef type = LLVMGetGEPSourceElementType(gep);
	const unsigned count = (unsigned)LLVMGetNumOperands(gep);

	if (!affine(at, LLVMGetOperand(gep, 0), depth + 1, out))
		return false;
	for (unsigned i = 1; i < count; i++) {
		LLVMValueRef index = LLVMGetOperand(gep, i);

		if (i > 1 && LLVMGetTypeKind(type) == LLVMStructTypeKind) {
			const unsigned member = (unsigned)LLVMConstIntGetZExtValue(index);

			if (at->is_built)
				*out = LLVMBuildAdd(at->instrument->builder, *out,
					affine_number(at->instrument,
						LLVMOffsetOfElement(layout, type, member)),
					"");
			type = LLVMStructGetTypeAtIndex(type, member);
			continue;
		}
		if (i > 1)
			type = LLVMGetElementType(type);
		if (!affine_add_index(at, index, LLVMABISizeOfType(layout, type), depth, out))
			return false;
	}
	return true;
}

/* Handles a sign or zero extension. Only the counter is known not to overflow: affine_turns()
 * checks it. */
static bool affine_extended(const struct affine *at, LLVMValueRef extension, LLVMValueRef *out)
{
	LLVMValueRef narrow = LLVMGetOperand(extension, 0);

	return narrow == at->loop->counter && affine_phi(at, narrow, out);
}

static bool affine_sum(
	const struct affine *at, LLVMValueRef value, unsigned depth, LLVMValueRef *out)
{
	LLVMBuilderRef builder = at->instrument->builder;
	const LLVMOpcode opcode = LLVMGetInstructionOpcode(value);
	LLVMValueRef left = NULL, right = NULL;

	/* One factor of a product or shift must be constant, otherwise the value is not affine. */
	if ((opcode == LLVMMul || opcode == LLVMShl) &&
		!LLVMIsAConstantInt(LLVMGetOperand(value, 1)))
		return false;
	if (opcode == LLVMOr && !LLVMGetIsDisjoint(value))
		return false;
	if (!affine(at, LLVMGetOperand(value, 0), depth + 1, &left) ||
		!affine(at, LLVMGetOperand(value, 1), depth + 1, &right))
		return false;
	if (!at->is_built)
		return true;
	switch (opcode) {
	case LLVMSub:
		*out = LLVMBuildSub(builder, left, right, "");
		break;
	case LLVMMul:
		*out = LLVMBuildMul(builder, left, right, "");
		break;
	case LLVMShl:
		*out = LLVMBuildShl(builder, left, right, "");
		break;
	default:
		*out = LLVMBuildAdd(builder, left, right, "");
	}
	return true;
}

static bool affine(const struct affine *at, LLVMValueRef value, unsigned depth, LLVMValueRef *out)
{
	const LLVMTypeKind kind = LLVMGetTypeKind(LLVMTypeOf(value));

	if (depth > DEPTH_MOST || (kind != LLVMIntegerTypeKind && kind != LLVMPointerTypeKind) ||
		(kind == LLVMIntegerTypeKind && LLVMGetIntTypeWidth(LLVMTypeOf(value)) > 64))
		return false;
	if (!loop_has(at->loop, value)) {
		if (at->is_built)
			*out = affine_widened(at->instrument, value);
		return true;
	}
	switch (LLVMGetInstructionOpcode(value)) {
	case LLVMPHI:
		return affine_phi(at, value, out);
	case LLVMGetElementPtr:
		return affine_gep(at, value, depth, out);
	case LLVMSExt:
	case LLVMZExt:
		return affine_extended(at, value, out);
	case LLVMAdd:
	case LLVMSub:
	case LLVMMul:
	case LLVMShl:
	case LLVMOr:
		return !affine_is_narrow(value) && affine_sum(at, value, depth, out);
	default:
		return false;
	}
}

bool affine_is_known(struct instrument *instrument, const struct loop *loop, LLVMValueRef pointer)
{
	const struct affine at = {.instrument = instrument, .loop = loop};
	LLVMValueRef unused;

	return affine(&at, pointer, 0, &unused);
}

void affine_ends(struct instrument *instrument, const struct loop *loop, LLVMValueRef pointer,
	LLVMValueRef last_turn, LLVMValueRef *first, LLVMValueRef *last)
{
	const struct affine in_first = {.instrument = instrument, .loop = loop, .is_built = true};
	const struct affine in_last = {
		.instrument = instrument, .loop = loop, .is_built = true, .turn = last_turn};

	/* Cannot fail: affine_is_known() has tested it. */
	(void)affine(&in_first, pointer, 0, first);
	(void)affine(&in_last, pointer, 0, last);
}
