/*
 * Library functions that compare, measure and search bytes (decode_library.c), which the record
 * contains. If a byte is symbolic, the result is symbolic, too. Its term is built from the last
 * piece to the first: the first relevant piece decides. A piece is a byte, or a word of a long
 * range.
 */
#include <string.h>

#include "branches/interpret/walk_internal.h"

static void walk_library_put(
	struct library_bytes *out, uint64_t address, uint64_t word, uint64_t value, uint64_t most)
{
	for (uint32_t i = 0; i < 8; i++)
		if (word + i >= address && word + i < address + most)
			out->bytes[out->count++] = (uint8_t)(value >> 8 * i);
}

static bool walk_library_has_zero(uint64_t value, uint64_t byte)
{
	for (; byte < 8; byte++)
		if (!(uint8_t)(value >> 8 * byte))
			return true;
	return false;
}

/* Returns the term of a limit that another schedule may change; NULL if the limit is constant. */
static struct term *walk_library_limit(
	const struct walker *walker, const struct code *call, uint64_t limit)
{
	const struct library_read *read = call->reads;
	struct term *term;

	if (!(walker->mode & WALK_EVENTS) || read->limit < 0 || read->kind == LIBRARY_LENGTH ||
		limit > SITE_CONTENTS_MOST)
		return NULL;
	term = walk_operand_term(walker, call->operands[read->limit]);
	return term && term->op != TERM_CONSTANT && !term->is_pinned ? term : NULL;
}

static uint64_t walk_library_most(bool is_string, uint64_t limit)
{
	const uint64_t most = is_string ? SITE_CONTENTS_MOST : SITE_RANGE_MOST;

	return limit < most ? limit : most;
}

/*
 * Mirrors record_string() and record_range() of the recorder. Up to `more` further bytes of the
 * last word are known, too.
 */
static enum step walk_library_read_recorded(struct walker *walker, uint64_t limit, uint32_t more,
	bool is_string, struct library_bytes *out)
{
	const uint64_t address = out->address;
	const uint64_t most = walk_library_most(is_string, limit);
	bool has_ended = false;

	walk_settle(walker);
	for (uint64_t word = address & ~UINT64_C(7); word < address + most; word += 8) {
		uint64_t value;
		enum step step;

		if (has_ended && (word >= address + SITE_CONTENTS_LEAST || !(word & 4095)))
			break;
		step = walk_read(walker, SITE_NONE, word, 8, &value);
		if (step != STEP_NEXT)
			return step;
		walk_library_put(out, address, word, value, most + more);
		if (!has_ended)
			out->extent = out->count;
		has_ended |=
			is_string && walk_library_has_zero(value, word < address ? address & 7 : 0);
	}
	return STEP_NEXT;
}

static void walk_library_read_own(struct walker *walker, const struct code *call,
	const struct library_operand *operand, uint64_t limit, struct library_bytes *out)
{
	const uint64_t most = walk_library_most(call->reads->is_string, limit);
	struct code access = *call;

	access.constant = operand->constant;
	out->is_exact = true;
	while (operand->is_known && out->count < most) {
		const uint8_t *byte = walk_own_memory(
			walker, &access, operand->location, out->address + out->count, 1);

		if (!byte)
			break;
		out->bytes[out->count++] = *byte;
		if (call->reads->is_string && !*byte)
			break;
	}
	out->extent = out->count;
}

static uint32_t walk_library_least(uint32_t a, uint32_t b)
{
	return a < b ? a : b;
}

/* Returns the number of bytes that matter. If one of two strings has a fixed end, the comparison
 * ends there. */
static uint32_t walk_library_count(const struct library_read *read, const struct library_walk *walk)
{
	const struct library_bytes *a = &walk->arguments[0], *b = &walk->arguments[1];
	uint32_t count = a->extent;

	if (read->count == 1)
		return count;
	if (!a->is_exact && !b->is_exact)
		count = a->extent > b->extent ? a->extent : b->extent;
	else
		count = UINT32_MAX;
	return walk_library_least(count, walk_library_least(a->count, b->count));
}

static uint32_t walk_library_word(const struct library_bytes *of, uint32_t done, uint32_t count)
{
	return walk_library_least(count - done, 8 - (uint32_t)((of->address + done) & 7));
}

