/*
 * Sizes of the pieces in which shared memory is modelled. A read matches writes of its own size
 * only. Two words between which data is copied have one piece size, the smallest of any access to
 * either.
 */

#include "base/array.h"
#include "branches/interpret/walk_internal.h"

/* Limit of recorded pairs. Beyond it, the piece sizes of two words may differ. */
#define PAIRS_MOST (UINT32_C(1) << 22)

uint32_t walk_piece(const struct walk *walk, uint64_t address)
{
	const struct shared_word *found = walk_shared_word(walk, address >> 3);

	return found ? found->bytes : 8;
}

static void walk_pieces_add_pair(struct walk *walk, uint64_t from, uint64_t to)
{
	struct copied_words *copied = &walk->copied;
	const uint64_t hash = (from * 31 + to) * UINT64_C(0x9e3779b97f4a7c15);
	struct copied_pair *recent = &copied->recent[hash >> 52 & (COPIED_RECENT - 1)];

	if ((recent->from == from && recent->to == to) || copied->count == PAIRS_MOST)
		return;
	*recent = (struct copied_pair){from, to};
	ARRAY_APPEND(copied->pairs, copied->count, *recent);
}

void walk_note_copy(struct walk *walk, uint64_t from, uint64_t to, uint64_t bytes)
{
	/* Different alignment: the words do not correspond. */
	if ((from ^ to) & 7)
		return;
	for (uint64_t done = 0; done < bytes; done += 8 - ((from + done) & 7))
		walk_pieces_add_pair(walk, (from + done) >> 3, (to + done) >> 3);
}

void walk_unite_pieces(struct walk *walk)
{
	bool is_changed = true;

	/* Terminates because sizes only decrease. */
	while (is_changed) {
		is_changed = false;
		for (uint32_t i = 0; i < walk->copied.count; i++) {
			const struct copied_pair *pair = &walk->copied.pairs[i];
			struct shared_word *from = walk_shared_word(walk, pair->from);
			struct shared_word *to = walk_shared_word(walk, pair->to);

			if (!from || !to || from->bytes == to->bytes)
				continue;
			from->bytes = to->bytes = from->bytes < to->bytes ? from->bytes : to->bytes;
			is_changed = true;
		}
	}
}
