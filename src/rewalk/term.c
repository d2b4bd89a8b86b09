#include "rewalk/term.h"

#include <string.h>

#include "base/bug.h"

/*
 * Sums and products with constants, as addresses are made of. That a product may wrap round the address space
 * and meet itself again is passed over: what is lost are solutions with such an index.
 */
static bool is_one_to_one(const struct term *term)
{
	const struct term *const variable =
		term->b && term->a->op == TERM_CONSTANT ? term->b : term->a;
	const struct term *const constant = term->b == variable ? term->a : term->b;

	if (!variable || !variable->is_one_to_one)
		return false;
	if (term->op == CODE_ZERO_EXTEND || term->op == CODE_SIGN_EXTEND)
		return true;
	if (term->op != CODE_BINARY || constant->op != TERM_CONSTANT)
		return false;
	if (term->sub == LLVMMul)
		return term->width == 64 && constant->value;
	return term->sub == LLVMAdd || term->sub == LLVMSub || term->sub == LLVMXor;
}

/* What a term is by its operands. */
struct sum {
	struct term *sole; /* of those with variables, if they all have the same one */
	bool is_mixed;	   /* they have not */
	uint32_t size;
	uint32_t number; /* variables are numbered as a thread reads them: the last one */
};

static inline void add_operand(struct sum *sum, const struct term *operand)
{
	if (!operand)
		return;
	sum->size += operand->size;
	if (operand->number > sum->number)
		sum->number = operand->number;
	if (operand->op == TERM_CONSTANT)
		return;
	sum->is_mixed |= !operand->sole || (sum->sole && sum->sole != operand->sole);
	sum->sole = operand->sole;
}

void term_complete(struct term *term)
{
	struct sum sum = {.size = 1};

	add_operand(&sum, term->a);
	add_operand(&sum, term->b);
	add_operand(&sum, term->c);
	term->size = sum.size > UINT8_MAX ? UINT8_MAX : (uint8_t)sum.size;
	term->is_pinned = term->is_fixed = term->is_told = false;
	term->number = sum.number;
	term->sole = sum.is_mixed ? NULL : sum.sole;
	term->is_one_to_one = term->sole && is_one_to_one(term);
}

bool term_pin(struct term *term)
{
	if (term->op == TERM_CONSTANT || term->is_pinned || term_is_fixed(term))
		return false;
	term->is_pinned = true;
	if (term->is_one_to_one)
		term->sole->is_fixed = true;
	return true;
}

struct term *term_variable(struct term_arena *arena, uint32_t width, uint64_t value)
{
	struct term *term = term_new(arena);

	*term = (struct term){.op = TERM_VARIABLE,
		.width = (uint8_t)width,
		.size = 1,
		.value = value,
		.number = arena->variable_count,
		.is_one_to_one = true,
		.sole = term};
	BUG_ON(arena->variable_count++ != term->number); /* hundreds of millions of reads */
	return term;
}

struct term *term_constant(struct term_arena *arena, uint32_t width, uint64_t value)
{
	const struct term like = {.op = TERM_CONSTANT, .width = (uint8_t)width, .value = value};
	const uint64_t hash = (value ^ (uint64_t)width << 56) * UINT64_C(0x9e3779b97f4a7c15);
	struct term **recent = &arena->recent[hash >> 54 & (TERMS_RECENT - 1)];

	if (!*recent || (*recent)->value != value || (*recent)->width != like.width)
		*recent = term_make(arena, &like);
	return *recent;
}

void term_arena_clear(struct term_arena *arena)
{
	arena->count = 0;
	arena->variable_count = 0;
	memset(arena->recent, 0, sizeof arena->recent);
}

void term_arena_release(struct term_arena *arena)
{
	stretch_release(&arena->memory);
	*arena = (struct term_arena){0};
}