/* Returns the offset of a piece; after the last one, the number of bytes. */
static uint32_t walk_library_begin(const struct library_walk *walk, uint32_t piece)
{
	const uint32_t before = (uint32_t)walk->arguments[0].address & (walk->piece_bytes - 1);

	return piece ? walk_library_least(walk->count, piece * walk->piece_bytes - before) : 0;
}

/* Divides the compared ranges into pieces. Long ranges are compared word by word, if the words of
 * both begin at the same locations. Otherwise the comparison covers only their first bytes. */
static void walk_library_divide(const struct library_read *read, struct library_walk *walk)
{
	const uint64_t a = walk->arguments[0].address, b = walk->arguments[1].address;

	walk->piece_bytes = 1;
	walk->piece_count = walk->count;
	if (read->is_string || walk->limit <= SITE_CONTENTS_MOST)
		return;
	if ((a ^ b) & 7) {
		walk->piece_count = walk->count =
			walk_library_least(walk->count, SITE_CONTENTS_MOST);
	} else {
		walk->piece_bytes = 8;
		walk->piece_count = (walk->count + (uint32_t)(a & 7) + 7) / 8;
	}
}

static void walk_library_note(
	struct walker *walker, const struct library_read *read, const struct library_walk *of)
{
	for (uint32_t i = 0; i < read->count; i++) {
		uint32_t bytes;

		for (uint32_t done = 0;
			read->operands[i].location == LOCATION_SITE && done < of->count;
			done += bytes) {
			bytes = walk_library_word(&of->arguments[i], done, of->count);
			walk_note_access(walker, read->operands[i].site,
				of->arguments[i].address + done, bytes, false);
		}
	}
}

/* Reads the terms of an argument. Shared memory is read by words; memory of one thread by pieces,
 * which may have own terms. */
static void walk_library_read_terms(struct walker *walker, const struct code *call, uint32_t number,
	struct library_walk *library)
{
	struct library_bytes *of = &library->arguments[number];
	const struct library_operand *operand = &call->reads->operands[number];
	struct code access = *call;
	const uint32_t limit =
		library->limit < library->count ? (uint32_t)library->limit : library->count;
	uint32_t bytes;

	access.location = operand->location;
	access.site = operand->site;
	memset(of->terms, 0, library->piece_count * sizeof *of->terms);
	for (uint32_t done = 0, piece = 0; done < library->count; done += bytes) {
		const uint64_t address = of->address + done;
		struct term *term = NULL;
		uint64_t value = 0;
		bool is_event;

		bytes = walk_library_word(of, done, done < limit ? limit : library->count);
		is_event = operand->location == LOCATION_SITE && walker->is_live &&
			   walk_is_shared(walker->walk, address, bytes);
		if (!is_event)
			bytes = walk_library_least(bytes, library->piece_bytes);
		memcpy(&value, of->bytes + done, bytes);
		if (operand->location != LOCATION_CONSTANT)
			term = walk_read_term(walker, &access, address, bytes, value);
		if (term && is_event)
			walker->out->events[walker->out->count - 1].access.argument = number;
		for (; walk_library_begin(library, piece) < done + bytes; piece++)
			if (term)
				of->terms[piece] = term_bytes(&walker->walk->terms, term,
					walk_library_begin(library, piece) - done,
					walk_library_least(bytes, library->piece_bytes));
	}
}

/* Reads all bytes of the call. All reads form one access, after the scheduling points of both
 * arguments. */
static void walk_library_read_all(
	struct walker *walker, const struct code *call, struct library_walk *of)
{
	const struct library_read *read = call->reads;
	const uint64_t first = walker->out->count;

	for (uint32_t i = 0; i < call->count; i++) {
		const bool is_pointer = i < read->count;
		struct term *term = walk_operand_term(walker, call->operands[i]);

		if (term == of->limit_term && read->limit == (int32_t)i)
			continue;
		if (walk_pin(walker, is_pointer ? EVENT_ADDRESS : EVENT_VALUE, term, call) &&
			!is_pointer)
			walk_note_unknown(walker, call, true);
	}
	for (uint32_t i = 0; i < read->count; i++)
		if (read->operands[i].location == LOCATION_SITE && walker->is_live)
			walk_count_step(walker, read->operands[i].site);
	for (uint32_t i = 0; i < read->count; i++)
		walk_library_read_terms(walker, call, i, of);
	walk_join_events(walker, first);
}

