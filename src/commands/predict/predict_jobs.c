/*
 * Drives several candidates at a time, each in a forked job (forked_jobs.h). Invariant: results and
 * runs are those of driving one candidate after the other. A job that investigated a failure of an
 * earlier candidate is repeated with that knowledge.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "process/forked_jobs.h"
#include "commands/predict/predict_internal.h"
#include "platform/platform.h"
#include "investigate/replay.h"
#include "store/store_aside.h"

/* A finding to report, with the data that the listener got in the job. */
struct reported {
	char aside_id[32];
	struct confirmation confirmation;
};

struct drive_job {
	const struct predict *predict;
	struct strbuf reported;
	uint32_t reported_count;
	uint64_t since_ns, investigated_ns;
};

struct driving {
	struct predict *predict;
	const struct predict_drive *drive;
	bool is_alone; /* exclusive job: no other process of the program can disturb it */
	struct error *err;
};

struct driven {
	struct predict_attempt attempt;
	bool has_no_threads; /* its process created no threads, unlike recorded runs */
	uint32_t known_count;
	uint64_t *keys; /* keys of investigated failures, with the resulting findings */
	char (*findings)[32];
	uint32_t reported_count;
	struct reported *reported;
	struct store_unpacked kept;
};

static void predict_jobs_on_confirming(void *context, const struct failure *failure)
{
	struct drive_job *job = context;

	(void)failure;
	job->since_ns = platform_monotonic_ns();
}

static void predict_jobs_on_found(void *context, const struct campaign_found *found)
{
	struct drive_job *job = context;
	struct reported reported = {.confirmation = found->confirmation};

	(void)snprintf(reported.aside_id, sizeof reported.aside_id, "%s", found->finding->id);
	strbuf_add(&job->reported, (const char *)&reported, sizeof reported);
	job->reported_count++;
	if (job->since_ns)
		job->investigated_ns += platform_monotonic_ns() - job->since_ns;
	job->since_ns = 0;
}

static void predict_jobs_pack(const struct predict_attempt *attempt, const struct predict *predict,
	uint32_t known_before, const struct drive_job *job, struct strbuf *answer)
{
	const uint32_t learnt = predict->known_count - known_before;

	strbuf_add(answer, (const char *)attempt, sizeof *attempt);
	strbuf_add(answer, (const char *)&learnt, sizeof learnt);
	strbuf_add(answer, (const char *)&job->reported_count, sizeof job->reported_count);
	/* The first keys were known before the fork. */
	if (learnt) {
		strbuf_add(answer, (const char *)&predict->known_keys[known_before],
			learnt * sizeof *predict->known_keys);
		strbuf_add(answer, predict->known_findings[known_before],
			learnt * sizeof *predict->known_findings);
	}
	strbuf_add(answer, job->reported.text, job->reported.length);
	store_aside_pack(predict->options->campaign.store, answer);
}

static int predict_jobs_work(void *context, uint32_t number, const volatile int *is_interrupted,
	struct strbuf *answer, struct error *err)
{
	const struct driving *driving = context;
	const struct predict_drive *drive = driving->drive;
	struct predict_options options = *driving->predict->options;
	struct predict predict = *driving->predict;
	struct drive_job job = {.predict = &predict};
	const struct campaign_listener listener = {.context = &job,
		.confirming = predict_jobs_on_confirming,
		.found = predict_jobs_on_found};
	const uint64_t begun_ns = platform_monotonic_ns();
	struct predict_attempt attempt;
	int result;

	strbuf_init(&job.reported);
	store_open_aside(&options.campaign.store);
	options.campaign.is_interrupted = is_interrupted;
	predict.options = &options;
	predict.listener = &listener;
	result = predict_confirm(&predict, &drive->candidates[number], drive->judge,
		drive->judging(drive->context, number), &attempt, err);
	attempt.kept_ns += job.investigated_ns;
	attempt.driven_ns = platform_monotonic_ns() - begun_ns - attempt.kept_ns;
	if (result == 0)
		predict_jobs_pack(&attempt, &predict, driving->predict->known_count, &job, answer);
	return result; /* the process ends and frees the rest */
}

