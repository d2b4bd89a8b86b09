/* The reads of loops that only wait for a value ("waits"), and of loops that do more; compiled with -O2. */
/* clang-format off */
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>

extern atomic_int flag, other, pair[2];
extern atomic_flag lock;
extern atomic_bool taken;
extern atomic_uint serving;
extern atomic_long sequence;
extern volatile int changing;
extern int table[4];

void until_set(void) { while (!atomic_load(&flag)); } /* SITES: atomic_load 4 seq_cst waits */
void until_below(int most) { while (atomic_load(&flag) > most); } /* SITES: atomic_load 4 seq_cst waits */
void until_turn(unsigned turn) { while (atomic_load(&serving) != turn); } /* SITES: atomic_load 4 seq_cst waits */
void until_free(void) { while (atomic_flag_test_and_set(&lock)); } /* SITES: update 1 seq_cst waits */
void until_clear(void) { while (atomic_load(&taken)); } /* SITES: atomic_load 1 seq_cst waits */
long until_even(void) { long now; while ((now = atomic_load(&sequence)) & 1); return now; } /* SITES: atomic_load 8 seq_cst waits */
void until_bit_was_clear(void) { while (atomic_fetch_or(&flag, 4) & 4); } /* SITES: update 4 seq_cst waits */
void until_changed(void) { while (!changing); } /* SITES: load 4 volatile waits */
void with_pause(void) { while (!atomic_load(&flag)) __builtin_ia32_pause(); } /* SITES: atomic_load 4 seq_cst waits, atomic_load 4 seq_cst waits */
void with_yield(void) { while (!atomic_load(&flag)) sched_yield(); } /* SITES: atomic_load 4 seq_cst waits, atomic_load 4 seq_cst waits */

/* One read of two waits for either value. */
void until_either(void) { while (!atomic_load(&flag) && !atomic_load(&other)); } /* SITES: atomic_load 4 seq_cst waits, atomic_load 4 seq_cst */
void until_free_or_turn(int self) { while (atomic_load(&pair[1 - self]) && atomic_load(&other) == 1 - self); } /* SITES: atomic_load 4 seq_cst waits, atomic_load 4 seq_cst */
void until_both(void) { while (!atomic_load(&flag) || atomic_load(&other) < 2) sched_yield(); } /* SITES: atomic_load 4 seq_cst waits, atomic_load 4 seq_cst */

/* A third value, a limit, an effect, or an exchange that changes the memory: no waiting loops. */
void until_one_of_three(void) { while (!atomic_load(&flag) && !atomic_load(&other) && !atomic_load(&serving)); } /* SITES: atomic_load 4 seq_cst, atomic_load 4 seq_cst, atomic_load 4 seq_cst */
int rounds_of_two(void) { int count = 0; while (!atomic_load(&flag) && !atomic_load(&other)) count++; return count; } /* SITES: atomic_load 4 seq_cst, atomic_load 4 seq_cst, atomic_load 4 seq_cst */
void at_most_of_two(int tries) { while (!atomic_load(&flag) && !atomic_load(&other) && tries--); } /* SITES: atomic_load 4 seq_cst, atomic_load 4 seq_cst */
void at_most(int tries) { while (!atomic_load(&flag) && tries--); } /* SITES: atomic_load 4 seq_cst */
void notes(void) { while (!atomic_load(&flag)) atomic_store(&other, 1); } /* SITES: atomic_load 4 seq_cst, atomic_load 4 seq_cst, atomic_store 4 seq_cst */
void counts(void) { while (atomic_fetch_add(&flag, 1) < 0); } /* SITES: update 4 seq_cst */
void walks(void) { for (volatile int *at = table; !*at; at++); } /* SITES: load 4 volatile */
int rounds(void) { int count = 0; do count++; while (!atomic_load(&flag)); return count; } /* SITES: atomic_load 4 seq_cst */
int twice(void) { if (atomic_load(&flag)) return 1; while (!atomic_load(&flag)); return 2; } /* SITES: atomic_load 4 seq_cst, atomic_load 4 seq_cst waits */
