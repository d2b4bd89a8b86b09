/*
 * Checkpoints: the memory of a run where it stood at one of its decisions, on top of the image of the
 * starting point. They form a stack: each holds what differs from the one below, and goes when the run
 * that begins does not pass through it.
 *
 * Only the target's memory is held: a run that has changed anything else has no checkpoint behind
 * that (undo.h, undo_obstacle()). All of it lies in one block of shared memory of a given size.
 *
 * Runs in the rewind server, with no thread of the target moving.
 */
#ifndef RADDLE_RUNTIME_RESTART_CHECKPOINT_H
#define RADDLE_RUNTIME_RESTART_CHECKPOINT_H

#include <stdbool.h>
#include <stdint.h>

#include "model/schedule.h"
#include "platform/platform.h"
#include "runtime/restart/image.h"

struct checkpoints;

/* Where in the run: before entry `entry` of its history, whose record is at `at`. */
struct checkpoint_place {
	struct context context; /* of the moving thread */
	uint32_t entry;
	uint64_t at;
	uint64_t ticks;	  /* that the run had taken by then */
	bool is_timed;	  /* made because of the time: see pay.h */
	bool is_profiled; /* all accesses of the run so far have been seen by a profiling run */
};

/* For images without any; `bytes` of memory for all of them together. NULL: there is not so much. */
struct checkpoints *checkpoints_new(uint64_t bytes);
/* The image is a new one: none is left. */
void checkpoints_begin(struct checkpoints *checkpoints, struct image *image);

/* False: there is no room, or a thread stands on memory that is not known. Nothing has changed then. */
bool checkpoint_take(struct checkpoints *checkpoints, const struct checkpoint_place *place,
	const struct schedule *recording);

/* The last one, NULL: there is none. */
const struct checkpoint_place *checkpoints_last(struct checkpoints *checkpoints);
/* Drops the last one. */
void checkpoints_drop(struct checkpoints *checkpoints);
/* A run begins at the last one. */
void checkpoints_count_use(struct checkpoints *checkpoints);
/* Ticks that it has saved to the runs that began there, beyond what the one before it would have. */
uint64_t checkpoints_saved(const struct checkpoints *checkpoints);

/*
 * Puts the memory back to the last checkpoint, or without any to the starting point. Counts the pages.
 * False: it cannot be, and the process is of no use any more.
 */
bool checkpoints_restore(
	struct checkpoints *checkpoints, struct schedule *recording, uint64_t *pages);

#endif
