#include "runtime/restart/resume.h"

#include <string.h>

#include "base/text.h"
#include "abi/contract_memory.h"
#include "runtime/libc/time_stamp_counter.h"
#include "runtime/restart/checkpoint_cost.h"
#include "runtime/runtime.h"
#include "runtime/sites.h"
#include "runtime/undo.h"
#include "strategies/history.h"

/* Share of the checkpoints' memory for a run's history. */
#define HISTORY_SHARE 8

/* While no divergence is known, only every n-th decision may become a checkpoint. */
#define DECISIONS_BETWEEN 8

/* The state of checkpoints. It lies in shared memory; `resume` is set before the starting point. */
struct resume {
	struct history *history;
	uint64_t history_bytes;
	struct checkpoints *checkpoints;
	struct contract_plan plan;
	bool is_known; /* a history exists */
	bool is_on;    /* the current run has a history */
	bool is_given_up;
	bool is_profile; /* the current run is a profiling run */
	struct checkpoint_cost cost;
	uint64_t begun; /* ticks when work on the run began */
	/* Ticks when the run began or continued, at the starting point or a checkpoint. */
	uint64_t moved;
	uint64_t behind; /* ticks of the run before `moved` */
};

static struct resume *resume;

void resume_set_up(void)
{
	const struct contract_plan *plan = &runtime.contract->plan;
	const uint64_t part = plan->checkpoint_bytes / HISTORY_SHARE;

	if (plan->checkpoints == CHECKPOINTS_NEVER || part <= sizeof(struct history))
		return;
	resume = platform_map(sizeof *resume, true);
	if (!resume)
		return;
	resume->history_bytes = part;
	resume->history = platform_map(part, true);
	resume->checkpoints = checkpoints_new(plan->checkpoint_bytes - part);
	resume->is_given_up = !resume->history || !resume->checkpoints;
	checkpoint_cost_begin(&resume->cost);
}

void resume_begin(struct image *image)
{
	if (resume && resume->checkpoints)
		checkpoints_begin(resume->checkpoints, image);
}

/* Returns true for exhaustive strategies and runs whose whole state a checkpoint holds. */
static bool resume_is_possible(const struct contract *contract)
{
	const struct contract_plan *plan = &contract->plan;
	const struct strategy *strategy = strategies[plan->strategy];

	return !resume->is_given_up && plan->checkpoints != CHECKPOINTS_NEVER &&
	       strategy->search.is_exhausted && strategy->choose_value && !plan->is_traced &&
	       !plan->detectors && !plan->has_contexts && !plan->without_virtual_time &&
	       !contract->spin.is_needed;
}

static bool resume_is_same_plan(struct contract_plan plan)
{
	const struct contract_plan *old = &resume->plan;

	plan.run_first = old->run_first;
	plan.run_limit = old->run_limit;
	plan.is_fresh_state = old->is_fresh_state;
	plan.stop_at_failure = old->stop_at_failure;
	return memcmp(&plan, old, sizeof plan) == 0;
}

/* Drops checkpoints behind the entry; with `is_profiled` also those of unprofiled runs. */
static void resume_drop(uint32_t entry, bool is_profiled)
{
	const struct checkpoint_position *last;

	while ((last = checkpoints_last(resume->checkpoints)) != NULL &&
		(last->entry > entry || (is_profiled && !last->is_profiled))) {
		if (last->is_timed)
			checkpoint_cost_dropped(
				&resume->cost, checkpoints_saved(resume->checkpoints));
		checkpoints_drop(resume->checkpoints);
	}
}

void resume_forget(void)
{
	if (!resume || !resume->checkpoints)
		return;
	resume->is_known = false;
	resume_drop(0, false); /* every checkpoint is behind the first entry */
}

static void resume_begin_history(const struct contract *contract)
{
	const struct contract_plan *plan = &contract->plan;

	resume->plan = *plan;
	resume->is_known = true;
	history_begin(resume->history, resume->history_bytes, strategies[plan->strategy],
		contract_area(runtime.contract, contract->strategy_offset));
}

const struct checkpoint_position *resume_choose(uint64_t number)
{
	struct contract *contract = runtime.contract;
	const struct contract_memory *memory;
	const struct checkpoint_position *position;
	uint32_t same;

	if (!resume)
		return NULL;
	resume->begun = time_stamp_counter_real();
	resume->behind = 0;
	resume->is_on =
		resume_is_possible(contract) && (contract->plan.checkpoints == CHECKPOINTS_ALWAYS ||
							resume->cost.mode == CHECKPOINT_COST_WITH);
	if (!resume->is_on ||
		(number == contract->plan.run_first && !resume_is_same_plan(contract->plan)))
		resume_forget();
	if (!resume->is_on)
		return NULL;
	if (runtime_renew_strategy())
		resume_forget();
	if (!resume->is_known)
		resume_begin_history(contract);
	memory = sites_memory();
	resume->is_profile = !memory || memory->was_profile;
	same = history_begin_run(resume->history, runtime_seed(number));
	resume_drop(same, memory && memory->was_profile);
	position = checkpoints_last(resume->checkpoints);
	checkpoint_cost_diverged(&resume->cost, same);
	if (!position)
		return NULL;
	history_resume(resume->history, position->entry, position->at);
	contract->totals.runs_resumed++;
	checkpoints_count_use(resume->checkpoints);
	resume->behind = position->ticks;
	return position;
}

