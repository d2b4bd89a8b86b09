#include "campaign/record_run.h"

#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "base/bitset.h"
#include "base/bug.h"
#include "campaign/probe.h"
#include "platform/platform.h"
#include "symbols/symbols.h"

/* Sparse: only what is written takes memory. */
#define RECORD_BYTES_STANDARD (UINT64_C(4) << 30)

/* The chosen sites of each module as the runtime is told of them. */
static void build_view(const struct record_request *request, struct memory_view *view)
{
	const struct run_record *like = request->like;

	view->mode = MEMORY_NONE;
	if (!like)
		return;
	view->module_count = like->module_count;
	view->modules = calloc(like->module_count + 1u, sizeof *view->modules);
	BUG_ON(!view->modules);
	for (uint32_t i = 0; i < like->module_count; i++) {
		const struct run_module *from = &like->modules[i];
		struct memory_view_module *module = &view->modules[i];

		module->name = from->name;
		module->fingerprint = from->fingerprint;
		module->count = from->count;
		module->is_on = calloc(BITSET_WORDS(from->count) + 1, sizeof(uint64_t));
		module->is_chosen = calloc(BITSET_WORDS(from->count) + 1, sizeof(uint64_t));
		BUG_ON(!module->is_on || !module->is_chosen);
		for (uint32_t site = 0; site < from->count; site++)
			if (bitset_has(request->chosen, from->first + site))
				bitset_add(module->is_chosen, site);
	}
}

static void take_modules(struct run_record *record, const struct contract_memory *memory)
{
	record->module_count = memory->module_count;
	record->modules = calloc(record->module_count + 1u, sizeof *record->modules);
	BUG_ON(!record->modules);
	for (uint32_t i = 0; i < record->module_count; i++) {
		const struct memory_module *from = &memory->modules[i];

		record->modules[i] = (struct run_module){.name = from->name,
			.fingerprint = from->fingerprint,
			.records = from->records,
			.first = from->first,
			.count = from->count};
	}
}

static void take(struct recorded *out, struct contract *contract)
{
	const struct contract_thread *threads = contract_threads(contract);

	failure_take(&out->run, contract);
	run_record_take(&out->record, contract_area(contract, contract->record_offset),
		contract->thread_count);
	take_modules(&out->record, contract_memory(contract));
	for (uint32_t i = 0; i < out->record.thread_count; i++) {
		struct run_thread *thread = &out->record.threads[i];

		thread->name = threads[i].name;
		thread->parent = threads[i].parent.index;
		thread->ordinal = threads[i].ordinal;
	}
	out->has_sites = contract->has_memory_sites;
	out->is_live = contract->is_live;
}

static int perform(struct probe *probe, const struct record_request *request, struct recorded *out,
	struct error *err)
{
	struct contract *contract = probe->worker.contract;
	struct record_area *area = contract_area(contract, contract->record_offset);
	const struct probe_plan plan = {.mode = REPLAY_EXACT,
		.segments = request->segments,
		.segment_count = request->segment_count,
		.names = request->names,
		.name_count = request->name_count,
		.is_random_after = request->random_seed != 0};
	const uint64_t begin = platform_monotonic_ns();
	int status;

	contract->plan.is_recorded = true;
	contract->plan.has_chosen_sites = request->like != NULL;
	contract->plan.seed = request->random_seed;
	contract->plan.inspect = request->wants_symbols;
	area->version = RECORD_VERSION;
	area->is_checked = request->is_checked;
	area->bytes = contract->record_bytes;
	area->used = (sizeof *area + 4095) & ~UINT64_C(4095);
	status = probe_run(probe, &plan, err);
	if (status < 0)
		return status;
	out->run_ns = platform_monotonic_ns() - begin;
	out->is_failure = probe->is_failure;
	out->has_diverged = probe->has_diverged;
	out->diverged_step = probe->diverged_step;
	take(out, contract);
	/* Without them names are missing, and nothing else. */
	if (request->wants_symbols && probe->report == REPORT_INSPECT)
		(void)symbols_from_process(&out->symbols, (pid_t)contract->guest_pid, NULL);
	return 0;
}

/* Of all processes that have been waited for. */
static uint64_t children_ns(void)
{
	struct rusage usage;

	(void)getrusage(RUSAGE_CHILDREN, &usage); /* cannot fail */
	return ((uint64_t)usage.ru_utime.tv_sec + (uint64_t)usage.ru_stime.tv_sec) * 1000000000u +
	       ((uint64_t)usage.ru_utime.tv_usec + (uint64_t)usage.ru_stime.tv_usec) * 1000u;
}

int record_run(const struct record_request *request, struct recorded *out, struct error *err)
{
	const struct campaign_options *options = request->options;
	struct memory_view view = {0};
	struct target target = {0};
	struct probe probe = {0};
	const uint64_t before = children_ns();
	int status = target_find(&target, options->argv[0], err);

	*out = (struct recorded){0};
	if (status < 0)
		return status;
	build_view(request, &view);
	status = probe_open(&probe,
		&(struct probe_params){
			.worker = {.target = &target,
				.argv = options->argv,
				.input = options->settings.input,
				.runtime = options->runtime,
				.output = OUTPUT_DISCARD,
				.sizes = {.record_bytes = request->bytes_most
								  ? request->bytes_most
								  : RECORD_BYTES_STANDARD}},
			.settings = &options->settings,
			.memory = &view,
			.restart = RESTART_EXEC,
			/* So that it stands still although it passes. */
			.trace_events = request->wants_symbols,
			.is_interrupted = options->is_interrupted,
		},
		err);
	if (status == 0)
		status = perform(&probe, request, out, err);
	probe_close(&probe);
	out->processor_ns = children_ns() - before;
	memory_view_release(&view);
	target_release(&target);
	return status;
}

void recorded_release(struct recorded *recorded)
{
	run_record_release(&recorded->record);
	failure_release(&recorded->run);
	symbols_free(recorded->symbols);
	*recorded = (struct recorded){0};
}
