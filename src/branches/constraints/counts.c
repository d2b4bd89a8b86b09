/* Intrinsics that count or reverse bits, or round floating-point values to integers. */
#include "branches/decode/code.h"
#include "branches/constraints/solver.h"

static Z3_ast counts_bit(Z3_context z3, Z3_ast word, unsigned number)
{
	return Z3_mk_extract(z3, number, number, word);
}

static Z3_ast counts_ones_in(struct solver *solver, Z3_ast word, uint32_t width)
{
	Z3_context z3 = solver->z3;
	Z3_ast sum = solver_bits(solver, width, 0);

	for (uint32_t i = 0; i < width; i++)
		sum = Z3_mk_bvadd(z3, sum,
			width == 1 ? counts_bit(z3, word, i)
				   : Z3_mk_zero_ext(z3, width - 1, counts_bit(z3, word, i)));
	return sum;
}

/* Returns the number of leading zero bits of the word (`is_from_highest`), or of trailing ones. The
 * result for a word without set bits is its width. */
static Z3_ast counts_zeros_before(
	struct solver *solver, Z3_ast word, uint32_t width, bool is_from_highest)
{
	Z3_context z3 = solver->z3;
	Z3_ast count = solver_bits(solver, width, width), one = solver_bits(solver, 1, 1);

	for (uint32_t zeros = width; zeros-- > 0;)
		count = Z3_mk_ite(z3,
			Z3_mk_eq(z3,
				counts_bit(z3, word, is_from_highest ? width - 1 - zeros : zeros),
				one),
			solver_bits(solver, width, zeros), count);
	return count;
}

static Z3_ast counts_turned(Z3_context z3, Z3_ast word, uint32_t width, uint32_t piece)
{
	Z3_ast result = Z3_mk_extract(z3, piece - 1, 0, word);

	for (uint32_t at = piece; at < width; at += piece)
		result = Z3_mk_concat(z3, result, Z3_mk_extract(z3, at + piece - 1, at, word));
	return result;
}

Z3_ast solver_count(struct solver *solver, const struct term *term, Z3_ast a)
{
	switch (term->sub) {
	case INTRINSIC_COUNT_ONES:
		return counts_ones_in(solver, a, term->width);
	case INTRINSIC_LEADING_ZEROS:
		return counts_zeros_before(solver, a, term->width, true);
	case INTRINSIC_TRAILING_ZEROS:
		return counts_zeros_before(solver, a, term->width, false);
	case INTRINSIC_SWAP_BYTES:
		return counts_turned(solver->z3, a, term->width, 8);
	case INTRINSIC_BIT_REVERSE:
		return counts_turned(solver->z3, a, term->width, 1);
	default:
		return NULL;
	}
}
