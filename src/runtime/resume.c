/* See resume.h. */
#include "runtime/resume.h"

#include <string.h>

#include "base/text.h"
#include "runtime/contract_memory.h"
#include "runtime/pay.h"
#include "runtime/runtime.h"
#include "runtime/sites.h"
#include "runtime/undo.h"
#include "strategies/history.h"

/* Of the memory for checkpoints, for the record of a run. */
#define HISTORY_SHARE 8

/* Of so many entries it is known whether runs have parted there, */
#define PARTED_ENTRIES 4096
/* and where they have so often, others will. */
#define PARTED_OFTEN 2

/* In shared memory, with `resume` set before the starting point. */
struct resume {
	struct history *history;
	uint64_t history_bytes;
	struct checkpoints *checkpoints;
	struct contract_plan plan; /* under which the history was written */
	bool is_known;		   /* there is a history */
	bool is_on;		   /* the run at hand has one */
	bool is_given_up;
	bool is_profile; /* the run at hand is a profiling run */
	struct pay pay;
	uint64_t begun;	 /* ticks: when work on the run began, */
	uint64_t moved;	 /* when it went on from a checkpoint or the starting point */
	uint64_t behind; /* ticks of the run before that */
	uint32_t
		wanted; /* entry that the run at hand is to leave a checkpoint at, UINT32_MAX: none, */
	uint32_t height;     /* and its height */
	uint32_t last_count; /* entries of the run before */
	/* By entry: how often runs parted there, up to PARTED_OFTEN. */
	uint8_t parted[PARTED_ENTRIES];
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
	pay_begin(&resume->pay);
}

void resume_begin(struct image *image)
{
	if (resume && resume->checkpoints)
		checkpoints_begin(resume->checkpoints, image);
}

/* ---- which runs ---- */

