/* Driving a candidate: a campaign of the strategy `directed`. */
#include <stdio.h>
#include <string.h>

#include "base/bug.h"
#include "campaign/predict_internal.h"

_Static_assert(CANDIDATE_PLACES_MAX <= DIRECTED_PLACES_MAX, "every candidate can be driven");

struct drive {
	struct predict *predict;
	const struct candidate *candidate;
	struct predict_attempt *attempt;
	bool is_shown; /* the failure that is being investigated is the candidate */
};

static void on_equip(void *context, void *strategy_state)
{
	const struct drive *drive = context;
	const struct candidate *candidate = drive->candidate;
	struct directed_place places[CANDIDATE_PLACES_MAX];

	for (uint32_t i = 0; i < candidate->place_count; i++) {
		const struct candidate_place *place = &candidate->places[i];
		const bool is_join = place->op.kind == OP_THREAD_JOIN;

		places[i] = (struct directed_place){
			.thread = place->thread,
			/* A thread's record has no name that holds in other runs. */
			.object = is_join ? 0
					  : predict_object_of(
						    drive->predict, place->run, place->op.step),
			.held = place->taken.kind == OP_NONE
					? 0
					: predict_object_of(
						  drive->predict, place->run, place->taken.step),
			.site = place->op.site,
			.kind = place->op.kind,
			.approach_kind = place->taken.kind,
			.approach_site = place->taken.site,
		};
	}
	directed_state_init(strategy_state, places, candidate->place_count);
	directed_state_set_ring(strategy_state);
}

static void on_ran(void *context, struct contract *contract)
{
	const struct drive *drive = context;
	const struct directed_state *state = contract_strategy(contract);
	struct predict_attempt *attempt = drive->attempt;

	attempt->runs = state->runs;
	attempt->meetings = state->meetings;
	attempt->thrashes = state->thrashes;
	for (uint32_t i = 0; i < drive->candidate->place_count; i++)
		attempt->arrivals[i] = state->arrivals[i];
}

static bool is_enough(void *context)
{
	const struct drive *drive = context;

	return drive->attempt->is_confirmed;
}

static void on_confirming(void *context, const struct failure *failure)
{
	struct drive *drive = context;
	const struct campaign_listener *listener = drive->predict->listener;

	drive->is_shown = candidate_is_shown(drive->candidate, &failure->outcome);
	if (listener->confirming)
		listener->confirming(listener->context, failure);
}

static void on_found(void *context, const struct campaign_found *found)
{
	struct drive *drive = context;
	struct predict_attempt *attempt = drive->attempt;
	const struct campaign_listener *listener = drive->predict->listener;
	const bool is_repeatable = confirmation_is_repeatable(&found->confirmation);

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

static void on_minimising(void *context, const struct minimise_progress *progress)
{
	const struct drive *drive = context;
	const struct campaign_listener *listener = drive->predict->listener;

	if (listener->minimising)
		listener->minimising(listener->context, progress);
}

static void on_progress(void *context, const struct campaign_progress *progress)
{
	const struct drive *drive = context;
	const struct campaign_listener *listener = drive->predict->listener;

	if (listener->progress)
		listener->progress(listener->context, progress);
}

int predict_confirm(struct predict *predict, const struct candidate *candidate,
	struct predict_attempt *attempt, struct error *err)
{
	struct drive drive = {.predict = predict, .candidate = candidate, .attempt = attempt};
	const struct campaign_listener listener = {
		.context = &drive,
		.progress = on_progress,
		.confirming = on_confirming,
		.minimising = on_minimising,
		.found = on_found,
		.equip = on_equip,
		.ran = on_ran,
		.is_enough = is_enough,
	};
	struct campaign_options options = predict->options->campaign;
	struct campaign_result result;
	int status;

	*attempt = (struct predict_attempt){0};
	options.strategy = predict_strategy(&strategy_directed);
	options.strategy_config = (struct strategy_config){.thread_capacity = THREAD_CAPACITY};
	options.schedules = predict->options->attempts;
	options.workers = 1;
	options.keep_going = true;
	options.is_one_by_one = true;
	status = campaign_run(&options, &listener, &result, err);
	attempt->is_interrupted = status == 0 && result.is_interrupted;
	return status;
}
