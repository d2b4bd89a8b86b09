/*
 * Strategy `estimate`: random descents that estimate the number of orders of a program.
 *
 * D. E. Knuth, "Estimating the Efficiency of Backtrack Programs", Mathematics of Computation 29,
 * 1975. The weight of a leaf is the inverse of the probability of its path, and a redundant path has
 * the weight 0. The mean weight is therefore an unbiased estimate of the number of traces, whatever
 * the probabilities are. The tree is that of sleep sets and persistent sets (P. Godefroid,
 * "Partial-Order Methods for the Verification of Concurrent Systems", 1996).
 *
 * Deviations from the paper:
 * - A branch is not drawn uniformly, but by its expected share of the traces (descent_sets.c), which
 *   earlier descents correct. The paper mentions this as importance sampling. Some probability
 *   remains for every branch.
 * - The mean is weighted: the i-th descent counts i times, because the corrections improve. Owen and
 *   Zhou ("The square root rule for adaptive importance sampling", ACM TOMACS 30, 2020) weight by
 *   the square root of i; the greater weight forgets the first descents sooner.
 * - The first descents learn the accesses of the threads. A descent that shows further ones begins
 *   the estimate again, because the sets of earlier descents may have been too small.
 */
#include <math.h>
#include <string.h>

#include "base/hash.h"
#include "strategies/descent/descent.h"
#include "strategies/strategy.h"

/* The part of the probability that is shared evenly, against shares that are far too small. */
#define EVEN_PART 0.03
/* The square of a larger weight is not a number. */
#define WEIGHT_MOST 1e130
/* The tail is this part of the descents, at most ESTIMATE_TAIL of them. */
#define TAIL_PART 5
#define TAIL_LEAST 5
#define TAIL_RATIO_MOST 2.0137527 /* exp(0.7) */

#define ESTIMATE_SIZES 16384	 /* capacity of the table of subtrees; a power of two */
#define ESTIMATE_BRANCHINGS 1024 /* of one descent; later ones are not learned */
#define ESTIMATE_TAIL 64u	 /* number of largest contributions that are kept */

/* Mean size of the subtrees behind a branch. */
struct estimate_size {
	uint64_t key; /* 0: free */
	double count, mean;
};

/* A branch that this descent has taken. */
struct estimate_branching {
	uint64_t key;
	double weight; /* of the path that ends with the branch */
};

struct estimate {
	struct descent tree;
	double weight; /* of the current path */
	bool is_lost;  /* too many threads, or the weight is too large: no estimate */
	/* Weights of the descents since the last one with new accesses. */
	uint64_t count;
	uint64_t redundant; /* those among them that are redundant */
	/* Descent number i counts i times: later ones have better probabilities. Sums of the factors
	 * i and i^2, and of i^2 times the weight and its square. */
	double mean, factors, factors_squared, weights, squares;
	double largest; /* i times the weight above the mean of the descents before */
	/* The largest of i times the weight, in descending order. */
	double tail[ESTIMATE_TAIL + 1];

	uint32_t size_count;
	struct estimate_size sizes[ESTIMATE_SIZES];
	uint32_t branching_count;
	struct estimate_branching branchings[ESTIMATE_BRANCHINGS];
};

/*
 * Sizes of subtrees, as the descents show them. The expected shares of descent_sets.c are far off
 * where a thread's later ops depend on what the thread reads. The weight of each descent, beyond a
 * branch, estimates the size of the subtree behind the branch. The mean of these sizes corrects the
 * shares of later descents (adaptive importance sampling). The estimate remains unbiased: the
 * probabilities of a descent depend only on earlier descents.
 *
 * A branch has a key: its slot, the threads of the branching, how far these are, and which threads
 * sleep at an op on the same object. Branches with one key lie in subtrees of similar shape.
 */
#define SIZES_MOST (ESTIMATE_SIZES / 2) /* searches end because half of the table remains free */
/* The expected shares count as much as this number of descents through each branch. */
#define SHARES_COUNT 2.0
#define COUNT_MOST 1e9

static struct estimate_size *estimate_sizes_entry(struct estimate *estimate, uint64_t key)
{
	uint32_t at = (uint32_t)key & (ESTIMATE_SIZES - 1);

	while (estimate->sizes[at].key && estimate->sizes[at].key != key)
		at = (at + 1) & (ESTIMATE_SIZES - 1);
	return &estimate->sizes[at];
}

static bool estimate_sizes_is_object_of(
	const struct estimate *estimate, uint32_t slot, uint64_t branches)
{
	for (; branches; branches &= branches - 1)
		if (estimate->tree.object[__builtin_ctzll(branches)] == estimate->tree.object[slot])
			return true;
	return false;
}

/* Identifies a branching, while the threads that slept before still do. */
static uint64_t estimate_branching_key(const struct estimate *estimate, uint64_t branches)
{
	uint64_t key = branches;

	for (uint64_t left = branches; left; left &= left - 1)
		key = hash_pair(key, estimate->tree.ordinal[__builtin_ctzll(left)]);
	for (uint64_t left = estimate->tree.asleep; left; left &= left - 1)
		if (estimate_sizes_is_object_of(
			    estimate, (uint32_t)__builtin_ctzll(left), branches))
			key = hash_pair(key, left & -left);
	return key;
}

static uint64_t estimate_sizes_key_of(uint64_t key, uint32_t slot)
{
	return hash_pair(key, slot + UINT64_C(1)) | 1;
}

/* Corrects the shares of the branches by the sizes that earlier descents have shown. */
static void estimate_correct_shares(
	struct estimate *estimate, uint64_t key, uint64_t branches, double *share)
{
	double shares = 0, sizes = 0, least = COUNT_MOST, part;

	for (uint64_t left = branches; left; left &= left - 1) {
		const uint32_t slot = (uint32_t)__builtin_ctzll(left);
		const struct estimate_size *size =
			estimate_sizes_entry(estimate, estimate_sizes_key_of(key, slot));

		shares += share[slot];
		sizes += size->mean;
		if (size->count < least)
			least = size->count;
	}
	if (least <= 0 || sizes <= 0 || shares <= 0)
		return;
	part = least / (least + SHARES_COUNT);
	for (uint64_t left = branches; left; left &= left - 1) {
		const uint32_t slot = (uint32_t)__builtin_ctzll(left);
		const struct estimate_size *size =
			estimate_sizes_entry(estimate, estimate_sizes_key_of(key, slot));

		share[slot] = part * size->mean / sizes + (1 - part) * share[slot] / shares;
	}
}

static void estimate_note_branch(struct estimate *estimate, uint64_t key, uint32_t slot)
{
	if (estimate->branching_count == ESTIMATE_BRANCHINGS)
		return;
	estimate->branchings[estimate->branching_count++] = (struct estimate_branching){
		.key = estimate_sizes_key_of(key, slot), .weight = estimate->weight};
}

/* Learns from the descent, whose leaf has the weight. */
static void estimate_learn_sizes(struct estimate *estimate, double weight)
{
	for (uint32_t i = 0; i < estimate->branching_count; i++) {
		const struct estimate_branching *branching = &estimate->branchings[i];
		struct estimate_size *size = estimate_sizes_entry(estimate, branching->key);

		if (!size->key) {
			if (estimate->size_count == SIZES_MOST)
				continue;
			estimate->size_count++;
			size->key = branching->key;
		}
		/* Later descents have better probabilities, and count for more. */
		size->count++;
		size->mean += 2 / (size->count + 1) * (weight / branching->weight - size->mean);
	}
}

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
