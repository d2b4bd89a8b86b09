/*
 * The functions that -fsanitize=thread makes a compiler call, answered by raddle. The same sources are
 * built twice: into libraddle.so, where each access is told to the runtime, and into libraddle-tsan.so,
 * with which such programs are linked and which does nothing but what the program means. Preloaded,
 * the first comes before the second.
 *
 * Everything but switching by site: there is a call at each access, so what is not shared is found out
 * by its address. Accesses are named by the return address of the call.
 */
#ifndef RADDLE_COMPILER_TSAN_HOOK_H
#define RADDLE_COMPILER_TSAN_HOOK_H

#include <stddef.h>
#include <stdint.h>

#include "abi/instrument_abi.h"

#define TSAN_EXPORT __attribute__((visibility("default")))
/* Where the program called: expanded in the exported function itself. */
#define TSAN_SITE ((uint64_t)(uintptr_t)__builtin_return_address(0))

#ifdef RADDLE_UNDER_CONTROL
/* In src/runtime/memory/tsan.c. */
void tsan_begin(void);
void tsan_reached(
	const volatile void *address, size_t bytes, uint8_t kind, uint8_t order, uint64_t site);
/* A compare-exchange; of more than eight bytes `expected` means nothing. */
void tsan_reached_exchange(const volatile void *address, size_t bytes, uint8_t order,
	uint8_t order_of_failure, uint64_t expected, uint64_t site);
#else
static inline void tsan_begin(void)
{
}

static inline void tsan_reached(
	const volatile void *address, size_t bytes, uint8_t kind, uint8_t order, uint64_t site)
{
	(void)address;
	(void)bytes;
	(void)kind;
	(void)order;
	(void)site;
}

static inline void tsan_reached_exchange(const volatile void *address, size_t bytes, uint8_t order,
	uint8_t order_of_failure, uint64_t expected, uint64_t site)
{
	(void)address;
	(void)bytes;
	(void)order;
	(void)order_of_failure;
	(void)expected;
	(void)site;
}
#endif

#endif
