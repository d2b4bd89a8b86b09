/* Translates terms for the solver, into bit vectors and floating-point expressions. */

#include "branches/constraints/solver.h"
#include "base/slots.h"

Z3_ast solver_bits(struct solver *solver, uint32_t width, uint64_t value)
{
	return Z3_mk_unsigned_int64(solver->z3, value, Z3_mk_bv_sort(solver->z3, width));
}

static Z3_ast terms_from_bool(struct solver *solver, Z3_ast condition)
{
	return Z3_mk_ite(
		solver->z3, condition, solver_bits(solver, 1, 1), solver_bits(solver, 1, 0));
}

/* Returns the n >= 1 of a term that is the constant 2^n; 0: another term. */
static uint32_t terms_shift_of(const struct term *term)
{
	const bool is_power = term->op == TERM_CONSTANT && term->value > 1 &&
			      !(term->value & (term->value - 1)) &&
			      term->value < UINT64_C(1) << (term->width - 1);

	return is_power ? (uint32_t)__builtin_ctzll(term->value) : 0;
}

/* Divides a signed number by 2^n through shifts, because a solver's divider is thousands of times
 * larger. */
static Z3_ast terms_divide_by_power(
	struct solver *solver, const struct term *term, Z3_ast a, uint32_t shift)
{
	Z3_context z3 = solver->z3;
	const uint32_t width = term->width;
	Z3_ast sign = Z3_mk_bvashr(z3, a, solver_bits(solver, width, width - 1));
	Z3_ast round = Z3_mk_bvlshr(z3, sign, solver_bits(solver, width, width - shift));
	Z3_ast by = solver_bits(solver, width, shift);
	Z3_ast quotient = Z3_mk_bvashr(z3, Z3_mk_bvadd(z3, a, round), by);

	return term->sub == LLVMSDiv ? quotient : Z3_mk_bvsub(z3, a, Z3_mk_bvshl(z3, quotient, by));
}

typedef Z3_ast terms_maker(Z3_context z3, Z3_ast a, Z3_ast b);

static Z3_ast terms_differ(Z3_context z3, Z3_ast a, Z3_ast b)
{
	return Z3_mk_not(z3, Z3_mk_eq(z3, a, b));
}

/* Z3's functions for binary operations, by LLVM opcode. Operations without a row are not translated. */
static terms_maker *const binary_makers[] = {
	[LLVMAdd] = Z3_mk_bvadd,
	[LLVMSub] = Z3_mk_bvsub,
	[LLVMMul] = Z3_mk_bvmul,
	[LLVMUDiv] = Z3_mk_bvudiv,
	[LLVMSDiv] = Z3_mk_bvsdiv,
	[LLVMURem] = Z3_mk_bvurem,
	[LLVMSRem] = Z3_mk_bvsrem,
	[LLVMShl] = Z3_mk_bvshl,
	[LLVMLShr] = Z3_mk_bvlshr,
	[LLVMAShr] = Z3_mk_bvashr,
	[LLVMAnd] = Z3_mk_bvand,
	[LLVMOr] = Z3_mk_bvor,
	[LLVMXor] = Z3_mk_bvxor,
};

/* By LLVMIntPredicate. */
static terms_maker *const compare_makers[] = {
	[LLVMIntEQ] = Z3_mk_eq,
	[LLVMIntNE] = terms_differ,
	[LLVMIntUGT] = Z3_mk_bvugt,
	[LLVMIntUGE] = Z3_mk_bvuge,
	[LLVMIntULT] = Z3_mk_bvult,
	[LLVMIntULE] = Z3_mk_bvule,
	[LLVMIntSGT] = Z3_mk_bvsgt,
	[LLVMIntSGE] = Z3_mk_bvsge,
	[LLVMIntSLT] = Z3_mk_bvslt,
	[LLVMIntSLE] = Z3_mk_bvsle,
};

/* By LLVMAtomicRMWBinOp, as far as they are no minimum or maximum. */
static terms_maker *const update_makers[] = {
	[LLVMAtomicRMWBinOpAdd] = Z3_mk_bvadd,
	[LLVMAtomicRMWBinOpSub] = Z3_mk_bvsub,
	[LLVMAtomicRMWBinOpAnd] = Z3_mk_bvand,
	[LLVMAtomicRMWBinOpNand] = Z3_mk_bvnand,
	[LLVMAtomicRMWBinOpOr] = Z3_mk_bvor,
	[LLVMAtomicRMWBinOpXor] = Z3_mk_bvxor,
};

