/* Drives a candidate: a campaign of the strategy `directed`. */
#include <stdio.h>
#include <string.h>

#include "commands/predict/predict_internal.h"
#include "platform/platform.h"

_Static_assert(CANDIDATE_LOCATIONS_MAX <= DIRECTED_STOPS_MAX, "every candidate can be driven");

/* Number of passing runs that show a candidate before it counts as harmless. */
#define HARMLESS_RUNS 10

struct drive {
	struct predict *predict;
	const struct candidate *candidate;
	struct predict_attempt *attempt;
	predict_judge *judge;
	void *context;
	bool is_shown;		    /* the failure being investigated is the candidate */
	uint64_t key;		    /* key of that failure */
	uint64_t completions;	    /* runs that completed the scenario so far */
	struct failure kept;	    /* First run that showed the candidate and passed. */
	struct failure kept_failed; /* First run that showed the candidate and failed. */
	/* key of that failure until its investigation is reported; 0: none pending */
	uint64_t awaited_key;
};

static bool predict_confirm_is_one_op(const struct candidate *candidate, uint32_t location)
{
	const struct candidate_location *locations = candidate->locations;

	return location && locations[location].party == locations[location - 1].party &&
	       locations[location].op.step == locations[location - 1].op.step;
}

/* Returns the location in the recorded run: the thread, and the number of the thread's earlier visits
 * to the site. */
static struct directed_start predict_confirm_start_of(
	const struct predict *predict, const struct candidate *candidate)
{
	const struct candidate_location *location = &candidate->locations[0];
	const struct recorded_run *run = &predict->runs[location->run];
	struct directed_start start = {
		.thread = location->op.thread, .other = candidate->locations[1].op.thread};

	for (uint64_t i = 0; i < run->event_count && run->events[i].step <= location->op.step; i++)
		start.ordinal += run->events[i].thread == location->op.thread &&
				 run->events[i].site == location->op.site &&
				 run->events[i].kind == location->op.kind;
	return start;
}

static void predict_confirm_equip_scenario(const struct predict *predict,
	const struct candidate *candidate, struct directed_state *state)
{
	struct directed_op ops[SCENARIO_OPS_MAX];
	uint32_t count = 0;

	for (uint32_t i = 0; i < candidate->location_count; i++) {
		const struct candidate_location *location = &candidate->locations[i];

		if (predict_confirm_is_one_op(candidate, i))
			continue;
		ops[count++] = (struct directed_op){
			.site = location->op.site,
			.context = location->context,
			.kind = location->op.kind,
			.gate_site = location->taken.kind == OP_NONE ? 0 : location->taken.site,
			.gate_context = location->taken_context,
			.party = location->party,
			.variable = location->variable,
		};
	}
	directed_state_set_scenario(state, ops, count);
	state->scenario.recorded = predict_confirm_start_of(predict, candidate);
}

static void predict_confirm_equip_race(
	const struct candidate *candidate, struct directed_state *state)
{
	struct directed_stop locations[2];

	for (uint32_t i = 0; i < 2; i++)
		locations[i] = (struct directed_stop){.site = candidate->locations[i].op.site,
			.kind = candidate->locations[i].op.kind};
	directed_state_init(state, locations, 2);
	directed_state_set_race(state);
}

static void predict_confirm_on_equip(void *context, void *strategy_state)
{
	const struct drive *drive = context;
	const struct candidate *candidate = drive->candidate;
	struct directed_stop locations[CANDIDATE_LOCATIONS_MAX];

	if (candidate_is_scenario(candidate->kind)) {
		predict_confirm_equip_scenario(drive->predict, candidate, strategy_state);
		return;
	}
	if (candidate->kind == CANDIDATE_RACE) {
		predict_confirm_equip_race(candidate, strategy_state);
		return;
	}
	for (uint32_t i = 0; i < candidate->location_count; i++) {
		const struct candidate_location *location = &candidate->locations[i];
		const bool is_join = location->op.kind == OP_THREAD_JOIN;

		locations[i] = (struct directed_stop){
			.thread = location->thread,
			/* A thread's record has no name that holds in other runs. */
			.object = is_join ? 0
					  : predict_object_of(drive->predict, location->run,
						    location->op.step),
			.held = location->taken.kind == OP_NONE
					? 0
					: predict_object_of(drive->predict, location->run,
						  location->taken.step),
			.site = location->op.site,
			.kind = location->op.kind,
			.approach_kind = location->taken.kind,
			.approach_site = location->taken.site,
		};
	}
	directed_state_init(strategy_state, locations, candidate->location_count);
	directed_state_set_ring(strategy_state);
}

static void predict_confirm_fail_as(struct drive *drive, const char *finding)
{
	drive->attempt->fails = true;
	drive->awaited_key = 0;
	(void)snprintf(drive->attempt->finding, sizeof drive->attempt->finding, "%s", finding);
}

/* Notes a run that failed. The failure's investigation may be reported before or after this
 * call. */
