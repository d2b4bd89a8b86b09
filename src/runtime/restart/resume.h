/* Chooses where a run begins under the restart by rewind: at the starting point, or at a checkpoint
 * of an earlier run. Combines the history of the last run (strategies/history.h), the checkpoints
 * (checkpoint.h) and their cost model (checkpoint_cost.h). Checkpoints change no result: runs, their numbers
 * and their findings are the same without them. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "model/view.h"
#include "runtime/restart/checkpoint.h"

struct history;

/* Called once, before the starting point. If memory is short, all runs begin there. */
void resume_set_up(void);
/* Called in the server, after the image. */
void resume_begin(struct image *image);

/* Called in the server before each run; begins the run for the strategy if it has a history.
 * Returns NULL for the starting point. */
const struct checkpoint_position *resume_choose(uint64_t number);
/* Restores the memory for the chosen run. Returns false if impossible. */
bool resume_restore(struct image *image, uint64_t *pages);
/* Returns the history that wraps the strategy in this run, or NULL. */
struct history *resume_history(void);
void resume_run_ended(void);
/* Drops checkpoints and history. */
void resume_forget(void);
/* Called when the program did not repeat its earlier behaviour: no more checkpoints. */
void resume_give_up(void);

/* Called in the moving thread at a decision. RESUME_TAKE: a checkpoint is due, and `position` is
 * filled except for its context. RESUME_ABANDON: the run differs from its history and must be made
 * again. */
enum resume_wish { RESUME_CONTINUE, RESUME_TAKE, RESUME_ABANDON };
enum resume_wish resume_at_decision(
	const struct schedule_view *view, struct checkpoint_position *position);
/* Called in the server. */
void resume_take(const struct checkpoint_position *position);
/* Called in the moving thread, when it continues after a checkpoint was taken, or from one. */
void resume_continue(void);
