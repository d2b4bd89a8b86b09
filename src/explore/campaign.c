/* Set-up of a campaign, its totals and progress, its row in the store, and its release. */
#include "explore/scheme.h"

#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/array.h"
#include "base/hash.h"
#include "base/strbuf.h"
#include "explore/services.h"
#include "process/children.h"
#include "process/cores.h"
#include "worker/remote.h"
#include "plan/restart.h"
#include "detectors/detector.h"
#include "platform/platform.h"
#include "symbols/symbols.h"
#include "strategies/strategy.h"

/* Most users test for a failure that occurs about once a minute. */
#define STANDARD_TIME_NS UINT64_C(60000000000)
/* Some hundred checkpoints of a small program. Unused memory is never allocated. */
#define STANDARD_CHECKPOINT_BYTES (UINT64_C(256) << 20)
#define PROGRESS_EVERY_NS UINT64_C(100000000)
#define SAVE_EVERY_NS UINT64_C(2000000000)

void campaign_options_init(struct campaign_options *options)
{
	*options = (struct campaign_options){.directory = ".",
		.seed = 1,
		.time_ns = STANDARD_TIME_NS,
		.workers = 1,
		.checkpoint_bytes = STANDARD_CHECKPOINT_BYTES};
	settings_init(&options->settings);
}

static void campaign_say(const struct campaign *campaign,
	void (*say)(void *context, const char *text), const char *format, va_list args)
{
	STRBUF_SCOPED text = STRBUF_EMPTY;

	if (!say)
		return;
	strbuf_vaddf(&text, format, args);
	say(campaign->listener->context, text.text);
}

void campaign_notice(const struct campaign *campaign, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	campaign_say(campaign, campaign->listener->notice, format, args);
	va_end(args);
}

void campaign_warn(const struct campaign *campaign, const char *format, ...)
{
	const struct campaign_listener *listener = campaign->listener;
	va_list args;

	va_start(args, format);
	campaign_say(
		campaign, listener->warning ? listener->warning : listener->notice, format, args);
	va_end(args);
}

/* Returns whether to watch for races. Exhaustive strategies use checkpoints, which lack the race
 * detector's state. */
bool campaign_watches_races(const struct campaign *campaign)
{
	const struct campaign_options *options = campaign->options;

	return options->watches_races && !campaign->program.settings.races.are_failures &&
	       !campaign->program.settings.races.weak && !options->trace_events &&
	       !strategies[options->strategy]->search.is_exhausted;
}

static void campaign_add_up(struct campaign *campaign)
{
	struct campaign_result *result = campaign->result;
	struct contract_totals totals;

	/* Counters of workers include runs that do not count in the end. */
	result->checkpoints = result->runs_resumed = result->runs_made = 0;
	for (uint32_t i = 0; i < campaign->worker_count; i++) {
		struct contract *contract = campaign->workers[i].worker.contract;

		result->runs_made +=
			contract->totals.runs - contract->totals.outcome[OUTCOME_TAINTED];
		result->checkpoints += contract->totals.checkpoints_taken;
		result->runs_resumed += contract->totals.runs_resumed;
		result->features |= contract->features;
		if (!result->checkpoint_obstacle[0])
			memcpy(result->checkpoint_obstacle, contract->checkpoint_text,
				sizeof result->checkpoint_obstacle);
	}
	verdict_take(campaign);
	campaign->scheme->add_totals(campaign, &totals);
	known_take_counts(campaign, &totals);
	/* A tainted run is repeated, so only the repetition counts. */
	result->total.runs = totals.runs - totals.outcome[OUTCOME_TAINTED];
	/* A run that a suppressed race ended is no failure. */
	result->total.failures = totals.failures - campaign->known.suppressed_runs;
	result->total.steps = totals.steps;
	memcpy(result->outcomes, totals.outcome, sizeof result->outcomes);
	result->outcomes[OUTCOME_RACE] -= campaign->known.suppressed_runs;
	result->threads_most = totals.threads_most;
	result->steps_most = totals.steps_most;
	result->digest = totals.digest;
	result->total.elapsed_ns = platform_monotonic_ns() - campaign->times.started_ns;
	result->total.exploring_ns = result->total.elapsed_ns - campaign->times.investigating_ns;
	result->restart = campaign->restart;
	result->has_started = campaign->has_started;
	result->is_alone = campaign->exclusive.is_active;
}

