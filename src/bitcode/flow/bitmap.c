#include "bitcode/flow/bitmap.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/search.h"

void bitmap_release(struct bitmap *set)
{
	free(set->blocks);
	*set = (struct bitmap){0};
}

static void bitmap_make_room(struct bitmap *set, uint32_t count)
{
	if (count <= set->capacity)
		return;
	set->capacity = count + count / 2 + 1;
	set->blocks = array_resize(set->blocks, set->capacity, sizeof *set->blocks);
}

static uint32_t bitmap_find(const struct bitmap *set, uint32_t number)
{
	uint32_t low;

	SEARCH(low, 0, set->count, set->blocks[low].number < number);
	return low;
}

bool bitmap_add(struct bitmap *set, uint32_t member)
{
	const uint64_t bit = UINT64_C(1) << (member % 64);
	const uint32_t number = member / 64, at = bitmap_find(set, number);

	if (at < set->count && set->blocks[at].number == number) {
		const bool is_new = !(set->blocks[at].bits & bit);

		set->blocks[at].bits |= bit;
		return is_new;
	}
	bitmap_make_room(set, set->count + 1);
	memmove(set->blocks + at + 1, set->blocks + at, (set->count - at) * sizeof *set->blocks);
	set->blocks[at] = (struct bitmap_block){bit, number};
	set->count++;
	return true;
}

bool bitmap_next(const struct bitmap *set, uint64_t *member)
{
	uint64_t number = *member / 64, from = *member % 64;

	for (uint32_t at = number > UINT32_MAX ? set->count : bitmap_find(set, (uint32_t)number);
		at < set->count; at++) {
		const struct bitmap_block *block = &set->blocks[at];
		const uint64_t rest =
			block->number == number ? block->bits >> from << from : block->bits;

		if (rest) {
			*member = block->number * UINT64_C(64) + (uint64_t)__builtin_ctzll(rest);
			return true;
		}
	}
	return false;
}

bool bitmap_has(const struct bitmap *set, uint32_t member)
{
	const uint32_t at = bitmap_find(set, member / 64);

	return at < set->count && set->blocks[at].number == member / 64 &&
	       set->blocks[at].bits >> (member % 64) & 1;
}

static void bitmap_insert_blocks(struct bitmap *set, const struct bitmap *other, uint32_t more)
{
	uint32_t mine = set->count, theirs = other->count, to = set->count + more;

	bitmap_make_room(set, to);
	set->count = to;
	while (theirs) {
		const struct bitmap_block *block = &other->blocks[theirs - 1];

		if (mine && set->blocks[mine - 1].number > block->number) {
			set->blocks[--to] = set->blocks[--mine];
			continue;
		}
		if (mine && set->blocks[mine - 1].number == block->number)
			set->blocks[--to] = set->blocks[--mine];
		else
			set->blocks[--to] = *block;
		theirs--;
	}
}

bool bitmap_unite(struct bitmap *set, const struct bitmap *other)
{
	uint32_t mine = 0, more = 0;
	bool has_grown = false;

	for (uint32_t i = 0; i < other->count; i++) {
		const struct bitmap_block *block = &other->blocks[i];

		while (mine < set->count && set->blocks[mine].number < block->number)
			mine++;
		if (mine == set->count || set->blocks[mine].number != block->number) {
			more++;
			continue;
		}
		has_grown |= (block->bits & ~set->blocks[mine].bits) != 0;
		set->blocks[mine].bits |= block->bits;
	}
	if (more)
		bitmap_insert_blocks(set, other, more);
	return has_grown || more;
}

void bitmap_subtract(struct bitmap *out, const struct bitmap *set, const struct bitmap *other)
{
	uint32_t theirs = 0;

	for (uint32_t i = 0; i < set->count; i++) {
		struct bitmap_block block = set->blocks[i];

		while (theirs < other->count && other->blocks[theirs].number < block.number)
			theirs++;
		if (theirs < other->count && other->blocks[theirs].number == block.number)
			block.bits &= ~other->blocks[theirs].bits;
		if (!block.bits)
			continue;
		bitmap_make_room(out, out->count + 1);
		out->blocks[out->count++] = block;
	}
}
