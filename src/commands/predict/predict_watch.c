#include <stdio.h>
#include <string.h>

#include "base/array.h"
#include "commands/predict/predict_internal.h"
#include "platform/platform.h"

const char *predict_known(const struct predict *predict, uint64_t key)
{
	for (uint32_t i = 0; i < predict->known_count; i++)
		if (predict->known_keys[i] == key)
			return predict->known_findings[i];
	return NULL;
}

void predict_learn(struct predict *predict, uint64_t key, const char *finding)
{
	const uint32_t count = predict->known_count + 1;

	if (predict_known(predict, key))
		return;
	predict->known_keys = array_resize(predict->known_keys, count, sizeof *predict->known_keys);
	predict->known_findings =
		array_resize(predict->known_findings, count, sizeof *predict->known_findings);
	predict->known_keys[count - 1] = key;
	(void)snprintf(
		predict->known_findings[count - 1], sizeof *predict->known_findings, "%s", finding);
	predict->known_count = count;
}

bool predict_judge_run(const struct predict *predict, struct contract *contract,
	predict_judge *judge, void *context)
{
	const char *program = predict->options->campaign.argv[0];
	struct predict_trace trace = {.has_failed = contract_has_failed(contract)};
	struct recorded_run run = {0};
	struct symbols_memory memory;
	bool is_shown = false;
	FREE_SCOPED char *bytes = NULL;
	size_t size;

	if (!contract->is_live)
		return false;
	recorded_run_take(&run, contract);
	memory = (struct symbols_memory){.blocks = run.blocks, .block_count = run.block_count};
	trace.memory = &memory;
	/* A run whose trace cannot be read shows nothing. */
	bytes = recorded_run_trace(&run, program, &size);
	if (bytes &&
		trace_reader_open(&trace.reader, bytes, size, "the trace of a run", NULL) == 0) {
		is_shown = judge(context, &trace);
		trace_reader_close(trace.reader);
	}
	recorded_run_release(&run);
	return is_shown;
}

struct watch {
	struct predict *predict;
	predict_judge *judge;
	void *context;
	struct predict_watched *watched;
	uint64_t key; /* key of the failure being investigated */
};

static void predict_watch_on_ran(void *context, struct contract *contract)
{
	struct watch *watch = context;

	watch->watched->runs++;
	watch->watched->failed += outcome_is_failure(&contract->outcome);
	(void)predict_judge_run(watch->predict, contract, watch->judge, watch->context);
}

static void predict_watch_on_confirming(void *context, const struct failure *failure)
{
	struct watch *watch = context;
	const struct campaign_listener *listener = watch->predict->listener;

	watch->key = failure_key(&failure->outcome);
	if (listener->confirming)
		listener->confirming(listener->context, failure);
}

static void predict_watch_on_found(void *context, const struct campaign_found *found)
{
	struct watch *watch = context;
	const struct campaign_listener *listener = watch->predict->listener;

	predict_learn(watch->predict, watch->key, found->finding->id);
	watch->watched->findings++;
	if (listener->found)
		listener->found(listener->context, found);
}

int predict_watch(struct predict *predict, uint64_t runs, predict_judge *judge, void *context,
	struct predict_watched *watched, struct error *err)
{
	struct watch watch = {
		.predict = predict, .judge = judge, .context = context, .watched = watched};
	const struct campaign_listener listener = {
		.context = &watch,
		.confirming = predict_watch_on_confirming,
		.found = predict_watch_on_found,
		.run_context = &watch,
		.ran = predict_watch_on_ran,
	};
	struct campaign_options options = predict->options->campaign;
	struct campaign_result result;
	int status;

	*watched = (struct predict_watched){0};
	options.strategy = strategy_index(&strategy_random);
	options.strategy_config = (struct strategy_config){.thread_capacity = THREAD_CAPACITY};
	options.schedules = runs;
	options.workers = 1;
	options.part_of = predict->campaign;
	options.keep_going = true;
	options.is_one_by_one = true;
	options.trace_events = PREDICT_EVENTS_MAX;
	options.has_contexts = true;
	options.memory = predict->has_view ? &predict->view : NULL;
	options.known_failures = predict->known_keys;
	options.known_failure_count = predict->known_count;
	status = predict_check_file(predict, err);
	if (status == 0)
		status = campaign_run(&options, &listener, &result, err);
	watched->is_interrupted = status == 0 && result.is_interrupted;
	return status;
}
