/* Accesses of every kind that C knows, for the calls that compilers make of them. */
#include <stdatomic.h>
#include <stdint.h>
#include <string.h>

struct packed {
	char c;
	short s;
	int i;
	long l;
	__int128 w;
} __attribute__((packed));

extern struct packed packed;
extern volatile char vc;
extern volatile short vs;
extern volatile int vi;
extern volatile long vl;
extern char c;
extern short s;
extern int i;
extern long l;
extern __int128 w;
extern struct block {
	long words[40];
} block, other;
void use(void *);

void plain(void)
{
	c++, s++, i++, l++, w++;
	vc++, vs++, vi++, vl++;
	packed.c++, packed.s++, packed.i++, packed.l++, packed.w++;
	block = other;
	memset(&other, i, sizeof other);
	memmove(&block, &block.words[2], l);
	use(&block);
}

#define ATOMICS(type, name)                                                                        \
	extern _Atomic type a##name;                                                               \
	void atomics_##name(type value)                                                            \
	{                                                                                          \
		type expected = value;                                                             \
		a##name = value;                                                                   \
		value = atomic_load_explicit(&a##name, memory_order_acquire);                      \
		atomic_store_explicit(&a##name, value, memory_order_release);                      \
		value = atomic_exchange_explicit(&a##name, value, memory_order_acq_rel);           \
		value += atomic_fetch_add(&a##name, value);                                        \
		value += atomic_fetch_sub(&a##name, value);                                        \
		value += atomic_fetch_and(&a##name, value);                                        \
		value += atomic_fetch_or(&a##name, value);                                         \
		value += atomic_fetch_xor(&a##name, value);                                        \
		value += __atomic_fetch_nand((type *)&a##name, value, __ATOMIC_SEQ_CST);           \
		value += atomic_compare_exchange_strong(&a##name, &expected, value);               \
		value += atomic_compare_exchange_weak(&a##name, &expected, value);                 \
		a##name = value;                                                                   \
	}

ATOMICS(uint8_t, 8)
ATOMICS(uint16_t, 16)
ATOMICS(uint32_t, 32)
ATOMICS(uint64_t, 64)

void fences(void)
{
	atomic_thread_fence(memory_order_seq_cst);
	atomic_signal_fence(memory_order_seq_cst);
}
