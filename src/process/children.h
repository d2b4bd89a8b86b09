/*
 * Child processes of the command: none survives it, and no death is missed.
 *
 * The command is the reaper (child subreaper) of its descendants: a process that a target leaves
 * behind becomes an unregistered child, a stray. A SIGCHLD handler increments all watched
 * doorbells, so that a sleeper wakes at a death.
 *
 * Thread context: the command's only thread; the handler interrupts it.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* Maximum number of workers; more than the number of processors is useless. */
#define CHILDREN_WORKERS_MAX 256

/* Installs the handler, becomes the reaper and starts the supervisor. May be called again. */
void children_init(void);

/* Call after fork(): the registered children belong to the parent. */
void children_forget(void);

/* Adds or removes a doorbell that the handler increments. */
void children_watch(uint32_t *doorbell);
void children_unwatch(uint32_t *doorbell);

/* Registers a process that may live until children_remove(). Every other child is a stray. */
void children_add(pid_t pid);
void children_remove(pid_t pid);

/* Registers a helper of the command's own, which its caller ends. No function below kills it. */
void children_keep(pid_t pid);
void children_keep_end(pid_t pid);

/* Kills all registered processes and their groups. Async-signal-safe: makes system calls only. */
void children_kill_added(void);

/* Kills all strays, also those that appear by these deaths. Call only if no run is under way, or
 * the caller's own run has ended: a live run's process looks like a stray. */
void children_kill_strays(void);
/* Registers the stray that is `pid` or has it as a descendant: a fork server may have started a run.
 * Returns the stray's id, or 0 if there is none. */
pid_t children_adopt(pid_t pid);
/* Reaps ended strays except `except`. Returns the number of those that remain; 0 if they cannot be
 * listed. */
unsigned children_reap_strays(pid_t except);
bool children_is_descendant(pid_t pid);

#define CHILDREN_STAT_BYTES 512
/* Reads /proc/PID/stat. Returns the bracket behind the process name, which may contain any character;
 * NULL: there is no such process. */
const char *children_read_stat(pid_t pid, char text[CHILDREN_STAT_BYTES]);
unsigned children_count(void);
