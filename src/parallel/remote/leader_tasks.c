/*
 * Rank 0 with an exhaustive strategy: a campaign whose other workers are the other ranks
 * (worker/remote.h). Messages carry the state of a task in both directions. The task of a lost rank
 * is made again.
 */
#include <stdlib.h>
#include <unistd.h>

#include "base/array.h"
#include "worker/remote.h"
#include "parallel/remote/leader_internal.h"
#include "platform/platform.h"

#define NAP_US 500
/* Time to wait for remote workers at the beginning: mpirun starts all ranks at once. */
#define WELCOME_NS UINT64_C(3000000000)
#define FAREWELL_NS UINT64_C(5000000000)

struct tasks_report {
	char *bytes; /* the newest report; NULL if there is none */
	size_t size;
};

struct tasks_leader {
	struct roll roll;
	const struct campaign_options *options;
	struct tasks_report *reports; /* reports by rank */
	volatile int is_stopped;      /* interruption flag of the campaign */
};

bool cluster_has_tasks(const struct campaign_options *options)
{
	return strategy_is_sequential(strategies[options->strategy]);
}

static void leader_tasks_take_message(struct tasks_leader *leader, struct link_message *message)
{
	struct roll_member *member = &leader->roll.members[message->from];
	struct tasks_report *report = &leader->reports[message->from];

	roll_hear(&leader->roll, message->from);
	switch ((enum wire_tag)message->tag) {
	case WIRE_HELLO:
		roll_take_hello(&leader->roll, message);
		member->state = MEMBER_WAITS;
		leader->is_stopped |= leader->roll.failure.code != 0;
		break;
	case WIRE_ALIVE:
		leader->roll.link->send(message->from, WIRE_ALIVE, NULL, 0);
		break;
	case WIRE_REPORT:
		free(report->bytes); /* an unread older report belongs to an abandoned batch */
		*report = (struct tasks_report){message->bytes, message->size};
		message->bytes = NULL;
		break;
	case WIRE_FAILED:
		if (member->state != MEMBER_LEFT)
			roll_notice(&leader->roll, "rank %u on %s does not take part: %s",
				message->from, member->host, message->bytes);
		member->state = MEMBER_LEFT;
		break;
	case WIRE_LEFT:
		member->state = MEMBER_LEFT;
		break;
	default:
		break;
	}
}

static bool leader_tasks_listen_once(struct tasks_leader *leader)
{
	struct link_message message;
	bool has_any = false;

	while (leader->roll.link->receive(&message)) {
		has_any = true;
		if (message.from && message.from < leader->roll.link->ranks)
			leader_tasks_take_message(leader, &message);
		free(message.bytes);
	}
	roll_look_for_silence(&leader->roll);
	leader->is_stopped |= *leader->options->is_interrupted;
	return has_any;
}

/* Returns true if each remote worker has reached the state or is silent. */
static bool leader_tasks_have_all_reached(
	const struct tasks_leader *leader, enum member_state at_least)
{
	for (uint32_t rank = 1; rank < leader->roll.link->ranks; rank++)
		if (leader->roll.members[rank].state < at_least &&
			!leader->roll.members[rank].is_silent)
			return false;
	return true;
}

static void leader_tasks_wait_for(
	struct tasks_leader *leader, enum member_state state, uint64_t most_ns)
{
	const uint64_t until_ns = platform_monotonic_ns() + most_ns;

	while (!leader_tasks_have_all_reached(leader, state) && platform_monotonic_ns() < until_ns)
		if (!leader_tasks_listen_once(leader))
			(void)usleep(NAP_US); /* a shorter sleep does no harm */
}

static void leader_tasks_remote_send(void *context, uint32_t number, const void *bytes, size_t size)
{
	struct tasks_leader *leader = context;
	struct tasks_report *report = &leader->reports[number + 1];

	free(report->bytes);
	report->bytes = NULL;
	leader->roll.link->send(number + 1, WIRE_PART, bytes, size);
}

static void leader_tasks_remote_rest(void *context, uint32_t number)
{
	const struct tasks_leader *leader = context;

	leader->roll.link->send(number + 1, WIRE_REST, NULL, 0);
}

static char *leader_tasks_remote_receive(void *context, uint32_t number, size_t *size)
{
	struct tasks_leader *leader = context;
	struct tasks_report *report = &leader->reports[number + 1];
	char *bytes;

	/* the result only shows whether a message arrived */
	(void)leader_tasks_listen_once(leader);
	bytes = report->bytes;
	*size = report->size;
	report->bytes = NULL;
	return bytes;
}

static bool leader_tasks_remote_lost(void *context, uint32_t number)
{
	struct tasks_leader *leader = context;
	const struct roll_member *member = &leader->roll.members[number + 1];

	(void)leader_tasks_listen_once(leader); /* the message itself is not needed */
	return member->state != MEMBER_WAITS || member->is_silent;
}

