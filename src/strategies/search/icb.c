/*
 * Strategies `icb` and `vt`: all schedules, those with fewer preemptions first.
 *
 * Musuvathi and Qadeer, "Iterative Context Bounding for Systematic Testing of Multithreaded
 * Programs", PLDI 2007, algorithm 1. A preemption is a context switch away from an enabled thread.
 * Switches where the running thread blocks or has ended are free, and all of them are explored.
 *
 * vt: Bindal, Bansal, Lal, "Variable and Thread Bounding for Systematic Testing of Multithreaded
 * Programs", 2012, section 6 ("VT-CHESS"). The first preemptions of a run choose v variables; later
 * ones are only at accesses to these.
 *
 * Deviations from the papers: - The queue of the next bound is not stored (deviations.h). -
 * Schedules that are equal up to the order of independent ops are all made. - A preemption precedes
 * an access; the paper's vt preempts after it. - Two preemptions at one variable choose one
 * variable. In the paper each of the first v
 *   preemptions chooses, so fewer than v variables may be chosen, and schedules within the bounds
 *   are lost.
 */
#include "base/bitset.h"
#include "base/text.h"
#include "strategies/search/deviations.h"
#include "strategies/step_print.h"
#include "strategies/strategy.h"

enum icb_option { OPTION_BOUND, OPTION_RUNS, OPTION_VARIABLES };

#define BOUND_STANDARD 64
#define RUNS_STANDARD (1 << 22)
#define VARIABLES_MOST 16

#define OPTIONS_OF_ALL                                                                                    \
	{"preemptions", BOUND_STANDARD, 0, BOUND_STANDARD,                                                \
		"most preemptions in one schedule; the search ends after all schedules with this number", \
		NULL},                                                                                    \
	{                                                                                                 \
		"runs", RUNS_STANDARD, 1024, 1 << 28,                                                     \
			"number of runs that it can distinguish, 28 bytes each", NULL                     \
	}

static const struct strategy_option icb_options[] = {OPTIONS_OF_ALL, {0}};
static const struct strategy_option vt_options[] = {OPTIONS_OF_ALL,
	{"variables", 2, 1, VARIABLES_MOST,
		"v: number of preemptions that choose a variable each; most known bugs need 1 or 2",
		NULL},
	{0}};

struct icb {
	struct deviations deviations;
	uint32_t variable_bound; /* 0: no bound */
	uint32_t variable_count; /* chosen in this run */
	object_name variables[VARIABLES_MOST];
};

static size_t icb_state_bytes(const struct strategy_config *config)
{
	return sizeof(struct icb) +
	       (size_t)config->option[OPTION_RUNS] * sizeof(struct deviation_record);
}

static void icb_begin_campaign(void *state, const struct strategy_config *config)
{
	struct deviations *deviations = &((struct icb *)state)->deviations;

	deviations_begin(deviations, sizeof(struct icb), (uint32_t)config->option[OPTION_RUNS],
		(uint32_t)config->option[OPTION_BOUND]);
	deviations->shard = config->shard;
	deviations->shards = config->shards;
}

static void icb_vt_begin_campaign(void *state, const struct strategy_config *config)
{
	icb_begin_campaign(state, config);
	((struct icb *)state)->variable_bound = (uint32_t)config->option[OPTION_VARIABLES];
}

static bool icb_is_valid(void *state, const struct strategy_config *config)
{
	struct icb *icb = state;

	return icb->variable_bound <= VARIABLES_MOST && icb->variable_count <= VARIABLES_MOST &&
	       icb->deviations.shard == config->shard && icb->deviations.shards == config->shards &&
	       deviations_is_valid(
		       &icb->deviations, sizeof *icb, (uint32_t)config->option[OPTION_RUNS]);
}

static void icb_begin_run(void *state, uint64_t seed)
{
	struct icb *icb = state;

	(void)seed; /* the strategy makes no random choices */
	icb->variable_count = 0;
	deviations_begin_run(&icb->deviations);
}

static bool icb_is_chosen(const struct icb *icb, const struct pending_op *op)
{
	for (uint32_t i = 0; i < icb->variable_count; i++)
		if (icb->variables[i] == op->object)
			return true;
	return false;
}

static bool icb_is_preemptible(const struct icb *icb, const struct pending_op *op)
{
	return !icb->variable_bound || icb->variable_count < icb->variable_bound ||
	       icb_is_chosen(icb, op);
}

/* Returns enabled thread number `number`, from 0, other than `standard`. */
static struct thread_id icb_another(
	const struct schedule_view *view, struct thread_id standard, uint32_t number)
{
	bitset_each (index, view->enabled, view->thread_count) {
		if (index != standard.index && number-- == 0)
			return (struct thread_id){(uint16_t)index};
	}
	return standard; /* unreachable: the number is below the number of alternatives */
}

