/*
 * Results of library functions as terms of the bytes that they read. The term is built from the
 * last byte to the first, so the first relevant byte decides.
 */
#include "branches/interpret/walk_library.h"

static bool walk_library_result_is_constant(const struct term *term, uint64_t value)
{
	return term->op == TERM_CONSTANT && term->value == value;
}

struct term *library_compare(
	const struct builder *builder, uint8_t predicate, struct term *a, struct term *b)
{
	struct term_like like = {.op = CODE_COMPARE, .sub = predicate, .width = 1, .a = a, .b = b};

	like.value = predicate == LLVMIntEQ ? a->value == b->value : a->value < b->value;
	if (a->op == TERM_CONSTANT && b->op == TERM_CONSTANT)
		return term_constant(builder->arena, 1, like.value);
	return term_make(builder->arena, &like);
}

struct term *library_choose(
	const struct builder *builder, struct term *condition, struct term *yes, struct term *no)
{
	const struct term_like like = {.op = CODE_SELECT,
		.width = yes->width,
		.value = condition->value ? yes->value : no->value,
		.a = condition,
		.b = yes,
		.c = no};

	if (condition->op == TERM_CONSTANT)
		return condition->value ? yes : no;
	if (yes->op == TERM_CONSTANT && walk_library_result_is_constant(no, yes->value))
		return yes;
	return term_make(builder->arena, &like);
}

struct term *library_number(const struct builder *builder, uint64_t value)
{
	return term_constant(builder->arena, builder->width, compute_mask(value, builder->width));
}

/* Returns the byte to search for, which is pinned. */
static struct term *sought(
	const struct builder *builder, const struct code *call, const uint64_t *registers)
{
	return term_constant(builder->arena, 8, (uint8_t)registers[call->operands[1]]);
}

/* For a search backwards: stores for each byte the last match up to it, in place of a second argument. */
static void note_last(const struct builder *builder, const struct code *call,
	const uint64_t *registers, struct library_walk *of)
{
	struct term *last = library_number(builder, 0);

	for (uint32_t i = 0; i < of->count; i++) {
		struct term *is_here = library_compare(builder, LLVMIntEQ,
			of->arguments[0].terms[i], sought(builder, call, registers));

		last = library_choose(builder, is_here,
			library_number(builder, of->arguments[0].address + i), last);
		of->arguments[1].terms[i] = last;
	}
}

/* Extends the answer by one byte, for functions of one argument. */
static void look_at_byte(const struct builder *builder, const struct code *call,
	const uint64_t *registers, struct library_walk *of, uint32_t i,
	struct library_answer *answer)
{
	const struct library_read *read = call->reads;
	struct term *a = of->arguments[0].terms[i], *found = library_number(builder, i);
	struct term *zero = term_constant(builder->arena, 8, 0);
	struct term *always = term_constant(builder->arena, 1, 1), *stop;

	if (read->kind == LIBRARY_FIND)
		found = library_number(builder, 0);
	if (read->kind == LIBRARY_FIND_LAST)
		found = of->arguments[1].terms[i];
	if (read->kind == LIBRARY_FIND_OR_END)
		found = library_number(builder, of->arguments[0].address + i);
	if (read->is_string) {
		stop = library_compare(builder, LLVMIntEQ, a, zero);
		answer->value = library_choose(builder, stop, found, answer->value);
		answer->is_known = library_choose(builder, stop, always, answer->is_known);
	}
	if (read->kind != LIBRARY_FIND && read->kind != LIBRARY_FIND_OR_END)
		return;
	stop = library_compare(builder, LLVMIntEQ, a, sought(builder, call, registers));
	answer->value = library_choose(builder, stop,
		library_number(builder, of->arguments[0].address + i), answer->value);
	answer->is_known = library_choose(builder, stop, always, answer->is_known);
}

/* Returns the byte converted to lower case (ASCII). */
static struct term *fold(const struct builder *builder, struct term *byte)
{
	const struct term_like from_a = {.op = CODE_BINARY,
		.sub = LLVMSub,
		.width = 8,
		.value = (uint8_t)(byte->value - 'A'),
		.a = byte,
		.b = term_constant(builder->arena, 8, 'A')};
	const struct term_like small = {.op = CODE_BINARY,
		.sub = LLVMAdd,
		.width = 8,
		.value = (uint8_t)(byte->value + ('a' - 'A')),
		.a = byte,
		.b = term_constant(builder->arena, 8, 'a' - 'A')};

	if (byte->op == TERM_CONSTANT)
		return term_constant(
			builder->arena, 8, from_a.value < 26 ? small.value : byte->value);
	return library_choose(builder,
		library_compare(builder, LLVMIntULT, term_make(builder->arena, &from_a),
			term_constant(builder->arena, 8, 26)),
		term_make(builder->arena, &small), byte);
}

/* Extends the answer by byte i, given that no earlier byte decides it. */
static void add_byte_within(const struct builder *builder, const struct code *call,
	const uint64_t *registers, struct library_walk *of, uint32_t i,
	struct library_answer *answer)
{
	const struct library_read *read = call->reads;
	const int64_t told = compute_signed(registers[call->to], builder->width);
	struct term *a = of->arguments[0].terms[i], *b = of->arguments[1].terms[i];
	struct term *true_term = term_constant(builder->arena, 1, 1);
	struct term *zero = term_constant(builder->arena, 8, 0), *stop, *end;

