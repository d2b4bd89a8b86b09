#include "commands/branches/record_run.h"

#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "base/array.h"
#include "base/bitset.h"
#include "investigate/probe/probe.h"
#include "platform/platform.h"
#include "symbols/symbols.h"

/* Limit on the size of a record. The beginning of a longer record is kept. */
#define RECORD_BYTES_MOST (UINT64_C(64) << 30)
/* Size of the area shared with the target. It is sparse: only written pages take memory, and memory
 * images exist only briefly. */
#define AREA_BYTES (UINT64_C(4) << 30)
/* Room for entries before the command collects them. */
#define ROOM_BYTES (UINT64_C(64) << 20)

void record_view_fill(struct memory_view *view, enum memory_mode mode,
	const struct run_record *like, const uint64_t *chosen)
{
	*view = (struct memory_view){.mode = mode, .module_count = like->module_count};
	view->modules = array_new(like->module_count + 1u, sizeof *view->modules);
	for (uint32_t i = 0; i < like->module_count; i++) {
		const struct run_module *from = &like->modules[i];
		struct memory_view_module *module = &view->modules[i];

		*module = (struct memory_view_module){.name = from->name,
			.fingerprint = from->fingerprint,
			.count = from->count,
			.is_on = array_new(BITSET_WORDS(from->count) + 1, sizeof(uint64_t)),
			.is_chosen = array_new(BITSET_WORDS(from->count) + 1, sizeof(uint64_t))};
		for (uint32_t site = 0; site < from->count; site++)
			if (bitset_has(chosen, from->first + site))
				bitset_add(mode == MEMORY_ALL ? module->is_on : module->is_chosen,
					site);
	}
}

static void record_run_take_modules(struct run_record *record, const struct contract_memory *memory)
{
	record->module_count = memory->module_count;
	record->modules = array_new(record->module_count + 1u, sizeof *record->modules);
	for (uint32_t i = 0; i < record->module_count; i++) {
		const struct memory_module *from = &memory->modules[i];

		record->modules[i] = (struct run_module){.name = from->name,
			.fingerprint = from->fingerprint,
			.records = from->records,
			.first = from->first,
			.count = from->count};
	}
}

/* Copies the chosen sites as the passes over the record need them. */
static uint64_t *record_run_copy_points(const struct record_request *request)
{
	const struct run_record *like = request->like;
	uint32_t sites = 0;
	uint64_t *points;

	if (!like)
		return NULL;
	for (uint32_t i = 0; i < like->module_count; i++)
		if (like->modules[i].first + like->modules[i].count > sites)
			sites = like->modules[i].first + like->modules[i].count;
	points = array_new(BITSET_WORDS(sites) + 1, sizeof *points);
	for (uint32_t word = 0; word < BITSET_WORDS(sites); word++)
		points[word] = request->chosen[word];
	return points;
}

/* A run in progress. The command collects its entries whenever the target has no room left. */
struct taking {
	struct probe probe;
	struct record_area *area;
	struct run_record *record;
};

static void record_run_take_entries(struct taking *taking)
{
	struct worker *worker = &taking->probe.worker;

	if (!run_record_take(taking->record, taking->area, worker->contract->record_bytes,
		    worker->contract->thread_count, RECORD_BYTES_MOST))
		worker->damage = "record";
}

static enum worker_care record_run_serve_runtime(void *context)
{
	struct taking *taking = context;
	uint32_t *is_waiting = &taking->area->is_waiting;

	/* pairs with the runtime's release store */
	if (!__atomic_load_n(is_waiting, __ATOMIC_ACQUIRE))
		return CARE_NONE;
	record_run_take_entries(taking);
	__atomic_store_n(is_waiting, 0, __ATOMIC_RELEASE);
	platform_futex_wake(is_waiting, true);
	return CARE_TAKEN;
}

static void record_run_prepare(struct taking *taking, const struct record_request *request)
{
	struct contract *contract = taking->probe.worker.contract;
	struct record_area *area = contract_area(contract, contract->record_offset);

	contract->plan.is_recorded = true;
	contract->plan.has_chosen_sites = request->like != NULL;
	contract->plan.seed = request->random_seed;
	if (contract->plan.step_limit < request->steps_most)
		contract->plan.step_limit = request->steps_most;
	contract->plan.inspect = request->wants_symbols;
	area->version = RECORD_VERSION;
	area->is_checked = request->is_checked;
	area->points_most = request->points_most;
	area->is_emptied = 1;
	area->bytes = contract->record_bytes;
	area->used = record_area_start();
	area->room = area->used + ROOM_BYTES;
	taking->area = area;
}

uint64_t record_time_until(uint64_t until_ns)
{
	const uint64_t now = platform_monotonic_ns();

	return !until_ns ? 0 : now < until_ns ? until_ns - now : 1;
}

