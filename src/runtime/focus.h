/*
 * Runs of a strategy that needs the accesses to a few variables only: all other sites are off.
 *
 * *Groups* tell which sites may touch a variable: sites of one group may touch the same variables (points-to
 * analysis, plan/chosen.h). Two groups *meet* when some variable may be touched by both. A site that touched a
 * variable belongs to a group, so every other site that may touch this variable belongs to a group that meets that
 * one. A variable of the strategy, eight bytes, may cover several variables of the analysis. All groups that have
 * touched it so far count, so the run sees all accesses of earlier runs again. For static data and the locals of
 * main the groups are known from the beginning (memory_object).
 *
 * A site that is on touches other variables, too. Those are no points, and after the first access quick.h passes
 * most of these accesses in a few instructions.
 *
 * A thread that wakes another thread would otherwise keep running until its next point, and the strategy would
 * decide elsewhere than with all sites on. So in such a run every interposed function that has enabled another
 * thread ends with a scheduling point (OP_GO_ON).
 *
 * Runs in the code that starts runs, and in the moving thread.
 */
#ifndef RADDLE_RUNTIME_FOCUS_H
#define RADDLE_RUNTIME_FOCUS_H

#include <stdbool.h>
#include <stdint.h>

/* Called after memory_prepare_run(). True: the run may have other points than the last one. */
bool focus_prepare_run(uint64_t number);
/* Called when the run begins or continues from a checkpoint. */
void focus_begin_run(void);
/* Cleanup of ENTER(): makes the OP_GO_ON point if the interposed function has enabled another thread. */
void focus_left(const char *unused);

#endif
