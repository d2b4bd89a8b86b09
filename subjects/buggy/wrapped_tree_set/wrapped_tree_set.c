/* EXPECT: abort runs<=500 needs=memory */
/*
 * Pattern: wrapped tree set (a synchronised set iterates over another, which is locked for each
 * step but not in between; ../../wrapper.h).
 *
 * Fails when: main.0, or main.1 or main.2, has asked second for its size; main.4 clears second; the
 * first one asks it for a removed element.
 *
 * EXPECT-VIOLATION: R1-W2-R1 wrapped_has_all wrapped_clear @size @clear @at
 * EXPECT-VIOLATION: R1-W2-R1 wrapped_add_all wrapped_clear @size @clear @at
 * EXPECT-VIOLATION: R1-W2-R1 wrapped_equals wrapped_clear @size @clear @at
 * EXPECT-BRANCH: assert(index < set->size); [bug]
 * EXPECT-BRANCH: for (int i = 0; is_equal && i < size_of(&wrapped->inner); i++) [benign|bug]
 * EXPECT-BRANCH: for (int i = 0; i < wrapped_size(other); i++) [benign|bug]
 * EXPECT-BRANCH: for (int i = size_of(&wrapped->inner) - 1; i >= 0; i--) { [benign|bug]
 * EXPECT-BRANCH: while (*place && (*place)->element != element) [benign|bug]
 * EXPECT-BRANCH: if (!node) [benign|bug]
 * EXPECT-BRANCH: for (int i = 0; has_all && i < wrapped_size(other); i++) [benign|bug]
 * EXPECT-BRANCH: for (int i = 0; i < wrapped_size(other); i++) [benign|bug]
 * EXPECT-BRANCH: for (int i = 0; i < size; i++) [benign|bug]
 */
#define _GNU_SOURCE
#include <assert.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>

#define COLLECTION tree_set

struct node {
	struct node *left, *right;
	int element;
};

struct tree_set {
	struct node *root;
	int size;
};

static int size_of(const struct tree_set *set)
{
	return set->size; /* @size */
}

/* The node with so many before it in order; counts on. */
static const struct node *node_at(const struct node *node, int *index)
{
	const struct node *found;

	if (!node || (found = node_at(node->left, index)))
		return node ? found : NULL;
	if ((*index)-- == 0)
		return node;
	return node_at(node->right, index);
}

static int at(const struct tree_set *set, int index)
{
	assert(index < set->size); /* @at */
	return node_at(set->root, &index)->element;
}

static struct node **place_of(struct tree_set *set, int element)
{
	struct node **place = &set->root;

	while (*place && (*place)->element != element)
		place = element < (*place)->element ? &(*place)->left : &(*place)->right;
	return place;
}

static bool has(struct tree_set *set, int element)
{
	return *place_of(set, element);
}

static bool add(struct tree_set *set, int element)
{
	struct node **const place = place_of(set, element);

	if (*place)
		return false;
	*place = calloc(1, sizeof **place);
	assert(*place);
	(*place)->element = element;
	set->size++;
	return true;
}

static bool take_out(struct tree_set *set, int element)
{
	struct node **const place = place_of(set, element);
	struct node *const node = *place;

	if (!node)
		return false;
	/* The smaller subtree is linked below the least node of the greater one. */
	if (node->right) {
		struct node **least = &node->right;

		while (*least)
			least = &(*least)->left;
		*least = node->left;
	}
	*place = node->right ? node->right : node->left;
	free(node);
	set->size--;
	return true;
}

static void node_free(struct node *node)
{
	if (!node)
		return;
	node_free(node->left);
	node_free(node->right);
	free(node);
}

static void clear(struct tree_set *set)
{
	node_free(set->root);
	set->root = NULL;
	set->size = 0; /* @clear */
}

#include "../../wrapper.h"
