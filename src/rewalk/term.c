#include "rewalk/term.h"

#include <stdlib.h>

#include "base/bug.h"

static struct term *new_term(struct term_arena *arena)
{
	if (!arena->block_count || arena->used == TERMS_IN_A_BLOCK) {
		arena->blocks =
			realloc(arena->blocks, (arena->block_count + 1) * sizeof *arena->blocks);
		BUG_ON(!arena->blocks);
		arena->blocks[arena->block_count] = calloc(TERMS_IN_A_BLOCK, sizeof(struct term));
		BUG_ON(!arena->blocks[arena->block_count]);
		arena->block_count++;
		arena->used = 0;
	}
	return &arena->blocks[arena->block_count - 1][arena->used++];
}

/* Operands with variables must all have the same one. */
static struct term *sole_of(const struct term *term)
{
	struct term *const operands[] = {term->a, term->b, term->c};
	struct term *sole = NULL;

	for (size_t i = 0; i < 3; i++) {
		if (!operands[i] || operands[i]->op == TERM_CONSTANT)
			continue;
		if (!operands[i]->sole || (sole && sole != operands[i]->sole))
			return NULL;
		sole = operands[i]->sole;
	}
	return sole;
}

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

/* Variables are numbered as a thread reads them. */
static uint32_t last_in(const struct term *term)
{
	const struct term *const operands[] = {term->a, term->b, term->c};
	uint32_t last = 0;

	for (size_t i = 0; i < 3; i++)
		if (operands[i] && operands[i]->number > last)
			last = operands[i]->number;
	return last;
}

struct term *term_make(struct term_arena *arena, const struct term *like)
{
	struct term *term = new_term(arena);
	uint32_t size = 1u + (like->a ? like->a->size : 0) + (like->b ? like->b->size : 0) +
			(like->c ? like->c->size : 0);

	*term = *like;
	term->size = size > UINT8_MAX ? UINT8_MAX : (uint8_t)size;
	if (term->a)
		term->number = last_in(term);
	term->sole = sole_of(term);
	term->is_one_to_one = term->sole && is_one_to_one(term);
	return term;
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
	struct term like = {.op = TERM_VARIABLE,
		.width = (uint8_t)width,
		.value = value,
		.number = arena->variable_count};
	struct term *term = term_make(arena, &like);

	BUG_ON(arena->variable_count++ != term->number); /* hundreds of millions of reads */
	term->sole = term;
	term->is_one_to_one = true;
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

void term_arena_release(struct term_arena *arena)
{
	for (uint32_t i = 0; i < arena->block_count; i++)
		free(arena->blocks[i]);
	free(arena->blocks);
	*arena = (struct term_arena){0};
}
