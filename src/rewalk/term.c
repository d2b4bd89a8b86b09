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

struct term *term_make(struct term_arena *arena, const struct term *like)
{
	struct term *term = new_term(arena);
	uint32_t size = 1u + (like->a ? like->a->size : 0) + (like->b ? like->b->size : 0) +
			(like->c ? like->c->size : 0);

	*term = *like;
	term->size = size > UINT8_MAX ? UINT8_MAX : (uint8_t)size;
	return term;
}

struct term *term_variable(struct term_arena *arena, uint32_t width, uint64_t value)
{
	struct term like = {.op = TERM_VARIABLE,
		.width = (uint8_t)width,
		.value = value,
		.number = arena->variable_count++};

	return term_make(arena, &like);
}

struct term *term_constant(struct term_arena *arena, uint32_t width, uint64_t value)
{
	struct term like = {.op = TERM_CONSTANT, .width = (uint8_t)width, .value = value};

	return term_make(arena, &like);
}

void term_arena_release(struct term_arena *arena)
{
	for (uint32_t i = 0; i < arena->block_count; i++)
		free(arena->blocks[i]);
	free(arena->blocks);
	*arena = (struct term_arena){0};
}
