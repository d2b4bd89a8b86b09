/* EXPECT: abort runs<=500 needs=memory */
/*
 * Pattern: wrapped hash set (a synchronised set goes through another, which is locked for each step and
 * not in between; ../../wrapper.h). Elements stand in the first free slot from their own on.
 *
 * Fails when: main.0, or main.1 or main.2, has asked second for its size; main.4 clears second; the
 * first one asks it for a removed element.
 *
 * EXPECT-VIOLATION: R1-W2-R1 wrapped_add_all wrapped_clear @size @clear @at
 * EXPECT-VIOLATION: R1-W2-R1 wrapped_equals wrapped_clear @size @clear @at
 * EXPECT-BRANCH: assert(index < set->size); [bug]
 * EXPECT-BRANCH: for (int i = 0; is_equal && i < size_of(&wrapped->inner); i++) [benign|bug]
 * EXPECT-BRANCH: if (set->slots[slot] > 0 && index-- == 0) [benign|bug]
 * EXPECT-BRANCH: for (int i = 0; i < wrapped_size(other); i++) [benign|bug]
 * EXPECT-BRANCH: for (int i = size_of(&wrapped->inner) - 1; i >= 0; i--) { [benign|bug]
 * EXPECT-BRANCH: if (!set->slots[slot]) [benign|bug]
 * EXPECT-BRANCH: for (int i = 0; has_all && i < wrapped_size(other); i++) [benign|bug]
 * EXPECT-BRANCH: for (int i = 0; i < wrapped_size(other); i++) [benign|bug]
 * EXPECT-BRANCH: while (set->slots[slot] && set->slots[slot] != element) [benign|bug]
 * EXPECT-BRANCH: for (int i = 0; i < size; i++) [benign|bug]
 */
#define _GNU_SOURCE
#include <assert.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>

#define COLLECTION hash_set
#define SLOTS 8
#define REMOVED (-1)

struct hash_set {
	int size;
	int slots[SLOTS]; /* 0: was never used; REMOVED: was */
};

static int size_of(const struct hash_set *set)
{
	return set->size; /* @size */
}

static int at(const struct hash_set *set, int index)
{
	assert(index < set->size); /* @at */
	for (int slot = 0; slot < SLOTS; slot++)
		if (set->slots[slot] > 0 && index-- == 0)
			return set->slots[slot];
	abort();
}

static int slot_of(const struct hash_set *set, int element)
{
	int slot = element * 5 % SLOTS;

	while (set->slots[slot] && set->slots[slot] != element)
		slot = (slot + 1) % SLOTS;
	return slot;
}

static bool has(const struct hash_set *set, int element)
{
	return set->slots[slot_of(set, element)];
}

static bool add(struct hash_set *set, int element)
{
	const int slot = slot_of(set, element);

	if (set->slots[slot])
		return false;
	assert(set->size < SLOTS - 1);
	set->slots[slot] = element;
	set->size++;
	return true;
}

static bool take_out(struct hash_set *set, int element)
{
	const int slot = slot_of(set, element);

	if (!set->slots[slot])
		return false;
	set->slots[slot] = REMOVED;
	set->size--;
	return true;
}

static void clear(struct hash_set *set)
{
	set->size = 0;				 /* @clear */
	for (int slot = 0; slot < SLOTS; slot++) /* @clear */
		set->slots[slot] = 0;		 /* @clear */
}

#include "../../wrapper.h"
