#include "branches/values/term.h"

#include <string.h>

#include "base/bug.h"

/* Returns whether the term is a sum or product with constants. Ignored overflow of a product may
 * lose huge indices. */
static bool term_is_one_to_one(const struct term_like *like)
{
	const struct term *const variable =
		like->b && like->a->op == TERM_CONSTANT ? like->b : like->a;
	const struct term *const constant = like->b == variable ? like->a : like->b;

	if (!variable || !variable->is_one_to_one)
		return false;
	if (like->op == CODE_ZERO_EXTEND || like->op == CODE_SIGN_EXTEND)
		return true;
	if (like->op != CODE_BINARY || constant->op != TERM_CONSTANT)
		return false;
	if (like->sub == LLVMMul)
		return like->width == 64 && constant->value;
	return like->sub == LLVMAdd || like->sub == LLVMSub || like->sub == LLVMXor;
}

static inline uint32_t term_bits_of(bool is_one_to_one, uint32_t number)
{
	const struct term term = {.is_one_to_one = is_one_to_one, .number = number};

	return term.bits;
}

struct sum {
	struct term *sole; /* the only variable, if all operands with variables have the same one */
	bool is_mixed;	   /* the operands have different variables */
	uint32_t size;
	/* Number of the newest variable; variables are numbered in the order of their creation */
	uint32_t number;
};

static inline uint32_t term_add_operand(
	struct sum *sum, const struct term *term, const struct term *operand)
{
	struct term *sole;

	if (!operand)
		return 0;
	sum->size += operand->size;
	if (operand->op != TERM_CONSTANT) {
		if (operand->number > sum->number)
			sum->number = operand->number;
		sole = term_sole(operand);
		sum->is_mixed |= !sole || (sum->sole && sum->sole != sole);
		sum->sole = sole;
	}
	return (uint32_t)(((uintptr_t)term - (uintptr_t)operand) / TERM_UNIT);
}

struct term *term_make(struct term_arena *arena, const struct term_like *like)
{
	struct term *term = term_new(arena, sizeof *term);
	struct sum sum = {.size = 1};

	term->operands[0] = term_add_operand(&sum, term, like->a);
	term->operands[1] = term_add_operand(&sum, term, like->b);
	term->operands[2] = term_add_operand(&sum, term, like->c);
	if (sum.is_mixed)
		sum.sole = NULL;
	term->sole = sum.sole ? (uint32_t)(((uintptr_t)term - (uintptr_t)sum.sole) / TERM_UNIT) : 0;
	term->op = like->op;
	term->sub = like->sub;
	term->width = like->width;
	term->size = sum.size > UINT8_MAX ? UINT8_MAX : (uint8_t)sum.size;
	term->bits = term_bits_of(sum.sole && term_is_one_to_one(like), sum.number);
	term->value = like->value;
	return term;
}

bool term_pin(struct term *term)
{
	if (term->op == TERM_CONSTANT || term->is_pinned || term_is_fixed(term))
		return false;
	term->is_pinned = true;
	if (term->is_one_to_one)
		term_sole(term)->is_fixed = true;
	return true;
}

static struct term *term_make_leaf(
	struct term_arena *arena, enum term_op op, uint32_t width, uint64_t value)
{
	struct term *term = term_new(arena, TERM_LEAF_BYTES);

	/* A leaf is smaller than struct term, and the next term follows directly. */
	term->op = (uint8_t)op;
	term->sub = 0;
	term->width = (uint8_t)width;
	term->size = 1;
	term->bits =
		term_bits_of(op == TERM_VARIABLE, op == TERM_VARIABLE ? arena->variable_count : 0);
	term->value = value;
	return term;
}

struct term *term_variable(struct term_arena *arena, uint32_t width, uint64_t value)
{
	struct term *term = term_make_leaf(arena, TERM_VARIABLE, width, value);

	BUG_ON(++arena->variable_count >> 28); /* fails after 268 million reads */
	return term;
}

struct term *term_constant(struct term_arena *arena, uint32_t width, uint64_t value)
{
	const uint64_t hash = (value ^ (uint64_t)width << 56) * UINT64_C(0x9e3779b97f4a7c15);
	struct term **recent = &arena->recent[hash >> 54 & (TERMS_RECENT - 1)];

	if (!*recent || (*recent)->value != value || (*recent)->width != (uint8_t)width)
		*recent = term_make_leaf(arena, TERM_CONSTANT, width, value);
	return *recent;
}

void term_arena_clear(struct term_arena *arena)
{
	arena->used = 0;
	arena->variable_count = 0;
	memset(arena->recent, 0, sizeof arena->recent);
}

void term_arena_release(struct term_arena *arena)
{
	stretch_release(&arena->memory);
	*arena = (struct term_arena){0};
}
