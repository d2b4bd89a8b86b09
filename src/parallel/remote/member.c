/* A remote worker: makes the runs that rank 0 leases to it. */
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/array.h"
#include "process/target.h"
#include "parallel/remote/member_internal.h"
#include "platform/platform.h"

/* A remote worker sends a sign of life after silent_ns divided by this number. */
#define ALIVE_PART 4
#define LEADER 0

void member_send(const struct member *member, enum wire_tag tag, const void *bytes, size_t size)
{
	member->link->send(LEADER, tag, bytes, size);
}

/* Ends this rank after a message that no rank of this release sends. */
static void member_refuse(struct member *member, const struct link_message *message)
{
	member->is_stopped = 1;
	(void)error_set(&member->failure, ERROR_FORMAT,
		"rank 0 sent a message that cannot be read (kind %u, %zu bytes); install the same "
		"raddle everywhere, and use a network interface of your own",
		message->tag, message->size);
}

void member_listen(struct member *member)
{
	struct link_message message;

	while (member->link->receive(&message)) {
		member->leader_ns = platform_monotonic_ns();
		if (message.tag == WIRE_UNIT) {
			if (!wire_read_unit(&member->unit, &message))
				member_refuse(member, &message);
			else
				member->has_unit = true;
		} else if (message.tag == WIRE_PART) {
			free(member->task); /* rank 0 has abandoned the older batch */
			member->task = message.bytes;
			member->task_size = message.size;
			member->has_to_rest = false;
			message.bytes = NULL;
		} else if (message.tag == WIRE_REST) {
			member->has_to_rest = true;
		} else if (message.tag == WIRE_STOP) {
			member->is_stopped = 1;
		} else if (message.tag == WIRE_END) {
			if (!wire_read_end(&member->end, &message))
				member_refuse(member, &message);
			member->has_end = true;
			member->is_stopped = 1;
		}
		free(message.bytes);
	}
	member->has_no_leader |=
		platform_monotonic_ns() - member->leader_ns > CLUSTER_PATIENCE * member->silent_ns;
	if (*member->options->is_interrupted || member->has_no_leader)
		member->is_stopped = 1;
}

void member_show_life(struct member *member)
{
	const uint64_t now_ns = platform_monotonic_ns();

	if (now_ns - member->alive_ns < member->silent_ns / ALIVE_PART)
		return;
	member->alive_ns = now_ns;
	member_send(member, WIRE_ALIVE, NULL, 0);
}

static void member_report_done(struct member *member, enum wire_tag tag)
{
	struct wire_done done = {
		.took_ns = platform_monotonic_ns() - member->begun_ns,
		.runs = member->now.runs - member->reported.runs,
		.failures = member->now.failures - member->reported.failures,
		.steps = member->now.steps - member->reported.steps,
		.threads_most = member->now.threads_most,
		.steps_most = member->now.steps_most,
	};

	for (int kind = 0; kind < OUTCOME_KIND_COUNT; kind++)
		done.outcomes[kind] = member->now.outcome[kind] - member->reported.outcome[kind];
	done.runs -= done.outcomes[OUTCOME_TAINTED];
	member->reported = member->now;
	member_send(member, tag, &done, sizeof done);
}

static void member_on_started(void *context, const struct campaign_start *start)
{
	struct member *member = context;
	const struct wire_started started = {.restart = start->restart,
		.has_memory_sites = start->has_memory_sites,
		.has_dispatch = start->has_dispatch};

	member_send(member, WIRE_STARTED, &started, sizeof started);
}

static void member_on_progress(void *context, const struct campaign_progress *progress)
{
	(void)progress;
	member_listen(context);
	member_show_life(context);
}

/* Sends signs of life to rank 0 during a long investigation. */
static void member_on_minimising(void *context, const struct minimise_progress *progress)
{
	(void)progress;
	member_show_life(context);
}

static void member_on_notice(void *context, const char *text)
{
	member_send(context, WIRE_NOTICE, text, strlen(text));
}

static void member_on_found(void *context, const struct campaign_found *found)
{
	const struct finding *finding = found->finding;
	FREE_SCOPED char *json = finding_to_json(finding);
	const struct wire_finding head = {.confirmation = found->confirmation,
		.json_bytes = strlen(json),
		.trace_bytes = finding->trace ? finding->trace_size : 0};
	FREE_SCOPED char *bytes = array_new(1, sizeof head + head.json_bytes + head.trace_bytes);

	memcpy(bytes, &head, sizeof head);
	memcpy(bytes + sizeof head, json, head.json_bytes);
	if (head.trace_bytes)
		memcpy(bytes + sizeof head + head.json_bytes, finding->trace, head.trace_bytes);
	member_send(context, WIRE_FINDING, bytes, sizeof head + head.json_bytes + head.trace_bytes);
}

static void member_on_ran(void *context, struct contract *contract)
{
	((struct member *)context)->now = contract->totals;
	member_listen(context);
	member_show_life(context);
}