#define MAKE(makers, number, z3, a, b)                                                             \
	((number) < sizeof(makers) / sizeof *(makers) && (makers)[number]                          \
			? (makers)[number](z3, a, b)                                               \
			: NULL)

static Z3_sort terms_float_sort(Z3_context z3, uint32_t width)
{
	return width == 32 ? Z3_mk_fpa_sort_32(z3) : Z3_mk_fpa_sort_64(z3);
}

static Z3_ast terms_as_float(Z3_context z3, Z3_ast bits, uint32_t width)
{
	return Z3_mk_fpa_to_fp_bv(z3, bits, terms_float_sort(z3, width));
}

/* Operations on floating-point numbers, by LLVM opcode. The remainder (FRem) is not translated. */
static Z3_ast (*const float_makers[])(Z3_context z3, Z3_ast rounding, Z3_ast a, Z3_ast b) = {
	[LLVMFAdd] = Z3_mk_fpa_add,
	[LLVMFSub] = Z3_mk_fpa_sub,
	[LLVMFMul] = Z3_mk_fpa_mul,
	[LLVMFDiv] = Z3_mk_fpa_div,
};

/* Compares floating-point numbers. Bits of the predicate: equal, greater, less, unordered. */
static Z3_ast terms_float_compare(Z3_context z3, uint8_t predicate, Z3_ast a, Z3_ast b)
{
	Z3_ast parts[4];
	unsigned count = 0;
	Z3_ast nan[2] = {Z3_mk_fpa_is_nan(z3, a), Z3_mk_fpa_is_nan(z3, b)};

	if (predicate & 1)
		parts[count++] = Z3_mk_fpa_eq(z3, a, b);
	if (predicate & 2)
		parts[count++] = Z3_mk_fpa_gt(z3, a, b);
	if (predicate & 4)
		parts[count++] = Z3_mk_fpa_lt(z3, a, b);
	if (predicate & 8)
		parts[count++] = Z3_mk_or(z3, 2, nan);
	return count ? Z3_mk_or(z3, count, parts) : Z3_mk_false(z3);
}

static Z3_ast terms_conversion(struct solver *solver, const struct term *term, Z3_ast a)
{
	Z3_context z3 = solver->z3;
	Z3_ast nearest = Z3_mk_fpa_round_nearest_ties_to_even(z3);
	Z3_ast zero = Z3_mk_fpa_round_toward_zero(z3);

	switch (term->op) {
	case CODE_FROM_SIGNED:
		return Z3_mk_fpa_to_ieee_bv(z3,
			Z3_mk_fpa_to_fp_signed(z3, nearest, a, terms_float_sort(z3, term->width)));
	case CODE_FROM_UNSIGNED:
		return Z3_mk_fpa_to_ieee_bv(z3, Z3_mk_fpa_to_fp_unsigned(z3, nearest, a,
							terms_float_sort(z3, term->width)));
	case CODE_TO_SIGNED:
		return Z3_mk_fpa_to_sbv(z3, zero, terms_as_float(z3, a, term->sub), term->width);
	case CODE_TO_UNSIGNED:
		return Z3_mk_fpa_to_ubv(z3, zero, terms_as_float(z3, a, term->sub), term->width);
	default:
		return Z3_mk_fpa_to_ieee_bv(
			z3, Z3_mk_fpa_to_fp_float(z3, nearest, terms_as_float(z3, a, term->sub),
				    terms_float_sort(z3, term->width)));
	}
}

/* Returns the operand that the comparison holds for. */
static Z3_ast terms_choose(Z3_context z3, terms_maker *compare, Z3_ast a, Z3_ast b)
{
	return Z3_mk_ite(z3, compare(z3, a, b), a, b);
}

