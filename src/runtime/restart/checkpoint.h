/*
 * Checkpoints: the memory of a run at one of its decisions, relative to the image of the starting
 * point. Checkpoints form a stack: each holds the differences to the one below, and is dropped when
 * the next run does not pass through it.
 *
 * A checkpoint holds only memory of the target. A run that has changed any other state takes none
 * after that (undo_obstacle(), undo.h). All lie in one block of shared memory of fixed size. Runs
 * in the rewind server, while no thread of the target moves.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "model/schedule.h"
#include "platform/platform.h"
#include "runtime/restart/image.h"

struct checkpoints;

/* A position in a run: before entry `entry` of its history, whose record is at `at`. */
struct checkpoint_position {
	struct context context; /* context of the moving thread */
	uint32_t entry;
	uint64_t at;
	uint64_t ticks;	  /* ticks of the run until then */
	bool is_timed;	  /* taken because the run was long: see checkpoint_cost.h */
	bool is_profiled; /* a profiling run has seen all accesses of the run so far */
};

/* Allocates memory for all checkpoints together, without an image; returns NULL if out of memory. */
struct checkpoints *checkpoints_new(uint64_t bytes);
void checkpoints_begin(struct checkpoints *checkpoints, struct image *image);

/* Takes a checkpoint. Returns false if there is no room, or a thread's stack pointer is in unknown
 * memory; nothing has changed then. */
bool checkpoint_take(struct checkpoints *checkpoints, const struct checkpoint_position *position,
	const struct schedule *recording);

/* Returns the newest checkpoint, or NULL. */
const struct checkpoint_position *checkpoints_last(struct checkpoints *checkpoints);
void checkpoints_drop(struct checkpoints *checkpoints);
/* Counts a run that begins at the newest checkpoint. */
void checkpoints_count_use(struct checkpoints *checkpoints);
/* Returns the ticks that the newest checkpoint has saved its runs, compared with the one before
 * it. */
uint64_t checkpoints_saved(const struct checkpoints *checkpoints);

/* Restores the newest checkpoint, or without any the starting point. Adds to the count of pages.
 * Returns false if impossible, and the process is unusable. */
bool checkpoints_restore(
	struct checkpoints *checkpoints, struct schedule *recording, uint64_t *pages);
