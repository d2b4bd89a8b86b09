/*
 * Where a run begins under the restart by rewind: at the starting point, or at a checkpoint that an
 * earlier run left at one of its decisions. Joins the history of the last run (strategies/history.h),
 * the checkpoints (checkpoint.h), and the judgement whether they pay (pay.h).
 *
 * The runs, their numbers and what is found in them are the same with checkpoints and without.
 */
#ifndef RADDLE_RUNTIME_RESTART_RESUME_H
#define RADDLE_RUNTIME_RESTART_RESUME_H

#include <stdbool.h>
#include <stdint.h>

#include "model/view.h"
#include "runtime/restart/checkpoint.h"

struct history;

/* Once, before the starting point. Without memory for it all runs begin at the starting point. */
void resume_set_up(void);
/* In the server: an image has been taken. */
void resume_begin(struct image *image);

/*
 * In the server, before each run: begins it for the strategy where it has a history, and says where it
 * goes on; NULL: at the starting point.
 */
const struct checkpoint_place *resume_choose(uint64_t number);
/* Puts back the memory for the run that was chosen; false: impossible. */
bool resume_restore(struct image *image, uint64_t *pages);
/* What the strategy is asked through in this run; NULL: it has none. */
struct history *resume_history(void);
/* The run is over. */
void resume_run_ended(void);
/* No checkpoint is kept. */
void resume_forget(void);
/* The program did not do what it did before: no more of this. */
void resume_give_up(void);

/* In the moving thread, at a decision: is a checkpoint wanted here? Fills the place but for its context. */
enum resume_wish { RESUME_GO_ON, RESUME_TAKE, RESUME_ABANDON };
enum resume_wish resume_at_decision(
	const struct schedule_view *view, struct checkpoint_place *place);
/* In the server: takes it. */
void resume_take(const struct checkpoint_place *place);
/* In the moving thread, when it goes on: after a checkpoint was made, or from one. */
void resume_go_on(void);

#endif
