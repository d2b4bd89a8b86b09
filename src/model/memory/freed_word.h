/*
 * Pointers in freed heap blocks. A thread that uses a block which another thread has freed usually finds the old
 * contents there, and passes. The runtime therefore overwrites the pointers of a block that is freed
 * (runtime/returned.h) by an address that Linux maps for nobody, and that a report recognises. Numbers stay: many
 * programs invalidate an object by a number before they free it, and check that number.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#define FREED_WORD UINT64_C(0x6b6b6b6b6b6b)

/* Returns whether the program probably computed the address from FREED_WORD, which replaces the pointers in freed memory.
 * A member or an array element behind such a pointer has an address that is a little larger than FREED_WORD. */
static inline bool freed_word_gives(uint64_t address)
{
	return address - FREED_WORD + 4096 < 65536;
}