static void predict_jobs_release(struct driven *driven)
{
	free(driven->keys);
	free(driven->findings);
	free(driven->reported);
	store_unpacked_release(&driven->kept);
}

static void *predict_jobs_take_array(
	struct forked_job_reading *reading, uint32_t count, size_t size, bool *is_whole)
{
	void *array = array_new(count + 1u, size);
	*is_whole &= forked_job_take_bytes(reading, array, count * size);
	return array;
}

static int predict_jobs_unpack(
	struct driven *driven, const struct strbuf *answer, struct error *err)
{
	struct forked_job_reading reading = forked_job_read(answer);
	bool is_whole = true;

	*driven = (struct driven){0};
	is_whole &=
		forked_job_take_bytes(&reading, &driven->attempt, sizeof driven->attempt) &&
		forked_job_take_bytes(&reading, &driven->known_count, sizeof driven->known_count) &&
		forked_job_take_bytes(
			&reading, &driven->reported_count, sizeof driven->reported_count);
	if (is_whole) {
		driven->keys = predict_jobs_take_array(
			&reading, driven->known_count, sizeof *driven->keys, &is_whole);
		driven->findings = predict_jobs_take_array(
			&reading, driven->known_count, sizeof *driven->findings, &is_whole);
		driven->reported = predict_jobs_take_array(
			&reading, driven->reported_count, sizeof *driven->reported, &is_whole);
	}
	if (is_whole)
		return store_aside_unpack(&driven->kept, &reading, err);
	return error_set(err, ERROR_FORMAT, "the result of a raddle process is truncated");
}

static bool predict_jobs_lacks_known(const struct predict *predict, const struct driven *driven)
{
	for (uint32_t i = 0; i < driven->known_count; i++)
		if (predict_known(predict, driven->keys[i]))
			return true;
	return false;
}

static bool predict_jobs_repeats_alone(const struct predict *predict, const struct finding *finding)
{
	const struct replay_options options = {.runtime = predict->options->campaign.runtime,
		.is_quiet = true,
		.is_interrupted = predict->options->campaign.is_interrupted};
	struct replay_result result;
	bool repeats;

	/* An interrupted replay does not prove that the finding fails to repeat. */
	if (replay_finding(finding, &options, &result, NULL) < 0)
		return *options.is_interrupted;
	repeats = finding->kind == OUTCOME_VIOLATION ? !result.has_diverged : result.is_same;
	finding_release(&result.traced);
	return repeats;
}

static bool predict_jobs_was_confirmed(const struct driven *driven, const char *aside_id)
{
	for (uint32_t i = 0; i < driven->reported_count; i++)
		if (!strcmp(driven->reported[i].aside_id, aside_id))
			return confirmation_is_repeatable(&driven->reported[i].confirmation);
	return true; /* a finding that is not reported was replayed before it was kept */
}

static bool predict_jobs_was_disturbed(const struct predict *predict, const struct driven *driven)
{
	if (driven->attempt.has_no_threads || driven->attempt.is_unsteady)
		return true;
	for (uint32_t i = 0; i < driven->kept.finding_count; i++) {
		const struct store_aside_finding *kept = &driven->kept.findings[i];

		if (!predict_jobs_was_confirmed(driven, kept->aside_id) ||
			!predict_jobs_repeats_alone(predict, &kept->finding))
			return true;
	}
	return false;
}

/* Stores the results of a job; in the fallback store if the command's store refuses them. */
static int predict_jobs_store(struct predict *predict, struct driven *driven, struct error *err)
{
	const struct campaign_listener *listener = predict->listener;
	STRBUF_SCOPED text = STRBUF_EMPTY;
	struct error here;
	struct store *store;
	int result = store_open(&store, predict->options->campaign.directory, STORE_WRITE, err);

	driven->attempt.fallback = NULL;
	if (result == 0) {
		result = store_keep_unpacked(store, &driven->kept, err);
		store_close(store);
	}
	if (result == 0 || store_fallback_open(&predict->fallback, &here) < 0 ||
		store_keep_unpacked(predict->fallback.store, &driven->kept, &here) < 0)
		return result; /* the first error is reported */
	if (!driven->kept.finding_count)
		return 0;
	driven->attempt.fallback = predict->fallback.folder;
	strbuf_addf(&text,
		"a finding could not be stored (%s); it is in %s/.raddle: free some space, and merge it from there with raddle merge",
		err->text, predict->fallback.folder);
	if (listener->notice)
		listener->notice(listener->context, text.text);
	return 0;
}