static struct thread_id icb_choose(void *state, const struct schedule_view *view)
{
	struct icb *icb = state;
	const struct thread_id standard = view_default(view);
	const bool is_preemption = thread_same(standard, view->current);
	const struct pending_op *op = &view->pending[standard.index];
	uint32_t alternative;

	if (view->enabled_count == 1 || (is_preemption && !icb_is_preemptible(icb, op)))
		return standard;
	alternative =
		deviations_at(&icb->deviations, is_preemption ? DEVIATION_COSTLY : DEVIATION_FREE,
			view->enabled_count - 1, step_print(view, standard.index));
	if (alternative == DEVIATIONS_NONE)
		return standard;
	if (is_preemption && icb->variable_count < icb->variable_bound && !icb_is_chosen(icb, op))
		icb->variables[icb->variable_count++] = op->object;
	return icb_another(view, standard, alternative);
}

static void icb_executed(void *state, const struct schedule_view *view, struct thread_id thread)
{
	deviations_note(&((struct icb *)state)->deviations, step_print(view, thread.index));
}

static uint32_t icb_choose_value(void *state, uint32_t count)
{
	struct icb *icb = state;
	uint32_t alternative = DEVIATIONS_NONE;

	if (count > 1)
		alternative = deviations_at(&icb->deviations, DEVIATION_FREE, count - 1, count);
	return alternative == DEVIATIONS_NONE ? 0 : alternative + 1;
}

static void icb_end_run(void *state, const struct run_summary *summary)
{
	/* A run that proves nothing is repeated. */
	if (summary->outcome != OUTCOME_TAINTED)
		deviations_end_run(&((struct icb *)state)->deviations, true);
}

static bool icb_is_exhausted(const void *state)
{
	return ((const struct icb *)state)->deviations.is_exhausted;
}

static bool icb_is_elsewhere(const void *state)
{
	return deviations_is_elsewhere(&((const struct icb *)state)->deviations);
}

static void icb_verdict(const void *state, struct strategy_verdict *out)
{
	const struct icb *icb = state;
	const struct deviations *deviations = &icb->deviations;
	const bool is_sure = !deviations->diverged_runs;
	const bool is_all = deviations->is_exhausted && deviations->level < deviations->bound;
	struct text text;

	text_init(&text, out->scope, sizeof out->scope);
	out->runs = deviations->runs - deviations->runs_elsewhere;
	out->redundant = 0;
	out->is_up_to_order = false;
	out->is_complete = deviations->is_exhausted && !deviations->is_lost && is_sure;
	out->missing = deviations->is_lost ? "there are more of them than option runs allows"
		       : !is_sure	   ? STRATEGY_PROGRAM_VARIES
					   : NULL;
	out->scope_order = is_all && is_sure ? UINT64_MAX : is_sure ? deviations->levels_done : 0;
	if (!deviations->levels_done || !is_sure || (is_all && !icb->variable_bound))
		return;
	text_add(&text, "with at most ");
	text_number(&text, deviations->levels_done - 1);
	text_add(&text, deviations->levels_done == 2 ? " preemption" : " preemptions");
	if (!icb->variable_bound)
		return;
	text_add(&text, " that are at accesses to at most ");
	text_number(&text, icb->variable_bound);
	text_add(&text, icb->variable_bound == 1 ? " variable" : " variables");
}

const struct strategy strategy_icb = {
	.name = "icb",
	.summary = "exhaustive: all schedules, those with fewer preemptions first",
	.options = icb_options,
	.state_bytes_for = icb_state_bytes,
	.begin_campaign = icb_begin_campaign,
	.begin_run = icb_begin_run,
	.choose = icb_choose,
	.executed = icb_executed,
	.choose_value = icb_choose_value,
	.end_run = icb_end_run,
	.search = {.is_exhausted = icb_is_exhausted,
		.is_valid = icb_is_valid,
		.verdict = icb_verdict,
		.is_elsewhere = icb_is_elsewhere,
		.tasks = &deviations_tasks},
};

const struct strategy strategy_vt = {
	.name = "vt",
	.summary =
		"exhaustive: as icb, but the first preemptions choose the variables for the later ones",
	.options = vt_options,
	.state_bytes_for = icb_state_bytes,
	.begin_campaign = icb_vt_begin_campaign,
	.begin_run = icb_begin_run,
	.choose = icb_choose,
	.executed = icb_executed,
	.choose_value = icb_choose_value,
	.end_run = icb_end_run,
	.search = {.is_exhausted = icb_is_exhausted,
		.is_valid = icb_is_valid,
		.verdict = icb_verdict,
		.is_elsewhere = icb_is_elsewhere,
		.tasks = &deviations_tasks},
};
