/* Waiting loops without optimisation, which keeps all values in locals; compiled with -O0. */
/* clang-format off */
#include <sched.h>
#include <stdatomic.h>

extern atomic_int flag;
extern atomic_flag lock;

void until_set(void) { while (!atomic_load(&flag)) sched_yield(); } /* SITES: atomic_load 4 seq_cst waits */
void until_turn(int turn) { while (atomic_load(&flag) != turn); } /* SITES: atomic_load 4 seq_cst waits */
void until_free(void) { while (atomic_flag_test_and_set(&lock)); } /* SITES: update 1 seq_cst waits */
void until_bit_was_clear(void) { while (atomic_fetch_or(&flag, 4) & 4); } /* SITES: update 4 seq_cst waits */

/* The number of iterations, and a turn that the loop changes. */
int rounds(void) { int count = 0; do count++; while (!atomic_load(&flag)); return count; } /* SITES: atomic_load 4 seq_cst */
int late_rounds(void) { int count = 0; while (!atomic_load(&flag)) count++; return count; } /* SITES: atomic_load 4 seq_cst */
void any_turn(int turn) { do turn++; while (atomic_load(&flag) != turn); } /* SITES: atomic_load 4 seq_cst */
