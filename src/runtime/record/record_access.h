/* Reads memory and compares it with the thread's copy. The code uses general registers only. */
#pragma once

#include <string.h>

#include "runtime/guarded_read.h"
#include "runtime/record/record_internal.h"

/* Reads up to eight bytes; an odd size as eight bytes, or byte by byte at the end of a page. */
static inline bool record_fetch(uint64_t address, uint32_t bytes, uint64_t *value)
{
	uint64_t part;

	if (bytes == 8 || bytes == 4 || bytes == 2 || bytes == 1)
		return guarded_read((const void *)address, bytes, value);
	if ((address & 4095) <= 4096 - sizeof part) {
		if (!guarded_read((const void *)address, sizeof part, &part))
			return false;
		*value = part & ((UINT64_C(1) << 8 * bytes) - 1);
		return true;
	}
	*value = 0;
	for (uint32_t i = 0; i < bytes; i++) {
		if (!guarded_read((const void *)(address + i), 1, &part))
			return false;
		*value |= part << 8 * i;
	}
	return true;
}

static inline uint8_t *record_slot(uint64_t address)
{
	return record_state.moving->memory + record_slot_of(address);
}

/* Stores without libc's functions, which would use vector registers. */
static inline void record_put(uint8_t *at, uint64_t value, uint32_t bytes)
{
	const uint32_t half = (uint32_t)value;

	if (__builtin_expect(bytes == sizeof value, 1)) {
		memcpy(at, &value, sizeof value);
	} else if (bytes == sizeof half) {
		memcpy(at, &half, sizeof half);
	} else { /* eight bytes at `at` are accessible */
		const uint64_t mask = (UINT64_C(1) << 8 * bytes) - 1;
		uint64_t all;

		memcpy(&all, at, sizeof all);
		all = (all & ~mask) | (value & mask);
		memcpy(at, &all, sizeof all);
	}
}

/* Has eight accessible bytes at `at`. */
static inline uint64_t record_known(const uint8_t *at, uint32_t bytes)
{
	uint64_t value;

	memcpy(&value, at, sizeof value);
	return bytes < 8 ? value & ((UINT64_C(1) << 8 * bytes) - 1) : value;
}

/* Returns false if not readable. */
static inline bool record_read_part(uint64_t address, uint32_t bytes)
{
	struct record_moving *moving = record_state.moving;
	uint8_t *slot = record_slot(address);
	const uint64_t known = record_known(slot, bytes);
	uint64_t value;

	if (!record_fetch(address, bytes, &value)) {
		/* If the record is full, nothing follows the missing entry either. */
		(void)record_entry(moving->thread, RECORD_BAD);
		return false;
	}
	if (known == value) {
		moving->left--;
		return true;
	}
	if (record_entry(moving->thread, RECORD_READ))
		record_number(moving->thread, record_difference(value, known, bytes));
	record_put(slot, value, bytes);
	return true;
}

static inline void record_value(uint32_t slot, uint64_t value)
{
	struct record_moving *moving = record_state.moving;
	uint64_t *known = &moving->values[slot];

	if (*known == value) {
		moving->left--;
		return;
	}
	if (record_entry(moving->thread, RECORD_VALUE))
		record_number(moving->thread, record_difference(value, *known, 8));
	*known = value;
}

/* Marks the write as pending: the thread executes it next. */
static inline void record_pend(uint64_t address, uint32_t bytes)
{
	record_state.moving->pending = address;
	record_state.moving->pending_bytes = bytes;
}
