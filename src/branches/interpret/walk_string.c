/*
 * Copies of strings. Each byte is written under the condition that no NUL precedes it, so the
 * string may be shorter under another schedule, not longer. A string without symbolic bytes is
 * copied in pieces as other ranges are.
 */
#include <string.h>

#include "branches/interpret/walk_library.h"

/* Returns the index of the first known NUL, or the number of known bytes. */
static uint32_t end_of(const struct library_bytes *of)
{
	const uint8_t *zero = memchr(of->bytes, 0, of->count);

	return zero ? (uint32_t)(zero - of->bytes) : of->count;
}

bool walk_string_measure(
	const struct code *call, const uint64_t *registers, struct library_walk *of)
{
	const struct library_read *read = call->reads;
	const bool appends = read->kind == LIBRARY_APPEND;
	struct library_bytes *source = &of->arguments[appends];
	const uint32_t end = end_of(source);

	of->to = registers[call->operands[0]];
	if (read->site_to == SITE_NONE)
		return false;
	if (appends) {
		of->arguments[0].looked = end_of(&of->arguments[0]) + 1;
		of->to += of->arguments[0].looked - 1;
		if (of->arguments[0].looked > of->arguments[0].count)
			return false;
	}
	if (read->kind == LIBRARY_FILL) {
		source->looked = source->extent;
		of->written = (uint32_t)of->limit;
		return of->limit <= SITE_TOLD_MOST &&
		       (end < source->count || source->extent == of->limit);
	}
	/* The limit truncates the string: `limit` bytes and a NUL are written. */
	if (appends && end == of->limit) {
		source->looked = end;
		of->written = end + 1;
		return true;
	}
	source->looked = of->written = end + 1;
	return end < source->count;
}

static void write_one(struct walker *walker, const struct code *access, uint64_t address,
	struct term *term, struct term *when)
{
	walker->when = when->op == TERM_CONSTANT ? NULL : when;
	walk_write_term(
		walker, access, address, 1, term->value, term->op == TERM_CONSTANT ? NULL : term);
	walker->when = NULL;
}

static bool walk_string_has_term(const struct library_bytes *of)
{
	for (uint32_t i = 0; i < of->looked; i++)
		if (of->terms[i]->op != TERM_CONSTANT)
			return true;
	return false;
}

static void walk_string_write_pieces(struct walker *walker, const struct code *access,
	const struct library_bytes *source, const struct library_walk *of)
{
	uint32_t bytes;

	for (uint32_t done = 0; done < of->written; done += bytes) {
		const uint64_t address = of->to + done;
		uint64_t value = 0;

		bytes = walk_piece(walker->walk, address);
		while (bytes > of->written - done || address & (bytes - 1))
			bytes /= 2;
		for (uint32_t i = done; i < done + bytes && i < source->looked; i++)
			value |= (uint64_t)source->bytes[i] << 8 * (i - done);
		walk_write_term(walker, access, address, bytes, value, NULL);
		if (!walker->is_live)
			walk_note_initial(walker, address, bytes, value);
	}
}

/* Returns the term of: no NUL up to and including this byte. */
static struct term *walk_string_goes_on(
	const struct builder *builder, struct term *alive, struct term *byte)
{
	struct term *zero = term_constant(builder->arena, 8, 0);
	struct term *is_more = library_compare(builder, LLVMIntULT, zero, byte);

	if (is_more->op == TERM_CONSTANT)
		return is_more->value ? alive : is_more;
	return library_choose(builder, alive, is_more, term_constant(builder->arena, 1, 0));
}

/* Pins the length of the string that is appended to. */
static void pin_end(
	const struct builder *builder, const struct code *call, struct library_bytes *of)
{
	struct term *alive = term_constant(builder->arena, 1, 1);

	for (uint32_t i = 0; i < of->looked; i++) {
		if (i + 1 == of->looked)
			(void)walk_pin(builder->walker, EVENT_VALUE, alive, call);
		alive = walk_string_goes_on(builder, alive, of->terms[i]);
	}
	(void)walk_pin(builder->walker, EVENT_VALUE, alive, call);
}

static struct term *walk_string_write_bytes(const struct builder *builder,
	const struct code *access, const struct library_bytes *source,
	const struct library_walk *of)
{
	struct term *alive = term_constant(builder->arena, 1, 1), *always = alive;
	struct term *zero = term_constant(builder->arena, 8, 0);
	const bool fills = access->reads->kind == LIBRARY_FILL;

	for (uint32_t i = 0; i < of->written; i++) {
		struct term *byte = i < source->looked ? source->terms[i] : zero;

		write_one(builder->walker, access, of->to + i,
			fills ? library_choose(builder, alive, byte, zero) : byte,
			fills ? always : alive);
		if (i < source->looked)
			alive = walk_string_goes_on(builder, alive, byte);
	}
	return alive;
}

/*
 * Sets the result to the address of the first NUL written, or the end of the range where strncpy()
 * writes no NUL.
 */
static void set_end(const struct builder *builder, const struct code *call,
	const struct library_bytes *source, const struct library_walk *of)
{
	struct term *zero = term_constant(builder->arena, 8, 0);
	const bool fills = call->reads->kind == LIBRARY_FILL;
	const uint32_t most = fills ? of->written : of->written - 1;
	struct term *end = library_number(builder, of->to + most);

	for (uint32_t i = most < source->looked ? most : source->looked; i-- > 0;)
		end = library_choose(builder,
			library_compare(builder, LLVMIntEQ, source->terms[i], zero),
			library_number(builder, of->to + i), end);
	walk_set_term(builder->walker, call->to, end->op == TERM_CONSTANT ? NULL : end);
}

void walk_string_write(struct walker *walker, const struct code *call, struct library_walk *of)
{
	const struct library_read *read = call->reads;
	const struct builder builder = {walker, &walker->walk->terms, call->width};
	struct library_bytes *source = &of->arguments[read->kind == LIBRARY_APPEND];
	struct code access = *call;
	struct term *alive;

	access.place = PLACE_SITE;
	access.site = read->site_to;
	if (read->kind == LIBRARY_APPEND)
		pin_end(&builder, call, &of->arguments[0]);
	if (!walk_string_has_term(source)) {
		walk_string_write_pieces(walker, &access, source, of);
		return;
	}
	alive = walk_string_write_bytes(&builder, &access, source, of);
	/* The source may have more bytes than are known. */
	if (read->kind == LIBRARY_COPY || source->looked < of->limit)
		(void)walk_pin(walker, EVENT_VALUE, alive, call);
	if (read->gives_end && call->is_used)
		set_end(&builder, call, source, of);
}