static void predict_jobs_report(const struct predict *predict, const struct driven *driven)
{
	const struct campaign_listener *listener = predict->listener;

	for (uint32_t i = 0; i < driven->reported_count; i++)
		for (uint32_t j = 0; j < driven->kept.finding_count; j++) {
			const struct store_aside_finding *kept = &driven->kept.findings[j];

			if (listener->found &&
				!strcmp(kept->aside_id, driven->reported[i].aside_id))
				listener->found(listener->context,
					&(struct campaign_found){.finding = &kept->finding,
						.is_new = kept->is_new,
						.fallback = driven->attempt.fallback,
						.confirmation = driven->reported[i].confirmation});
		}
}

/* Accepts a result in the order of the candidates: stores, learns and reports it. */
static int predict_jobs_accept_result(
	struct driving *driving, uint32_t number, struct driven *driven, struct error *err)
{
	struct predict *predict = driving->predict;
	struct predict_attempt *attempt = &driven->attempt;
	const int result = predict_jobs_store(predict, driven, err);

	if (result < 0)
		return result;
	store_rename(&driven->kept, attempt->finding);
	store_rename(&driven->kept, attempt->shown_by);
	for (uint32_t i = 0; i < driven->known_count; i++) {
		store_rename(&driven->kept, driven->findings[i]);
		predict_learn(predict, driven->keys[i], driven->findings[i]);
	}
	predict_jobs_report(predict, driven);
	driving->drive->came(driving->drive->context, number, attempt);
	return 0;
}

static void predict_jobs_notice_exclusive(struct driving *driving)
{
	const struct campaign_listener *listener = driving->predict->listener;

	driving->is_alone = true;
	if (listener->notice)
		listener->notice(listener->context,
			"a run beside other processes of the program did not repeat alone; from now on raddle makes one run at a time, as with -j 1");
}

static int predict_jobs_take(
	void *context, uint32_t number, const struct strbuf *answer, struct error *err)
{
	struct driving *driving = context;
	struct driven driven;
	int result = predict_jobs_unpack(&driven, answer, err);

	if (result < 0)
		return result;
	if (predict_jobs_lacks_known(driving->predict, &driven)) {
		result = FORKED_JOB_AGAIN;
	} else if (!driving->is_alone && predict_jobs_was_disturbed(driving->predict, &driven)) {
		predict_jobs_notice_exclusive(driving);
		result = FORKED_JOB_AGAIN_ALONE;
	} else {
		result = predict_jobs_accept_result(driving, number, &driven, err);
	}
	predict_jobs_release(&driven);
	return result;
}

static bool predict_jobs_needs_exclusive_run(
	void *context, uint32_t number, const struct strbuf *answer)
{
	const struct driving *driving = context;
	struct driven driven;
	bool is_needed;

	(void)number;
	if (driving->is_alone || predict_jobs_unpack(&driven, answer, NULL) < 0)
		return false;
	is_needed =
		driven.kept.finding_count && !predict_jobs_lacks_known(driving->predict, &driven);
	predict_jobs_release(&driven);
	return is_needed;
}

static void predict_jobs_on_wait(void *context, uint32_t number)
{
	const struct driving *driving = context;

	if (driving->drive->waits)
		driving->drive->waits(driving->drive->context, number);
}

int predict_drive(struct predict *predict, const struct predict_drive *drive, struct error *err)
{
	struct driving driving = {.predict = predict,
		.drive = drive,
		.is_alone = drive->workers == 1 || predict->is_alone};
	const struct jobs jobs = {.count = drive->count,
		.workers = driving.is_alone ? 1 : drive->workers,
		.context = &driving,
		.is_interrupted = predict->options->campaign.is_interrupted,
		.work = predict_jobs_work,
		.take = predict_jobs_take,
		.needs_exclusive_run = predict_jobs_needs_exclusive_run,
		.waits = predict_jobs_on_wait};
	const int result = predict_check_file(predict, err);

	return result < 0 ? result : forked_jobs_run(&jobs, err);
}
