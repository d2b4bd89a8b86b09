/*
 * A process that outlives the command if the command is killed, and then kills everything that descends from it, also
 * what has left its process group and session. docs/decisions/0020-supervisor.md compares the alternatives.
 *
 * Descendants are known by a mark: the limit of file locks (RLIMIT_LOCKS), which Linux ignores since 2.4.25 and
 * which every process inherits through fork, exec and setsid. It costs runs nothing, and
 * workers stay children of the command.
 */
#ifndef RADDLE_PROCESS_SUPERVISOR_H
#define RADDLE_PROCESS_SUPERVISOR_H

#include <sys/types.h>

/* Starts it and marks this process; once is enough. The supervisor ends with the command. */
void supervisor_start(void);

/* The supervisor, a child of the process that started it; 0: there is none. */
pid_t supervisor_pid(void);

#endif
