/*
 * Copies and fills whose length depends on shared memory. Another schedule may only make the length
 * smaller, as later bytes are unknown. Shared memory is written byte by byte, each under the
 * condition that the length reaches it. Memory of one thread is written under the condition that
 * the whole range is written.
 */
#include "branches/interpret/walk_internal.h"

/* Each byte becomes a conditional write: longer ranges keep their length. */
#define BYTES_MOST 64

struct term *walk_is_within(struct walker *walker, const struct code *code, uint64_t location)
{
	struct term *length = walk_operand_term(walker, code->c);

	return walk_comparison_term(&walker->walk->terms, LLVMIntULT,
		term_constant(&walker->walk->terms, length->width, location), length);
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
	(void)walk_pin(walker, EVENT_VALUE,
		walk_comparison_term(&walker->walk->terms, LLVMIntULT, length, most), code);
	return true;
}
