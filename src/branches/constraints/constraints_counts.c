/* Intrinsics that count or reverse bits, or round floating-point values to integers. */
#include "branches/decode/code.h"
#include "branches/constraints/constraints.h"

static Z3_ast constraints_counts_bit(Z3_context z3, Z3_ast word, unsigned number)
{
	return Z3_mk_extract(z3, number, number, word);
}

static Z3_ast constraints_counts_ones_in(
	struct constraints *constraints, Z3_ast word, uint32_t width)
{
	Z3_context z3 = constraints->z3;
	Z3_ast sum = constraints_bits(constraints, width, 0);

	for (uint32_t i = 0; i < width; i++)
		sum = Z3_mk_bvadd(z3, sum,
			width == 1 ? constraints_counts_bit(z3, word, i)
				   : Z3_mk_zero_ext(
					     z3, width - 1, constraints_counts_bit(z3, word, i)));
	return sum;
}

/* Returns the number of zero bits before the first set bit, from the highest or lowest bit; the
 * width if none is set. */
static Z3_ast constraints_counts_zeros_before(
	struct constraints *constraints, Z3_ast word, uint32_t width, bool is_from_highest)
{
	Z3_context z3 = constraints->z3;
	Z3_ast count = constraints_bits(constraints, width, width),
	       one = constraints_bits(constraints, 1, 1);

	for (uint32_t zeros = width; zeros-- > 0;)
		count = Z3_mk_ite(z3,
			Z3_mk_eq(z3,
				constraints_counts_bit(
					z3, word, is_from_highest ? width - 1 - zeros : zeros),
				one),
			constraints_bits(constraints, width, zeros), count);
	return count;
}

static Z3_ast constraints_counts_turned(Z3_context z3, Z3_ast word, uint32_t width, uint32_t piece)
{
	Z3_ast result = Z3_mk_extract(z3, piece - 1, 0, word);

	for (uint32_t at = piece; at < width; at += piece)
		result = Z3_mk_concat(z3, result, Z3_mk_extract(z3, at + piece - 1, at, word));
	return result;
}

Z3_ast constraints_count(struct constraints *constraints, const struct term *term, Z3_ast a)
{
	switch (term->sub) {
	case INTRINSIC_COUNT_ONES:
		return constraints_counts_ones_in(constraints, a, term->width);
	case INTRINSIC_LEADING_ZEROS:
		return constraints_counts_zeros_before(constraints, a, term->width, true);
	case INTRINSIC_TRAILING_ZEROS:
		return constraints_counts_zeros_before(constraints, a, term->width, false);
	case INTRINSIC_SWAP_BYTES:
		return constraints_counts_turned(constraints->z3, a, term->width, 8);
	case INTRINSIC_BIT_REVERSE:
		return constraints_counts_turned(constraints->z3, a, term->width, 1);
	default:
		return NULL;
	}
}
