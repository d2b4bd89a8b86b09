#include "branches/interpret/walk_library.h"

#include <string.h>

/* ---- reading ---- */

/* For the other kinds the limit is pinned. */
static bool is_limit_open(const struct library_read *read)
{
	return read->kind != LIBRARY_LENGTH && read->kind < LIBRARY_COPY;
}

/* Returns the term of the limit if it may stay open; NULL: constant or pinned. */
static struct term *open_limit(const struct walker *walker, const struct code *call)
{
	const struct library_read *read = call->reads;
	struct term *term = read->limit < 0 || !is_limit_open(read)
				    ? NULL
				    : walk_operand_term(walker, call->operands[read->limit]);

	return term && term->op != TERM_CONSTANT && !term->is_pinned ? term : NULL;
}

/*
 * A comparison of memory with an open limit, such as the length of a short string, may extend to
 * the end of the last word.
 */
static bool may_be_longer(const struct walker *walker, const struct code *call)
{
	const struct library_read *read = call->reads;

	return walker->mode & WALK_EVENTS && !read->is_string &&
	       (read->kind == LIBRARY_COMPARE || read->kind == LIBRARY_DIFFER) &&
	       open_limit(walker, call);
}

static void walk_library_put(
	struct library_bytes *out, uint64_t address, uint64_t word, uint64_t value, uint64_t most)
{
	for (uint32_t i = 0; i < 8; i++)
		if (word + i >= address && word + i < address + most)
			out->bytes[out->count++] = (uint8_t)(value >> 8 * i);
}

static bool has_zero(uint64_t value, uint64_t byte)
{
	for (; byte < 8; byte++)
		if (!(uint8_t)(value >> 8 * byte))
			return true;
	return false;
}

/* Mirrors record_told() of the recorder. */
static enum step walk_library_read_told(struct walker *walker, uint64_t length,
	const struct library_read *read, bool is_longer, struct library_bytes *out)
{
	const uint64_t address = out->address;
	const uint64_t most = site_told_most(length, read->is_string, read->is_near);
	bool has_ended = false;

	walk_settle(walker);
	for (uint64_t word = address & ~UINT64_C(7); word < address + most; word += 8) {
		uint64_t value;
		enum step step;

		if (has_ended && (word >= address + SITE_TOLD_LEAST || !(word & 4095)))
			break;
		if (read->is_near && word > address && !(word & 4095))
			break;
		step = walk_read(walker, SITE_NONE, word, 8, &value);
		if (step != STEP_NEXT)
			return step;
		walk_library_put(out, address, word, value, is_longer ? most + 7 : most);
		if (!has_ended)
			out->extent = out->count;
		has_ended |= read->is_string && has_zero(value, word < address ? address & 7 : 0);
	}
	return STEP_NEXT;
}

static void walk_library_read_own(struct walker *walker, const struct code *call,
	const struct library_operand *operand, uint64_t length, uint64_t most,
	struct library_bytes *out)
{
	const bool is_string = call->reads->is_string;
	struct code access = *call;

	access.constant = operand->constant;
	out->is_exact = true;
	while (operand->is_known && out->count < length && out->count < most) {
		const uint8_t *byte = walk_own_memory(
			walker, &access, operand->place, out->address + out->count, 1);

		if (!byte)
			break;
		out->bytes[out->count++] = *byte;
		if (is_string && !*byte)
			break;
	}
	out->extent = out->count;
}

/* Returns the number of bytes to model. If one string has a fixed end, the comparison ends there. */
static uint32_t walk_library_count_of(
	const struct library_read *read, const struct library_walk *walk)
{
	const struct library_bytes *a = &walk->arguments[0], *b = &walk->arguments[1];
	uint32_t count = a->extent;

	if (read->count == 1)
		return count;
	if (a->is_exact || b->is_exact)
		return a->count < b->count ? a->count : b->count;
	if (b->extent > count)
		count = b->extent;
	if (a->count < count)
		count = a->count;
	return b->count < count ? b->count : count;
}

/* ---- accesses ---- */

/* Returns the number of following bytes of the argument that lie in one word. */
static uint32_t piece_of(const struct library_bytes *of, uint32_t done, uint32_t count)
{
	const uint32_t left = 8 - (uint32_t)((of->address + done) & 7);

	return count - done < left ? count - done : left;
}

static void note_argument(struct walker *walker, const struct library_operand *operand,
	const struct library_bytes *of, uint32_t count)
{
	uint32_t bytes;

	for (uint32_t done = 0; done < count; done += bytes) {
		bytes = piece_of(of, done, count);
		walk_note_access(walker, operand->site, of->address + done, bytes, false);
	}
}

static uint64_t walk_library_value_of(const struct library_bytes *of, uint32_t done, uint32_t bytes)
{
	uint64_t value = 0;

	memcpy(&value, of->bytes + done, bytes);
	return value;
}

/*
 * Shared memory is read word by word, with a separate read after the limit. Memory of one thread
 * is read byte by byte, because each byte may have a term of its own.
 */
static void read_terms(struct walker *walker, const struct code *call, uint32_t number,
	struct library_bytes *of, uint64_t limit)
{
	const uint32_t count = of->looked;
	const struct library_operand *operand = &call->reads->operands[number];
	struct code access = *call;
	uint32_t bytes;

