/* Set-up of a campaign, its totals and progress, its row in the store, and its release. */
#include "explore/campaign_internal.h"

#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/bug.h"
#include "base/hash.h"
#include "base/strbuf.h"
#include "process/children.h"
#include "process/cores.h"
#include "worker/remote.h"
#include "plan/memory_view.h"
#include "plan/restart.h"
#include "detectors/detector.h"
#include "platform/platform.h"
#include "symbols/symbols.h"
#include "strategies/strategy.h"

/* Default --time. Most users start raddle for a test that fails about once a minute. */
#define STANDARD_TIME_NS UINT64_C(60000000000)
/*
 * Default memory for checkpoints: some hundred of a small program. Unused checkpoint memory is
 * never allocated.
 */
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
	struct strbuf text;

	if (!say)
		return;
	strbuf_init(&text);
	strbuf_vaddf(&text, format, args);
	say(campaign->listener->context, text.text);
	strbuf_release(&text);
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

/* ---- totals ---- */

static void take_guarantee(struct campaign *campaign)
{
	const struct strategy *strategy = strategies[campaign->options->strategy];
	struct strategy_guarantee guarantee;

	if (campaign->counted.runs && strategy->guarantee &&
		strategy->guarantee(campaign->knowledge, &guarantee))
		campaign->result->guarantee = guarantee;
}

/*
 * Exhaustive strategies use checkpoints, and a checkpoint does not hold the state of the race
 * detector.
 */
static bool campaign_watches_races(const struct campaign *campaign)
{
	const struct campaign_options *options = campaign->options;

	return options->watches_races && !campaign->settings.races.are_failures &&
	       !options->trace_events && !strategies[options->strategy]->search.is_exhausted;
}

static int compare_races(const void *one, const void *other)
{
	const struct campaign_race *a = one, *b = other;

	return (a->run > b->run) - (a->run < b->run);
}

/*
 * Lists the observed races by the first run that showed each. Needs the symbols of a process that
 * still exists.
 */
static void tell_races_seen(struct campaign *campaign)
{
	struct campaign_result *result = campaign->result;
	struct race_seen *seen;
	uint32_t count = 0;

	if (!campaign->worker_count || !campaign_watches_races(campaign) || !campaign->has_rounds)
		return;
	seen = calloc(campaign->races_seen_count + 1u, sizeof *seen);
	BUG_ON(!seen);
	if (campaign->races_seen_count) /* the races of one run have one order already */
		qsort(campaign->races_seen, campaign->races_seen_count,
			sizeof *campaign->races_seen, compare_races);
	for (uint32_t i = 0; i < campaign->races_seen_count; i++) {
		const struct campaign_race *race = &campaign->races_seen[i];

		if (race->run < campaign->round->first + campaign->round->settled &&
			!races_have(seen, count, race->seen.pair))
			seen[count++] = race->seen;
	}
	result->races_seen = count;
	races_describe_seen(campaign->workers[0].worker.contract, campaign->symbols, seen, count,
		result->races_seen_text, sizeof result->races_seen_text);
	free(seen);
}

/*
 * Adds counters that each worker maintains for itself. They include runs that do not count in the
 * end.
 */
static void add_workers(struct campaign *campaign, struct contract_totals *totals)
{
	struct campaign_result *result = campaign->result;

	result->checkpoints = result->runs_resumed = result->runs_made = 0;
	for (uint32_t i = 0; i < campaign->worker_count; i++) {
		struct contract *contract = campaign->workers[i].worker.contract;

		result->runs_made +=
			contract->totals.runs - contract->totals.outcome[OUTCOME_TAINTED];
		result->checkpoints += contract->totals.checkpoints_taken;
		result->runs_resumed += contract->totals.runs_resumed;
		result->met |= contract->met;
		memcpy(result->checkpoint_obstacle, contract->checkpoint_text,
			sizeof result->checkpoint_obstacle);
		if (!campaign->parts.strategy || i == 0)
			verdict_take(campaign, contract);
	}
	result->runs_made -= campaign->parts.compared_runs;
	if (campaign->has_rounds || !campaign->worker_count)
		return;
	*totals = campaign->workers[0].worker.contract->totals;
	parts_add_up(campaign, totals);
	/* A tainted run is made again and counts once. */
	totals->runs -= totals->outcome[OUTCOME_TAINTED];
	campaign->races_let_pass = races_counted(campaign->workers[0].worker.contract).ignored;
	campaign->blind_runs = races_counted(campaign->workers[0].worker.contract).blind_runs;
}

