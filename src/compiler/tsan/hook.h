/*
 * Implements the functions that compilers call under -fsanitize=thread. libraddle.so exports them;
 * each access calls the runtime.
 *
 * These accesses have no per-site switch: every access is a call, and the runtime decides by
 * address whether the memory is observed. The site of an access is the return address of the call.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "abi/instrument_abi.h"

#define TSAN_EXPORT __attribute__((visibility("default")))
/* The return address; must be expanded in the exported function itself. */
#define TSAN_SITE ((uint64_t)(uintptr_t)__builtin_return_address(0))

/* Defined in src/runtime/memory/tsan.c. */
void tsan_begin(void);
void tsan_reached(
	const volatile void *address, size_t bytes, uint8_t kind, uint8_t order, uint64_t site);
/* A compare-exchange. `expected` is undefined for more than eight bytes. */
void tsan_reached_exchange(const volatile void *address, size_t bytes, uint8_t order,
	uint8_t order_of_failure, uint64_t expected, uint64_t site);
/* The program's function, if its symbol table names it; else NULL (runtime/life/linked_tsan.c). */
extern const char *(*tsan_default_suppressions)(void);
/* The program says that the calls with SITE_RELEASE happen before later ones with SITE_ACQUIRE and
 * the same address. */
void tsan_ordered(const volatile void *address, uint8_t order, uint64_t site);
/* Plain accesses of the calling thread are not reported while the sum of its changes is positive. */
void tsan_ignore(int change);
/* Plain accesses to this memory are not reported from now on. */
void tsan_ignore_memory(const volatile void *address, size_t bytes);
