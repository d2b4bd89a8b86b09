/* Reads the program of a process from /proc right after its exec, and says how to explore it. */
#pragma once

#include <stdbool.h>
#include <sys/types.h>

#include "base/strbuf.h"
#include "commands/follow/follow.h"

/* A program, shared by the processes that run it; `users` counts them. */
struct followed_program {
	struct follow_program program;
	unsigned users;
	bool has_lost_rights; /* set-user-id or similar, which tracing disables */
};

/* Reads the program, with one reference for followed_program_leave(). Returns NULL if the process
 * no longer exists. */
struct followed_program *followed_program_read(pid_t pid);
void followed_program_leave(struct followed_program *program);

/* Returns the process that the thread belongs to; 0: it no longer exists. */
pid_t followed_task_process(pid_t task);

/* Appends /proc/PID/NAME to the text. Returns false if it cannot be read. */
bool follow_program_read_file(pid_t pid, const char *name, struct strbuf *out);

/* Returns whether the program belongs to the system. A runner starts shells, tools and
 * interpreters, which are not under test. */
bool follow_program_is_of_system(const char *path);
/* Returns the word of --tolerate for the way in which a process failed natively, which its parent
 * judges: a test that must abort is started like this. Returns NULL if it passed, or if another process ended it. */
const char *follow_program_expected(int wait_status);
/* Returns the text that is equal for programs with the same command line and folder. */
char *follow_program_key(const struct follow_program *program);
