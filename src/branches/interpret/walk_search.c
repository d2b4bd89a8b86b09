/*
 * Searches in a string for one of several bytes, or for another string. The term is built from the
 * last byte to the first. The bytes to search for are pinned.
 */
#include <string.h>

#include "branches/interpret/walk_library.h"

/* Maximum number of bytes to search for: each needs a comparison at each position. */
#define SOUGHT_MOST 32u

bool walk_search_is_one(const struct library_read *read)
{
	return read->kind == LIBRARY_SPAN || read->kind == LIBRARY_SPAN_OTHERS ||
	       read->kind == LIBRARY_FIND_ANY || read->kind == LIBRARY_FIND_STRING;
}

bool walk_search_measure(struct library_walk *of)
{
	struct library_bytes *sought = &of->arguments[1];
	const uint8_t *zero = memchr(sought->bytes, 0, sought->count);

	of->arguments[0].looked = of->count = of->arguments[0].extent;
	sought->looked = zero ? (uint32_t)(zero - sought->bytes) + 1 : 0;
	return zero && sought->looked <= SOUGHT_MOST + 1;
}

void walk_search_pin(
	const struct builder *builder, const struct code *call, const struct library_walk *of)
{
	for (uint32_t i = 0; i < of->arguments[1].looked; i++) {
		/* NULL: nothing to pin */
		(void)walk_pin(builder->walker, EVENT_VALUE, of->arguments[1].terms[i], call);
		(void)walk_pin(builder->walker, EVENT_VALUE, of->arguments[1].whens[i], call);
	}
}

static struct term *truth(const struct builder *builder, bool is_true)
{
	return term_constant(builder->arena, 1, is_true);
}

static struct term *walk_search_equals(
	const struct builder *builder, struct term *byte, uint8_t other)
{
	return library_compare(builder, LLVMIntEQ, byte, term_constant(builder->arena, 8, other));
}

static struct term *is_any(
	const struct builder *builder, const struct library_walk *of, struct term *byte)
{
	const struct library_bytes *sought = &of->arguments[1];
	struct term *result = truth(builder, false);

	for (uint32_t i = 0; i + 1 < sought->looked; i++)
		result =
			library_choose(builder, walk_search_equals(builder, byte, sought->bytes[i]),
				truth(builder, true), result);
	return result;
}

/* Returns the term of a match at `at`. A match that extends beyond the known bytes counts as none. */
static struct term *begins_here(
	const struct builder *builder, const struct library_walk *of, uint32_t at)
{
	const struct library_bytes *sought = &of->arguments[1];
	const uint32_t length = sought->looked - 1;
	struct term *result = truth(builder, at + length <= of->count);

	for (uint32_t i = length; i-- > 0 && at + length <= of->count;)
		result = library_choose(builder,
			walk_search_equals(
				builder, of->arguments[0].terms[at + i], sought->bytes[i]),
			result, truth(builder, false));
	return result;
}

static void stop_at(const struct builder *builder, struct term *stop, uint64_t value,
	struct library_answer *answer)
{
	answer->value =
		library_choose(builder, stop, library_number(builder, value), answer->value);
	answer->is_known = library_choose(builder, stop, truth(builder, true), answer->is_known);
}

void walk_search_byte(const struct builder *builder, const struct code *call,
	const struct library_walk *of, uint32_t at, struct library_answer *answer)
{
	struct term *byte = of->arguments[0].terms[at],
		    *is_end = walk_search_equals(builder, byte, 0);
	const uint64_t address = of->arguments[0].address + at;

	switch (call->reads->kind) {
	case LIBRARY_SPAN:
		stop_at(builder, is_end, at, answer);
		/* While the byte is in the set, the following bytes decide. */
		byte = library_choose(builder, is_any(builder, of, byte), truth(builder, false),
			truth(builder, true));
		stop_at(builder, byte, at, answer);
		return;
	case LIBRARY_SPAN_OTHERS:
		stop_at(builder, is_end, at, answer);
		stop_at(builder, is_any(builder, of, byte), at, answer);
		return;
	case LIBRARY_FIND_ANY:
		stop_at(builder, is_end, 0, answer);
		stop_at(builder, is_any(builder, of, byte), address, answer);
		return;
	default:
		stop_at(builder, is_end, 0, answer);
		stop_at(builder, begins_here(builder, of, at), address, answer);
	}
}
