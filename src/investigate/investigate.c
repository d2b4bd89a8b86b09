#include <stdlib.h>
#include <string.h>

#include "store/surroundings.h"
#include "base/strbuf.h"
#include "investigate/passing.h"
#include "investigate/investigate_internal.h"
#include "investigate/trace_window.h"
#include "findings/describe/build.h"
#include "findings/source_lines.h"
#include "symbols/symbols.h"

/* Bytes of the run's output that a finding keeps. */
#define OUTPUT_SHOWN_BYTES 4096

/* A sanitizer's report begins with the fault and ends with an explanation of its notation. */
static const char *investigate_output_report(const char *text)
{
	static const char *const starts[] = {
		"ERROR: AddressSanitizer", "WARNING: ThreadSanitizer", "runtime error:"};

	for (size_t i = 0; i < sizeof starts / sizeof *starts; i++) {
		const char *start = strstr(text, starts[i]);

		while (start && start > text && start[-1] != '\n')
			start--;
		if (start)
			return start;
	}
	return NULL;
}

/* Returns the end of the output, or a sanitizer's first paragraph; NULL if there is none. The caller
 * frees it. */
static char *investigate_output_end(const struct capture *capture)
{
	STRBUF_SCOPED all = STRBUF_EMPTY;
	const char *start;

	if (capture->file < 0)
		return NULL;
	capture_read(capture, &all);
	start = investigate_output_report(all.text);
	if (start) {
		const char *paragraph_end = strstr(start, "\n\n");

		return paragraph_end ? strndup(start, (size_t)(paragraph_end - start) + 1)
				     : strndup(start, OUTPUT_SHOWN_BYTES);
	}
	start = all.text;
	if (all.length > OUTPUT_SHOWN_BYTES) {
		start = all.text + all.length - OUTPUT_SHOWN_BYTES;
		if (strchr(start, '\n'))
			start = strchr(start, '\n') + 1;
	}
	return *start ? strdup(start) : NULL;
}

#define STACK_ADDRESSES_MAX 64

/* Return addresses, innermost first. */
struct earlier_access {
	uint64_t addresses[STACK_ADDRESSES_MAX];
	uint32_t count; /* 0: unknown */
};

struct ingredients {
	struct probe *probe;
	const struct failure *run;
	/* NULL: investigate_trace_run() reads them from the process, for the caller to free */
	struct symbols *symbols;
	const struct earlier_access *earlier; /* NULL if unknown */
	uint32_t steps_most;		      /* 0: as many as a stored finding keeps */
};

static int investigate_build(
	struct finding *finding, const struct ingredients *ingredients, struct error *err)
{
	struct probe *probe = ingredients->probe;
	const struct failure *run = ingredients->run;
	struct worker *worker = &probe->worker;
	struct contract *contract = worker->contract;
	uint64_t capacity = contract->trace_bytes / sizeof(struct contract_event);
	uint64_t events = contract->trace_count;
	const struct contract_memory *memory = contract_memory(contract);
	struct finding_source source = {
		.outcome = &run->outcome,
		.threads = contract_threads(contract),
		.thread_count = run->thread_count,
		.events = contract_area(contract, contract->trace_offset),
		.event_count = events < capacity ? events : capacity,
		.events_dropped = events > capacity ? events - capacity : 0,
		.events_from = contract->plan.trace_from,
		.blocks = memory->blocks,
		.block_count = memory->block_count < MEMORY_BLOCKS_MAX ? memory->block_count
								       : MEMORY_BLOCKS_MAX,
		.layout = run->layout,
		.interruption_points = run->interruption_points,
		.stalls = &contract->stalls,
		.delayed = &contract->delayed,
		.segments = run->segments,
		.segment_count = run->segment_count,
		.pid = probe->report == REPORT_INSPECT ? (pid_t)contract->guest_pid : 0,
		.program = worker->params.argv[0],
		.steps_most = ingredients->steps_most,
		.earlier_stack = ingredients->earlier ? ingredients->earlier->addresses : NULL,
		.earlier_count = ingredients->earlier ? ingredients->earlier->count : 0,
	};

	return finding_build(finding, &source, ingredients->symbols, err);
}

static int investigate_trace_run(struct ingredients *ingredients, const struct probe_plan *plan,
	struct finding *finding, struct error *err)
{
	struct probe *probe = ingredients->probe;
	struct contract *contract = probe->worker.contract;
	struct failure run = {0};
	int result;