static Z3_ast terms_intrinsic(struct solver *solver, const struct term *term, Z3_ast a, Z3_ast b)
{
	Z3_context z3 = solver->z3;
	Z3_ast zero = solver_bits(solver, term->width, 0);

	switch (term->sub) {
	case INTRINSIC_ABSOLUTE:
		return Z3_mk_ite(z3, Z3_mk_bvslt(z3, a, zero), Z3_mk_bvneg(z3, a), a);
	case INTRINSIC_UNSIGNED_ADD_SATURATING:
		return Z3_mk_ite(z3, Z3_mk_bvult(z3, Z3_mk_bvadd(z3, a, b), a),
			Z3_mk_bvnot(z3, zero), Z3_mk_bvadd(z3, a, b));
	case INTRINSIC_UNSIGNED_SUB_SATURATING:
		return Z3_mk_ite(z3, Z3_mk_bvugt(z3, a, b), Z3_mk_bvsub(z3, a, b), zero);
	case INTRINSIC_FLOAT_ABSOLUTE:
		return Z3_mk_bvand(z3, a,
			solver_bits(solver, term->width, (UINT64_C(1) << (term->width - 1)) - 1));
	case INTRINSIC_SQUARE_ROOT:
		return Z3_mk_fpa_to_ieee_bv(
			z3, Z3_mk_fpa_sqrt(z3, Z3_mk_fpa_round_nearest_ties_to_even(z3),
				    terms_as_float(z3, a, term->width)));
	case INTRINSIC_UNSIGNED_MIN:
		return terms_choose(z3, Z3_mk_bvult, a, b);
	case INTRINSIC_UNSIGNED_MAX:
		return terms_choose(z3, Z3_mk_bvugt, a, b);
	case INTRINSIC_SIGNED_MIN:
		return terms_choose(z3, Z3_mk_bvslt, a, b);
	case INTRINSIC_SIGNED_MAX:
		return terms_choose(z3, Z3_mk_bvsgt, a, b);
	default:
		return solver_count(solver, term, a);
	}
}

static Z3_ast terms_updated(Z3_context z3, uint8_t operation, Z3_ast a, Z3_ast b)
{
	switch (operation) {
	case LLVMAtomicRMWBinOpXchg:
		return b;
	case LLVMAtomicRMWBinOpMax:
		return terms_choose(z3, Z3_mk_bvsgt, a, b);
	case LLVMAtomicRMWBinOpMin:
		return terms_choose(z3, Z3_mk_bvslt, a, b);
	case LLVMAtomicRMWBinOpUMax:
		return terms_choose(z3, Z3_mk_bvugt, a, b);
	case LLVMAtomicRMWBinOpUMin:
		return terms_choose(z3, Z3_mk_bvult, a, b);
	default:
		return MAKE(update_makers, operation, z3, a, b);
	}
}

static Z3_ast terms_translate(
	struct solver *solver, const struct term *term, Z3_ast a, Z3_ast b, Z3_ast c)
{
	Z3_context z3 = solver->z3;

	switch (term->op) {
	case CODE_BINARY:
		if ((term->sub == LLVMSDiv || term->sub == LLVMSRem) &&
			terms_shift_of(term_operand(term, 1)))
			return terms_divide_by_power(
				solver, term, a, terms_shift_of(term_operand(term, 1)));
		return MAKE(binary_makers, term->sub, z3, a, b);
	case CODE_COMPARE:
		return terms_from_bool(solver, compare_makers[term->sub](z3, a, b));
	case CODE_FLOAT:
		if (term->sub == LLVMFRem)
			return NULL;
		return Z3_mk_fpa_to_ieee_bv(
			z3, float_makers[term->sub](z3, Z3_mk_fpa_round_nearest_ties_to_even(z3),
				    terms_as_float(z3, a, term->width),
				    terms_as_float(z3, b, term->width)));
	case CODE_FLOAT_COMPARE:
		return terms_from_bool(
			solver, terms_float_compare(z3, term->sub,
					terms_as_float(z3, a, term_operand(term, 0)->width),
					terms_as_float(z3, b, term_operand(term, 1)->width)));
	case CODE_FLOAT_NEGATE:
		return Z3_mk_bvxor(
			z3, a, solver_bits(solver, term->width, UINT64_C(1) << (term->width - 1)));
	case CODE_ZERO_EXTEND:
		return Z3_mk_zero_ext(z3, term->width - term_operand(term, 0)->width, a);
	case CODE_SIGN_EXTEND:
		return Z3_mk_sign_ext(z3, term->width - term_operand(term, 0)->width, a);
	case CODE_TRUNCATE:
		return Z3_mk_extract(z3, term->width - 1u, 0, a);
	case CODE_SELECT:
		return Z3_mk_ite(z3, Z3_mk_eq(z3, a, solver_bits(solver, 1, 1)), b, c);
	case CODE_INTRINSIC:
		return terms_intrinsic(solver, term, a, b);
	case CODE_UPDATE:
		return terms_updated(z3, term->sub, a, b);
	case CODE_FROM_SIGNED:
	case CODE_FROM_UNSIGNED:
	case CODE_TO_SIGNED:
	case CODE_TO_UNSIGNED:
	case CODE_FLOAT_CONVERT:
		return terms_conversion(solver, term, a);
	default:
		return NULL;
	}
}

/* Returns the variable of a read. A variable read before the window has its recorded value. */
static Z3_ast terms_variable(struct solver *solver, const struct term *term)
{
	Z3_symbol name = Z3_mk_int_symbol(solver->z3, (int)term->number);

	if (solver_is_past(solver, solver->order->reads[term->number]))
		return solver_bits(solver, term->width, term->value);
	return Z3_mk_const(solver->z3, name, Z3_mk_bv_sort(solver->z3, term->width));
}

