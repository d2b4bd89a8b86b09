/*
 * Schedules of forked children, with plan.has_forked_children. The run of the program begins at its first fork or thread,
 * whichever comes first. At each fork the schedule of the parent gains a value, from which the seed of the child
 * follows; the child's threads are scheduled by that seed from their first creation on. So a schedule of
 * the parent stands for the schedules of all its children, and a replay makes these again.
 *
 * Called by the moving thread of its process.
 */
#ifndef RADDLE_RUNTIME_CHILD_RUN_H
#define RADDLE_RUNTIME_CHILD_RUN_H

#include <stdint.h>

#include "model/outcome.h"

/* Before a fork. */
void child_run_prepare_fork(void);
/* In the child, before it is one. */
void child_run_forked(void);
/* In a child, which makes its first thread. */
void child_run_begin(void);
/* The thread of its parent that has forked it. */
struct thread_id child_run_forker(void);
/* Index of the first thread that this process has made itself. */
uint32_t child_run_first_own(void);
/* In a child that dies of a signal: what the run is told, if it fails. */
void child_run_tell_death(enum outcome_kind kind, int signal, uint64_t site, uint64_t address);
/* In the process of the run, which ends with this outcome: it is that of a child that has died before. */
void child_run_take_death(struct outcome *outcome);

#endif
