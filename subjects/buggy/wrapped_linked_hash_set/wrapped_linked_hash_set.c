/* EXPECT: abort runs<=500 needs=memory */
/*
 * Pattern: wrapped linked hash set (a synchronised set goes through another, which is locked for each step
 * and not in between; ../../wrapper.h). Nodes are chained by their bucket, and in the order of their coming.
 *
 * Fails when: main.0, or main.1 or main.2, has asked second for its size; main.4 clears second; the
 * first one asks it for a removed element.
 *
 * EXPECT-VIOLATION: R1-W2-R1 wrapped_add_all wrapped_clear @size @clear @at
 * EXPECT-VIOLATION: R1-W2-R1 wrapped_equals wrapped_clear @size @clear @at
 * EXPECT-BRANCH: assert(index < set->size); [bug]
 * EXPECT-BRANCH: for (int i = 0; is_equal && i < size_of(&wrapped->inner); i++) [benign|bug]
 * EXPECT-BRANCH: for (int i = 0; i < wrapped_size(other); i++) [benign|bug]
 * EXPECT-BRANCH: for (int i = size_of(&wrapped->inner) - 1; i >= 0; i--) { [benign|bug]
 * EXPECT-BRANCH: while (*place && (*place)->element != element) [benign|bug]
 * EXPECT-BRANCH: while (node) { [benign|bug]
 * EXPECT-BRANCH: for (int i = 0; has_all && i < wrapped_size(other); i++) [benign|bug]
 * EXPECT-BRANCH: for (int i = 0; i < wrapped_size(other); i++) [benign|bug]
 * EXPECT-BRANCH: while (*before != node) [benign|bug]
 * EXPECT-BRANCH: for (int i = 0; i < size; i++) [benign|bug]
 */
#define _GNU_SOURCE
#include <assert.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>

#define COLLECTION linked_hash_set
#define BUCKETS 4

struct node {
	struct node *in_bucket, *next;
	int element;
};

struct linked_hash_set {
	struct node *buckets[BUCKETS];
	struct node *oldest;
	int size;
};

static int size_of(const struct linked_hash_set *set)
{
	return set->size; /* @size */
}

static int at(const struct linked_hash_set *set, int index)
{
	assert(index < set->size); /* @at */
	const struct node *node = set->oldest;

	while (index-- > 0)
		node = node->next;
	return node->element;
}

static struct node **place_of(struct linked_hash_set *set, int element)
{
	struct node **place = &set->buckets[element % BUCKETS];

	while (*place && (*place)->element != element)
		place = &(*place)->in_bucket;
	return place;
}

static bool has(struct linked_hash_set *set, int element)
{
	return *place_of(set, element);
}

static bool add(struct linked_hash_set *set, int element)
{
	struct node **const place = place_of(set, element);
	struct node **last = &set->oldest;

	if (*place)
		return false;
	*place = calloc(1, sizeof **place);
	assert(*place);
	(*place)->element = element;
	while (*last)
		last = &(*last)->next;
	*last = *place;
	set->size++;
	return true;
}

static bool take_out(struct linked_hash_set *set, int element)
{
	struct node **const place = place_of(set, element);
	struct node *const node = *place;
	struct node **before = &set->oldest;

	if (!node)
		return false;
	while (*before != node)
		before = &(*before)->next;
	*before = node->next;
	*place = node->in_bucket;
	free(node);
	set->size--;
	return true;
}

static void clear(struct linked_hash_set *set)
{
	struct node *node = set->oldest;

	for (int bucket = 0; bucket < BUCKETS; bucket++)
		set->buckets[bucket] = NULL;
	set->oldest = NULL;
	set->size = 0; /* @clear */
	while (node) {
		struct node *const next = node->next;

		free(node);
		node = next;
	}
}

#include "../../wrapper.h"