static bool member_next_unit(struct member *member)
{
	while (!member->has_unit && !member->is_stopped) {
		member_listen(member);
		member_show_life(member);
		if (!member->has_unit && !member->is_stopped)
			(void)usleep(MEMBER_NAP_US); /* a shorter sleep does no harm */
	}
	return member->has_unit && !member->is_stopped;
}

static bool member_on_more_runs(void *context, uint64_t *first, uint64_t *end)
{
	struct member *member = context;

	if (member->has_started)
		member_report_done(member, WIRE_DONE);
	if (!member_next_unit(member))
		return false;
	member->has_unit = false;
	member->has_started = true;
	member->begun_ns = platform_monotonic_ns();
	*first = member->unit.first;
	*end = member->unit.end;
	return true;
}

static int member_say_hello(struct member *member, struct error *err)
{
	struct wire_hello hello = {0};
	struct target target;
	int status = target_find(&target, member->options->argv[0], err);

	if (status == 0)
		status = target_fingerprint(&target, &hello.target, err);
	target_release(&target);
	if (status < 0)
		return status;
	(void)snprintf(hello.release, sizeof hello.release, "%s", RADDLE_RELEASE);
	(void)gethostname(hello.host, sizeof hello.host - 1); /* the name is empty if this fails */
	(void)snprintf(hello.folder, sizeof hello.folder, "%s", member->folder);
	member_send(member, WIRE_HELLO, &hello, sizeof hello);
	return 0;
}

static int member_make_folder(struct member *member, struct error *err)
{
	const char *temporary = getenv("TMPDIR");

	(void)snprintf(member->folder, sizeof member->folder, "%s/raddle-rank-%u.XXXXXX",
		temporary ? temporary : "/tmp", member->link->rank);
	if (mkdtemp(member->folder))
		return 0;
	return error_set(err, ERROR_IO,
		"rank %u cannot make a folder %s for its findings; set TMPDIR to one that can be written",
		member->link->rank, member->folder);
}

static int member_remove_entry(
	const char *path, const struct stat *status, int kind, struct FTW *location)
{
	(void)status;
	(void)kind;
	(void)location;
	(void)remove(path); /* an error leaves a file in the temporary folder */
	return 0;
}

static void member_remove_folder(const char *folder)
{
	(void)nftw(folder, member_remove_entry, 8,
		FTW_DEPTH | FTW_PHYS); /* an error leaves files in the temporary folder */
}

static int member_make_runs(struct member *member, struct error *err)
{
	const struct campaign_listener listener = {
		.context = member,
		.started = member_on_started,
		.progress = member_on_progress,
		.minimising = member_on_minimising,
		.notice = member_on_notice,
		.found = member_on_found,
		.run_context = member,
		.ran = member_on_ran,
		.more_runs = member_on_more_runs,
	};
	struct campaign_options options = *member->options;
	struct campaign_result result;

	options.directory = member->folder;
	options.schedules = options.time_ns = 0;
	options.workers = 1;
	options.keep_going = true; /* rank 0 decides when the campaign ends */
	options.forwards_signals = false;
	options.is_interrupted = &member->is_stopped;
	return campaign_run(&options, &listener, &result, err);
}

int cluster_follow(const struct link *link, const struct campaign_options *options,
	uint64_t silent_ns, struct error *err)
{
	struct member member = {.link = link,
		.options = options,
		.silent_ns = silent_ns,
		.leader_ns = platform_monotonic_ns()};
	const bool has_tasks = cluster_has_tasks(options);
	int status = has_tasks ? 0 : member_make_folder(&member, err);

	if (status == 0)
		status = member_say_hello(&member, err);
	if (status == 0)
		status = has_tasks ? member_make_tasks(&member, err)
				   : member_make_runs(&member, err);
	if (status == 0 && member.failure.code) {
		*err = member.failure;
		status = err->code;
	}
	if (status < 0)
		member_send(&member, WIRE_FAILED, err->text, strlen(err->text));
	else
		member_report_done(&member, WIRE_LEFT);
	while (!member.has_end && !member.has_no_leader && !*options->is_interrupted) {
		member_listen(&member);
		member_show_life(&member);
		(void)usleep(MEMBER_NAP_US); /* a shorter sleep does no harm */
	}
	if (!member.end.keeps_folder && *member.folder && !member.has_no_leader)
		member_remove_folder(member.folder);
	link->end(member.end.all_are_here);
	if (!member.has_no_leader)
		return 0;
	if (has_tasks)
		return error_set(err, ERROR_TARGET,
			"rank 0 has sent nothing for %llu s, so rank %u ends; continue with raddle run --resume where its store is",
			(unsigned long long)(CLUSTER_PATIENCE * silent_ns / UINT64_C(1000000000)),
			link->rank);
	return error_set(err, ERROR_TARGET,
		"rank 0 has sent nothing for %llu s, so rank %u ends; its findings are in %s/.raddle; merge them from there with raddle merge",
		(unsigned long long)(CLUSTER_PATIENCE * silent_ns / UINT64_C(1000000000)),
		link->rank, member.folder);
}
