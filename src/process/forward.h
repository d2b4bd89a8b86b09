/*
 * Forwards signals from raddle to the target: their sender (a service manager, a script) knows only
 * raddle's process.
 *
 * Between forward_begin() and forward_end() such signals are queued, and forward_pass_on() sends
 * them, including SIGINT and SIGTERM; a second one of these ends raddle.
 *
 * Thread context: the command's only thread; a handler interrupts it.
 */
#pragma once

#include <stdbool.h>
#include <sys/types.h>

#include "model/outcome/outcome.h"

/* Installs the handlers. An ignored signal (nohup) stays ignored. */
void forward_begin(void);
/* Restores the previous handlers. The call has no effect without forward_begin(). */
void forward_end(void);

/* Sends the signals queued since the last call. Errors are ignored: the process may have ended. */
void forward_pass_on(pid_t target);
/* Returns the number of SIGINT and SIGTERM received. 1: the target shall end; more: raddle shall
 * end, too. */
unsigned forward_stop_count(void);
/* Returns true if the target died of a forwarded signal that it has no handler for. */
bool forward_has_ended(const struct outcome *outcome);
