#include "branches/solve/words.h"

#include <stdlib.h>
#include <string.h>

#include "base/bug.h"
#include "branches/interpret/slots.h"
#include "branches/solve/hidden.h"

#define ALL_BYTES 0xff

static struct word *words_find(const struct words *words, uint64_t word)
{
	struct word *slot;

	if (!words->capacity)
		return NULL;
	slot = slots_find(words->slots, words->capacity, sizeof *slot, word + 1);
	return slot->key ? slot : NULL;
}

/* Collects the word's initial value, byte by byte, as far as it is known. */
static void words_find_first(struct word *slot, const struct order *order, uint64_t word)
{
	if (walk_initial(order->walk, word << 3, 8, &slot->first)) {
		slot->known_first = ALL_BYTES;
		return;
	}
	slot->first = 0;
	for (uint32_t i = 0; i < 8; i++) {
		uint64_t byte;

		if (!walk_initial(order->walk, (word << 3) + i, 1, &byte) &&
			!order_first_value(order, (word << 3) + i, 1, &byte))
			continue;
		slot->first |= (byte & 0xff) << 8 * i;
		slot->known_first |= (uint8_t)(1u << i);
	}
}

static void words_add(struct words *words, const struct order *order, uint64_t word)
{
	struct word *slot;

	words->slots = slots_reserve(
		words->slots, &words->capacity, sizeof *words->slots, words->count, 1024);
	slot = slots_find(words->slots, words->capacity, sizeof *slot, word + 1);
	if (slot->key)
		return;
	*slot = (struct word){.key = word + 1, .is_hidden = hidden_has(order, word << 3, 8)};
	words_find_first(slot, order, word);
	slot->value = slot->first;
	slot->known = slot->known_first;
	words->count++;
}

void words_open(struct words *words, const struct order *order)
{
	*words = (struct words){0};
	for (uint64_t i = 0; i < order->event_count; i++) {
		const struct event_id id = order->events[i];
		const struct walk_event *event = &order->walk->threads[id.thread].events[id.index];

		if (event->kind != EVENT_READ && event->kind != EVENT_WRITE)
			continue;
		words_add(words, order, event->address >> 3);
		words_add(words, order, (event->address + event->bytes - 1) >> 3);
	}
}

void words_release(struct words *words)
{
	free(words->slots);
	free(words->journal);
	*words = (struct words){0};
}

void words_rewind(struct words *words)
{
	for (uint64_t i = 0; i < words->capacity; i++) {
		words->slots[i].value = words->slots[i].first;
		words->slots[i].known = words->slots[i].known_first;
	}
}

bool words_has(const struct words *words, uint64_t address, uint32_t bytes)
{
	return words_find(words, address >> 3) && words_find(words, (address + bytes - 1) >> 3);
}

/* Bit set of the access's bytes that lie in this word. */
static uint8_t bytes_in(uint64_t word, uint64_t address, uint32_t bytes)
{
	uint8_t result = 0;

	for (uint32_t i = 0; i < bytes; i++)
		if ((address + i) >> 3 == word)
			result |= (uint8_t)(1u << ((address + i) & 7));
	return result;
}

static uint64_t mask_of(uint8_t bytes)
{
	uint64_t mask = 0;

	for (uint32_t i = 0; i < 8; i++)
		if (bytes >> i & 1)
			mask |= UINT64_C(0xff) << 8 * i;
	return mask;
}

/* Shifts the accessed value to its position in the word. */
static uint64_t in_word(uint64_t word, uint64_t address, uint64_t value)
{
	return word == address >> 3 ? value << 8 * (address & 7) : value >> 8 * (8 - (address & 7));
}

bool words_are_hidden(const struct words *words, uint64_t address, uint32_t bytes)
{
	for (uint64_t at = address >> 3; at <= (address + bytes - 1) >> 3; at++) {
		const struct word *word = words_find(words, at);

		if (word && word->is_hidden)
			return true;
	}
	return false;
}

bool words_read(const struct words *words, uint64_t address, uint32_t bytes, uint64_t *value)
{
	uint64_t result = 0;

	for (uint64_t at = address >> 3; at <= (address + bytes - 1) >> 3; at++) {
		const struct word *word = words_find(words, at);
		const uint8_t wanted = bytes_in(at, address, bytes);
		uint64_t part;

		if (!word || word->is_hidden || (word->known & wanted) != wanted)
			return false;
		part = word->value & mask_of(wanted);
		result |= at == address >> 3 ? part >> 8 * (address & 7)
					     : part << 8 * (8 - (address & 7));
	}
	*value = result;
	return true;
}

/* Saves the word before the trial's first write to it. */
static void words_keep(struct words *words, struct word *word)
{
	if (!words->is_trial || word->trial == words->trial)
		return;
	if (words->journal_count == words->journal_capacity) {
		words->journal_capacity =
			words->journal_capacity ? 2 * words->journal_capacity : 256;
		words->journal =
			realloc(words->journal, words->journal_capacity * sizeof *words->journal);
		BUG_ON(!words->journal);
	}
	words->journal[words->journal_count++] =
		(struct word_change){word, word->value, word->known};
	word->trial = words->trial;
	word->recorded = word->value;
	word->rank = 0;
}

void words_write(struct words *words, uint64_t address, uint32_t bytes, uint64_t value)
{
	for (uint64_t at = address >> 3; at <= (address + bytes - 1) >> 3; at++) {
		struct word *word = words_find(words, at);
		const uint8_t written = bytes_in(at, address, bytes);
		const uint64_t mask = mask_of(written);

		if (!word)
			continue;
		words_keep(words, word);
		word->value = (word->value & ~mask) | (in_word(at, address, value) & mask);
		word->known |= written;
	}
}

void words_note_recorded(
	struct words *words, uint64_t address, uint32_t bytes, uint64_t value, uint64_t rank)
{
	for (uint64_t at = address >> 3; at <= (address + bytes - 1) >> 3; at++) {
		struct word *word = words_find(words, at);
		const uint64_t mask = mask_of(bytes_in(at, address, bytes));

		if (!word)
			continue;
		words_keep(words, word);
		if (rank + 1 < word->rank)
			continue;
		word->rank = rank + 1;
		word->recorded = (word->recorded & ~mask) | (in_word(at, address, value) & mask);
	}
}

void words_begin_trial(struct words *words)
{
	words->trial++;
	words->is_trial = true;
	words->journal_count = 0;
}

bool words_are_as_recorded(const struct words *words)
{
	for (uint64_t i = 0; i < words->journal_count; i++)
		if (words->journal[i].word->value != words->journal[i].word->recorded)
			return false;
	return true;
}

void words_end_trial(struct words *words)
{
	for (uint64_t i = 0; i < words->journal_count; i++) {
		words->journal[i].word->value = words->journal[i].value;
		words->journal[i].word->known = words->journal[i].known;
	}
	words->journal_count = 0;
	words->is_trial = false;
}
