/*
 * Atomic operations: these do the access themselves. All are sequentially consistent, which is at least
 * what was asked for; the order that was asked for is told to the runtime.
 */
#include "compiler/tsan/hook.h"

typedef uint8_t tsan_a8;
typedef uint16_t tsan_a16;
typedef uint32_t tsan_a32;
typedef uint64_t tsan_a64;
__extension__ typedef unsigned __int128 tsan_a128;

/* C11's numbers, of which the low byte counts. */
static inline uint8_t atomic_order_of(int order)
{
	return (uint8_t)(order & 0xff);
}

/* 16 bytes by cmpxchg16b, the others by the compiler's own. */
#define SWAP_IF(width, address, expected, wanted)                                                  \
	__sync_val_compare_and_swap((volatile tsan_a##width *)(address), expected, wanted)

#define LOAD(width)                                                                                \
	TSAN_EXPORT tsan_a##width __tsan_atomic##width##_load(                                     \
		const volatile tsan_a##width *address, int order);                                 \
	TSAN_EXPORT tsan_a##width __tsan_atomic##width##_load(                                     \
		const volatile tsan_a##width *address, int order)                                  \
	{                                                                                          \
		volatile tsan_a##width *place = (volatile tsan_a##width *)(uintptr_t)address;      \
                                                                                                   \
		tsan_reached(                                                                      \
			address, width / 8, SITE_ATOMIC_LOAD, atomic_order_of(order), TSAN_SITE);  \
		return sizeof *place == 16 ? SWAP_IF(width, place, 0, 0) : *place;                 \
	}

/* An update that makes `wanted` of `old` and `value`. */
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

/* Returns whether it was exchanged; *expected becomes what was there. */
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
		/* Once it is exchanged, `expected` may be somebody else's. */                     \
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

/* Orders a thread with its own signal handlers only. */
TSAN_EXPORT void __tsan_atomic_signal_fence(int order);
TSAN_EXPORT void __tsan_atomic_signal_fence(int order)
{
	(void)order;
	__asm__ volatile("" : : : "memory");
}
