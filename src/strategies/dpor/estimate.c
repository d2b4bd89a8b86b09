/*
 * Strategy `estimate`: random descents that estimate the number of orders of a program.
 *
 * D. E. Knuth, "Estimating the Efficiency of Backtrack Programs", Mathematics of Computation 29,
 * 1975. The tree is that of sleep sets and persistent sets (P. Godefroid, "Partial-Order Methods for
 * the Verification of Concurrent Systems", 1996).
 *
 * Deviations from the paper:
 * - A branch is not drawn uniformly, but by its expected share of the traces (descent_sets.c), which
 *   earlier descents correct (estimate_sizes.c). The paper mentions this as importance sampling. Some
 *   probability remains for every branch.
 * - The mean is weighted: the i-th descent counts i times, because the corrections improve. Owen and
 *   Zhou ("The square root rule for adaptive importance sampling", ACM TOMACS 30, 2020) weight by
 *   the square root of i; the greater weight forgets the first descents sooner.
 * - The first descents learn the accesses of the threads. A descent that shows further ones begins
 *   the estimate again, because the sets of earlier descents may have been too small.
 */
#include "strategies/dpor/estimate.h"

#include <math.h>
#include <string.h>

#include "strategies/strategy.h"

/* The part of the probability that is shared evenly, against shares that are far too small. */
#define EVEN_PART 0.03
/* The square of a larger weight is not a number. */
#define WEIGHT_MOST 1e130
/* The tail is this part of the descents, at most ESTIMATE_TAIL of them. */
#define TAIL_PART 5
#define TAIL_LEAST 5
#define TAIL_RATIO_MOST 2.0137527 /* exp(0.7) */

static void estimate_begin_run(void *state, uint64_t seed)
{
	struct estimate *estimate = state;

	rng_seed(&estimate->tree.rng, seed);
	estimate->weight = 1;
	estimate->branching_count = 0;
	descent_begin(&estimate->tree);
}

/* Draws one of the branches; the earlier ones sleep from now on. */
static uint32_t estimate_draw(struct estimate *estimate, uint64_t branches)
{
	struct descent *tree = &estimate->tree;
	const double even = EVEN_PART / __builtin_popcountll(branches);
	const uint64_t key = estimate_branching_key(estimate, branches);
	uint64_t expected[DESCENT_SLOTS];
	double share[DESCENT_SLOTS] = {0}, sum = 0, probability = 1;
	double drawn = (double)(rng_next(&tree->rng) >> 11) / (double)(UINT64_C(1) << 53);
	uint32_t slot = 0;

	descent_expect(tree, branches, expected);
	for (uint64_t left = branches; left; left &= left - 1) {
		slot = (uint32_t)__builtin_ctzll(left);
		share[slot] = (double)expected[slot] / (double)DESCENT_WHOLE;
	}
	estimate_correct_shares(estimate, key, branches, share);
	for (uint64_t left = branches; left; left &= left - 1)
		sum += share[__builtin_ctzll(left)];
	for (uint64_t left = branches; left; left &= left - 1) {
		slot = (uint32_t)__builtin_ctzll(left);
		probability = sum > 0 ? even + (1 - EVEN_PART) * share[slot] / sum
				      : 1.0 / __builtin_popcountll(branches);
		drawn -= probability;
		if (drawn < 0)
			break;
		if (left & (left - 1))
			tree->asleep |= descent_bit(slot);
	}
	estimate->weight /= probability;
	estimate_note_branch(estimate, key, slot);
	return slot;
}

static struct thread_id estimate_choose(void *state, const struct schedule_view *view)
{
	struct estimate *estimate = state;
	struct descent *tree = &estimate->tree;
	uint64_t branches;

	descent_read_view(tree, view);
	if (tree->is_lost || tree->is_blocked)
		return view_default(view);
	branches = descent_branches(tree);
	if (!branches) {
		tree->is_blocked = true;
		return view_default(view);
	}
	tree->chosen = (uint32_t)__builtin_ctzll(branches);
	if (branches & (branches - 1))
		tree->chosen = estimate_draw(estimate, branches);
	return (struct thread_id){tree->index_of[tree->chosen]};
}

static void estimate_executed(
	void *state, const struct schedule_view *view, struct thread_id thread)
{
	struct descent *tree = &((struct estimate *)state)->tree;
	uint32_t slot;

	if (tree->chosen == DPOR_NONE)
		descent_read_view(tree, view);
	tree->chosen = DPOR_NONE;
	if (tree->is_lost)
		return;
	slot = tree->slot_of[thread.index];
	descent_advance(tree, slot);
	descent_note_op(tree, slot);
}