/* Answers remote workers during long investigations, so that they do not give the leader up. */
static void leader_tasks_on_progress(void *context, const struct campaign_progress *progress)
{
	struct tasks_leader *leader = context;

	(void)leader_tasks_listen_once(leader);
	if (leader->roll.listener->progress)
		leader->roll.listener->progress(leader->roll.listener->context, progress);
}

static void leader_tasks_on_minimising(void *context, const struct minimise_progress *progress)
{
	struct tasks_leader *leader = context;

	(void)leader_tasks_listen_once(leader);
	if (leader->roll.listener->minimising)
		leader->roll.listener->minimising(leader->roll.listener->context, progress);
}

static void leader_tasks_on_started(void *context, const struct campaign_start *start)
{
	const struct tasks_leader *leader = context;

	if (leader->roll.listener->started)
		leader->roll.listener->started(leader->roll.listener->context, start);
}

static void leader_tasks_on_confirming(void *context, const struct failure *failure)
{
	const struct tasks_leader *leader = context;

	if (leader->roll.listener->confirming)
		leader->roll.listener->confirming(leader->roll.listener->context, failure);
}

static void leader_tasks_on_notice(void *context, const char *text)
{
	const struct tasks_leader *leader = context;

	roll_notice(&leader->roll, "%s", text);
}

static void leader_tasks_on_found(void *context, const struct campaign_found *found)
{
	const struct tasks_leader *leader = context;

	if (leader->roll.listener->found)
		leader->roll.listener->found(leader->roll.listener->context, found);
}

static int leader_tasks_make_campaign(
	struct tasks_leader *leader, struct campaign_result *result, struct error *err)
{
	const struct remote_link remote = {.context = leader,
		.count = leader->roll.link->ranks - 1,
		.send = leader_tasks_remote_send,
		.stop = leader_tasks_remote_rest,
		.receive = leader_tasks_remote_receive,
		.is_lost = leader_tasks_remote_lost};
	const struct campaign_listener listener = {.context = leader,
		.started = leader_tasks_on_started,
		.progress = leader_tasks_on_progress,
		.confirming = leader_tasks_on_confirming,
		.minimising = leader_tasks_on_minimising,
		.notice = leader_tasks_on_notice,
		.found = leader_tasks_on_found};
	struct campaign_options options = *leader->options;

	options.remote = &remote;
	options.forwards_signals = false;
	options.is_interrupted = &leader->is_stopped;
	return campaign_run(&options, &listener, result, err);
}

static int leader_tasks_set_up(struct tasks_leader *leader, struct error *err)
{
	int status;

	if (leader->roll.link->ranks < 2)
		return error_set(err, ERROR_USAGE,
			"--mpi needs more than one rank; start with mpirun -n 3 raddle run --mpi, or leave --mpi out");
	if (!strategies[leader->options->strategy]->search.tasks)
		return error_set(err, ERROR_USAGE,
			"strategy %s makes one run after the other; leave --mpi out",
			strategies[leader->options->strategy]->name);
	status = target_find(&leader->roll.target, leader->options->argv[0], err);
	return status < 0
		       ? status
		       : target_fingerprint(&leader->roll.target, &leader->roll.fingerprint, err);
}

static void leader_tasks_say_farewell(struct tasks_leader *leader)
{
	struct wire_end end = {0};

	for (uint32_t rank = 1; rank < leader->roll.link->ranks; rank++)
		leader->roll.link->send(rank, WIRE_STOP, NULL, 0);
	leader_tasks_wait_for(leader, MEMBER_LEFT, FAREWELL_NS);
	end.all_are_here = true;
	for (uint32_t rank = 1; rank < leader->roll.link->ranks; rank++)
		end.all_are_here &= leader->roll.members[rank].state == MEMBER_LEFT;
	for (uint32_t rank = 1; rank < leader->roll.link->ranks; rank++)
		leader->roll.link->send(rank, WIRE_END, &end, sizeof end);
	leader->roll.link->end(end.all_are_here);
}

int leader_lead_tasks(const struct link *link, const struct campaign_options *options,
	uint64_t silent_ns, const struct campaign_listener *listener,
	struct campaign_result *result, struct error *err)
{
	struct tasks_leader leader = {.options = options};
	int status;

	roll_open(&leader.roll, link, listener, silent_ns);
	leader.reports = array_new(link->ranks, sizeof *leader.reports);
	status = leader_tasks_set_up(&leader, err);
	if (status == 0)
		leader_tasks_wait_for(&leader, MEMBER_WAITS, WELCOME_NS);
	if (status == 0 && !leader.roll.failure.code)
		status = leader_tasks_make_campaign(&leader, result, err);
	leader_tasks_say_farewell(&leader);
	if (leader.roll.failure.code) {
		*err = leader.roll.failure;
		status = leader.roll.failure.code;
	}
	for (uint32_t rank = 0; rank < link->ranks; rank++)
		free(leader.reports[rank].bytes);
	free(leader.reports);
	roll_close(&leader.roll);
	return status;
}
