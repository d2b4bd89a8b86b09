/* What terms come to in a trial. */
#include <stdlib.h>

#include "base/bug.h"
#include "rewalk/compute.h"
#include "sensitivity/rehearsal.h"

/* Sums grow as long as their loops: of deeper ones nothing is known. */
#define DEPTH_MOST 20000

static struct trial_term *find(const struct rehearsal *rehearsal, const struct term *term)
{
	uint64_t at = (uint64_t)(uintptr_t)term * UINT64_C(0x9e3779b97f4a7c15) >> 20 &
		      (rehearsal->term_capacity - 1);

	while (rehearsal->terms[at].value.trial == rehearsal->words.trial &&
		rehearsal->terms[at].term != term)
		at = (at + 1) & (rehearsal->term_capacity - 1);
	return &rehearsal->terms[at];
}

static void grow(struct rehearsal *rehearsal)
{
	struct trial_term *before = rehearsal->terms;
	const uint64_t count = rehearsal->term_capacity;

	rehearsal->term_capacity = count ? 2 * count : 1024;
	rehearsal->terms = calloc(rehearsal->term_capacity, sizeof *rehearsal->terms);
	BUG_ON(!rehearsal->terms);
	for (uint64_t i = 0; i < count; i++)
		if (before[i].value.trial == rehearsal->words.trial)
			*find(rehearsal, before[i].term) = before[i];
	free(before);
}

static void keep(struct rehearsal *rehearsal, const struct term *term, uint64_t value)
{
	if (2 * ++rehearsal->term_count > rehearsal->term_capacity)
		grow(rehearsal);
	*find(rehearsal, term) =
		(struct trial_term){term, {.trial = rehearsal->words.trial, .value = value}};
}

/* Values of a, b and c. False: it is not known how it is computed. */
static bool compute(const struct term *term, const uint64_t values[3], uint64_t *out)
{
	const uint64_t a = values[0], b = values[1];
	const struct code code = {.op = term->op, .sub = term->sub, .width = term->width};
	uint64_t second;

	switch (term->op) {
	case CODE_BINARY:
		*out = compute_binary(term->sub, term->width, a, b);
		return b || term->sub < LLVMUDiv || term->sub > LLVMFRem;
	case CODE_COMPARE:
		*out = compute_compare(term->sub, term->a->width, a, b);
		return true;
	case CODE_FLOAT:
		*out = compute_float(term->sub, term->width, a, b);
		return true;
	case CODE_FLOAT_COMPARE:
		*out = compute_float_compare(term->sub, term->a->width, a, b);
		return true;
	case CODE_FLOAT_NEGATE:
		*out = a ^ UINT64_C(1) << (term->width - 1);
		return true;
	case CODE_ZERO_EXTEND:
	case CODE_TRUNCATE:
		*out = compute_mask(a, term->width);
		return true;
	case CODE_SIGN_EXTEND:
		*out = compute_mask((uint64_t)compute_signed(a, term->a->width), term->width);
		return true;
	case CODE_SELECT:
		*out = a ? b : values[2];
		return true;
	case CODE_UPDATE:
		*out = compute_update(term->sub, term->width, a, b);
		return true;
	case CODE_INTRINSIC:
		/* Of a third operand terms say nothing, nor which function of libm it is. */
		if (term->sub >= INTRINSIC_LIBRARY || term->sub == INTRINSIC_FUSED ||
			term->sub == INTRINSIC_FUNNEL_LEFT || term->sub == INTRINSIC_FUNNEL_RIGHT)
			return false;
		*out = compute_intrinsic(&code, a, b, 0, &second);
		return true;
	case CODE_FROM_SIGNED:
	case CODE_FROM_UNSIGNED:
	case CODE_TO_SIGNED:
	case CODE_TO_UNSIGNED:
	case CODE_FLOAT_CONVERT:
		*out = compute_conversion(&code, a);
		return true;
	default:
		return false;
	}
}

static bool evaluate(struct rehearsal *rehearsal, const struct player *player,
	const struct term *term, uint32_t depth, uint64_t *out)
{
	const struct term *const operands[] = {term->a, term->b, term->c};
	uint64_t values[3] = {0};
	bool is_same = true;
	const struct trial_term *known;

	*out = term->value;
	/* Of no variable that has another value: they are numbered as they are read. */
	if (term->op == TERM_CONSTANT || player->changed == UINT32_MAX ||
		term->number < player->changed)
		return true;
	if (term->op == TERM_VARIABLE) {
		const struct trial_value *value = &rehearsal->variables[term->number];

		if (value->trial == rehearsal->words.trial)
			*out = value->value;
		return true;
	}
	if (!rehearsal->term_capacity)
		grow(rehearsal);
	known = find(rehearsal, term);
	if (known->value.trial == rehearsal->words.trial) {
		*out = known->value.value;
		return true;
	}
	for (size_t i = 0; i < 3; i++) {
		if (operands[i] && (depth == DEPTH_MOST || !evaluate(rehearsal, player, operands[i],
								   depth + 1, &values[i])))
			return false;
		is_same &= !operands[i] || values[i] == operands[i]->value;
	}
	if (!is_same && !compute(term, values, out))
		return false;
	keep(rehearsal, term, *out);
	return true;
}

bool rehearsal_value(struct rehearsal *rehearsal, const struct player *player,
	const struct term *term, uint64_t *out)
{
	return evaluate(rehearsal, player, term, 0, out);
}