/* Maximum size of floating-point terms. Larger ones made the solver allocate ten gigabytes and
 * ignore its time limit. */
#define FLOAT_SIZE_MOST 12

/* Maximum cost per chunk, about a second: the solver expands floats and divisions before it checks
 * time. */
#define COST_MOST 100
#define COST_OF_SUM 1
#define COST_OF_PRODUCT 10

static bool terms_is_division(uint8_t opcode)
{
	return opcode == LLVMUDiv || opcode == LLVMSDiv || opcode == LLVMURem || opcode == LLVMSRem;
}

static uint32_t terms_cost_of(const struct term *term)
{
	const bool has_unknowns = term->op == CODE_BINARY &&
				  term_operand(term, 0)->op != TERM_CONSTANT &&
				  term_operand(term, 1)->op != TERM_CONSTANT;

	switch (term->op) {
	case CODE_BINARY:
		if (term->width <= 16)
			return 0;
		if (terms_is_division(term->sub))
			return terms_shift_of(term_operand(term, 1))
				       ? 0
				       : (1u + has_unknowns) * COST_OF_PRODUCT;
		return term->sub == LLVMMul && has_unknowns ? COST_OF_PRODUCT : 0;
	case CODE_FLOAT:
		return term->sub == LLVMFAdd || term->sub == LLVMFSub ? COST_OF_SUM
								      : COST_OF_PRODUCT;
	case CODE_FROM_SIGNED:
	case CODE_FROM_UNSIGNED:
	case CODE_TO_SIGNED:
	case CODE_TO_UNSIGNED:
	case CODE_FLOAT_CONVERT:
		return COST_OF_SUM;
	case CODE_INTRINSIC:
		return term->sub == INTRINSIC_SQUARE_ROOT ? 2 * COST_OF_PRODUCT : 0;
	default:
		return 0;
	}
}

static bool terms_is_too_hard(struct solver *solver, const struct term *term)
{
	const uint32_t cost = terms_cost_of(term);

	if (cost && (term->size > FLOAT_SIZE_MOST || solver->hard_cost + cost > COST_MOST))
		return true;
	solver->hard_cost += cost;
	return false;
}

/* Returns the condition that the term is used. A use follows the term's last read and the checks of
 * its divisors and addresses. */
static Z3_ast terms_is_used(const struct solver *solver, const struct term *term)
{
	const struct event_id read = solver->order->reads[term->number];
	const struct walked_thread *thread = &solver->walk->threads[read.thread];
	uint64_t next = read.index + 1u;

	while (next < thread->count && event_is_check(&thread->events[next]))
		next++;
	return solver_reaches(solver, (struct event_id){read.thread, (uint32_t)next});
}

/* Makes the operands keep their recorded values where the term is used, so that the constraint is
 * sound. */
static Z3_ast terms_keep_value(struct solver *solver, struct term *term)
{
	struct term *parts[3] = {
		term_operand(term, 0), term_operand(term, 1), term_operand(term, 2)};

	for (int i = 0; i < 3; i++)
		if (parts[i] && parts[i]->op != TERM_CONSTANT)
			solver_require(solver, terms_is_used(solver, term),
				solver_equals(solver, parts[i], parts[i]->value));
	return solver_bits(solver, term->width, term->value);
}

Z3_ast solver_term(struct solver *solver, struct term *term)
{
	const uint64_t key = (uint64_t)(uintptr_t)term;
	struct solver_term *known = slots_get(&solver->terms, sizeof *known, key);
	Z3_ast result = NULL;

	if (known)
		return known->ast;
	if (term->op == TERM_CONSTANT) {
		result = solver_bits(solver, term->width, term->value);
	} else if (term->op == TERM_VARIABLE) {
		result = terms_variable(solver, term);
	} else if (solver_is_past(solver, solver->order->reads[term->number])) {
		/* The term's reads precede the window: its value is known. */
		result = solver_bits(solver, term->width, term->value);
	} else if (!terms_is_too_hard(solver, term)) {
		result = terms_translate(solver, term, solver_term(solver, term_operand(term, 0)),
			term_operand(term, 1) ? solver_term(solver, term_operand(term, 1)) : NULL,
			term_operand(term, 2) ? solver_term(solver, term_operand(term, 2)) : NULL);
	}
	if (!result)
		result = terms_keep_value(solver, term);
	known = slots_add(&solver->terms, sizeof *known, key);
	known->ast = result;
	return result;
}