static void predict_confirm_note_failed(struct drive *drive, struct contract *contract)
{
	const uint64_t key = failure_key(&contract->outcome);
	const char *finding = predict_known(drive->predict, key);

	if (drive->attempt->fails)
		return;
	failure_take(&drive->kept_failed, contract);
	drive->awaited_key = key;
	if (finding)
		predict_confirm_fail_as(drive, finding);
}

/* Counts a run that shows what the candidate predicts. The first such run without a failure is kept for
 * the finding. */
static void predict_confirm_note_shown(
	struct drive *drive, struct contract *contract, bool has_failed)
{
	struct predict_attempt *attempt = drive->attempt;

	attempt->shown++;
	attempt->shown_failed += has_failed;
	attempt->is_confirmed = true;
	if (!has_failed && !drive->kept.segments)
		failure_take(&drive->kept, contract);
	if (has_failed)
		predict_confirm_note_failed(drive, contract);
}

/* Examines a run of a scenario. The strategy reports a complete scenario; the judge decides whether
 * it is the predicted one. */
static void predict_confirm_look_at_scenario(
	struct drive *drive, struct contract *contract, struct directed_scenario *scenario)
{
	struct predict_attempt *attempt = drive->attempt;
	const bool has_failed = outcome_is_failure(&contract->outcome);
	bool is_shown;

	for (uint32_t i = 0, op = 0; i < drive->candidate->location_count; i++) {
		op += i && !predict_confirm_is_one_op(drive->candidate, i);
		attempt->arrivals[i] = scenario->reached[op];
	}
	attempt->rendezvous = scenario->completions;
	is_shown = scenario->completions != drive->completions &&
		   predict_judge_run(drive->predict, contract, drive->judge, drive->context);
	drive->completions = scenario->completions;
	directed_scenario_learn(scenario, is_shown, has_failed);
	if (!is_shown)
		return;
	predict_confirm_note_shown(drive, contract, has_failed);
}

/* Examines a run that drives a race. Two threads before the same memory, one about to write, are
 * the proof: no trace is needed. */
static void predict_confirm_look_at_race(
	struct drive *drive, struct contract *contract, const struct directed_state *state)
{
	struct predict_attempt *attempt = drive->attempt;
	const bool has_failed = outcome_is_failure(&contract->outcome);

	if (state->rendezvous == attempt->rendezvous)
		return;
	predict_confirm_note_shown(drive, contract, has_failed);
}

static void predict_confirm_on_ran(void *context, struct contract *contract)
{
	struct drive *drive = context;
	struct directed_state *state = contract_strategy(contract);
	struct predict_attempt *attempt = drive->attempt;

	if (candidate_is_scenario(drive->candidate->kind)) {
		attempt->runs = state->runs;
		attempt->thrashes = state->thrashes;
		predict_confirm_look_at_scenario(drive, contract, &state->scenario);
		return;
	}
	if (drive->candidate->kind == CANDIDATE_RACE)
		predict_confirm_look_at_race(drive, contract, state);
	attempt->runs = state->runs;
	attempt->rendezvous = state->rendezvous;
	attempt->thrashes = state->thrashes;
	for (uint32_t i = 0; i < drive->candidate->location_count; i++)
		attempt->arrivals[i] = state->arrivals[i];
}

static bool predict_confirm_is_enough(void *context)
{
	const struct drive *drive = context;

	const struct predict_attempt *attempt = drive->attempt;

	if (drive->predict->options->makes_all_attempts)
		return false;
	if (drive->candidate->kind != CANDIDATE_LOCK_CYCLE)
		return attempt->fails || attempt->shown >= HARMLESS_RUNS;
	return attempt->is_confirmed;
}

static void predict_confirm_on_confirming(void *context, const struct failure *failure)
{
	struct drive *drive = context;
	const struct campaign_listener *listener = drive->predict->listener;

	drive->key = failure_key(&failure->outcome);
	drive->is_shown = candidate_is_shown(drive->candidate, &failure->outcome);
	if (listener->confirming)
		listener->confirming(listener->context, failure);
}

static void predict_confirm_on_found(void *context, const struct campaign_found *found)
{
	struct drive *drive = context;
	struct predict_attempt *attempt = drive->attempt;
	const struct campaign_listener *listener = drive->predict->listener;
	const bool is_repeatable = confirmation_is_repeatable(&found->confirmation);

	predict_learn(drive->predict, drive->key, found->finding->id);
	if (drive->awaited_key == drive->key && !attempt->fails)
		predict_confirm_fail_as(drive, found->finding->id);
	if (drive->candidate->kind != CANDIDATE_LOCK_CYCLE) {
		if (listener->found)
			listener->found(listener->context, found);
		return; /* the run's trace shows whether it is a failure of the scenario */
	}
	attempt->other_findings += !drive->is_shown;
	if (!drive->is_shown && *attempt->finding == '\0')
		(void)snprintf(attempt->finding, sizeof attempt->finding, "%s", found->finding->id);
	if (drive->is_shown && !attempt->is_confirmed) {
		attempt->is_confirmed = is_repeatable;
		attempt->is_unsteady = !is_repeatable;
		(void)snprintf(attempt->finding, sizeof attempt->finding, "%s", found->finding->id);
	}
	if (listener->found)
		listener->found(listener->context, found);
}

