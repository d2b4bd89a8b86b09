/*
 * Runs of a strategy that needs the accesses to a few variables only: other sites are off. Which sites may
 * touch a variable is known by *groups*: sites of one group may touch the same variables (points-to
 * analysis, plan/chosen.h), and a group *meets* another where there is one that both may touch. What
 * a site has touched is one of its group's variables, so whoever else touches it is of a group that meets
 * it. A variable of the strategy's, eight bytes, may be several of the analysis's; all that have been
 * touched so far are minded, so all accesses of earlier runs are seen again. Of static data and of the locals of main
 * it is known from the beginning who may touch them (memory_object).
 *
 * A site that is on touches other variables, too. Those are no points either, and after the first time most of
 * these accesses are done with in a few instructions (quick.h).
 *
 * Where accesses are no points, a thread that lets others go on would keep the turn until its next point,
 * and the strategy would decide elsewhere than with all sites on. So in such a run every interposed function that
 * has let somebody go on ends with a point of its own (OP_GO_ON).
 *
 * Runs in whoever starts runs, and in the moving thread.
 */
#ifndef RADDLE_RUNTIME_FOCUS_H
#define RADDLE_RUNTIME_FOCUS_H

#include <stdbool.h>
#include <stdint.h>

/* Behind memory_prepare_run(). True: the run has other points than the last one. */
bool focus_prepare_run(uint64_t number);
/* The run begins, or goes on from a checkpoint. */
void focus_begin_run(void);
/* For ENTER(). */
void focus_left(const char *unused);

#endif