static int campaign_save(struct campaign *campaign, const char *state, struct error *err)
{
	const struct campaign_progress *total = &campaign->result->total;
	const int status = known_store_counts(campaign, err);

	if (status < 0)
		return status;
	campaign->row.runs = total->runs;
	campaign->row.failures = total->failures;
	campaign->row.steps = total->steps;
	/* The caller of more_runs() alone knows the numbers of the runs made. */
	campaign->row.run_end = campaign->listener->more_runs
					? campaign->row.run_first
					: campaign->scheme->runs_made(campaign);
	campaign->row.seconds = (double)total->elapsed_ns / 1e9;
	free(campaign->row.state);
	campaign->row.state = string_copy(state);
	progress_note(campaign, true);
	free(campaign->row.course);
	campaign->row.course = progress_text(campaign->progress);
	free(campaign->row.restart);
	campaign->row.restart = string_copy(restart_descriptions[campaign->restart].word);
	return store_campaign_update(campaign->store, &campaign->row, err);
}

int campaign_report_progress(struct campaign *campaign, struct error *err)
{
	uint64_t now = platform_monotonic_ns();
	struct error unsaid;

	progress_note(campaign, false);
	if (now - campaign->times.progress_ns < PROGRESS_EVERY_NS)
		return 0;
	campaign->times.progress_ns = now;
	notices_warn(campaign, false);
	campaign_add_up(campaign);
	if (campaign->listener->progress)
		campaign->listener->progress(campaign->listener->context, &campaign->result->total);
	if (now - campaign->times.saved_ns < SAVE_EVERY_NS)
		return 0;
	campaign->times.saved_ns = now;
	if (campaign->fallback.store) {
		/* a failed save is ignored here: only the error of the last save is reported */
		(void)campaign_save(campaign, "running", &unsaid);
		return 0;
	}
	return campaign_save(campaign, "running", err);
}

/* Returns the path of the file behind standard input, which each process opens again. Returns NULL
 * if there is no file. The caller frees the path. */
static char *campaign_input_file(struct campaign *campaign)
{
	struct stat ours, theirs;
	int waiting = 0;
	char *path;

	if (fstat(STDIN_FILENO, &ours) != 0)
		return NULL;
	/* The only run may read standard input itself; a terminal would stop its process group. */
	campaign->program.reads_ours = campaign->options->forwards_signals &&
				       (S_ISFIFO(ours.st_mode) || S_ISSOCK(ours.st_mode));
	if (campaign->program.reads_ours)
		return NULL;
	if (S_ISFIFO(ours.st_mode) && ioctl(STDIN_FILENO, FIONREAD, &waiting) == 0 && waiting > 0)
		campaign_warn(campaign,
			"standard input is a pipe, which only one run could read, so runs read nothing; give --stdin FILE");
	if (!S_ISREG(ours.st_mode))
		return NULL;
	path = realpath("/proc/self/fd/0", NULL);
	if (path && stat(path, &theirs) == 0 && theirs.st_ino == ours.st_ino &&
		theirs.st_dev == ours.st_dev)
		return path;
	free(path); /* the file was deleted, but the path of the descriptor still opens it */
	return strdup("/proc/self/fd/0");
}

static int campaign_find_input(struct campaign *campaign, struct error *err)
{
	const char *wanted = campaign->options->settings.input;

	settings_copy(&campaign->program.settings, &campaign->options->settings);
	free(campaign->program.settings.input);
	campaign->program.settings.input =
		wanted ? realpath(wanted, NULL) : campaign_input_file(campaign);
	if (wanted && !campaign->program.settings.input)
		return error_set(err, ERROR_NOTFOUND,
			"--stdin %s cannot be opened (%s); check the path", wanted,
			strerror(errno));
	return 0;
}

static uint64_t campaign_strategy_bytes(const struct campaign_options *options)
{
	return strategy_state_bytes(strategies[options->strategy], &options->strategy_config);
}

/* The plan of all runs of a worker. */
static void campaign_fill_plan(const struct campaign *campaign, struct contract_plan *plan)
{
	const struct campaign_options *options = campaign->options;

	settings_to_plan(&campaign->program.settings, plan);
	plan->strategy = options->strategy;
	plan->strategy_config = options->strategy_config;
	if (strategies[options->strategy]->search.is_elsewhere) {
		plan->strategy_config.shard = options->shard;
		plan->strategy_config.shards = options->shards;
		/* the seed that runtime_seed() computes for run 0 */
		plan->strategy_config.seed = hash_pair(options->seed, 0);
	}
	plan->seed = options->seed;
	plan->stop_at_failure = true;
	plan->is_traced = options->trace_events > 0;
	plan->has_contexts = options->has_contexts;
	plan->checkpoints = options->checkpoints;
	plan->checkpoint_bytes = options->checkpoint_bytes;
	plan->has_digest = options->has_digest;
}