static void campaign_add_up(struct campaign *campaign)
{
	struct campaign_result *result = campaign->result;
	struct contract_totals totals = campaign->counted;

	if (campaign->has_rounds && !campaign->is_over)
		rounds_add_unsettled(campaign, &totals);
	add_workers(campaign, &totals);
	result->total.runs = totals.runs;
	/* A run that a suppressed race ended is no failure. */
	result->total.failures = totals.failures - campaign->suppressed_runs;
	result->total.steps = totals.steps;
	memcpy(result->outcomes, totals.outcome, sizeof result->outcomes);
	result->outcomes[OUTCOME_RACE] -= campaign->suppressed_runs;
	result->threads_most = totals.threads_most;
	result->steps_most = totals.steps_most;
	result->digest = totals.digest;
	result->races_let_pass = campaign->races_let_pass;
	result->blind_runs = campaign->blind_runs;
	result->total.elapsed_ns = platform_monotonic_ns() - campaign->started_ns;
	result->total.exploring_ns = result->total.elapsed_ns - campaign->investigating_ns;
	if (campaign->has_rounds)
		take_guarantee(campaign);
	result->restart = campaign->restart;
	result->has_started = campaign->has_started;
	result->is_alone = campaign->is_alone;
}

static int campaign_save(struct campaign *campaign, const char *state, struct error *err)
{
	const struct campaign_progress *total = &campaign->result->total;

	campaign->row.runs = total->runs;
	campaign->row.failures = total->failures;
	campaign->row.steps = total->steps;
	campaign->row.run_end = campaign_runs_made(campaign);
	campaign->row.seconds = (double)total->elapsed_ns / 1e9;
	free(campaign->row.state);
	campaign->row.state = strdup(state);
	course_note(campaign, true);
	free(campaign->row.course);
	campaign->row.course = course_text(&campaign->course);
	free(campaign->row.restart);
	campaign->row.restart = strdup(restart_descriptions[campaign->restart].word);
	BUG_ON(!campaign->row.state || !campaign->row.restart);
	return store_campaign_update(campaign->store, &campaign->row, err);
}

int campaign_tell_progress(struct campaign *campaign, struct error *err)
{
	uint64_t now = platform_monotonic_ns();
	struct error unsaid;

	course_note(campaign, false);
	if (now - campaign->progress_ns < PROGRESS_EVERY_NS)
		return 0;
	campaign->progress_ns = now;
	campaign_warn_unseen(campaign);
	campaign_add_up(campaign);
	if (campaign->listener->progress)
		campaign->listener->progress(campaign->listener->context, &campaign->result->total);
	if (now - campaign->saved_ns < SAVE_EVERY_NS)
		return 0;
	campaign->saved_ns = now;
	if (campaign->spare) {
		/* only the error of the last save is reported */
		(void)campaign_save(campaign, "running", &unsaid);
		return 0;
	}
	return campaign_save(campaign, "running", err);
}

/* ---- set-up ---- */

/*
 * Path of the file behind standard input, so that each process can open it again. NULL: standard
 * input is no file. The caller frees it.
 */
static char *input_file(struct campaign *campaign)
{
	struct stat ours, theirs;
	int waiting = 0;
	char *path;

	if (fstat(STDIN_FILENO, &ours) != 0)
		return NULL;
	/*
	 * The only run may read standard input itself, unless that is a terminal. A terminal would
	 * stop the run's process group, which is not in the foreground.
	 */
	campaign->reads_ours = campaign->options->forwards_signals &&
			       (S_ISFIFO(ours.st_mode) || S_ISSOCK(ours.st_mode));
	if (campaign->reads_ours)
		return NULL;
	if (S_ISFIFO(ours.st_mode) && ioctl(STDIN_FILENO, FIONREAD, &waiting) == 0 && waiting > 0)
		campaign_warn(campaign,
			"standard input is a pipe and each run would need all of it, "
			"so runs read nothing; give --stdin FILE");
	if (!S_ISREG(ours.st_mode))
		return NULL;
	path = realpath("/proc/self/fd/0", NULL);
	if (path && stat(path, &theirs) == 0 && theirs.st_ino == ours.st_ino &&
		theirs.st_dev == ours.st_dev)
		return path;
	free(path); /* the file was deleted: the path of the descriptor still opens it */
	return strdup("/proc/self/fd/0");
}

