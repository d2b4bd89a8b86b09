/*
 * memcmp() and bcmp() of long memory, word by word. Only words that may differ under another
 * schedule have terms. Both arguments must have the same alignment modulo eight.
 */
#include <stdlib.h>
#include <string.h>

#include "base/bug.h"
#include "branches/interpret/walk_library.h"

#define WORDS_MOST (SITE_TOLD_RANGE_MOST / 8 + 1)

/* Contents of both arguments. */
struct compared {
	uint8_t bytes[2][SITE_TOLD_RANGE_MOST + 8];
	struct term *terms[2][WORDS_MOST]; /* NULL: constant */
};

bool walk_compare_is_long(const struct library_read *read, uint64_t limit)
{
	return (read->kind == LIBRARY_COMPARE || read->kind == LIBRARY_DIFFER) &&
	       !read->is_string && limit > SITE_TOLD_MOST;
}

/* ---- words ---- */

/* Returns the offset at which the word begins, and the number of its bytes inside the range. */
static uint64_t begin_of(const struct library_walk *of, uint32_t word, uint32_t *bytes)
{
	const uint64_t skipped = of->arguments[0].address & 7;
	const uint64_t begin = word ? 8 * (uint64_t)word - skipped : 0;
	const uint64_t end = 8 * (uint64_t)word + 8 - skipped;

	*bytes = (uint32_t)((end < of->limit ? end : of->limit) - begin);
	return begin;
}

static uint32_t walk_compare_count_of(const struct library_walk *of)
{
	return (uint32_t)((of->limit + (of->arguments[0].address & 7) + 7) / 8);
}

static uint64_t walk_compare_value_of(
	const struct compared *compared, int number, uint64_t begin, uint32_t bytes)
{
	uint64_t value = 0;

	memcpy(&value, compared->bytes[number] + begin, bytes);
	return value;
}

/* ---- reading ---- */

/* Mirrors record_told() of the recorder. */
static enum step walk_compare_read_told(
	struct walker *walker, const struct library_walk *of, int number)
{
	const uint64_t address = of->arguments[number].address;
	const uint64_t most = site_told_most(of->limit, false, false);
	uint8_t *bytes = walker->room->compared->bytes[number];

	walk_settle(walker);
	for (uint64_t word = address & ~UINT64_C(7); word < address + most; word += 8) {
		const uint64_t skipped = word < address ? address - word : 0;
		const uint64_t done = word + skipped - address;
		uint64_t value;
		const enum step step = walk_read(walker, SITE_NONE, word, 8, &value);

		if (step != STEP_NEXT)
			return step;
		value >>= 8 * skipped;
		memcpy(bytes + done, &value, 8 - skipped);
	}
	return STEP_NEXT;
}

/* Reads memory that the walk stores. Returns false if the contents are unknown. */
static bool walk_compare_read_own(
	struct walker *walker, const struct code *call, const struct library_walk *of, int number)
{
	const struct library_operand *operand = &call->reads->operands[number];
	struct code access = *call;
	const uint8_t *memory;

	if (!operand->is_known || of->limit > SITE_TOLD_RANGE_MOST)
		return false;
	access.constant = operand->constant;
	memory = walk_own_memory(
		walker, &access, operand->place, of->arguments[number].address, of->limit);
	if (memory)
		memcpy(walker->room->compared->bytes[number], memory, of->limit);
	return memory != NULL;
}

enum step walk_compare_read(
	struct walker *walker, const struct code *call, struct library_walk *out)
{
	if (!walker->room->compared)
		walker->room->compared = malloc(sizeof *walker->room->compared);
	BUG_ON(!walker->room->compared);
	out->is_unknown = out->limit > SITE_TOLD_RANGE_MOST ||
			  (out->arguments[0].address ^ out->arguments[1].address) & 7;
	for (int i = 0; i < 2; i++) {
		enum step step;

		if (call->reads->operands[i].site == SITE_NONE) {
			out->is_unknown |= !walk_compare_read_own(walker, call, out, i);
			continue;
		}
		step = walk_compare_read_told(walker, out, i);
		if (step != STEP_NEXT)
			return step;
	}
	return STEP_NEXT;
}

void walk_compare_note(
	struct walker *walker, const struct code *call, const struct library_walk *of)
{
	const uint32_t count = walk_compare_count_of(of);

	for (int i = 0; i < 2; i++)
		for (uint32_t word = 0; word < count; word++) {
			const struct library_operand *operand = &call->reads->operands[i];
			uint32_t bytes;
			const uint64_t begin = begin_of(of, word, &bytes);

			if (operand->place == PLACE_SITE)
				walk_note_access(walker, operand->site,
					of->arguments[i].address + begin, bytes, false);
		}
}