	access.place = operand->place;
	access.site = operand->site;
	memset(of->whens, 0, count * sizeof *of->whens);
	for (uint32_t done = 0; done < count; done += bytes) {
		const uint64_t address = of->address + done;
		struct term *term;

		bytes = piece_of(of, done, done < limit && limit < count ? (uint32_t)limit : count);
		if (operand->place == PLACE_CONSTANT ||
			!(operand->place == PLACE_SITE && walker->is_live &&
				walk_is_shared(walker->walk, address, bytes)))
			bytes = 1;
		walker->left_open = call->reads->kind < LIBRARY_COPY ? &of->whens[done] : NULL;
		term = operand->place == PLACE_CONSTANT
			       ? NULL
			       : walk_read_term(walker, &access, address, bytes,
					 walk_library_value_of(of, done, bytes));
		walker->left_open = NULL;
		if (term && bytes > 1)
			walker->out->events[walker->out->count - 1].access.argument = number;
		for (uint32_t i = 0; i < bytes; i++)
			of->terms[done + i] =
				!term ? term_constant(&walker->walk->terms, 8, of->bytes[done + i])
				: bytes > 1 ? walk_byte_of(walker, term, i)
					    : term;
	}
}

static bool is_pointer(const struct library_read *read, uint32_t argument)
{
	return argument < (uint32_t)(read->first + read->count);
}

/* All reads of the call form one access, after the scheduling points of both arguments. */
static void walk_library_read_all(struct walker *walker, const struct code *call,
	const uint64_t *registers, struct library_walk *of)
{
	const struct library_read *read = call->reads;
	const uint64_t first = walker->out->count;

	of->first = first;
	of->limit_term = NULL;
	for (uint32_t i = 0; i < call->count; i++) {
		struct term *term = walk_operand_term(walker, call->operands[i]);

		if (read->limit == (int8_t)i && open_limit(walker, call)) {
			of->limit_term = term;
			continue;
		}
		if (walk_pin(walker, is_pointer(read, i) ? EVENT_ADDRESS : EVENT_VALUE, term,
			    call) &&
			!is_pointer(read, i))
			walk_note_unknown(walker, call, true);
	}
	(void)registers;
	for (uint32_t i = 0; i < read->count; i++)
		if (read->operands[i].place == PLACE_SITE && walker->is_live)
			walk_count_step(walker, read->operands[i].site);
	if (read->kind >= LIBRARY_COPY && walker->is_live)
		walk_count_step(walker, read->site_to);
	for (uint32_t i = 0; i < read->count && !of->is_long; i++)
		read_terms(walker, call, i, &of->arguments[i], of->limit);
	if (of->is_long)
		walk_compare_terms(walker, call, of);
	walk_join_events(walker, first);
}

static enum step walk_library_read_arguments(struct walker *walker, const struct code *call,
	const uint64_t *registers, struct library_walk *out)
{
	const struct library_read *read = call->reads;
	const bool is_longer = may_be_longer(walker, call);

	for (uint32_t i = 0; i < read->count; i++) {
		const struct library_operand *operand = &read->operands[i];
		struct library_bytes *of = &out->arguments[i];
		/* The destination of an append has no limit. */
		const uint64_t limit = read->kind == LIBRARY_APPEND && !i ? UINT64_MAX : out->limit;
		enum step step;

		of->count = of->extent = 0;
		of->is_exact = false;
		if (operand->site == SITE_NONE) {
			walk_library_read_own(walker, call, operand, limit + (is_longer ? 7 : 0),
				SITE_TOLD_MOST + (is_longer ? 7 : 0), of);
			continue;
		}
		step = walk_library_read_told(walker, limit, read, is_longer, of);
		if (step != STEP_NEXT)
			return step;
	}
	out->count = out->arguments[0].looked = out->arguments[1].looked =
		walk_library_count_of(read, out);
	out->is_unknown =
		(walk_search_is_one(read) && !walk_search_measure(out)) ||
		(read->kind >= LIBRARY_COPY && !walk_string_measure(call, registers, out)) ||
		(read->kind == LIBRARY_NUMBER && !walk_number_is_known(walker, call, registers));
	return STEP_NEXT;
}

static void note_arguments(
	struct walker *walker, const struct code *call, const struct library_walk *of)
{
	const struct library_read *read = call->reads;

	for (uint32_t i = 0; i < read->count; i++)
		if (read->operands[i].place == PLACE_SITE)
			note_argument(walker, &read->operands[i], &of->arguments[i],
				of->arguments[i].looked);
	if (read->kind >= LIBRARY_COPY)
		walk_note_access(walker, read->site_to, of->to, of->written, true);
}

enum step walk_library_read(struct walker *walker, const struct code *call,
	const uint64_t *registers, struct library_walk *out)
{
	const struct library_read *read = call->reads;
	enum step step;

	out->is_unknown = false;
	out->limit = read->limit < 0 ? UINT64_MAX : registers[call->operands[read->limit]];
	out->is_long = walk_compare_is_long(read, out->limit);
	for (uint32_t i = 0; i < read->count; i++)
		out->arguments[i].address = registers[call->operands[read->first + i]];
	step = out->is_long ? walk_compare_read(walker, call, out)
			    : walk_library_read_arguments(walker, call, registers, out);
	if (step != STEP_NEXT || !read->is_used || out->is_unknown)
		return step;
	if (walker->is_live && walker->mode & WALK_NOTING && out->is_long)
		walk_compare_note(walker, call, out);
	else if (walker->is_live && walker->mode & WALK_NOTING)
		note_arguments(walker, call, out);
	if (walker->mode & WALK_EVENTS)
		walk_library_read_all(walker, call, registers, out);
	return STEP_NEXT;
}
