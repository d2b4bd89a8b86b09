#include "commands/predict/predict.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/array.h"
#include "base/bug.h"
#include "exchange/contract_block.h"
#include "commands/predict/predict_internal.h"
#include "investigate/probe/probe.h"
#include "plan/stop.h"
#include "platform/platform.h"

/* Step limit of a run whose highest-priority thread never blocks: a tenth of a second. */
#define TURN_STEPS_MOST 100000
/* If nearly all runs fail, recording stops after this many runs per wanted one. */
#define RUNS_FOR_ONE 4
/* Time to read symbols after an interrupt. */
#define SYMBOLS_LIMIT_NS UINT64_C(300000000)

struct predict *predict_open(
	const struct predict_options *options, const struct campaign_listener *listener)
{
	struct predict *predict = array_new(1, sizeof *predict);

	BUG_ON(options->runs > PREDICT_RUNS_MAX);
	predict->options = options;
	predict->driven = options->campaign.settings;
	predict->driven.memory_model = options->memory_model;
	predict->listener = listener;
	return predict;
}

void recorded_run_release(struct recorded_run *run)
{
	failure_release(&run->run);
	free(run->threads);
	free(run->events);
	free(run->blocks);
}

void predict_close(struct predict *predict)
{
	if (!predict)
		return;
	for (uint32_t i = 0; i < predict->run_count; i++)
		recorded_run_release(&predict->runs[i]);
	symbols_free(predict->symbols);
	store_close(predict->fallback.store);
	memory_view_release(&predict->view);
	free(predict->known_keys);
	free(predict->known_findings);
	free(predict);
}

static void *predict_copy_array(const void *from, size_t count, size_t size)
{
	void *copy = array_new(count + 1, size);
	memcpy(copy, from, count * size);
	return copy;
}

void recorded_run_take(struct recorded_run *run, struct contract *contract)
{
	const struct contract_memory *memory = contract_memory(contract);
	const uint64_t events = contract->trace_count;

	failure_take(&run->run, contract);
	run->thread_count = contract->thread_count;
	run->threads = predict_copy_array(
		contract_threads(contract), run->thread_count, sizeof *run->threads);
	run->event_count = events < PREDICT_EVENTS_MAX ? events : PREDICT_EVENTS_MAX;
	run->events_dropped = events - run->event_count;
	run->events = predict_copy_array(contract_area(contract, contract->trace_offset),
		run->event_count, sizeof *run->events);
	run->block_count =
		memory->block_count < MEMORY_BLOCKS_MAX ? memory->block_count : MEMORY_BLOCKS_MAX;
	run->blocks = predict_copy_array(memory->blocks, run->block_count, sizeof *run->blocks);
}

static void predict_take_view(struct predict *predict, struct contract *contract)
{
	if (!predict->options->has_contexts ||
		(predict->has_view && predict->run_count < predict->options->runs))
		return;
	memory_view_release(&predict->view);
	memory_view_take(&predict->view, contract_memory(contract));
	predict->has_view = true;
}

/* Returns whether the trace has all accesses to shared memory: the run has found no new one. */
static bool predict_is_complete(const struct predict *predict, struct contract *contract)
{
	return !predict->options->has_contexts || !contract_memory(contract)->newly_shared;
}

static void predict_on_ran(void *context, struct contract *contract)
{
	struct predict *predict = context;
	const uint64_t now = platform_monotonic_ns();
	struct recorded_run *run = &predict->runs[predict->run_count];

	if (!contract_has_failed(contract) && contract->is_live &&
		predict->run_count < predict->options->runs &&
		predict_is_complete(predict, contract)) {
		recorded_run_take(run, contract);
		run->run_ns = now - predict->last_ns;
		predict->run_count++;
		predict_take_view(predict, contract);
	}
	predict->last_ns = now;
}

static bool predict_is_recording_late(const struct predict *predict)
{
	const uint64_t limit_ns = predict->options->recording_ns;

	return limit_ns && predict->run_count &&
	       platform_monotonic_ns() - predict->begun_ns >= limit_ns;
}

static bool predict_has_enough(void *context)
{
	const struct predict *predict = context;

	return predict->run_count == predict->wanted_count || predict_is_recording_late(predict);
}

static bool predict_find_file(const struct predict *predict, struct stat *file)
{
	struct target target = {0};
	bool is_found;

	if (target_find(&target, predict->options->campaign.argv[0], NULL) < 0)
		return false;
	is_found = stat(target.path, file) == 0;
	target_release(&target);
	return is_found;
}

