/* Values of terms in a trial. */
#include <stdlib.h>

#include "base/bug.h"
#include "branches/solve/rehearsal.h"

/* Sums grow with the length of their loops. Deeper terms count as unknown. */
#define DEPTH_MOST 20000
/* Limit for evaluation without caching: the conditions of waits are small. */
#define DEPTH_SO_FAR 10

static struct trial_term *rehearsal_terms_find(
	const struct rehearsal *rehearsal, const struct term *term)
{
	uint64_t at = (uint64_t)(uintptr_t)term * UINT64_C(0x9e3779b97f4a7c15) >> 20 &
		      (rehearsal->term_capacity - 1);

	while (rehearsal->terms[at].value.trial == rehearsal->words.trial &&
		rehearsal->terms[at].term != term)
		at = (at + 1) & (rehearsal->term_capacity - 1);
	return &rehearsal->terms[at];
}

static void rehearsal_terms_grow(struct rehearsal *rehearsal)
{
	struct trial_term *before = rehearsal->terms;
	const uint64_t count = rehearsal->term_capacity;

	rehearsal->term_capacity = count ? 2 * count : 1024;
	rehearsal->terms = calloc(rehearsal->term_capacity, sizeof *rehearsal->terms);
	BUG_ON(!rehearsal->terms);
	for (uint64_t i = 0; i < count; i++)
		if (before[i].value.trial == rehearsal->words.trial)
			*rehearsal_terms_find(rehearsal, before[i].term) = before[i];
	free(before);
}

static void rehearsal_terms_keep(
	struct rehearsal *rehearsal, const struct term *term, uint64_t value)
{
	if (2 * ++rehearsal->term_count > rehearsal->term_capacity)
		rehearsal_terms_grow(rehearsal);
	*rehearsal_terms_find(rehearsal, term) =
		(struct trial_term){term, {.trial = rehearsal->words.trial, .value = value}};
}

struct evaluation {
	struct rehearsal *rehearsal;
	const struct player *player;
	uint32_t depth_most;
	bool is_kept;
};

static bool rehearsal_terms_evaluate(
	const struct evaluation *how, const struct term *term, uint32_t depth, uint64_t *out)
{
	struct rehearsal *rehearsal = how->rehearsal;
	const struct player *player = how->player;
	const struct term *const operands[] = {
		term_operand(term, 0), term_operand(term, 1), term_operand(term, 2)};
	uint64_t values[3] = {0};
	bool is_same = true;
	const struct trial_term *known;

	*out = term->value;
	/*
	 * Variables are numbered in the order of their reads, so a term below the first changed
	 * variable has its recorded value.
	 */
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
		rehearsal_terms_grow(rehearsal);
	known = rehearsal_terms_find(rehearsal, term);
	if (known->value.trial == rehearsal->words.trial) {
		*out = known->value.value;
		return true;
	}
	for (size_t i = 0; i < 3; i++) {
		if (operands[i] &&
			(depth == how->depth_most ||
				!rehearsal_terms_evaluate(how, operands[i], depth + 1, &values[i])))
			return false;
		is_same &= !operands[i] || values[i] == operands[i]->value;
	}
	if (!is_same && !term_compute(term, values, out))
		return false;
	if (how->is_kept)
		rehearsal_terms_keep(rehearsal, term, *out);
	return true;
}

bool rehearsal_value(struct rehearsal *rehearsal, const struct player *player,
	const struct term *term, uint64_t *out)
{
	return rehearsal_terms_evaluate(
		&(struct evaluation){rehearsal, player, DEPTH_MOST, true}, term, 0, out);
}

bool rehearsal_value_so_far(struct rehearsal *rehearsal, const struct player *player,
	const struct term *term, uint64_t *out)
{
	return rehearsal_terms_evaluate(
		&(struct evaluation){rehearsal, player, DEPTH_SO_FAR, false}, term, 0, out);
}
