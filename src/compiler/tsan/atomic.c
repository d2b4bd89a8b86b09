/*
 * Atomic operations, performed here, sequentially consistent; the runtime gets the requested order.
 */
#include "compiler/tsan/hook.h"

typedef uint8_t tsan_a8;
typedef uint16_t tsan_a16;
typedef uint32_t tsan_a32;
typedef uint64_t tsan_a64;
__extension__ typedef unsigned __int128 tsan_a128;

/* Returns C11's number of the memory order, which is in the low byte. */
static inline uint8_t atomic_order_of(int order)
{
	return (uint8_t)(order & 0xff);
}

/* 16 bytes use cmpxchg16b; the compiler inlines the other sizes. */
#define SWAP_IF(width, address, expected, wanted)                                                  \
	__sync_val_compare_and_swap((volatile tsan_a##width *)(address), expected, wanted)

#define LOAD(width)                                                                                \
	TSAN_EXPORT tsan_a##width __tsan_atomic##width##_load(                                     \
		const volatile tsan_a##width *address, int order);                                 \
	TSAN_EXPORT tsan_a##width __tsan_atomic##width##_load(                                     \
		const volatile tsan_a##width *address, int order)                                  \
	{                                                                                          \
		volatile tsan_a##width *location = (volatile tsan_a##width *)(uintptr_t)address;   \
                                                                                                   \
		tsan_reached(                                                                      \
			address, width / 8, SITE_ATOMIC_LOAD, atomic_order_of(order), TSAN_SITE);  \
		return sizeof *location == 16 ? SWAP_IF(width, location, 0, 0) : *location;        \
	}

/* An update that computes `wanted` from `old` and `value`. */
#define UPDATE(width, name, kind, wanted)                                                          \
	TSAN_EXPORT tsan_a##width __tsan_atomic##width##_##name(                                   \
		volatile tsan_a##width *address, tsan_a##width value, int order);                  \
	TSAN_EXPORT tsan_a##width __tsan_atomic##width##_##name(                                   \
		volatile tsan_a##width *address, tsan_a##width value, int order)                   \
	{                                                                                          \
		tsan_a##width old;                                                                 \
                                                                                                   \
		tsan_reached(address, width / 8, kind, atomic_order_of(order), TSAN_SITE);         \
		do                                                                                 \
			old = *address;                                                            \
		while (SWAP_IF(width, address, old, (tsan_a##width)(wanted)) != old);              \
		return old;                                                                        \
	}

#define STORE(width)                                                                               \
	TSAN_EXPORT void __tsan_atomic##width##_store(                                             \
		volatile tsan_a##width *address, tsan_a##width value, int order);                  \
	TSAN_EXPORT void __tsan_atomic##width##_store(                                             \
		volatile tsan_a##width *address, tsan_a##width value, int order)                   \
	{                                                                                          \
		tsan_a##width old;                                                                 \
                                                                                                   \
		tsan_reached(                                                                      \
			address, width / 8, SITE_ATOMIC_STORE, atomic_order_of(order), TSAN_SITE); \
		do                                                                                 \
			old = *address;                                                            \
		while (SWAP_IF(width, address, old, value) != old);                                \
	}

/* Returns whether the value was exchanged; on failure *expected receives the value found. */
#define EXCHANGE_IF(width, name)                                                                   \
	TSAN_EXPORT int __tsan_atomic##width##_compare_exchange_##name(                            \
		volatile tsan_a##width *address, tsan_a##width *expected, tsan_a##width wanted,    \
		int order, int order_of_failure);                                                  \
	TSAN_EXPORT int __tsan_atomic##width##_compare_exchange_##name(                            \
		volatile tsan_a##width *address, tsan_a##width *expected, tsan_a##width wanted,    \
		int order, int order_of_failure)                                                   \
	{                                                                                          \
		const tsan_a##width before = *expected;                                            \
		tsan_a##width found;                                                               \
                                                                                                   \
		tsan_reached_exchange(address, width / 8, atomic_order_of(order),                  \
			atomic_order_of(order_of_failure), (uint64_t)before, TSAN_SITE);           \
		found = SWAP_IF(width, address, before, wanted);                                   \
		/* After a success `expected` may belong to another thread. */                     \
		if (found != before)                                                               \
			*expected = found;                                                         \
		return found == before;                                                            \
	}

#define EXCHANGE_IF_VALUE(width)                                                                   \
	TSAN_EXPORT tsan_a##width __tsan_atomic##width##_compare_exchange_val(                     \
		volatile tsan_a##width *address, tsan_a##width expected, tsan_a##width wanted,     \
		int order, int order_of_failure);                                                  \
	TSAN_EXPORT tsan_a##width __tsan_atomic##width##_compare_exchange_val(                     \
		volatile tsan_a##width *address, tsan_a##width expected, tsan_a##width wanted,     \
		int order, int order_of_failure)                                                   \
	{                                                                                          \
		tsan_reached_exchange(address, width / 8, atomic_order_of(order),                  \
			atomic_order_of(order_of_failure), (uint64_t)expected, TSAN_SITE);         \
		return SWAP_IF(width, address, expected, wanted);                                  \
	}

#define ATOMICS(width)                                                                             \
	LOAD(width)                                                                                \
	STORE(width)                                                                               \
	UPDATE(width, exchange, SITE_ATOMIC_UPDATE, value)                                         \
	UPDATE(width, fetch_add, SITE_ATOMIC_UPDATE, old + value)                                  \
	UPDATE(width, fetch_sub, SITE_ATOMIC_UPDATE, old - value)                                  \
	UPDATE(width, fetch_and, SITE_ATOMIC_UPDATE, old &value)                                   \
	UPDATE(width, fetch_or, SITE_ATOMIC_UPDATE, old | value)                                   \
	UPDATE(width, fetch_xor, SITE_ATOMIC_UPDATE, old ^ value)                                  \
	UPDATE(width, fetch_nand, SITE_ATOMIC_UPDATE, ~(old & value))                              \
	EXCHANGE_IF(width, strong)                                                                 \
	EXCHANGE_IF(width, weak)                                                                   \
	EXCHANGE_IF_VALUE(width)

ATOMICS(8)
ATOMICS(16)
ATOMICS(32)
ATOMICS(64)
ATOMICS(128)

TSAN_EXPORT void __tsan_atomic_thread_fence(int order);
TSAN_EXPORT void __tsan_atomic_thread_fence(int order)
{
	tsan_reached(NULL, 0, SITE_FENCE, atomic_order_of(order), TSAN_SITE);
	__sync_synchronize();
}

/* Orders only the thread and its own signal handlers. */
TSAN_EXPORT void __tsan_atomic_signal_fence(int order);
TSAN_EXPORT void __tsan_atomic_signal_fence(int order)
{
	(void)order;
	__asm__ volatile("" : : : "memory");
}
