/*
 * Runs of a strategy that needs the accesses to a few variables only: all other sites are off.
 *
 * *Groups* show which sites may touch a variable: sites of one group may touch the same variables
 * (points-to analysis, plan/memory/chosen.h). Two groups *overlap* when both may touch some variable.
 * A run has seen some sites touch a variable. All other sites that may touch it, too, are in groups
 * that overlap the groups of these sites. A variable of the strategy, eight bytes, may cover several variables of
 * the analysis: all groups that have touched it so far count. memory_object gives the groups of
 * static data and of main's locals in advance.
 *
 * Accesses of such sites to other variables are no points, and quick.h passes most of them.
 *
 * A thread that wakes another thread would keep running until its next point, unlike in runs with
 * all sites on. Every interposed function that has enabled another thread therefore ends with a
 * scheduling point (OP_AFTER_ENABLE). Part of the runs of unmodified binaries have the same *interruption points*
 * (docs/decisions/0030-interruption-points.md).
 *
 * Runs in the code that starts runs, and in the moving thread.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* Called after memory_prepare_run(). Returns true if the run may have other points than the last
 * one. */
bool focus_prepare_run(uint64_t number);
/* Called when a run begins or continues from a checkpoint. */
void focus_begin_run(void);
/* Called when an interposed function returns (ENTER()). If the call has enabled another thread, for example by an
 * unlock, this adds a scheduling point, at which that thread may run before the caller continues. */
void focus_left(const char *unused);
