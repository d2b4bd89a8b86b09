/*
 * The supervisor survives a killed command, and kills all its descendants, even those that left its
 * process group and session (docs/decisions/0020-supervisor.md).
 *
 * Descendants are identified by a mark: the limit of file locks (RLIMIT_LOCKS). Linux ignores this
 * limit since 2.4.25, and every process inherits it through fork, exec and setsid. The mark costs
 * runs nothing, and workers stay children of the command.
 */
#pragma once

#include <sys/types.h>

/* Starts the supervisor, which ends with the command. Repeated calls have no effect. */
void supervisor_start(void);

/* Process id of the supervisor, a child of the process that started it; 0: none. */
pid_t supervisor_pid(void);
