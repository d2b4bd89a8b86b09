/* Waiting loops without optimisation, which keeps all values in locals; compiled with -O0. */
/* clang-format off */
#include <sched.h>
#include <stdatomic.h>

extern atomic_int flag, other, pair[2];
extern atomic_long sequence;
extern atomic_flag lock;

void until_set(void) { while (!atomic_load(&flag)) sched_yield(); } /* SITES: atomic_load 4 seq_cst waits */
void until_turn(int turn) { while (atomic_load(&flag) != turn); } /* SITES: atomic_load 4 seq_cst waits */
void until_free(void) { while (atomic_flag_test_and_set(&lock)); } /* SITES: update 1 seq_cst waits */
void until_bit_was_clear(void) { while (atomic_fetch_or(&flag, 4) & 4); } /* SITES: update 4 seq_cst waits */

/* The number of iterations, and a turn that the loop changes. */
int rounds(void) { int count = 0; do count++; while (!atomic_load(&flag)); return count; } /* SITES: atomic_load 4 seq_cst */
int late_rounds(void) { int count = 0; while (!atomic_load(&flag)) count++; return count; } /* SITES: atomic_load 4 seq_cst */
void any_turn(int turn) { do turn++; while (atomic_load(&flag) != turn); } /* SITES: atomic_load 4 seq_cst */

/* One read of two waits for either value. Locals that only this iteration uses do not matter. */
void until_either(void) { while (!atomic_load(&flag) && !atomic_load(&other)); } /* SITES: atomic_load 4 seq_cst waits, atomic_load 4 seq_cst */
void until_free_or_turn(int self) { while (atomic_load(&pair[1 - self]) && atomic_load(&other) == 1 - self); } /* SITES: atomic_load 4 seq_cst waits, atomic_load 4 seq_cst */
void until_turn_or_free(int self) { while (atomic_load(&other) == 1 - self && atomic_load(&pair[1 - self])); } /* SITES: atomic_load 4 seq_cst waits, atomic_load 4 seq_cst */
void until_both(void) { while (!atomic_load(&flag) || atomic_load(&other) < 2) sched_yield(); } /* SITES: atomic_load 4 seq_cst waits, atomic_load 4 seq_cst */
int values(void) { int x = 0, y = 0; while ((x = atomic_load(&flag)) < 2 && (y = atomic_load(&other)) < 2); return x; } /* SITES: atomic_load 4 seq_cst waits, atomic_load 4 seq_cst */
long until_even(void) { long now; while ((now = atomic_load(&sequence)) & 1); return now; } /* SITES: atomic_load 8 seq_cst waits */
void until_replaced(void) { int expected = 0; while (!atomic_compare_exchange_strong(&flag, &expected, 1)) expected = 0; } /* SITES: exchange_if 4 seq_cst waits */
void until_replaced_weakly(void) { int expected; do expected = 0; while (!atomic_compare_exchange_weak(&flag, &expected, 1)); } /* SITES: exchange_if 4 seq_cst waits */

/* A local that code behind the loop, or the next iteration, reads. */
int was_busy(void) { int busy = 0; while (!atomic_load(&flag)) busy = 1; return busy; } /* SITES: atomic_load 4 seq_cst */
int was_busy_with_two(void) { int busy = 0; while (!atomic_load(&flag) && !atomic_load(&other)) busy = 1; return busy; } /* SITES: atomic_load 4 seq_cst, atomic_load 4 seq_cst */
int both_values(void) { int x = 0, y = 0; while ((x = atomic_load(&flag)) < 2 && (y = atomic_load(&other)) < 2); return x + y; } /* SITES: atomic_load 4 seq_cst, atomic_load 4 seq_cst */
int last_but_one(void) { int now = 0, before; do { before = now; now = atomic_load(&flag); } while (!now); return before; } /* SITES: atomic_load 4 seq_cst */
void at_most_of_two(int tries) { while (!atomic_load(&flag) && !atomic_load(&other) && tries--); } /* SITES: atomic_load 4 seq_cst, atomic_load 4 seq_cst */

/* Other values are expected the second time. */
void until_added(void) { int expected = 0; while (!atomic_compare_exchange_strong(&flag, &expected, expected + 1)); } /* SITES: exchange_if 4 seq_cst */
void until_either_expected(void) { int expected = 5; while (!atomic_compare_exchange_strong(&flag, &expected, 1)) expected = 0; } /* SITES: exchange_if 4 seq_cst */
void until_expected(int expected) { while (!atomic_compare_exchange_strong(&flag, &expected, 1)) expected = 0; } /* SITES: exchange_if 4 seq_cst */
int found(void) { int expected = 0, found = 0; while (!atomic_compare_exchange_strong(&flag, &expected, 1)) { found = expected; expected = 0; } return found; } /* SITES: exchange_if 4 seq_cst */