int campaign_open_worker(
	struct campaign *campaign, struct campaign_worker *worker, struct error *err)
{
	const struct campaign_options *options = campaign->options;
	struct worker_params params = {
		.target = &campaign->program.target,
		.argv = options->argv,
		.directory = campaign->program.directory,
		.input = campaign->program.settings.input,
		.reads_ours = campaign->program.reads_ours,
		.runtime = options->runtime,
		.output = options->show_output ? OUTPUT_SHOW
			  : options->output    ? OUTPUT_KEEP
					       : OUTPUT_DISCARD,
		.is_in_place = options->forwards_signals,
		.check = campaign->program.settings.check,
		.hang_ns = campaign->program.settings.hang_ns,
		.sizes = {.strategy_bytes = campaign_strategy_bytes(options),
			.trace_events = options->trace_events,
			.detector_bytes =
				campaign_watches_races(campaign)
					? detectors_bytes()
					: races_state_bytes(&campaign->program.settings.races)},
	};
	const uint32_t number = (uint32_t)(worker - campaign->workers);
	int result;

	params.has_network = campaign->exclusive.has_networks && number;
	if (options->remote && number) { /* worker 0 is always local */
		params.remote = options->remote;
		params.remote_number = number - 1;
	}
	result = worker_open(&worker->worker, &params, err);
	if (result < 0)
		return result;
	campaign_fill_plan(campaign, &worker->worker.contract->plan);
	races_apply(&campaign->program.settings.races, worker->worker.contract);
	if (campaign_watches_races(campaign))
		races_watch(worker->worker.contract);
	memory_write_view(campaign, worker);
	worker_clear_strategy(&worker->worker, campaign_strategy_bytes(options));
	if (campaign->scheme->prepare_worker)
		campaign->scheme->prepare_worker(campaign, worker);
	if (campaign->listener->equip)
		campaign->listener->equip(campaign->listener->run_context,
			contract_strategy(worker->worker.contract));
	worker->batch = 1;
	return 0;
}

static int campaign_begin_row(struct campaign *campaign, struct error *err)
{
	struct store_campaign *row = &campaign->row;
	int status;

	campaign_row_fill(row, campaign->options, &campaign->program.settings, campaign->restart);
	status = target_fingerprint(&campaign->program.target, &row->target, err);
	if (status == 0)
		status = runs_find(campaign, err);
	row->run_end = row->run_first;
	return status < 0 ? status : store_campaign_begin(campaign->store, row, err);
}

/* Returns the number of workers to use. A campaign that shows output or reads input makes a single
 * run, unless the user requests several workers. */
static uint32_t campaign_wanted_workers(const struct campaign *campaign)
{
	const struct campaign_options *options = campaign->options;
	const uint64_t runs = campaign->runs.end - campaign->runs.next;
	uint64_t wanted = options->remote ? options->remote->count + UINT64_C(1) : options->workers;

	if (campaign->program.reads_ours || options->forwards_signals)
		return 1;
	if (!wanted)
		wanted = options->show_output ? 1 : cores_available();
	if (wanted > CHILDREN_WORKERS_MAX)
		wanted = CHILDREN_WORKERS_MAX;
	return (uint32_t)(wanted > runs && runs ? runs : wanted);
}

static const struct scheme *campaign_choose_scheme(
	const struct campaign *campaign, uint32_t worker_count)
{
	const struct strategy *strategy = strategies[campaign->options->strategy];

	if (!strategy_is_sequential(strategy))
		return &scheme_rounds;
	return strategy->search.tasks && worker_count > 1 ? &scheme_tasks : &scheme_sequence;
}

static int campaign_find_program(struct campaign *campaign, struct error *err)
{
	const struct campaign_options *options = campaign->options;
	int result = target_find(&campaign->program.target, options->argv[0], err);

	if (result == 0)
		result = campaign_find_input(campaign, err);
	if (result == 0 && options->variables &&
		campaign->program.target.traits.tsan != TSAN_NONE &&
		!campaign->program.target.traits.has_sites)
		return error_set(err, ERROR_TARGET,
			"%s is built with -fsanitize=thread and has no bitcode, which --variables needs; build it with raddle-cc",
			campaign->program.target.path);
	if (result == 0 && options->variables)
		result = chosen_find(&campaign->program.chosen, campaign->program.target.path,
			campaign->program.target.traits.loader, options->variables, err);
	if (result < 0)
		return result;
	if (campaign->program.target.traits.has_sites && !campaign->program.target.traits.has_debug)
		campaign_notice(campaign,
			"%s has no debug information, so variables and locations appear as offsets in "
			"it; compile with -g and do not strip it",
			campaign->program.target.path);
	campaign->program.directory = getcwd(NULL, 0);
	campaign->restart = restart_fastest(options->settings.executor);
	if (options->is_restart_forced || campaign->restart < options->restart)
		campaign->restart = options->restart;
	/* --check judges an ended process. Standard input cannot be read again. */
	if (campaign->program.settings.check ||
		(campaign->program.reads_ours && !options->is_restart_forced))
		campaign->restart = RESTART_EXEC;
	return 0;
}

