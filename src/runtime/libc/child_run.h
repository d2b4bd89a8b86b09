/*
 * Schedules of forked children, with plan.has_forked_children. The run begins at the program's
 * first fork or first thread creation. At each fork the parent's schedule gains a value that
 * determines the child's seed, which schedules the child's threads from their first creation on. A
 * schedule of the parent therefore determines the schedules of all its children. The moving thread
 * of each process calls these functions.
 */
#pragma once

#include <stdint.h>

#include "model/outcome/outcome.h"

void child_run_prepare_fork(void);
/* Called in the child, before process_become_child(). */
void child_run_forked(void);
/* Called in a child before its first thread creation: begins its run. */
void child_run_begin(void);
/* Returns the parent's thread that forked this process. */
struct thread_id child_run_forker(void);
/* Returns the index of the first thread that this process created. */
uint32_t child_run_first_own(void);
/* Called in a child that a signal kills: records the death for the report of a failing run. */
void child_run_report_death(enum outcome_kind kind, int signal, uint64_t site, uint64_t address);
/* Called in the process of the run: replaces a failing exit status by a child's death. */
void child_run_take_death(struct outcome *outcome);
