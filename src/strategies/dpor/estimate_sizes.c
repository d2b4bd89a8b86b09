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
#include "strategies/dpor/estimate.h"

#include "base/hash.h"

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

uint64_t estimate_branching_key(const struct estimate *estimate, uint64_t branches)
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

void estimate_correct_shares(
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

void estimate_note_branch(struct estimate *estimate, uint64_t key, uint32_t slot)
{
	if (estimate->branching_count == ESTIMATE_BRANCHINGS)
		return;
	estimate->branchings[estimate->branching_count++] = (struct estimate_branching){
		.key = estimate_sizes_key_of(key, slot), .weight = estimate->weight};
}

void estimate_learn_sizes(struct estimate *estimate, double weight)
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