static void predict_confirm_on_minimising(void *context, const struct minimise_progress *progress)
{
	const struct drive *drive = context;
	const struct campaign_listener *listener = drive->predict->listener;

	if (listener->minimising)
		listener->minimising(listener->context, progress);
}

static void predict_confirm_on_progress(void *context, const struct campaign_progress *progress)
{
	const struct drive *drive = context;
	const struct campaign_listener *listener = drive->predict->listener;

	if (listener->progress)
		listener->progress(listener->context, progress);
}

/*
 * Makes a finding of the run that shows the candidate, also of a failing one: the failure's own
 * finding may be minimised without the violation. The run must be repeatable.
 */
static int predict_confirm_keep(struct drive *drive, int64_t campaign, struct error *err)
{
	struct predict_attempt *attempt = drive->attempt;
	const struct predict_keeping keeping = {.predict = drive->predict,
		.candidate = drive->candidate,
		.run = attempt->fails ? &drive->kept_failed : &drive->kept,
		.has_failed = attempt->fails,
		.judge = drive->judge,
		.context = drive->context,
		.campaign = campaign};
	const uint64_t begun_ns = platform_monotonic_ns();
	const int status =
		keeping.run->segments ? predict_keep(&keeping, attempt->shown_by, err) : 0;

	attempt->kept_ns = platform_monotonic_ns() - begun_ns;
	if (attempt->fails || !keeping.run->segments)
		return status;
	memcpy(attempt->finding, attempt->shown_by, sizeof attempt->finding);
	attempt->is_confirmed = *attempt->shown_by != '\0';
	attempt->is_unsteady = !attempt->is_confirmed;
	return status;
}

uint32_t predict_buffered_location(
	const struct predict_options *options, const struct candidate *candidate)
{
	uint32_t location = 0;

	if (options->memory_model != MEMORY_MODEL_TSO)
		return candidate->location_count;
	for (; location < candidate->location_count; location++) {
		const struct trace_event *op = &candidate->locations[location].op;

		if (op->kind == OP_STORE ||
			(op->kind == OP_ATOMIC_STORE && op->order != ORDER_SEQUENTIAL))
			break;
	}
	return location;
}

enum memory_model predict_driven_model(
	const struct predict_options *options, const struct candidate *candidate)
{
	return predict_buffered_location(options, candidate) < candidate->location_count
		       ? MEMORY_MODEL_SC
		       : options->memory_model;
}

int predict_confirm(struct predict *predict, const struct candidate *candidate,
	predict_judge *judge, void *context, struct predict_attempt *attempt, struct error *err)
{
	struct drive drive = {.predict = predict,
		.candidate = candidate,
		.attempt = attempt,
		.judge = judge,
		.context = context};
	const struct campaign_listener listener = {
		.context = &drive,
		.progress = predict_confirm_on_progress,
		.confirming = predict_confirm_on_confirming,
		.minimising = predict_confirm_on_minimising,
		.found = predict_confirm_on_found,
		.run_context = &drive,
		.equip = predict_confirm_on_equip,
		.ran = predict_confirm_on_ran,
		.is_enough = predict_confirm_is_enough,
	};
	struct campaign_options options = predict->options->campaign;
	struct campaign_result result;
	int status;

	*attempt = (struct predict_attempt){0};
	status = predict_check_file(predict, err);
	if (status < 0)
		return status;
	predict->driven.memory_model = predict_driven_model(predict->options, candidate);
	options.settings = predict->driven;
	options.strategy = strategy_index(&strategy_directed);
	options.strategy_config = (struct strategy_config){.thread_capacity = THREAD_CAPACITY};
	options.schedules = predict->options->attempts;
	options.time_ns = predict->options->candidate_ns;
	options.workers = 1;
	options.part_of = predict->campaign;
	options.keep_going = true;
	options.is_one_by_one = true;
	/* Threads block at operations only; points at memory accesses would only add steps. */
	if (candidate->kind == CANDIDATE_LOCK_CYCLE)
		options.settings.memory_mode = MEMORY_NONE;
	if (candidate->kind != CANDIDATE_LOCK_CYCLE) {
		options.memory = predict->has_view ? &predict->view : NULL;
		options.known_failures = predict->known_keys;
		options.known_failure_count = predict->known_count;
	}
	if (candidate_is_scenario(candidate->kind)) {
		options.trace_events = PREDICT_EVENTS_MAX;
		options.has_contexts = true;
	}
	status = campaign_run(&options, &listener, &result, err);
	attempt->is_interrupted = status == 0 && result.is_interrupted;
	attempt->has_no_threads = status == 0 && result.has_no_threads;
	if (status == 0 && attempt->is_confirmed)
		status = predict_confirm_keep(&drive, result.campaign, err);
	failure_release(&drive.kept);
	failure_release(&drive.kept_failed);
	return status;
}
