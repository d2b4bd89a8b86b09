/* Reads of the processor's time stamp counter, which show virtual time (time/time_stamp_counter.c). */
#pragma once

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>

/* Called once where time is virtual and the vDSO does not read the counter. If the target contains
 * the instruction, the functions below have an effect. */
void time_stamp_counter_set_up(void);
/* Makes the reads of this kernel thread, and of threads that it creates later, raise SIGSEGV. */
void time_stamp_counter_trap(void);
/* Undoes that. */
void time_stamp_counter_release(void);
/* Returns true if the signal is such a read. SIGSYS then follows at the same instruction. */
bool time_stamp_counter_has_trapped(int signal, const siginfo_t *info, const void *context);
/* Executes the instruction in the handler of that SIGSYS. May schedule other threads. */
void time_stamp_counter_read(void *context);
/* Returns the real counter; where reads are trapped, real time in units of similar length. */
uint64_t time_stamp_counter_real(void);