/* Runs of strategies that go through all runs, with nothing in them that a checkpoint lacks. */
static bool resume_is_possible(const struct contract *contract)
{
	const struct contract_plan *plan = &contract->plan;
	const struct strategy *strategy = strategies[plan->strategy];

	return !resume->is_given_up && plan->checkpoints != CHECKPOINTS_NEVER &&
	       strategy->is_exhausted && strategy->choose_value && !plan->is_traced &&
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

/* Drops the checkpoints behind that entry, and with `is_profiled` those of runs that were not. */
static void resume_drop(uint32_t entry, bool is_profiled)
{
	const struct checkpoint_place *last;

	while ((last = checkpoints_last(resume->checkpoints)) != NULL &&
		(last->entry > entry || (is_profiled && !last->is_profiled))) {
		pay_dropped(&resume->pay, last->height, checkpoints_saved(resume->checkpoints));
		checkpoints_drop(resume->checkpoints);
	}
}

void resume_forget(void)
{
	if (!resume || !resume->checkpoints)
		return;
	resume->is_known = false;
	resume_drop(0, false); /* none is before the first entry */
}

/*
 * The run at hand leaves the last one here. If strategies go depth first, the next ones do so, too, or behind:
 * a checkpoint saves them the way, the more of them the longer the part is that is still to be had.
 */
static void resume_want(uint32_t same, uint32_t last_count)
{
	const struct checkpoint_place *last = checkpoints_last(resume->checkpoints);

	resume->wanted = UINT32_MAX;
	resume->last_count = last_count;
	if (same < PARTED_ENTRIES && resume->parted[same] < PARTED_OFTEN)
		resume->parted[same]++;
	if (!same || same >= last_count || (last && last->entry >= same))
		return;
	resume->height = pay_height(last_count - same);
	if (pay_wants_here(&resume->pay, resume->height))
		resume->wanted = same;
}

/*
 * Runs that go another way may part again where others have: a checkpoint that is made when the first one comes by
 * serves all those behind.
 */
static void resume_want_ahead(uint32_t entry)
{
	uint32_t height;

	if (entry >= PARTED_ENTRIES || resume->parted[entry] < PARTED_OFTEN ||
		entry < resume->history->told || entry >= resume->last_count)
		return;
	height = PAY_AHEAD + pay_height(resume->last_count - entry);
	if (!pay_wants_here(&resume->pay, height))
		return;
	resume->wanted = entry;
	resume->height = height;
}

static void resume_begin_history(const struct contract *contract)
{
	const struct contract_plan *plan = &contract->plan;

	resume->plan = *plan;
	resume->is_known = true;
	history_begin(resume->history, resume->history_bytes, strategies[plan->strategy],
		contract_area(runtime.contract, contract->strategy_offset));
}

const struct checkpoint_place *resume_choose(uint64_t number)
{
	struct contract *contract = runtime.contract;
	const struct contract_memory *memory;
	const struct checkpoint_place *place;
	uint32_t same, last_count;

	if (!resume)
		return NULL;
	resume->begun = pay_ticks();
	resume->behind = 0;
	resume->is_on =
		resume_is_possible(contract) &&
		(contract->plan.checkpoints == CHECKPOINTS_ALWAYS || resume->pay.way == PAY_WITH);
	/* The host changes the plan between batches only. */
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
	last_count = resume->history->count;
	same = history_begin_run(resume->history, runtime_seed(number));
	resume_drop(same, memory && memory->was_profile);
	place = checkpoints_last(resume->checkpoints);
	resume_want(same, last_count);
	if (!place)
		return NULL;
	history_resume(resume->history, place->entry, place->at);
	contract->totals.runs_resumed++;
	checkpoints_count_use(resume->checkpoints);
	resume->behind = place->ticks;
	return place;
}

bool resume_restore(struct image *image, uint64_t *pages)
{
	struct contract *contract = runtime.contract;
	bool is_complete, is_restored;

	if (resume && resume->checkpoints)
		return checkpoints_restore(resume->checkpoints,
			contract_area(contract, contract->schedule_offset), pages);
	is_complete = undo_memory(NULL);
	*pages += image_restore(image, &is_restored);
	return is_complete && is_restored;
}

struct history *resume_history(void)
{
	return resume && resume->is_on ? resume->history : NULL;
}

void resume_run_ended(void)
{
	if (resume)
		pay_run_ended(&resume->pay, pay_ticks() - resume->begun);
}

void resume_give_up(void)
{
	resume_forget();
	resume->is_given_up = true;
}

/* ---- in a run ---- */

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

static void resume_tell_obstacle(const char *obstacle)
{
	struct contract *contract = runtime.contract;
	struct text text;

	if (contract->checkpoint_text[0])
		return;
	text_init(&text, contract->checkpoint_text, sizeof contract->checkpoint_text);
	text_add(&text, obstacle);
}

enum resume_wish resume_at_decision(
	const struct schedule_view *view, struct checkpoint_place *place)
{
	const struct checkpoint_place *last;
	const char *obstacle;
	bool is_wanted;
	uint64_t ticks;

	if (!resume || !resume->is_on)
		return RESUME_GO_ON;
	if (!history_meets(resume->history, view))
		return RESUME_ABANDON;
	if (resume->wanted == UINT32_MAX)
		resume_want_ahead(resume->history->number);
	is_wanted = resume->history->number >= resume->wanted;
	ticks = pay_ticks() - resume->moved;
	if (runtime.contract->plan.checkpoints != CHECKPOINTS_ALWAYS && !is_wanted &&
		!pay_wants(&resume->pay, ticks))
		return RESUME_GO_ON;
	if (is_wanted)
		resume->wanted = UINT32_MAX;
	last = checkpoints_last(resume->checkpoints);
	if (!resume->history->number || !resume->history->is_whole ||
		(last && last->entry >= resume->history->number))
		return RESUME_GO_ON;
	obstacle = resume_obstacle();
	if (obstacle) {
		resume_tell_obstacle(obstacle);
		resume->moved += ticks; /* not asked again at once */
		resume->behind += ticks;
		return RESUME_GO_ON;
	}
	*place = (struct checkpoint_place){.entry = resume->history->number,
		.at = resume->history->at,
		.height = is_wanted ? resume->height : 0,
		.is_profiled = resume->is_profile,
		.ticks = resume->behind + ticks};
	return RESUME_TAKE;
}

void resume_take(const struct checkpoint_place *place)
{
	struct contract *contract = runtime.contract;
	const uint64_t start = pay_ticks();

	resume->behind = place->ticks;
	if (checkpoint_take(
		    resume->checkpoints, place, contract_area(contract, contract->schedule_offset)))
		contract->totals.checkpoints_taken++;
	pay_taken(&resume->pay, place->height, pay_ticks() - start);
}

void resume_go_on(void)
{
	if (resume)
		resume->moved = pay_ticks();
}
