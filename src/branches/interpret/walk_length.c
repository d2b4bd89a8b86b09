/*
 * Copies and fills whose length depends on shared memory. Under another schedule the length may be
 * smaller, not larger, because the bytes after it are unknown. Shared memory is then written byte
 * by byte, each under the condition that the length reaches it. Memory of one thread is written
 * under the condition that the whole range is written.
 */
#include "branches/interpret/walk_internal.h"

/* Longer ranges keep their length, because each byte becomes a conditional write. */
#define BYTES_MOST 64

static struct term *walk_length_compare(struct walker *walker, struct term *a, struct term *b)
{
	const struct term_like like = {.op = CODE_COMPARE,
		.sub = LLVMIntULT,
		.width = 1,
		.value = a->value < b->value,
		.a = a,
		.b = b};

	return term_make(&walker->walk->terms, &like);
}

/* Returns the term of place < length. */
struct term *walk_is_within(struct walker *walker, const struct code *code, uint64_t place)
{
	struct term *length = walk_operand_term(walker, code->c);

	return walk_length_compare(
		walker, term_constant(&walker->walk->terms, length->width, place), length);
}

struct term *walk_is_no_more(struct walker *walker, struct term *size)
{
	struct term_arena *arena = &walker->walk->terms;
	const struct term_like less = {.op = CODE_BINARY,
		.sub = LLVMSub,
		.width = size->width,
		.value = size->value - 1,
		.a = size,
		.b = term_constant(arena, size->width, 1)};

	return walk_length_compare(
		walker, term_make(arena, &less), term_constant(arena, size->width, size->value));
}

struct term *walk_is_whole(struct walker *walker, const struct code *code)
{
	const struct term *length = walk_operand_term(walker, code->c);

	return length->value ? walk_is_within(walker, code, length->value - 1) : NULL;
}

bool walk_has_length(const struct walker *walker, const struct code *code)
{
	const struct term *length = walk_operand_term(walker, code->c);

	return length && length->op != TERM_CONSTANT && !length->is_pinned;
}

bool walk_open_length(struct walker *walker, const struct code *code)
{
	struct term *length = walk_operand_term(walker, code->c);
	struct term *most;

	if (!walk_has_length(walker, code))
		return false;
	if (length->value > BYTES_MOST ||
		walker->frames[walker->frame_count - 1].function->is_excluded) {
		(void)walk_pin(walker, EVENT_VALUE, length, code);
		return false;
	}
	most = term_constant(&walker->walk->terms, length->width, length->value + 1);
	(void)walk_pin(walker, EVENT_VALUE, walk_length_compare(walker, length, most), code);
	return true;
}

struct term *walk_byte_of(struct walker *walker, struct term *word, uint32_t number)
{
	struct term_arena *arena = &walker->walk->terms;
	struct term_like like = {.op = CODE_BINARY,
		.sub = LLVMLShr,
		.width = word->width,
		.value = word->value >> 8 * number,
		.a = word};

	if (number) {
		like.b = term_constant(arena, word->width, 8 * number);
		word = term_make(arena, &like);
	}
	return walk_resize(walker, word, 8);
}