bool resume_restore(struct image *image, uint64_t *pages)
{
	struct contract *contract = runtime.contract;
	bool is_complete, is_restored;

	if (resume && resume->checkpoints)
		return checkpoints_restore(resume->checkpoints,
			contract_area(contract, contract->schedule_offset), pages);
	is_complete = undo_memory(NULL);
	*pages += image_restore(image, NULL, &is_restored);
	return is_complete && is_restored;
}

struct history *resume_history(void)
{
	return resume && resume->is_on ? resume->history : NULL;
}

void resume_run_ended(void)
{
	if (resume)
		checkpoint_cost_run_ended(&resume->cost, time_stamp_counter_real() - resume->begun);
}

void resume_give_up(void)
{
	resume_forget();
	resume->is_given_up = true;
}

static const char *resume_obstacle(void)
{
	if (runtime.contract->taint != TAINT_NONE)
		return "did what no rewind undoes";
	if (fiber_made_since_snapshot(NULL, 0))
		return "made more threads than any run before";
	if (engine_has_used_seed())
		return "used random choices";
	return undo_obstacle();
}

static void resume_report_obstacle(const char *obstacle)
{
	struct contract *contract = runtime.contract;
	struct text text;

	if (contract->checkpoint_text[0])
		return;
	text_init(&text, contract->checkpoint_text, sizeof contract->checkpoint_text);
	text_add(&text, obstacle);
}

/* Returns whether the counts of a known divergence decide. They do not where this run leaves the last one: runs
 * hardly return there. */
static bool resume_has_counts(void)
{
	const struct history *history = resume->history;

	return checkpoint_cost_knows(&resume->cost, history->number) &&
	       history->number != history->decided;
}

/* Returns whether a checkpoint is due. `ticks`: since the run began, continued or had its last
 * obstacle. */
static bool resume_wants(const struct checkpoint_position *last, uint64_t ticks, bool *is_timed)
{
	*is_timed = checkpoint_cost_saves(&resume->cost, ticks);
	if (resume_has_counts()) {
		*is_timed = false;
		return checkpoint_cost_saves_at(&resume->cost, resume->history->number,
			resume->behind + ticks - (last ? last->ticks : 0));
	}
	return *is_timed;
}

/* Returns whether this is a position for a checkpoint. Reading the clock at every decision costs too
 * much. */
static bool resume_is_position(void)
{
	const struct history *history = resume->history;

	if (!history->number || !history->is_whole)
		return false;
	if (runtime.contract->plan.checkpoints == CHECKPOINTS_ALWAYS)
		return true;
	return resume_has_counts() ? checkpoint_cost_may_save_at(&resume->cost, history->number)
				   : history->number % DECISIONS_BETWEEN == 0 ||
					     checkpoint_cost_knows(&resume->cost, history->number);
}

enum resume_wish resume_at_decision(
	const struct schedule_view *view, struct checkpoint_position *position)
{
	const struct checkpoint_position *last;
	const char *obstacle;
	bool is_timed;
	uint64_t ticks;

	if (!resume || !resume->is_on)
		return RESUME_CONTINUE;
	if (!history_matches(resume->history, view))
		return RESUME_ABANDON;
	if (!resume_is_position())
		return RESUME_CONTINUE;
	last = checkpoints_last(resume->checkpoints);
	if (last && last->entry >= resume->history->number)
		return RESUME_CONTINUE;
	ticks = time_stamp_counter_real() - resume->moved;
	if (!resume_wants(last, ticks, &is_timed) &&
		runtime.contract->plan.checkpoints != CHECKPOINTS_ALWAYS)
		return RESUME_CONTINUE;
	obstacle = resume_obstacle();
	if (obstacle) {
		resume_report_obstacle(obstacle);
		resume->moved += ticks; /* defers the next check */
		resume->behind += ticks;
		return RESUME_CONTINUE;
	}
	*position = (struct checkpoint_position){.entry = resume->history->number,
		.at = resume->history->at,
		.is_timed = is_timed,
		.is_profiled = resume->is_profile,
		.ticks = resume->behind + ticks};
	return RESUME_TAKE;
}

void resume_take(const struct checkpoint_position *position)
{
	struct contract *contract = runtime.contract;
	const uint64_t start = time_stamp_counter_real();

	resume->behind = position->ticks;
	if (checkpoint_take(resume->checkpoints, position,
		    contract_area(contract, contract->schedule_offset)))
		contract->totals.checkpoints_taken++;
	checkpoint_cost_taken(&resume->cost, position->is_timed, time_stamp_counter_real() - start);
}

void resume_continue(void)
{
	if (resume)
		resume->moved = time_stamp_counter_real();
}
