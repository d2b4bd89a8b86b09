/*
 * Signals for the target that are sent to raddle. Whoever started "the program" in its one run (a service
 * manager, a script) knows raddle's process only: what it sends there is meant for the program.
 *
 * Between forward_begin() and forward_end() such signals are kept, and passed on by whoever polls. SIGINT
 * and SIGTERM are the program's to answer, too; the second of them is meant for raddle.
 * Thread context: the command's only thread; a handler interrupts it.
 */
#ifndef RADDLE_PROCESS_FORWARD_H
#define RADDLE_PROCESS_FORWARD_H

#include <stdbool.h>
#include <sys/types.h>

#include "model/outcome.h"

/* What is ignored (nohup) stays so. */
void forward_begin(void);
/* What these signals did before, they do again. Without effect when nothing was begun. */
void forward_end(void);

/* Sends what has come since the last call; a process that has ended gets nothing. */
void forward_pass_on(pid_t target);
/* SIGINT and SIGTERM that have come: 1: the target is to end, more: raddle, too. */
unsigned forward_stop_count(void);
/* Has the target died of a signal that it was passed, for want of a handler? */
bool forward_has_ended(const struct outcome *outcome);

#endif
