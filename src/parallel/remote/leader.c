/* Rank 0 with units: leases ranges of runs to remote workers and receives their results. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/array.h"
#include "base/strbuf.h"
#include "parallel/remote/leader_internal.h"
#include "platform/platform.h"

#define UNIT_NS UINT64_C(2000000000)
#define NAP_US 500
#define PROGRESS_NS UINT64_C(100000000)
#define SAVE_NS UINT64_C(1000000000)
/* Time for remote workers to stop; they may be in the middle of a run. */
#define FAREWELL_NS UINT64_C(5000000000)

void leader_say_stop(struct leader *leader)
{
	if (leader->is_stopping)
		return;
	leader->is_stopping = true;
	for (uint32_t rank = 1; rank < leader->roll.link->ranks; rank++)
		leader->roll.link->send(rank, WIRE_STOP, NULL, 0);
}

static void leader_answer(struct leader *leader, uint32_t rank)
{
	struct roll_member *member = &leader->roll.members[rank];
	struct lease_table_unit unit;

	member->state = MEMBER_WAITS;
	if (leader->is_stopping || leader->roll.failure.code)
		return;
	switch (lease_table_ask(leader->leases, rank, platform_monotonic_ns(), &unit)) {
	case LEASE_UNIT:
		member->state = MEMBER_WORKS;
		leader->roll.link->send(rank, WIRE_UNIT, &unit, sizeof unit);
		return;
	case LEASE_END:
		leader_say_stop(leader);
		return;
	default:
		return;
	}
}

static void leader_add_up(struct leader *leader, const struct wire_done *done)
{
	struct campaign_result *result = leader->result;

	result->total.runs += done->runs;
	result->total.failures += done->failures;
	result->total.steps += done->steps;
	for (int kind = 0; kind < OUTCOME_KIND_COUNT; kind++)
		result->outcomes[kind] += done->outcomes[kind];
	if (done->threads_most > result->threads_most)
		result->threads_most = done->threads_most;
	if (done->steps_most > result->steps_most)
		result->steps_most = done->steps_most;
}

static void leader_take_back(struct leader *leader)
{
	while (lease_table_take_back(leader->leases, platform_monotonic_ns()) <
		leader->roll.link->ranks)
		;
	roll_look_for_silence(&leader->roll);
	for (uint32_t rank = 1; rank < leader->roll.link->ranks; rank++)
		if (leader->roll.members[rank].state == MEMBER_WAITS)
			leader_answer(leader, rank);
}

static void leader_take_started(struct leader *leader, const struct link_message *message)
{
	struct wire_started started;
	struct campaign_start start;

	if (!wire_read_started(&started, message)) {
		roll_refuse(&leader->roll, message);
		return;
	}
	if (leader->has_reported_start)
		return;
	leader->has_reported_start = leader->result->has_started = true;
	leader->result->restart = (enum contract_restart)started.restart;
	start = (struct campaign_start){.program = leader->roll.target.path,
		.has_memory_sites = started.has_memory_sites,
		.has_tsan_calls = leader->roll.target.traits.tsan != TSAN_NONE,
		.has_dispatch = started.has_dispatch,
		.restart = (enum contract_restart)started.restart};
	if (leader->roll.listener->started)
		leader->roll.listener->started(leader->roll.listener->context, &start);
}

static void leader_take_done(struct leader *leader, const struct link_message *message)
{
	struct wire_done done;
	bool counts;

	if (!wire_read_done(&done, message)) {
		roll_refuse(&leader->roll, message);
		return;
	}
	if (message->tag == WIRE_LEFT) {
		leader->roll.members[message->from].state = MEMBER_LEFT;
		counts = lease_table_is_own(leader->leases, message->from);
	} else {
		counts = lease_table_done(
			leader->leases, message->from, platform_monotonic_ns(), done.took_ns);
	}
	if (counts)
		leader_add_up(leader, &done);
	if (message->tag == WIRE_DONE)
		leader_answer(leader, message->from);
	if (lease_table_is_over(leader->leases))
		leader_say_stop(leader);
}