static int campaign_open_workers(struct campaign *campaign, uint32_t wanted, struct error *err)
{
	int result = 0;

	campaign->workers = array_new(wanted, sizeof *campaign->workers);
	while (result == 0 && campaign->worker_count < wanted) {
		result = campaign_open_worker(
			campaign, &campaign->workers[campaign->worker_count], err);
		campaign->worker_count += result == 0;
	}
	return result;
}

static int campaign_begin_scheme(struct campaign *campaign, uint32_t workers, struct error *err)
{
	const struct scheme *const scheme = campaign_choose_scheme(campaign, workers);
	int result;

	campaign->scheme = scheme;
	if (scheme->open)
		scheme->open(campaign);
	result = campaign_open_workers(campaign, scheme == &scheme_sequence ? 1 : workers, err);
	if (result == 0 && scheme->begin)
		scheme->begin(campaign);
	return result;
}

static int campaign_set_up(struct campaign *campaign, struct error *err)
{
	const struct campaign_options *options = campaign->options;
	const uint64_t called_ns = platform_monotonic_ns();
	int result = campaign_find_program(campaign, err);

	if (result < 0)
		return result;
	campaign->store = options->store;
	if (!campaign->store)
		result = store_open(&campaign->store, options->directory, STORE_WRITE, err);
	if (result == 0)
		result = campaign_begin_row(campaign, err);
	/* behind the row, by which a later campaign of the same command finds this one */
	campaign->program.settings.without_virtual_time |= options->has_real_clocks;
	if (result == 0)
		result = campaign_begin_scheme(campaign, campaign_wanted_workers(campaign), err);
	if (result == 0 && campaign->runs.resumed_id)
		result = state_load(campaign, err);
	for (uint32_t i = 0; i < options->known_failure_count; i++)
		known_add(campaign, options->known_failures[i])->is_investigated = true;
	campaign->times.started_ns = platform_monotonic_ns();
	/* The grace period of unfinished runs is part of the time budget. */
	campaign->times.deadline_ns = options->time_ns ? called_ns + options->time_ns -
								 signals_grace_ns(campaign) -
								 orders_reserved_ns(campaign)
						       : UINT64_MAX;
	return result;
}

void campaign_close(struct campaign *campaign)
{
	if (campaign->scheme && campaign->scheme->close)
		campaign->scheme->close(campaign);
	for (uint32_t i = 0; i < campaign->worker_count; i++)
		worker_close(&campaign->workers[i].worker);
	children_kill_strays();
	free(campaign->workers);
	free(campaign->known.failures);
	free(campaign->known.suppressed);
	suppressions_release(&campaign->known.suppressions);
	free(campaign->progress);
	symbols_free(campaign->symbols);
	free(campaign->program.directory);
	store_campaign_release(&campaign->row);
	if (!campaign->options->store)
		store_close(campaign->store);
	store_close(campaign->fallback.store);
	settings_release(&campaign->program.settings);
	chosen_release(&campaign->program.chosen);
	target_release(&campaign->program.target);
}

int campaign_open_alone(struct campaign *campaign, struct error *err)
{
	const int result = campaign_find_program(campaign, err);

	campaign->scheme = campaign_choose_scheme(campaign, 1);
	return result < 0 ? result : campaign_open_workers(campaign, 1, err);
}

int campaign_run(const struct campaign_options *options, const struct campaign_listener *listener,
	struct campaign_result *result, struct error *err)
{
	struct campaign campaign = {.options = options, .listener = listener, .result = result};
	int status;

	memset(result, 0, sizeof *result);
	status = campaign_set_up(&campaign, err);
	if (status == 0) {
		result->campaign = campaign.row.id;
		status = verdict_keep(&campaign, false, err);
		if (status == 0)
			status = loop_run(&campaign, err);
		notices_warn(&campaign, true);
		campaign_add_up(&campaign);
		if (campaign.scheme->conclude)
			campaign.scheme->conclude(&campaign);
		if (status == 0)
			orders_estimate(&campaign);
		if (status < 0)
			(void)campaign_save(&campaign, "failed", NULL);
		else
			status = campaign_save(
				&campaign, result->is_interrupted ? "interrupted" : "done", err);
		if (status == 0)
			status = verdict_keep(&campaign, true, err);
		if (campaign.fallback.store) {
			fallback_notify(&campaign);
			/* a full disk that refused a finding may refuse this row, too: no error */
			status = 0;
		}
	}
	campaign_close(&campaign);
	return status;
}