static int find_input(struct campaign *campaign, struct error *err)
{
	const char *wanted = campaign->options->settings.input;

	settings_copy(&campaign->settings, &campaign->options->settings);
	free(campaign->settings.input);
	campaign->settings.input = wanted ? realpath(wanted, NULL) : input_file(campaign);
	if (wanted && !campaign->settings.input)
		return error_set(err, ERROR_NOTFOUND,
			"--stdin %s cannot be opened (%s); check the path", wanted,
			strerror(errno));
	return 0;
}

static uint64_t strategy_bytes(const struct campaign_options *options)
{
	return strategies[options->strategy]->state_bytes(&options->strategy_config);
}

int campaign_open_worker(
	struct campaign *campaign, struct campaign_worker *worker, struct error *err)
{
	const struct campaign_options *options = campaign->options;
	struct worker_params params = {
		.target = &campaign->target,
		.argv = options->argv,
		.directory = campaign->directory,
		.input = campaign->settings.input,
		.reads_ours = campaign->reads_ours,
		.runtime = options->runtime,
		.output = options->show_output ? OUTPUT_SHOW : OUTPUT_DISCARD,
		.is_in_place = options->forwards_signals,
		.check = campaign->settings.check,
		.hang_ns = campaign->settings.hang_ns,
		.sizes = {.strategy_bytes = strategy_bytes(options),
			.trace_events = options->trace_events,
			.detector_bytes = campaign_watches_races(campaign)
						  ? detectors_bytes()
						  : races_state_bytes(&campaign->settings.races)},
	};
	const uint32_t number = (uint32_t)(worker - campaign->workers);
	struct contract_plan *plan;
	int result;

	if (options->remote && number) { /* worker 0 is always local */
		params.remote = options->remote;
		params.remote_number = number - 1;
	}
	result = worker_open(&worker->worker, &params, err);
	if (result < 0)
		return result;
	plan = &worker->worker.contract->plan;
	settings_to_plan(&campaign->settings, plan);
	races_apply(&campaign->settings.races, worker->worker.contract);
	if (campaign_watches_races(campaign))
		races_watch(worker->worker.contract);
	campaign_tell_memory(campaign, worker);
	plan->strategy = options->strategy;
	plan->strategy_config = options->strategy_config;
	if (strategies[options->strategy]->search.is_elsewhere) {
		plan->strategy_config.shard = options->shard;
		plan->strategy_config.shards = options->shards;
		/* as runtime_seed() computes it for run 0 */
		plan->strategy_config.seed = hash_pair(options->seed, 0);
	}
	plan->seed = options->seed;
	plan->stop_at_failure = true;
	plan->is_traced = options->trace_events > 0;
	plan->has_contexts = options->has_contexts;
	plan->checkpoints = options->checkpoints;
	plan->checkpoint_bytes = options->checkpoint_bytes;
	plan->has_digest = options->has_digest;
	worker_clear_strategy(&worker->worker, strategy_bytes(options));
	/* gather() and share() need an initialised state before the first run */
	if (campaign->has_rounds) {
		strategies[options->strategy]->begin_campaign(
			contract_strategy(worker->worker.contract), &options->strategy_config);
		worker->worker.is_strategy_fresh = false;
	}
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

	campaign_row_fill(row, campaign->options, &campaign->settings, campaign->restart);
	status = target_fingerprint(&campaign->target, &row->target, err);
	if (status == 0)
		status = campaign_find_runs(campaign, err);
	row->run_end = row->run_first;
	return status < 0 ? status : store_campaign_begin(campaign->store, row, err);
}

/*
 * Number of workers to open. Output that is shown and input that is read must belong to a single
 * run, unless the user asks for several workers.
 */
static uint32_t wanted_workers(const struct campaign *campaign)
{
	const struct campaign_options *options = campaign->options;
	const uint64_t runs = campaign->run_end - campaign->run_next;
	uint64_t wanted = options->remote ? options->remote->count + UINT64_C(1) : options->workers;

	if (!campaign->has_rounds && !strategies[options->strategy]->search.parts)
		return 1; /* each run depends on the run before it */
	if (campaign->reads_ours || options->forwards_signals)
		return 1;
	if (!wanted)
		wanted = options->show_output ? 1 : cores_available();
	if (wanted > CHILDREN_WORKERS_MAX)
		wanted = CHILDREN_WORKERS_MAX;
	return (uint32_t)(wanted > runs && runs ? runs : wanted);
}

