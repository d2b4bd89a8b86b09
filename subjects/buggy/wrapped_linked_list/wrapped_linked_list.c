/* EXPECT: abort runs<=500 needs=memory */
/*
 * Pattern: wrapped linked list (a synchronised list iterates over another, which is locked for each
 * step but not in between; ../../wrapper.h).
 *
 * Fails when: main.0, or main.1 or main.2, has asked second for its size; main.4 clears second; the
 * first one asks it for a removed element.
 *
 * EXPECT-VIOLATION: R1-W2-R1 wrapped_has_all wrapped_clear @size @clear @at
 * EXPECT-VIOLATION: R1-W2-R1 wrapped_add_all wrapped_clear @size @clear @at
 * EXPECT-VIOLATION: R1-W2-R1 wrapped_equals wrapped_clear @size @clear @at
 * EXPECT-BRANCH: assert(index < list->size); [bug]
 * EXPECT-BRANCH: for (int i = 0; is_equal && i < size_of(&wrapped->inner); i++) [benign|bug]
 * EXPECT-BRANCH: for (int i = 0; i < wrapped_size(other); i++) [benign|bug]
 * EXPECT-BRANCH: while (node && node->element != element) [benign|bug]
 * EXPECT-BRANCH: *(list->end ? list->end : &list->head) = node; [benign|bug]
 * EXPECT-BRANCH: while (node) { [benign|bug]
 * EXPECT-BRANCH: for (int i = 0; has_all && i < wrapped_size(other); i++) [benign|bug]
 * EXPECT-BRANCH: while (*place && (*place)->element != element) [benign|bug]
 * EXPECT-BRANCH: for (int i = 0; i < wrapped_size(other); i++) [benign|bug]
 * EXPECT-BRANCH: for (int i = 0; i < size; i++) [benign|bug]
 * EXPECT-BRANCH: while (index-- > 0) [benign|bug]
 */
#define _GNU_SOURCE
#include <assert.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>

#define COLLECTION linked_list

struct node {
	struct node *next;
	int element;
};

struct linked_list {
	struct node *head, **end; /* end: where the next node is hung; NULL: at head */
	int size;
};

static int size_of(const struct linked_list *list)
{
	return list->size; /* @size */
}

static int at(const struct linked_list *list, int index)
{
	assert(index < list->size); /* @at */
	const struct node *node = list->head;

	while (index-- > 0)
		node = node->next;
	return node->element;
}

static bool has(const struct linked_list *list, int element)
{
	const struct node *node = list->head;

	while (node && node->element != element)
		node = node->next;
	return node;
}

static bool add(struct linked_list *list, int element)
{
	struct node *const node = malloc(sizeof *node);

	assert(node);
	*node = (struct node){NULL, element};
	*(list->end ? list->end : &list->head) = node;
	list->end = &node->next;
	list->size++;
	return true;
}

static bool take_out(struct linked_list *list, int element)
{
	struct node **place = &list->head;

	while (*place && (*place)->element != element)
		place = &(*place)->next;
	struct node *const node = *place;

	if (!node)
		return false;
	*place = node->next;
	if (!node->next)
		list->end = place;
	free(node);
	list->size--;
	return true;
}

static void clear(struct linked_list *list)
{
	struct node *node = list->head;

	list->head = NULL;
	list->end = NULL;
	list->size = 0; /* @clear */
	while (node) {
		struct node *const next = node->next;

		free(node);
		node = next;
	}
}

#include "../../wrapper.h"
