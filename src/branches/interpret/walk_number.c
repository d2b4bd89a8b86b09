/*
 * strtol() and similar functions with base ten. The text before the digits is pinned; under another
 * schedule there may be more or fewer digits, or none.
 */
#include "branches/interpret/walk_library.h"

/* More digits may overflow the type. */
#define DIGITS_MOST 18

bool walk_number_is_known(
	const struct walker *walker, const struct code *call, const uint64_t *registers)
{
	const int8_t base = call->reads->base;
	uint64_t end;

	if (base < 0)
		return true;
	end = registers[call->operands[base - 1]];
	/* The function writes the end pointer, and no event models that write. */
	return registers[call->operands[base]] == 10 &&
	       !(end && walk_is_shared(walker->walk, end, 8));
}

static bool is_space(uint8_t byte)
{
	return byte == ' ' || (byte >= '\t' && byte <= '\r');
}

static struct term *with_digit(
	const struct builder *builder, struct term *value, struct term *digit)
{
	struct term *tens = walk_binary_term(
		builder->arena, LLVMMul, value, term_constant(builder->arena, value->width, 10));

	return walk_binary_term(builder->arena, LLVMAdd, tens,
		digit->op == TERM_CONSTANT
			? term_constant(builder->arena, value->width, digit->value)
			: walk_resize(builder->walker, digit, value->width));
}

static struct term *both(const struct builder *builder, struct term *a, struct term *b)
{
	if (a->op == TERM_CONSTANT)
		return a->value ? b : a;
	return library_choose(builder, a, b, term_constant(builder->arena, 1, 0));
}

/* The first byte must be a digit or the end: another byte may be a sign. */
static struct term *begins_as_known(
	const struct builder *builder, struct term *is_digit, struct term *byte)
{
	struct term *is_end =
		library_compare(builder, LLVMIntEQ, byte, term_constant(builder->arena, 8, 0));

	return library_choose(builder, is_digit, term_constant(builder->arena, 1, 1), is_end);
}

/* Returns the index of the first digit. */
static uint32_t pass_front(const struct builder *builder, const struct code *call,
	const struct library_bytes *bytes, uint32_t count, bool *is_negative)
{
	uint32_t at = 0;

	while (at < count && is_space(bytes->bytes[at]))
		at++;
	*is_negative = at < count && bytes->bytes[at] == '-';
	at += at < count && (*is_negative || bytes->bytes[at] == '+');
	for (uint32_t i = 0; i < at; i++) {
		(void)walk_pin(builder->walker, EVENT_VALUE, bytes->terms[i], call);
		(void)walk_pin(builder->walker, EVENT_VALUE, bytes->whens[i], call);
	}
	return at;
}

/*
 * The bytes that may be digits, and the number that the digits before each one form. Solvers handle
 * arithmetic without selects better.
 */
struct digits {
	struct term *are[DIGITS_MOST + 1], *before[DIGITS_MOST + 1];
	uint32_t count;
};

static void find_digits(const struct builder *builder, const struct library_bytes *bytes,
	uint32_t first, uint32_t end, struct digits *out)
{
	struct term_arena *arena = builder->arena;
	struct term *value = term_constant(arena, end - first <= 9 ? 32 : 64, 0);

	out->count = 0;
	for (uint32_t i = first; i < end; i++) {
		struct term *digit = walk_binary_term(
			builder->arena, LLVMSub, bytes->terms[i], term_constant(arena, 8, '0'));
		struct term *is_digit =
			library_compare(builder, LLVMIntULT, digit, term_constant(arena, 8, 10));

		out->are[out->count] = is_digit;
		out->before[out->count++] = value;
		if (is_digit->op == TERM_CONSTANT && !is_digit->value)
			return;
		value = with_digit(builder, value, digit);
	}
}

static struct term *resized(const struct builder *builder, struct term *value, uint32_t width)
{
	return value->op == TERM_CONSTANT
		       ? term_constant(builder->arena, width, compute_mask(value->value, width))
		       : walk_resize(builder->walker, value, width);
}

void walk_number_answer(const struct builder *builder, const struct code *call,
	const uint64_t *registers, const struct library_walk *of, struct library_answer *answer)
{
	const struct library_bytes *bytes = &of->arguments[0];
	const int8_t base = call->reads->base;
	const bool tells_end = base >= 0 && registers[call->operands[base - 1]];
	struct term *always = term_constant(builder->arena, 1, 1), *value;
	struct digits digits;
	bool is_negative;
	const uint32_t first = pass_front(builder, call, bytes, of->count, &is_negative);
	const uint32_t most = first + DIGITS_MOST + 1;

	find_digits(builder, bytes, first, of->count < most ? of->count : most, &digits);
	/* After the last byte the result is unknown. */
	answer->is_known = term_constant(builder->arena, 1, 0);
	value = term_constant(builder->arena, digits.count ? digits.before[0]->width : 32, 0);
	for (uint32_t i = digits.count; i-- > 0;) {
		struct term *when = bytes->whens[first + i];

		value = library_choose(builder, digits.are[i], value, digits.before[i]);
		answer->is_known = library_choose(builder, digits.are[i], answer->is_known, always);
		if (when)
			answer->is_known = both(builder, when, answer->is_known);
		if (tells_end)
			(void)walk_pin(builder->walker, EVENT_VALUE, digits.are[i], call);
	}
	if (digits.count)
		answer->is_known = both(builder, answer->is_known,
			begins_as_known(builder, digits.are[0], bytes->terms[first]));
	value = resized(builder, value, 64);
	if (is_negative)
		value = walk_binary_term(
			builder->arena, LLVMSub, term_constant(builder->arena, 64, 0), value);
	answer->value = resized(builder, value, builder->width);
}
