/*
 * Sparse sets of small numbers, as sorted blocks of 64 members: points-to sets have dense ranges.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct bitmap_block {
	uint64_t bits;
	uint32_t number; /* number of its first member, divided by 64 */
};

/* An all-zero struct is the empty set. */
struct bitmap {
	struct bitmap_block *blocks;
	uint32_t count, capacity;
};

void bitmap_release(struct bitmap *set);
/* Returns whether the member is new. */
bool bitmap_add(struct bitmap *set, uint32_t member);
bool bitmap_has(const struct bitmap *set, uint32_t member);
/* Moves *member to the first member that is not smaller. Returns false if there is none. */
bool bitmap_next(const struct bitmap *set, uint64_t *member);
/* Returns whether `set` has grown. */
bool bitmap_unite(struct bitmap *set, const struct bitmap *other);
/* Sets `out`, which must be empty, to the members of `set` that are not in `other`. */
void bitmap_subtract(struct bitmap *out, const struct bitmap *set, const struct bitmap *other);

#define bitmap_each(member, set)                                                                   \
	for (uint32_t at_ = 0; at_ < (set)->count; at_++)                                          \
		for (uint64_t rest_ = (set)->blocks[at_].bits, member = 0;                         \
			rest_ && (member = (set)->blocks[at_].number * UINT64_C(64) +              \
					   (uint64_t)__builtin_ctzll(rest_),                       \
				 true);                                                            \
			rest_ &= rest_ - 1)

/* The same loop with other names, for nesting inside bitmap_each(). */
#define bitmap_each_inner(member, set)                                                             \
	for (uint32_t inner_at_ = 0; inner_at_ < (set)->count; inner_at_++)                        \
		for (uint64_t inner_rest_ = (set)->blocks[inner_at_].bits, member = 0;             \
			inner_rest_ && (member = (set)->blocks[inner_at_].number * UINT64_C(64) +  \
						 (uint64_t)__builtin_ctzll(inner_rest_),           \
				       true);                                                      \
			inner_rest_ &= inner_rest_ - 1)
