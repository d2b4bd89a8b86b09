/*
 * Child processes of the command: nobody stays behind, and no death is missed.
 *
 * The command makes itself the reaper of its descendants, so whatever a target leaves behind
 * becomes a child of the command and is found here. A SIGCHLD handler increments the doorbells that
 * are watched: whoever sleeps on such a word with the value it last read wakes at a death.
 * Thread context: the command's only thread; the handler interrupts it.
 */
#ifndef RADDLE_PROCESS_CHILDREN_H
#define RADDLE_PROCESS_CHILDREN_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* Workers at most; more than any machine's processors is of no use. */
#define CHILDREN_WORKERS_MAX 256

/* Installs the handler, becomes the reaper and starts the supervisor. May be called again. */
void children_init(void);

/* In a copy of this process (fork): none of the children are its own. */
void children_forget(void);

void children_watch(uint32_t *doorbell);
void children_unwatch(uint32_t *doorbell);

/* A process that is meant to live, until children_remove(): whatever else is a child is a stray. */
void children_add(pid_t pid);
void children_remove(pid_t pid);

/* Kills all that were added, with their groups. Makes system calls only. */
void children_kill_added(void);

/*
 * Kills and reaps every stray, and what it leaves to us in turn. A stray cannot be told from a
 * process that another live run still needs: call it while no run is under way, or only one's own
 * has just ended.
 */
void children_kill_strays(void);
/* children_add() of what is a child and was not added; false: it is no such process. */
bool children_adopt(pid_t pid);
/* Reaps the strays that have ended by themselves, but one. How many are left; 0 also where nobody can tell. */
unsigned children_reap_strays(pid_t except);
/* Does the process descend from this one? */
bool children_is_descendant(pid_t pid);
/* Processes that were added and not removed. */
unsigned children_count(void);

#endif
