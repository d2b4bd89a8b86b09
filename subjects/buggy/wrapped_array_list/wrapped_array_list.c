/* EXPECT: abort runs<=500 needs=memory */
/*
 * Pattern: wrapped array list (a synchronised list iterates over another, which is locked for each
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
 * EXPECT-BRANCH: while (index < list->size && list->elements[index] != element) [benign|bug]
 * EXPECT-BRANCH: for (int i = 0; has_all && i < wrapped_size(other); i++) [benign|bug]
 * EXPECT-BRANCH: for (int i = 0; i < wrapped_size(other); i++) [benign|bug]
 * EXPECT-BRANCH: for (int i = 0; i < size; i++) [benign|bug]
 * EXPECT-BRANCH: for (int i = index + 1; i < list->size; i++) [benign|bug]
 * EXPECT-BRANCH: for (int i = size_of(&wrapped->inner) - 1; i >= 0; i--) { [benign|bug]
 */
#define _GNU_SOURCE
#include <assert.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>

#define COLLECTION array_list
#define CAPACITY 16

struct array_list {
	int size;
	int elements[CAPACITY];
};

static int size_of(const struct array_list *list)
{
	return list->size; /* @size */
}

static int at(const struct array_list *list, int index)
{
	assert(index < list->size); /* @at */
	return list->elements[index];
}

static int index_of(const struct array_list *list, int element)
{
	int index = 0;

	while (index < list->size && list->elements[index] != element)
		index++;
	return index;
}

static bool has(const struct array_list *list, int element)
{
	return index_of(list, element) < list->size;
}

static bool add(struct array_list *list, int element)
{
	assert(list->size < CAPACITY);
	list->elements[list->size] = element;
	list->size++;
	return true;
}

static bool take_out(struct array_list *list, int element)
{
	const int index = index_of(list, element);

	if (index == list->size)
		return false;
	for (int i = index + 1; i < list->size; i++)
		list->elements[i - 1] = list->elements[i];
	list->size--;
	return true;
}

static void clear(struct array_list *list)
{
	list->size = 0; /* @clear */
}

#include "../../wrapper.h"
