/*
 * Memory of a strategy's state: a mapping of its own, and a page without access behind it. The
 * states of searches have hundreds of megabytes and are mostly untouched. malloc() under the address
 * sanitizer would mark each of their bytes.
 */
#pragma once

#include <stddef.h>
#include <sys/mman.h>

#include "base/bug.h"

#define STRATEGY_STATE_PAGE ((size_t)4096)

static inline size_t strategy_state_pages(size_t bytes)
{
	return (bytes + STRATEGY_STATE_PAGE) & ~(STRATEGY_STATE_PAGE - 1);
}

/* Returns zeroed memory whose last bytes lie before the page without access. */
static inline void *strategy_state_new(size_t bytes)
{
	const size_t length = strategy_state_pages(bytes);
	char *memory = mmap(NULL, length + STRATEGY_STATE_PAGE, PROT_READ | PROT_WRITE,
		MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	BUG_ON(memory == MAP_FAILED);
	BUG_ON(mprotect(memory + length, STRATEGY_STATE_PAGE, PROT_NONE) != 0);
	return memory + (length - bytes) / 64 * 64;
}

static inline void strategy_state_free(void *state, size_t bytes)
{
	const size_t length = strategy_state_pages(bytes);

	if (state)
		(void)munmap(
			(char *)state - (length - bytes) / 64 * 64, length + STRATEGY_STATE_PAGE);
}