enum step walk_library_read(struct walker *walker, const struct code *call,
	const uint64_t *registers, struct library_walk *out)
{
	const struct library_read *read = call->reads;

	uint32_t more;

	out->limit = read->limit < 0 ? UINT64_MAX : registers[call->operands[read->limit]];
	out->limit_term = walk_library_limit(walker, call, out->limit);
	more = out->limit_term && !read->is_string ? 7 : 0;
	for (uint32_t i = 0; i < read->count; i++) {
		struct library_bytes *of = &out->arguments[i];
		enum step step;

		of->address = registers[call->operands[i]];
		of->count = of->extent = 0;
		of->is_exact = false;
		if (read->operands[i].site == SITE_NONE) {
			walk_library_read_own(
				walker, call, &read->operands[i], out->limit + more, of);
			continue;
		}
		step = walk_library_read_recorded(walker, out->limit, more, read->is_string, of);
		if (step != STEP_NEXT)
			return step;
	}
	out->count = walk_library_count(read, out);
	walk_library_divide(read, out);
	if (!read->is_used)
		return STEP_NEXT;
	if (walker->is_live && walker->mode & WALK_NOTING)
		walk_library_note(walker, read, out);
	if (walker->mode & WALK_EVENTS)
		walk_library_read_all(walker, call, out);
	return STEP_NEXT;
}

/* The result of a call, and the condition under which the modelled bytes determine it. */
struct library_answer {
	struct term_arena *arena;
	uint32_t width;
	struct term *value, *is_known;
};

static struct term *walk_library_number(const struct library_answer *answer, uint64_t value)
{
	return term_constant(answer->arena, answer->width, compute_mask(value, answer->width));
}

/* Makes `value` the result if the condition holds; otherwise the answer does not change. */
static void walk_library_decide(
	struct library_answer *answer, struct term *condition, struct term *value)
{
	answer->value = term_selection(answer->arena, condition, value, answer->value);
	answer->is_known = term_selection(
		answer->arena, condition, term_constant(answer->arena, 1, 1), answer->is_known);
}

static struct term *walk_library_term(const struct library_answer *answer,
	const struct library_walk *of, uint32_t argument, uint32_t i)
{
	const struct library_bytes *bytes = &of->arguments[argument];
	const uint32_t begin = walk_library_begin(of, i);
	const uint32_t count = walk_library_begin(of, i + 1) - begin;
	uint64_t value = 0;

	if (bytes->terms[i])
		return bytes->terms[i];
	memcpy(&value, bytes->bytes + begin, count);
	return term_constant(answer->arena, 8 * count, value);
}

/* For functions with one string, such as strlen(): adds the case that byte i decides the answer,
 * which no earlier byte did. */
static void walk_library_add_byte(struct library_answer *answer, const struct code *call,
	const uint64_t *registers, const struct library_walk *of, uint32_t i)
{
	struct term_arena *arena = answer->arena;
	struct term *byte = walk_library_term(answer, of, 0, i);
	const bool is_search = call->reads->kind == LIBRARY_FIND;

	walk_library_decide(answer,
		term_comparison(arena, LLVMIntEQ, byte, term_constant(arena, 8, 0)),
		walk_library_number(answer, is_search ? 0 : i));
	if (is_search) /* the byte to search for is pinned */
		walk_library_decide(answer,
			term_comparison(arena, LLVMIntEQ, byte,
				term_constant(arena, 8, (uint8_t)registers[call->operands[1]])),
			walk_library_number(answer, of->arguments[0].address + i));
}

/* Swaps the bytes: the first byte in memory becomes the most significant one. */
static struct term *walk_library_swap(const struct library_answer *answer, struct term *piece)
{
	struct term_like like = {.op = CODE_INTRINSIC, .sub = INTRINSIC_SWAP_BYTES, .width = 64};

	if (piece->width == 8)
		return piece;
	like.value = __builtin_bswap64(piece->value);
	if (piece->op == TERM_CONSTANT)
		return term_constant(answer->arena, 64, like.value);
	like.a = term_resized(answer->arena, piece, 64);
	return term_make(answer->arena, &like);
}