int predict_check_file(const struct predict *predict, struct error *err)
{
	struct stat now;

	if (!predict->has_file || !predict_find_file(predict, &now))
		return 0;
	if (now.st_ino == predict->file.st_ino && now.st_size == predict->file.st_size &&
		now.st_mtim.tv_sec == predict->file.st_mtim.tv_sec &&
		now.st_mtim.tv_nsec == predict->file.st_mtim.tv_nsec)
		return 0;
	return error_set(err, ERROR_TARGET,
		"%s has changed since its runs were recorded; give the command again",
		predict->options->campaign.argv[0]);
}

/* A part of recording. First one thread runs after the other, which shows how each uses completed
 * work of others; then one preemption; then random. */
struct recording_part {
	const struct strategy *strategy;
	int64_t depth;	/* pct's depth; 1: no preemption */
	uint32_t until; /* end of the part, in quarters of the runs */
};

static const struct recording_part recording_parts[] = {
	{&strategy_pct, 1, 1}, {&strategy_pct, 2, 3}, {&strategy_random, 0, 4}};
#define RECORDING_PARTS (sizeof recording_parts / sizeof *recording_parts)

static int predict_record_campaign(struct predict *predict, struct campaign_options *options,
	const struct campaign_listener *listener, struct campaign_result *result, struct error *err)
{
	const int status = campaign_run(options, listener, result, err);

	if (status == 0 && !predict->campaign)
		predict->campaign = result->campaign;
	options->part_of = predict->campaign;
	predict->is_alone |= status == 0 && result->is_alone;
	return status;
}

static int predict_record_part(struct predict *predict, struct campaign_options *options,
	const struct campaign_listener *listener, const struct recording_part *part,
	struct campaign_result *result, struct error *err)
{
	const struct campaign_options *given = &predict->options->campaign;

	options->ignored = 0;
	options->settings.step_limit = given->settings.step_limit;
	if (part->depth) {
		options->ignored = UINT32_C(1) << OUTCOME_LIVELOCK;
		if (options->settings.step_limit > TURN_STEPS_MOST)
			options->settings.step_limit = TURN_STEPS_MOST;
	}
	options->strategy = strategy_index(part->strategy);
	options->strategy_config = (struct strategy_config){
		.thread_capacity = THREAD_CAPACITY, .option = {part->depth}};
	options->memory = predict->has_view ? &predict->view : NULL;
	/* The last part makes the runs that earlier parts did not achieve. */
	predict->wanted_count = (predict->options->runs * part->until + 3) / 4;
	if (predict_has_enough(predict))
		return 0;
	options->schedules = (uint64_t)(predict->wanted_count - predict->run_count) * RUNS_FOR_ONE;
	return predict_record_campaign(predict, options, listener, result, err);
}

int predict_record(struct predict *predict, struct campaign_result *result, struct error *err)
{
	struct campaign_options options = predict->options->campaign;
	struct campaign_listener listener = *predict->listener;
	int status = 0;

	listener.minimising = NULL;
	listener.warning = NULL; /* printed as notices */
	listener.run_context = predict;
	listener.ran = predict_on_ran;
	listener.is_enough = predict_has_enough;
	predict->wanted_count = predict->options->runs;
	options.schedules = (uint64_t)predict->options->runs * RUNS_FOR_ONE;
	options.keep_going = true;
	options.is_one_by_one = true;
	options.trace_events = PREDICT_EVENTS_MAX;
	options.has_contexts = predict->options->has_contexts;
	predict->has_file = predict_find_file(predict, &predict->file);
	predict->begun_ns = predict->last_ns = platform_monotonic_ns();
	if (!predict->options->takes_turns)
		return predict_record_campaign(predict, &options, &listener, result, err);
	for (uint32_t i = 0; i < RECORDING_PARTS && status == 0; i++) {
		status = predict_record_part(
			predict, &options, &listener, &recording_parts[i], result, err);
		if (result->is_interrupted || result->has_no_threads)
			break;
	}
	result->campaign = predict->campaign;
	return status;
}

uint32_t predict_run_count(const struct predict *predict)
{
	return predict->run_count;
}

struct predict_recorded predict_recorded(const struct predict *predict, uint32_t index)
{
	const struct recorded_run *run = &predict->runs[index];