static void leader_take_message(struct leader *leader, const struct link_message *message)
{
	struct roll_member *member = &leader->roll.members[message->from];

	roll_hear(&leader->roll, message->from);
	lease_table_heard(leader->leases, message->from, member->heard_ns);
	if (leader->roll.failure.code && message->tag != WIRE_LEFT && message->tag != WIRE_FAILED)
		return; /* the first failure is reported, later ones are not */
	switch ((enum wire_tag)message->tag) {
	case WIRE_HELLO:
		roll_take_hello(&leader->roll, message);
		leader_answer(leader, message->from);
		break;
	case WIRE_ALIVE:
		leader->roll.link->send(message->from, WIRE_ALIVE, NULL, 0);
		break;
	case WIRE_STARTED:
		leader_take_started(leader, message);
		break;
	case WIRE_FINDING:
		leader_take_finding(leader, message);
		break;
	case WIRE_NOTICE:
		if (message->from == 1)
			roll_notice(&leader->roll, "%s", message->bytes);
		break;
	case WIRE_DONE:
	case WIRE_LEFT:
		leader_take_done(leader, message);
		break;
	case WIRE_FAILED:
		member->state = MEMBER_LEFT;
		lease_table_lose(leader->leases, message->from);
		if (!leader->roll.failure.code)
			(void)error_set(&leader->roll.failure, ERROR_TARGET, "rank %u: %s",
				message->from, message->bytes);
		break;
	default:
		break;
	}
}

static int leader_save(struct leader *leader, const char *state, struct error *err)
{
	leader->row.runs = leader->result->total.runs;
	leader->row.failures = leader->result->total.failures;
	leader->row.steps = leader->result->total.steps;
	leader->row.seconds = (double)leader->result->total.elapsed_ns / 1e9;
	leader->row.run_end = lease_table_made_below(leader->leases);
	free(leader->row.state);
	leader->row.state = string_copy(state);
	return store_campaign_update(leader->store, &leader->row, err);
}

static void leader_report_progress(struct leader *leader)
{
	const uint64_t now_ns = platform_monotonic_ns();
	struct campaign_progress *total = &leader->result->total;

	total->elapsed_ns = total->exploring_ns = now_ns - leader->started_ns;
	if (now_ns - leader->progress_ns >= PROGRESS_NS) {
		leader->progress_ns = now_ns;
		if (leader->roll.listener->progress)
			leader->roll.listener->progress(leader->roll.listener->context, total);
	}
	if (leader->row.id && now_ns - leader->saved_ns >= SAVE_NS) {
		leader->saved_ns = now_ns;
		leader_keep_unsaved(leader);
		/* the error of the last save is reported, earlier ones are not */
		(void)leader_save(leader, "running", NULL);
	}
}

static bool leader_is_time_up(const struct leader *leader)
{
	return leader->options->time_ns &&
	       platform_monotonic_ns() - leader->started_ns >= leader->options->time_ns;
}

static uint32_t leader_count_members(const struct leader *leader, uint64_t within_ns)
{
	const uint64_t now_ns = platform_monotonic_ns();
	uint32_t count = 0;

	for (uint32_t rank = 1; rank < leader->roll.link->ranks; rank++)
		count += leader->roll.members[rank].state != MEMBER_LEFT &&
			 now_ns - leader->roll.members[rank].heard_ns < within_ns;
	return count;
}

static void leader_listen_once(struct leader *leader)
{
	struct link_message message;
	bool has_any = false;

	while (leader->roll.link->receive(&message)) {
		has_any = true;
		if (message.from && message.from < leader->roll.link->ranks)
			leader_take_message(leader, &message);
		free(message.bytes);
	}
	if (!has_any)
		(void)usleep(NAP_US); /* a shorter sleep does no harm */
}

static void leader_serve_members(struct leader *leader)
{
	uint64_t until_ns = UINT64_MAX;

	/* If all remote workers are silent, the leader's machine may have stalled. */
	while (leader_count_members(leader, CLUSTER_PATIENCE * leader->roll.silent_ns) &&
		platform_monotonic_ns() < until_ns) {
		leader_listen_once(leader);
		leader_take_back(leader);
		leader_report_progress(leader);
		if (*leader->options->is_interrupted)
			leader->result->is_interrupted = true;
		if (leader->result->is_interrupted || leader->roll.failure.code ||
			leader_is_time_up(leader))
			leader_say_stop(leader);
		if (leader->is_stopping && until_ns == UINT64_MAX)
			until_ns = platform_monotonic_ns() + FAREWELL_NS;
	}
	if (!leader->is_stopping && !leader->roll.failure.code)
		(void)error_set(&leader->roll.failure, ERROR_TARGET,
			"no rank but the first is left, and %" PRIu64
			" schedules are made; what they found is stored; start again with --resume",
			leader->result->total.runs);
}