	contract->plan.inspect = true;
	result = probe_run(probe, plan, err);
	if (result < 0)
		return result;
	failure_take(&run, contract);
	/* The finding shows addresses if the symbols cannot be read. */
	if (!ingredients->symbols && probe->report == REPORT_INSPECT)
		(void)symbols_from_process(&ingredients->symbols, (pid_t)contract->guest_pid, NULL);
	ingredients->run = &run;
	result = investigate_build(finding, ingredients, err);
	if (result == 0) {
		finding->output = investigate_output_end(&probe->worker.capture);
		finding_title_from_output(finding);
		finding_title_add_needs(finding);
		finding->switches = run.switches;
		finding->preemptions = run.preemptions;
	}
	failure_release(&run);
	return result;
}

int investigate_trace(struct probe *probe, const struct probe_plan *plan, uint32_t steps_most,
	struct finding *finding, struct error *err)
{
	struct ingredients ingredients = {.probe = probe, .steps_most = steps_most};
	const int result = investigate_trace_run(&ingredients, plan, finding, err);

	symbols_free(ingredients.symbols);
	return result;
}

int investigate_trace_known(struct probe *probe, const struct probe_plan *plan,
	struct symbols *symbols, struct finding *finding, struct error *err)
{
	struct ingredients ingredients = {.probe = probe, .symbols = symbols};
	const int result = investigate_trace_run(&ingredients, plan, finding, err);

	if (!symbols)
		symbols_free(ingredients.symbols);
	return result;
}

/* The failing run ends when the first access's stack no longer exists: another run stops at that
 * access. */
static void investigate_look_at_earlier_access(const struct probe_params *params,
	const struct failure *failure, struct earlier_access *out)
{
	const struct outcome *outcome = &failure->outcome;
	struct probe_plan plan = probe_plan_exact(failure);
	struct symbols *symbols = NULL;
	struct probe probe;
	struct contract *contract;

	out->count = 0;
	if (!outcome_has_accesses(outcome) || !outcome->other_site ||
		probe_open(&probe, params, NULL) < 0)
		return;
	contract = probe.worker.contract;
	contract->plan.inspect = true;
	contract->plan.inspect_step = outcome->other_step + 1;
	contract->plan.inspect_site = outcome->other_site;
	contract->plan.inspect_address = outcome->address;
	if (probe_run(&probe, &plan, NULL) == 0 && probe.report == REPORT_INSPECT &&
		contract->outcome.kind == OUTCOME_NONE &&
		outcome->other_thread.index < contract->thread_count &&
		symbols_from_process(&symbols, (pid_t)contract->guest_pid, NULL) == 0) {
		const struct thread_record *thread =
			&contract_threads(contract)[outcome->other_thread.index];

		out->count =
			symbols_unwind(symbols, (pid_t)contract->guest_pid, thread->stack_pointer,
				thread->thread_base, out->addresses, STACK_ADDRESSES_MAX);
	}
	symbols_free(symbols);
	probe_close(&probe);
}

static void investigate_fill_replay(
	struct finding *finding, const struct investigation *investigation)
{
	const struct worker_params *worker = &investigation->probe.worker;

	finding->argv = strings_copy(worker->argv);
	finding->directory = string_copy(worker->directory);
	finding->input = string_copy(worker->input);
	finding->settings = settings_to_json(investigation->probe.settings);
	finding->environment = surroundings_take();
	finding->memory = memory_view_to_json(investigation->probe.memory);
	finding->replays = investigation->confirmation.replays;
	finding->replays_failed_again = investigation->confirmation.failed_again;
	finding_sign_exit(finding);
}

/* Describes the recorded run if the traced run does not show the failure. */
static int investigate_trace_or_describe(const struct investigation *investigation,
	const struct failure *failure, struct finding *finding, struct error *err)
{
	struct probe_params params = investigation->probe;
	struct probe_plan plan = probe_plan_exact(failure);
	struct earlier_access earlier;
	struct probe probe;
	struct ingredients ingredients = {.probe = &probe, .earlier = &earlier};
	int result;

	params.restart = RESTART_EXEC;
	params.worker.output = OUTPUT_KEEP;
	investigate_look_at_earlier_access(&params, failure, &earlier);
	trace_window_apply(&params, failure);
	result = probe_open(&probe, &params, err);
	if (result < 0)
		return result;
	result = investigate_trace_run(&ingredients, &plan, finding, err);
	if (result == 0 && !(finding->kind == (enum outcome_kind)failure->outcome.kind &&
				   finding->code == failure->outcome.code)) {
		finding_release(finding);
		probe.report = REPORT_NONE; /* the process of this run no longer exists */
		probe.worker.contract->trace_count = 0;
		ingredients.run = failure;
		ingredients.earlier = NULL;
		result = investigate_build(
			finding, &ingredients, err); /* with the symbols of the trace */
		if (result == 0) {
			finding->switches = failure->switches;
			finding->preemptions = failure->preemptions;
		}
	}
	symbols_free(ingredients.symbols);
	probe_close(&probe);
	return result;
}