/* Copies the names by which schedules find the threads in other runs. The caller frees the list. */
static thread_name *record_run_copy_names(const struct run_record *record)
{
	thread_name *names = array_new(record->thread_count + 1u, sizeof *names);

	for (uint32_t i = 0; i < record->thread_count; i++)
		names[i] = record->threads[i].name;
	return names;
}

static int record_run_run(struct taking *taking, const struct record_request *request,
	const struct memory_view *view, struct error *err)
{
	const struct campaign_options *options = request->options;
	thread_name *names = request->like ? record_run_copy_names(request->like) : NULL;
	const struct probe_plan plan = {.mode = REPLAY_EXACT,
		.segments = request->segments,
		.segment_count = request->segment_count,
		.names = names,
		.name_count = names ? request->like->thread_count : 0,
		.strategy = request->is_sampled ? &strategy_pos : NULL,
		.skips_disabled = request->skips_disabled,
		.is_random_after = request->random_seed != 0,
		.knows_few_values = true};
	struct target target = {0};
	int status = target_find(&target, options->argv[0], err);

	if (status < 0)
		goto out;
	/* Without a limit the run may wait forever for something outside the program. */
	status = probe_open(&taking->probe,
		&(struct probe_params){
			.worker = {.target = &target,
				.argv = options->argv,
				.input = options->settings.input,
				.runtime = options->runtime,
				.output = OUTPUT_DISCARD,
				.sizes = {.record_bytes = AREA_BYTES},
				.care = record_run_serve_runtime,
				.care_context = taking},
			.settings = &options->settings,
			.memory = view,
			.restart = RESTART_EXEC,
			/* makes the process stop for inspection even if the run passes */
			.trace_events = request->wants_symbols,
			.run_limit_ns = record_time_until(request->until_ns),
			.is_interrupted = options->is_interrupted,
		},
		err);
	if (status == 0) {
		record_run_prepare(taking, request);
		status = probe_run(&taking->probe, &plan, err);
	}
	if (status == 0) {
		record_run_take_entries(taking);
		if (!run_record_finish(taking->record, taking->area))
			taking->probe.worker.damage = "record";
		status = worker_check(&taking->probe.worker, err);
	}
out:
	target_release(&target);
	free(names);
	return status;
}

static void record_run_report(
	struct recorded *out, const struct record_request *request, struct probe *probe)
{
	struct contract *contract = probe->worker.contract;
	const struct thread_record *threads = contract_threads(contract);

	out->is_failure = probe->is_failure;
	out->has_diverged = probe->has_diverged;
	out->diverged_step = probe->diverged_step;
	failure_take(&out->run, contract);
	out->record.has_crashed = out->run.outcome.kind == OUTCOME_CRASH;
	out->record.crashed_thread = out->run.outcome.thread.index;
	out->record.crash_address = out->run.outcome.address;
	record_run_take_modules(&out->record, contract_memory(contract));
	out->record.points = record_run_copy_points(request);
	for (uint32_t i = 0; i < out->record.thread_count; i++) {
		struct run_thread *thread = &out->record.threads[i];

		thread->name = threads[i].name;
		thread->parent = threads[i].parent.index;
		thread->ordinal = threads[i].ordinal;
	}
	out->is_cut = probe->report == REPORT_DIED && request->until_ns &&
		      platform_monotonic_ns() >= request->until_ns;
	out->has_sites = contract->has_memory_sites;
	out->is_live = contract->is_live;
	out->delayed = contract->delayed;
	/* if the symbols cannot be read, only names are missing */
	if (request->wants_symbols && probe->report == REPORT_INSPECT)
		(void)symbols_from_process(&out->symbols, (pid_t)contract->guest_pid, NULL);
}

/* Returns the processor time of all children that were waited for. */
static uint64_t record_run_children_ns(void)
{
	struct rusage usage;

	(void)getrusage(RUSAGE_CHILDREN, &usage); /* cannot fail */
	return ((uint64_t)usage.ru_utime.tv_sec + (uint64_t)usage.ru_stime.tv_sec) * 1000000000u +
	       ((uint64_t)usage.ru_utime.tv_usec + (uint64_t)usage.ru_stime.tv_usec) * 1000u;
}

int record_run(const struct record_request *request, struct recorded *out, struct error *err)
{
	struct memory_view view = {.mode = MEMORY_NONE};
	struct taking taking = {.record = &out->record};
	const uint64_t before = record_run_children_ns(), begin = platform_monotonic_ns();
	int status;

	*out = (struct recorded){0};
	if (request->like)
		record_view_fill(&view, MEMORY_NONE, request->like, request->chosen);
	status = record_run_run(&taking, request, &view, err);
	out->run_ns = platform_monotonic_ns() - begin;
	if (status == 0)
		record_run_report(out, request, &taking.probe);
	probe_close(&taking.probe);
	out->processor_ns = record_run_children_ns() - before;
	memory_view_release(&view);
	return status;
}

void recorded_release(struct recorded *recorded)
{
	run_record_release(&recorded->record);
	failure_release(&recorded->run);
	symbols_free(recorded->symbols);
	*recorded = (struct recorded){0};
}
