/* What a process runs, read from /proc when it has just executed it. */
#ifndef RADDLE_COMMANDS_FOLLOW_FOLLOW_PROGRAM_H
#define RADDLE_COMMANDS_FOLLOW_FOLLOW_PROGRAM_H

#include <stdbool.h>
#include <sys/types.h>

#include "commands/follow/follow.h"

/* Shared by the processes that run it: `users` is how many. */
struct followed_program {
	struct follow_program program;
	unsigned users;
	bool has_lost_rights; /* set-user-id and the like, of which tracing takes the effect */
};

/* NULL: the process is gone. One user, to be given up with followed_program_leave. */
struct followed_program *followed_program_read(pid_t pid);
void followed_program_leave(struct followed_program *program);

/* The process that this task is a thread of; 0: it is gone. */
pid_t followed_task_process(pid_t task);

#endif