/* Adds one piece of each argument of a comparison. */
static void walk_library_add_pieces(struct library_answer *answer, const struct library_read *read,
	int64_t result, struct term *a, struct term *b)
{
	struct term_arena *arena = answer->arena;
	struct term *is_same = term_comparison(arena, LLVMIntEQ, a, b);
	/* C defines only the sign, and for bcmp() only zero. */
	struct term *difference = walk_library_number(answer, result ? (uint64_t)result : 1);

	if (a->op == TERM_CONSTANT && b->op == TERM_CONSTANT && a->value == b->value &&
		!read->is_string)
		return;
	if (read->kind == LIBRARY_COMPARE)
		difference = term_selection(arena,
			term_comparison(arena, LLVMIntULT, walk_library_swap(answer, a),
				walk_library_swap(answer, b)),
			walk_library_number(answer, result < 0 ? (uint64_t)result : UINT64_MAX),
			walk_library_number(answer, result > 0 ? (uint64_t)result : 1));
	if (read->is_string)
		walk_library_decide(answer,
			term_comparison(arena, LLVMIntEQ, b->op == TERM_CONSTANT ? b : a,
				term_constant(arena, 8, 0)),
			walk_library_number(answer, 0));
	answer->value = term_selection(arena, is_same, answer->value, difference);
	answer->is_known =
		term_selection(arena, is_same, answer->is_known, term_constant(arena, 1, 1));
}

/* Adds the case that the limit is at most i and no earlier byte differs: then the result is 0.
 * Pieces are bytes here. */
static void walk_library_end(
	struct library_answer *answer, const struct library_walk *of, uint32_t i)
{
	walk_library_decide(answer,
		term_comparison(answer->arena, LLVMIntULE, of->limit_term,
			term_constant(answer->arena, of->limit_term->width, i)),
		walk_library_number(answer, 0));
}

static bool walk_library_has_term(const struct library_read *read, const struct library_walk *of)
{
	for (uint32_t i = 0; i < read->count; i++)
		for (uint32_t j = 0; j < of->piece_count; j++)
			if (of->arguments[i].terms[j])
				return true;
	return of->limit_term != NULL;
}

/* Pins the bytes to their values in this run, because only for these the result is known. */
static void walk_library_pin(
	struct walker *walker, const struct code *call, const struct library_walk *of)
{
	for (uint32_t i = 0; i < call->reads->count; i++)
		for (uint32_t j = 0; j < of->piece_count; j++)
			(void)walk_pin(walker, EVENT_VALUE, of->arguments[i].terms[j], call);
	(void)walk_pin(walker, EVENT_VALUE, of->limit_term, call);
	walk_note_unknown(walker, call, true);
}

void walk_library_result(struct walker *walker, const struct code *call, const uint64_t *registers,
	const struct library_walk *of)
{
	const struct library_read *read = call->reads;
	const uint64_t value = registers[call->to];
	struct library_answer answer = {.arena = &walker->walk->terms, .width = call->width};

	if (!read->is_used || !walk_library_has_term(read, of))
		return;
	answer.value = walk_library_number(&answer, read->kind == LIBRARY_LENGTH ? of->limit : 0);
	answer.is_known = term_constant(answer.arena, 1, of->count == of->limit && !of->limit_term);
	if (of->limit_term)
		walk_library_end(&answer, of, of->count);
	for (uint32_t i = of->piece_count; i-- > 0;) {
		if (read->count == 1)
			walk_library_add_byte(&answer, call, registers, of, i);
		else
			walk_library_add_pieces(&answer, read, compute_signed(value, call->width),
				walk_library_term(&answer, of, 0, i),
				walk_library_term(&answer, of, 1, i));
		if (of->limit_term)
			walk_library_end(&answer, of, i);
	}
	if (!answer.is_known->value || answer.value->value != value) {
		walk_library_pin(walker, call, of);
		return;
	}
	(void)walk_pin(walker, EVENT_VALUE, answer.is_known, call); /* NULL if always true */
	walk_set_term(walker, call->to, answer.value->op == TERM_CONSTANT ? NULL : answer.value);
}