/* ---- terms ---- */

static struct term *walk_compare_read_word(struct walker *walker, const struct code *access,
	uint64_t address, uint32_t bytes, uint64_t value)
{
	const uint64_t key = access->place == PLACE_LOCAL ? address | WALK_LOCAL_KEY : address;
	struct term *term;

	if (access->place == PLACE_CONSTANT)
		return NULL;
	if (!(access->place == PLACE_SITE && walker->is_live &&
		    walk_is_shared(walker->walk, address, bytes)) &&
		!walk_may_have_term(walker, key, bytes))
		return NULL;
	term = walk_read_term(walker, access, address, bytes, value);
	return term ? walk_resize(walker, term, 8 * bytes) : NULL;
}

void walk_compare_terms(
	struct walker *walker, const struct code *call, const struct library_walk *of)
{
	struct compared *compared = walker->room->compared;
	const uint32_t count = walk_compare_count_of(of);

	for (int i = 0; i < 2; i++) {
		struct code access = *call;

		access.place = call->reads->operands[i].place;
		access.site = call->reads->operands[i].site;
		for (uint32_t word = 0; word < count; word++) {
			const uint64_t before = walker->out->count;
			uint32_t bytes;
			const uint64_t begin = begin_of(of, word, &bytes);

			compared->terms[i][word] = walk_compare_read_word(walker, &access,
				of->arguments[i].address + begin, bytes,
				walk_compare_value_of(compared, i, begin, bytes));
			if (walker->out->count > before &&
				walker->out->events[walker->out->count - 1].kind == EVENT_READ)
				walker->out->events[walker->out->count - 1].access.argument =
					(uint32_t)i;
		}
	}
}

/* ---- the result ---- */

static struct term *byte_of(const struct builder *builder, struct term *word, uint32_t number)
{
	return word->op == TERM_CONSTANT
		       ? term_constant(builder->arena, 8, (uint8_t)(word->value >> 8 * number))
		       : walk_byte_of(builder->walker, word, number);
}

/* Returns the result for two different words. For memcmp() the first differing byte decides. */
static struct term *difference(const struct builder *builder, const struct code *call, int64_t told,
	struct term *a, struct term *b)
{
	struct term *result = library_number(builder, told ? (uint64_t)told : 1);

	if (call->reads->kind == LIBRARY_DIFFER)
		return result;
	for (uint32_t i = a->width / 8; i-- > 0;) {
		struct term *left = byte_of(builder, a, i), *right = byte_of(builder, b, i);
		struct term *sign =
			library_choose(builder, library_compare(builder, LLVMIntULT, left, right),
				library_number(builder, told < 0 ? (uint64_t)told : UINT64_MAX),
				library_number(builder, told > 0 ? (uint64_t)told : 1));

		result = library_choose(
			builder, library_compare(builder, LLVMIntEQ, left, right), result, sign);
	}
	return result;
}

static void walk_compare_give_up(struct walker *walker, const struct code *call, uint32_t count)
{
	for (int i = 0; i < 2; i++)
		for (uint32_t word = 0; word < count; word++)
			(void)walk_pin(
				walker, EVENT_VALUE, walker->room->compared->terms[i][word], call);
	walk_note_unknown(walker, call, true);
}

void walk_compare_result(struct walker *walker, const struct code *call, const uint64_t *registers,
	const struct library_walk *of)
{
	const struct builder builder = {walker, &walker->walk->terms, call->width};
	const struct compared *compared = walker->room->compared;
	const int64_t told = compute_signed(registers[call->to], call->width);
	struct term *always = term_constant(builder.arena, 1, 1);
	struct library_answer answer = {library_number(&builder, 0), always};
	bool has_term = false;

	if (!call->reads->is_used || of->is_unknown)
		return;
	for (uint32_t word = walk_compare_count_of(of); word-- > 0;) {
		struct term *a = compared->terms[0][word], *b = compared->terms[1][word];
		uint32_t bytes;
		const uint64_t begin = begin_of(of, word, &bytes);

		has_term |= a || b;
		if (!a)
			a = term_constant(builder.arena, 8 * bytes,
				walk_compare_value_of(compared, 0, begin, bytes));
		if (!b)
			b = term_constant(builder.arena, 8 * bytes,
				walk_compare_value_of(compared, 1, begin, bytes));
		if (a->op == TERM_CONSTANT && b->op == TERM_CONSTANT && a->value == b->value)
			continue;
		answer.value = library_choose(&builder, library_compare(&builder, LLVMIntEQ, a, b),
			answer.value, difference(&builder, call, told, a, b));
	}
	if (has_term && !library_answer(walker, call, registers, &answer))
		walk_compare_give_up(walker, call, walk_compare_count_of(of));
}