	if (read->folds) {
		a = fold(builder, a);
		b = fold(builder, b);
	}
	/* The C standard defines only the sign, and for bcmp() only zero. The number is the C library's. */
	stop = library_number(builder, told ? (uint64_t)told : 1);
	if (read->kind == LIBRARY_COMPARE)
		stop = library_choose(builder, library_compare(builder, LLVMIntULT, a, b),
			library_number(builder, told < 0 ? (uint64_t)told : UINT64_MAX),
			library_number(builder, told > 0 ? (uint64_t)told : 1));
	if (read->is_string) {
		/* Both bytes are equal, so either term may be used. */
		end = library_compare(builder, LLVMIntEQ, b->op == TERM_CONSTANT ? b : a, zero);
		answer->value =
			library_choose(builder, end, library_number(builder, 0), answer->value);
		answer->is_known = library_choose(builder, end, true_term, answer->is_known);
	}
	end = library_compare(builder, LLVMIntEQ, a, b);
	answer->value = library_choose(builder, end, answer->value, stop);
	answer->is_known = library_choose(builder, end, answer->is_known, true_term);
}

/* Returns the term of i < limit. */
static struct term *is_within(
	const struct builder *builder, const struct library_walk *of, uint32_t i)
{
	struct term *limit = of->limit_term;

	return library_compare(
		builder, LLVMIntULT, term_constant(builder->arena, limit->width, i), limit);
}

static void add_byte(const struct builder *builder, const struct code *call,
	const uint64_t *registers, struct library_walk *of, uint32_t i,
	struct library_answer *answer)
{
	const bool is_search = walk_search_is_one(call->reads);
	struct term *within;

	if (is_search)
		walk_search_byte(builder, call, of, i, answer);
	else if (call->reads->count == 1)
		look_at_byte(builder, call, registers, of, i, answer);
	else
		add_byte_within(builder, call, registers, of, i, answer);
	for (uint32_t j = 0; j < (is_search ? 1u : call->reads->count); j++)
		if (of->arguments[j].whens[i])
			answer->is_known = library_choose(builder, of->arguments[j].whens[i],
				answer->is_known, term_constant(builder->arena, 1, 0));
	if (!of->limit_term)
		return;
	within = is_within(builder, of, i);
	answer->value = library_choose(builder, within, answer->value, library_number(builder, 0));
	answer->is_known = library_choose(
		builder, within, answer->is_known, term_constant(builder->arena, 1, 1));
}

static bool walk_library_result_has_term(const struct library_walk *of, uint32_t arguments)
{
	for (uint32_t i = 0; i < arguments; i++)
		for (uint32_t j = 0; j < of->arguments[i].looked; j++)
			if (of->arguments[i].terms[j]->op != TERM_CONSTANT ||
				of->arguments[i].whens[j])
				return true;
	return false;
}

/* Fallback if the result cannot be modelled: pins all bytes that were read. */
static void walk_library_result_give_up(
	struct walker *walker, const struct code *call, const struct library_walk *of)
{
	for (uint32_t i = 0; i < call->reads->count; i++)
		for (uint32_t j = 0; j < of->arguments[i].looked; j++) {
			(void)walk_pin(walker, EVENT_VALUE, of->arguments[i].terms[j], call);
			(void)walk_pin(walker, EVENT_VALUE, of->arguments[i].whens[j], call);
		}
	(void)walk_pin(walker, EVENT_VALUE, of->limit_term, call);
	walk_note_unknown(walker, call, true);
}

bool library_answer(struct walker *walker, const struct code *call, const uint64_t *registers,
	const struct library_answer *answer)
{
	if (!answer->is_known->value || answer->value->value != registers[call->to])
		return false;
	(void)walk_pin(walker, EVENT_VALUE, answer->is_known, call); /* NULL: always true */
	walk_set_term(walker, call->to, answer->value->op == TERM_CONSTANT ? NULL : answer->value);
	return true;
}

void walk_library_result(struct walker *walker, const struct code *call, const uint64_t *registers,
	struct library_walk *of)
{
	const struct library_read *read = call->reads;
	const struct builder builder = {walker, &walker->walk->terms, call->width};
	struct library_answer answer;

	if (of->is_unknown)
		return;
	if (read->kind >= LIBRARY_COPY) {
		walk_string_write(walker, call, of);
		walk_join_events(walker, of->first);
		return;
	}
	if (of->is_long) {
		walk_compare_result(walker, call, registers, of);
		return;
	}
	if (!read->is_used || !(of->limit_term || walk_library_result_has_term(of, read->count)))
		return;
	answer.value = library_number(&builder, read->kind == LIBRARY_LENGTH ? of->limit : 0);
	answer.is_known = term_constant(builder.arena, 1, of->count == of->limit);
	if (of->limit_term)
		answer.is_known = library_compare(&builder, LLVMIntEQ,
			library_choose(&builder, is_within(&builder, of, of->count),
				term_constant(builder.arena, 1, 1),
				term_constant(builder.arena, 1, 0)),
			term_constant(builder.arena, 1, 0));
	if (read->kind == LIBRARY_FIND_LAST)
		note_last(&builder, call, registers, of);
	if (walk_search_is_one(read))
		walk_search_pin(&builder, call, of);
	if (read->kind == LIBRARY_NUMBER)
		walk_number_answer(&builder, call, registers, of, &answer);
	for (uint32_t i = of->count; i-- > 0 && read->kind != LIBRARY_NUMBER;)
		add_byte(&builder, call, registers, of, i, &answer);
	if (!library_answer(walker, call, registers, &answer))
		walk_library_result_give_up(walker, call, of);
}