/* Ends without waiting for lost remote workers. */
static void leader_say_farewell(struct leader *leader, struct error *failure)
{
	struct wire_end end = {.all_are_here = leader_count_members(leader, UINT64_MAX) == 0};

	leader_keep_unsaved(leader);
	for (uint32_t rank = 1; rank < leader->roll.link->ranks; rank++) {
		const struct roll_member *member = &leader->roll.members[rank];

		end.keeps_folder = leader->has_unsaved[rank];
		leader->roll.link->send(rank, WIRE_END, &end, sizeof end);
		if (leader->has_unsaved[rank] && !failure->code)
			(void)error_set(failure, ERROR_STORE,
				"a finding could not be stored; rank %u on %s keeps it in %s/.raddle; free some space, and merge it from there with raddle merge",
				rank, member->host, member->folder);
	}
	leader->roll.link->end(end.all_are_here);
}

static int leader_begin_row(struct leader *leader, struct error *err)
{
	const struct campaign_options *options = leader->options;

	campaign_row_fill(&leader->row, options, &options->settings, leader->result->restart);
	leader->row.target = leader->roll.fingerprint;
	return store_campaign_begin(leader->store, &leader->row, err);
}

static int leader_set_up(struct leader *leader, struct error *err)
{
	const struct campaign_options *options = leader->options;
	const struct lease_table_options handing = {
		.ranks = leader->roll.link->ranks,
		.end = options->schedules ? options->schedules : FINDING_SHARD_RUNS,
		.unit_ns = UNIT_NS,
		.silent_ns = leader->roll.silent_ns,
	};
	int status;

	leader->leases = lease_table_new(&handing);
	leader->has_unsaved = array_new(leader->roll.link->ranks, sizeof *leader->has_unsaved);
	leader->started_ns = platform_monotonic_ns();
	if (leader->roll.link->ranks < 2)
		return error_set(err, ERROR_USAGE,
			"--mpi needs more than one rank, because rank 0 only distributes schedules; start with mpirun -n 3 raddle run --mpi, or leave --mpi out");
	status = target_find(&leader->roll.target, options->argv[0], err);
	if (status == 0)
		status = target_fingerprint(&leader->roll.target, &leader->roll.fingerprint, err);
	if (status == 0)
		status = store_open(&leader->store, options->directory, STORE_WRITE, err);
	return status < 0 ? status : leader_begin_row(leader, err);
}

static void leader_tear_down(struct leader *leader)
{
	leader_release_unsaved(leader);
	store_campaign_release(&leader->row);
	store_close(leader->store);
	lease_table_free(leader->leases);
	free(leader->has_unsaved);
	roll_close(&leader->roll);
}

int cluster_lead(const struct link *link, const struct campaign_options *options,
	uint64_t silent_ns, const struct campaign_listener *listener,
	struct campaign_result *result, struct error *err)
{
	struct leader leader = {.options = options, .result = result};
	int status;

	*result = (struct campaign_result){0};
	if (cluster_has_tasks(options))
		return leader_lead_tasks(link, options, silent_ns, listener, result, err);
	roll_open(&leader.roll, link, listener, silent_ns);
	status = leader_set_up(&leader, err);
	if (status < 0)
		leader.roll.failure = *err;
	result->campaign = leader.row.id;
	leader_serve_members(&leader);
	leader_say_farewell(&leader, &leader.roll.failure);
	if (leader.row.id && leader_save(&leader,
				     leader.roll.failure.code ? "failed"
				     : result->is_interrupted ? "interrupted"
							      : "done",
				     leader.roll.failure.code ? NULL : &leader.roll.failure) < 0)
		status = leader.roll.failure.code;
	if (leader.roll.failure.code) {
		*err = leader.roll.failure;
		status = leader.roll.failure.code;
	}
	leader_tear_down(&leader);
	return status;
}