	return (struct predict_recorded){.steps = run->run.step_count,
		.events_dropped = run->events_dropped,
		.threads = run->thread_count,
		.run_ns = run->run_ns};
}

static struct finding_source predict_recorded_run_source(
	const struct recorded_run *run, const char *program)
{
	return (struct finding_source){
		.outcome = &run->run.outcome,
		.threads = run->threads,
		.thread_count = run->thread_count,
		.events = run->events,
		.event_count = run->event_count,
		.events_dropped = run->events_dropped,
		.blocks = run->blocks,
		.block_count = run->block_count,
		.segments = run->run.segments,
		.segment_count = run->run.segment_count,
		.program = program,
	};
}

struct finding_source predict_source(const struct predict *predict, uint32_t index)
{
	return predict_recorded_run_source(
		&predict->runs[index], predict->options->campaign.argv[0]);
}

char *recorded_run_trace(const struct recorded_run *run, const char *program, size_t *size)
{
	struct finding_source source = predict_recorded_run_source(run, program);
	struct trace_event *events =
		predict_copy_array(source.events, source.event_count, sizeof *events);
	char *bytes;

	predict_name_objects(run, events);
	source.events = events;
	bytes = finding_trace_bytes(&source, size);
	free(events);
	return bytes;
}

char *predict_trace(struct predict *predict, uint32_t index, size_t *size)
{
	return recorded_run_trace(&predict->runs[index], predict->options->campaign.argv[0], size);
}

const struct symbols_memory *predict_memory(struct predict *predict, uint32_t run)
{
	predict->memory = (struct symbols_memory){
		.blocks = predict->runs[run].blocks, .block_count = predict->runs[run].block_count};
	return &predict->memory;
}

static void predict_read_symbols(struct predict *predict, const struct target *target)
{
	static const volatile int never = STOP_NONE;
	const struct campaign_options *options = &predict->options->campaign;
	const bool is_stopped = *options->is_interrupted != STOP_NONE;
	struct probe_params params = {
		.worker = {.target = target,
			.argv = options->argv,
			.input = options->settings.input,
			.runtime = options->runtime,
			.output = OUTPUT_DISCARD},
		.settings = &options->settings,
		.restart = RESTART_EXEC,
		.trace_events = 1,
		/* An interrupted command still names its locations, within SYMBOLS_LIMIT_NS. */
		.is_interrupted = is_stopped ? &never : options->is_interrupted,
		.run_limit_ns = is_stopped ? SYMBOLS_LIMIT_NS : 0,
	};
	const struct probe_plan plan = probe_plan_exact(&predict->runs[0].run);
	struct probe probe;

	if (probe_open(&probe, &params, NULL) < 0)
		return;
	probe.worker.contract->plan.inspect = true;
	if (probe_run(&probe, &plan, NULL) == 0 && probe.report == REPORT_INSPECT)
		(void)symbols_from_process(
			&predict->symbols, (pid_t)probe.worker.contract->guest_pid, NULL);
	probe_close(&probe);
}

struct symbols *predict_symbols(struct predict *predict)
{
	struct target target = {0};

	if (predict->has_tried_symbols || !predict->run_count)
		return predict->symbols;
	predict->has_tried_symbols = true;
	if (target_find(&target, predict->options->campaign.argv[0], NULL) < 0)
		return NULL;
	predict_read_symbols(predict, &target);
	target_release(&target);
	return predict->symbols;
}

static void predict_describe_scenario(
	struct predict *predict, struct candidate *candidate, const struct finding_source *source)
{
	char **paths = array_new(source->thread_count + 1u, sizeof *paths);

	for (uint32_t i = 0; i < source->thread_count; i++)
		paths[i] = finding_thread_path(source->threads, source->thread_count, i);
	candidate_describe_scenario(
		candidate, &(struct candidate_words){.symbols = predict->symbols,
				   .memory = predict_memory(predict, candidate->locations[0].run),
				   .paths = paths,
				   .path_count = source->thread_count});
	for (uint32_t i = 0; i < source->thread_count; i++)
		free(paths[i]);
	free(paths);
}

int predict_describe(struct predict *predict, struct candidate *candidate, struct error *err)
{
	const struct finding_source source = predict_source(predict, candidate->locations[0].run);

	predict_symbols(predict);
	if (candidate->kind != CANDIDATE_LOCK_CYCLE) {
		predict_describe_scenario(predict, candidate, &source);
		return 0;
	}
	return candidate_describe(candidate, &source, predict->symbols, err);
}