int investigate_glance(const struct investigation *investigation, const struct failure *failure,
	struct finding *finding, struct error *err)
{
	struct finding built = {0};
	int result;

	result = investigate_trace_or_describe(investigation, failure, &built, err);
	if (result == 0)
		*finding = built;
	return result;
}

#define PASSING_LEAST_NS UINT64_C(5000000000)
#define OTHERS_LEAST_NS UINT64_C(1000000000)

static void investigate_find_passing(
	struct investigation *investigation, const struct failure *failure, struct finding *finding)
{
	const bool is_first = failure->run_number % FINDING_SHARD_RUNS == 0;
	const uint64_t run_limit_ns = investigation->probe.run_limit_ns;

	if (!confirmation_is_repeatable(&investigation->confirmation))
		return;
	if (!investigate_has_time_for(investigation, PASSING_RUNS)) {
		investigation->left_out |= 1u << PART_PASSING_RUN;
		return;
	}
	/* Other orders may wait for ever, or take much longer than the failing one. */
	investigation->probe.run_limit_ns = investigate_run_limit(investigation, PASSING_LEAST_NS);
	passing_find(&investigation->probe, failure, finding);
	investigation->probe.run_limit_ns = investigate_run_limit(investigation, OTHERS_LEAST_NS);
	if (is_first && !failure->preemptions && failure->thread_count > 1 &&
		!finding->passing_step_count &&
		investigate_has_time_for(investigation, PASSING_OTHER_SCHEDULES))
		passing_try_others(&investigation->probe, failure, finding);
	investigation->probe.run_limit_ns = run_limit_ns;
}

int investigate_schedule(struct investigation *investigation, struct failure *failure,
	struct finding *finding, struct error *err)
{
	static const volatile int never = 0;
	uint32_t switches = failure->switches;
	uint32_t preemptions = failure->preemptions;
	struct finding built = {0};
	uint64_t begun_ns;
	int result;

	investigation->incomplete = investigation->without_minimising
					    ? "minimising was switched off"
					    : "the failure does not repeat";
	investigation->left_out = 0;
	investigation->replay_ns = 0;
	investigation->depth = (struct depth){0};
	begun_ns = platform_monotonic_ns();
	result = confirm(&investigation->confirmation, failure, &investigation->probe,
		investigation->until_ns, err);
	if (result == 0)
		investigation->replay_ns =
			(platform_monotonic_ns() - begun_ns) / investigation->confirmation.replays;
	if (result == 0 && confirmation_is_repeatable(&investigation->confirmation) &&
		!investigation->without_minimising)
		result = investigate_minimise_and_confirm(investigation, failure, err);
	if (result < 0 && result != ERROR_INTERRUPTED)
		return result;
	if (result == ERROR_INTERRUPTED)
		investigation->incomplete = "the command was interrupted";
	/* An interrupt ends minimising, but the finding still needs this run. */
	investigation->probe.is_interrupted = &never;
	result = investigate_trace_or_describe(investigation, failure, &built, err);
	if (result < 0)
		return result;
	if (investigation->confirmation.replays < CONFIRM_REPLAYS &&
		!investigate_has_time_for(
			investigation, 1)) /* no time is left; an interrupt does not count */
		investigation->left_out |= 1u << PART_REPLAYS;
	investigate_find_passing(investigation, failure, &built);
	investigate_fill_replay(&built, investigation);
	built.switches_found = switches;
	built.preemptions_found = preemptions;
	built.incomplete =
		investigation->incomplete ? string_copy(investigation->incomplete) : NULL;
	depth_fit_to_schedule(&investigation->depth, failure);
	if (failure->thread_count == 1 || built.other_schedules_failed)
		investigation->depth = (struct depth){0}; /* no order is needed */
	built.depth = investigation->depth.depth;
	built.radius = investigation->depth.radius;
	finding_shorten(&built);
	finding_keep_sources(&built);
	*finding = built;
	return 0;
}