/* Finds the program, its input and its debug information, and chooses the restart. */
static int find_program(struct campaign *campaign, struct error *err)
{
	const struct campaign_options *options = campaign->options;
	int result = target_find(&campaign->target, options->argv[0], err);

	if (result == 0)
		result = find_input(campaign, err);
	if (result == 0 && options->variables)
		result = chosen_find(&campaign->chosen, campaign->target.path,
			campaign->target.traits.loader, options->variables, err);
	if (result < 0)
		return result;
	if (campaign->target.traits.has_sites && !campaign->target.traits.has_debug)
		campaign_notice(campaign,
			"%s has no debug information, so variables and places appear as offsets in "
			"it; compile with -g and do not strip it",
			campaign->target.path);
	campaign->directory = getcwd(NULL, 0);
	campaign->restart = options->is_restart_forced
				    ? options->restart
				    : restart_fastest(options->settings.executor);
	/*
	 * --check judges a process that has ended. Standard input that a run has read cannot be
	 * read again, so no other restart can be tried later.
	 */
	if (campaign->settings.check || (campaign->reads_ours && !options->is_restart_forced))
		campaign->restart = RESTART_EXEC;
	campaign->has_rounds = !strategy_is_sequential(strategies[options->strategy]);
	return 0;
}

static int open_workers(struct campaign *campaign, uint32_t wanted, struct error *err)
{
	int result = 0;

	campaign->workers = calloc(wanted, sizeof *campaign->workers);
	BUG_ON(!campaign->workers);
	while (result == 0 && campaign->worker_count < wanted) {
		result = campaign_open_worker(
			campaign, &campaign->workers[campaign->worker_count], err);
		campaign->worker_count += result == 0;
	}
	return result;
}

static int campaign_set_up(struct campaign *campaign, struct error *err)
{
	const struct campaign_options *options = campaign->options;
	const uint64_t called_ns = platform_monotonic_ns();
	int result = find_program(campaign, err);

	if (result < 0)
		return result;
	campaign->store = options->store;
	if (!campaign->store)
		result = store_open(&campaign->store, options->directory, STORE_WRITE, err);
	if (result == 0)
		result = campaign_begin_row(campaign, err);
	if (result == 0 && campaign->has_rounds)
		rounds_open(campaign);
	if (result == 0)
		result = open_workers(campaign, wanted_workers(campaign), err);
	parts_begin(campaign);
	compare_begin(campaign);
	if (result == 0 && campaign->resumed_id)
		result = state_load(campaign, err);
	campaign->keys = calloc(options->known_failure_count + 1u, sizeof *campaign->keys);
	BUG_ON(!campaign->keys);
	for (uint32_t i = 0; i < options->known_failure_count; i++)
		campaign->keys[campaign->key_count++] = options->known_failures[i];
	campaign->started_ns = platform_monotonic_ns();
	/* The grace period of unfinished runs is a part of the time budget. */
	campaign->deadline_ns =
		options->time_ns ? called_ns + options->time_ns - campaign_end_grace_ns(campaign)
				 : UINT64_MAX;
	return result;
}

/* Releases everything and kills all processes of the target, also after errors. */
static void campaign_tear_down(struct campaign *campaign)
{
	parts_release(campaign);
	for (uint32_t i = 0; i < campaign->worker_count; i++)
		worker_close(&campaign->workers[i].worker);
	children_kill_strays();
	rounds_close(campaign);
	free(campaign->workers);
	free(campaign->keys);
	symbols_free(campaign->symbols);
	free(campaign->directory);
	store_campaign_release(&campaign->row);
	if (!campaign->options->store)
		store_close(campaign->store);
	store_close(campaign->spare);
	settings_release(&campaign->settings);
	chosen_release(&campaign->chosen);
	target_release(&campaign->target);
}

int campaign_open_alone(struct campaign *campaign, struct error *err)
{
	const int result = find_program(campaign, err);

	return result < 0 ? result : open_workers(campaign, 1, err);
}

void campaign_close_alone(struct campaign *campaign)
{
	campaign_tear_down(campaign);
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
			status = campaign_explore(&campaign, err);
		campaign_warn_unseen(&campaign);
		campaign_add_up(&campaign);
		tell_races_seen(&campaign);
		/* The first error is reported, not one that saving adds. */
		if (status < 0)
			(void)campaign_save(&campaign, "failed", NULL);
		else
			status = campaign_save(
				&campaign, result->is_interrupted ? "interrupted" : "done", err);
		if (status == 0)
			status = verdict_keep(&campaign, true, err);
		if (campaign.spare) {
			spare_notify(&campaign);
			/* the full disk that refused a finding may have refused this row too */
			status = 0;
		}
	}
	campaign_tear_down(&campaign);
	return status;
}