static uint32_t estimate_choose_value(void *state, uint32_t count)
{
	struct estimate *estimate = state;

	estimate->weight *= count;
	return rng_below(&estimate->tree.rng, count);
}

static void estimate_add_to_tail(struct estimate *estimate, double contribution)
{
	uint32_t at = ESTIMATE_TAIL;

	if (contribution <= estimate->tail[at])
		return;
	for (; at && estimate->tail[at - 1] < contribution; at--)
		estimate->tail[at] = estimate->tail[at - 1];
	estimate->tail[at] = contribution;
}

/*
 * True if the largest contributions to the mean decrease so slowly that paths which no descent has
 * drawn may have most of the orders. The shape of the tail is the mean logarithm of the ratio to the
 * smallest of these contributions (B. M. Hill, "A simple general approach to inference about the tail
 * of a distribution", Annals of Statistics 3, 1975). Vehtari et al., "Pareto smoothed importance
 * sampling", JMLR 25, 2024, trust no estimate whose shape is above 0.7. The product below replaces
 * the logarithms, because the runtime does not link libm.
 */
static bool estimate_is_heavy_tailed(const struct estimate *estimate)
{
	const uint64_t part = estimate->count / TAIL_PART;
	const uint32_t count = part < ESTIMATE_TAIL ? (uint32_t)part : ESTIMATE_TAIL;
	double product = 1;

	if (count < TAIL_LEAST || estimate->tail[count] <= 0)
		return true;
	for (uint32_t i = 0; i < count; i++)
		product *= estimate->tail[i] / estimate->tail[count] / TAIL_RATIO_MOST;
	return product > 1;
}

static void estimate_add(struct estimate *estimate, double weight)
{
	const double factor = (double)++estimate->count;

	estimate->redundant += estimate->tree.is_blocked;
	estimate_add_to_tail(estimate, factor * weight);
	if (estimate->count > 1 && factor * (weight - estimate->mean) > estimate->largest)
		estimate->largest = factor * (weight - estimate->mean);
	estimate->factors += factor;
	estimate->factors_squared += factor * factor;
	estimate->mean += factor / estimate->factors * (weight - estimate->mean);
	estimate->weights += factor * factor * weight;
	estimate->squares += factor * factor * weight * weight;
}

static void estimate_begin_again(struct estimate *estimate)
{
	estimate->count = estimate->redundant = 0;
	estimate->mean = estimate->factors = estimate->factors_squared = 0;
	estimate->weights = estimate->squares = estimate->largest = 0;
	memset(estimate->tail, 0, sizeof estimate->tail);
}

static void estimate_end_run(void *state, const struct run_summary *summary)
{
	struct estimate *estimate = state;
	double weight;

	if (summary->outcome == OUTCOME_TAINTED)
		return;
	descent_end(&estimate->tree);
	estimate->is_lost |= estimate->tree.is_lost || estimate->weight > WEIGHT_MOST;
	weight = estimate->tree.is_blocked ? 0 : estimate->weight;
	estimate_learn_sizes(estimate, weight);
	if (estimate->tree.has_grown)
		estimate_begin_again(estimate);
	else
		estimate_add(estimate, weight);
}

static void estimate_verdict(const void *state, struct strategy_verdict *out)
{
	const struct estimate *estimate = state;
	double variance;

	*out = (struct strategy_verdict){.is_up_to_order = true, .runs = estimate->tree.descents};
	if (estimate->is_lost || estimate->count < 2)
		return;
	out->orders = estimate->mean;
	/* The variance of seen weights is too small where rare paths have large ones: a path as large as
	 * the largest one may be missing. */
	variance = estimate->squares - 2 * estimate->mean * estimate->weights +
		   estimate->mean * estimate->mean * estimate->factors_squared +
		   estimate->largest * estimate->largest;
	out->orders_variance =
		variance > 0 ? variance / (estimate->factors * estimate->factors) : 0;
	/* If two paths of five are redundant, the ops depend much on what is read. The expected shares are
	 * then far off, and paths that no descent has drawn may have most of the orders. */
	if (5 * estimate->redundant > 2 * estimate->count || estimate_is_heavy_tailed(estimate))
		out->orders_variance = INFINITY;
}

const struct strategy strategy_estimate = {
	.name = "estimate",
	.summary = "estimates the number of all orders by random descents of the tree of orders",
	.state_bytes = sizeof(struct estimate),
	.begin_run = estimate_begin_run,
	.choose = estimate_choose,
	.executed = estimate_executed,
	.choose_value = estimate_choose_value,
	.end_run = estimate_end_run,
	.search = {.verdict = estimate_verdict},
};
