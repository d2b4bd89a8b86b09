/*
 * Rank 0 of a strategy that goes through all schedules: it leads a campaign, as with -j, whose other workers are the
 * other ranks (campaign/far.h). What is sent is a part's state, to and fro. A rank that is lost costs its part,
 * which is made again by others.
 */
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/bug.h"
#include "campaign/far.h"
#include "campaign/target.h"
#include "crew/leader_internal.h"
#include "platform/platform.h"

#define NAP_US 500
/* How long others are waited for at the beginning: mpirun starts all ranks at once. */
#define WELCOME_NS UINT64_C(3000000000)
#define FAREWELL_NS UINT64_C(5000000000)

struct parts_member {
	enum member_state state;
	bool is_silent; /* that has been said */
	uint64_t heard_ns;
	char host[64];
	char *report; /* that it sent; NULL: none */
	size_t report_size;
};

struct parts_leader {
	const struct link *link;
	const struct campaign_options *options;
	const struct campaign_listener *listener;
	struct parts_member *members; /* by rank */
	struct target target;
	uint64_t fingerprint, silent_ns;
	volatile int is_stopped; /* what its campaign looks at */
	struct error failure;	 /* ranks that do not belong together */
};

bool crew_has_parts(const struct campaign_options *options)
{
	return strategy_is_sequential(strategies[options->strategy]);
}

static void notice(const struct parts_leader *leader, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

static void notice(const struct parts_leader *leader, const char *format, ...)
{
	struct strbuf text;
	va_list args;

	if (!leader->listener->notice)
		return;
	strbuf_init(&text);
	va_start(args, format);
	strbuf_vaddf(&text, format, args);
	va_end(args);
	leader->listener->notice(leader->listener->context, text.text);
	strbuf_release(&text);
}

/* ---- messages ---- */

static void take_hello(struct parts_leader *leader, const struct link_message *message)
{
	struct parts_member *member = &leader->members[message->from];
	struct wire_hello hello = {0};

	if (message->size == sizeof hello)
		memcpy(&hello, message->bytes, sizeof hello);
	hello.host[sizeof hello.host - 1] = '\0';
	memcpy(member->host, hello.host, sizeof member->host);
	member->state = MEMBER_WAITS;
	if (strncmp(hello.release, RADDLE_RELEASE, sizeof hello.release) != 0)
		(void)error_set(&leader->failure, ERROR_VERSION,
			"rank %u%s%s runs another raddle; install the same one everywhere",
			message->from, *member->host ? " on " : "", member->host);
	else if (hello.target != leader->fingerprint)
		(void)error_set(&leader->failure, ERROR_TARGET,
			"rank %u on %s sees another file as %s; give all ranks the same program, "
			"such as in a shared folder",
			message->from, hello.host, leader->target.path);
	leader->is_stopped |= leader->failure.code != 0;
}

static void take_message(struct parts_leader *leader, struct link_message *message)
{
	struct parts_member *member = &leader->members[message->from];

	member->heard_ns = platform_monotonic_ns();
	if (member->is_silent && member->state != MEMBER_LEFT)
		notice(leader, "rank %u is heard of again", message->from);
	member->is_silent = false;
	switch ((enum wire_tag)message->tag) {
	case WIRE_HELLO:
		take_hello(leader, message);
		break;
	case WIRE_ALIVE:
		leader->link->send(message->from, WIRE_ALIVE, NULL, 0);
		break;
	case WIRE_REPORT:
		free(member->report); /* nobody has asked for it any more */
		member->report = message->bytes;
		member->report_size = message->size;
		message->bytes = NULL;
		break;
	case WIRE_FAILED:
		if (member->state != MEMBER_LEFT)
			notice(leader, "rank %u on %s does not take part: %s", message->from,
				member->host, message->bytes);
		member->state = MEMBER_LEFT;
		break;
	case WIRE_LEFT:
		member->state = MEMBER_LEFT;
		break;
	default:
		break;
	}
}

static void look_for_silence(struct parts_leader *leader)
{
	const uint64_t now_ns = platform_monotonic_ns();

	for (uint32_t rank = 1; rank < leader->link->ranks; rank++) {
		struct parts_member *member = &leader->members[rank];

		if (member->state == MEMBER_LEFT || member->is_silent ||
			now_ns - member->heard_ns < leader->silent_ns)
			continue;
		member->is_silent = true;
		notice(leader,
			"rank %u%s%s has not been heard of for %" PRIu64
			" s; another one makes its runs",
			rank, *member->host ? " on " : "", member->host,
			leader->silent_ns / UINT64_C(1000000000));
	}
}

static bool listen_once(struct parts_leader *leader)
{
	struct link_message message;
	bool has_any = false;

	while (leader->link->receive(&message)) {
		has_any = true;
		if (message.from && message.from < leader->link->ranks)
			take_message(leader, &message);
		free(message.bytes);
	}
	look_for_silence(leader);
	leader->is_stopped |= *leader->options->is_interrupted;
	return has_any;
}

/* Has everybody said hello, or taken leave? */
static bool are_all(const struct parts_leader *leader, enum member_state at_least)
{
	for (uint32_t rank = 1; rank < leader->link->ranks; rank++)
		if (leader->members[rank].state < at_least && !leader->members[rank].is_silent)
			return false;
	return true;
}

static void wait_for(struct parts_leader *leader, enum member_state state, uint64_t most_ns)
{
	const uint64_t until_ns = platform_monotonic_ns() + most_ns;

	while (!are_all(leader, state) && platform_monotonic_ns() < until_ns)
		if (!listen_once(leader))
			(void)usleep(NAP_US); /* shorter is no harm */
}

/* ---- what the campaign wants of other ranks ---- */

static void far_send(void *context, uint32_t number, const void *bytes, size_t size)
{
	struct parts_leader *leader = context;
	struct parts_member *member = &leader->members[number + 1];

	free(member->report);
	member->report = NULL;
	leader->link->send(number + 1, WIRE_PART, bytes, size);
}

static void far_rest(void *context, uint32_t number)
{
	const struct parts_leader *leader = context;

	leader->link->send(number + 1, WIRE_REST, NULL, 0);
}

static char *far_receive(void *context, uint32_t number, size_t *size)
{
	struct parts_leader *leader = context;
	struct parts_member *member = &leader->members[number + 1];
	char *report;

	(void)listen_once(leader); /* or there is nothing new */
	report = member->report;
	*size = member->report_size;
	member->report = NULL;
	return report;
}

static bool far_lost(void *context, uint32_t number)
{
	struct parts_leader *leader = context;
	const struct parts_member *member = &leader->members[number + 1];

	(void)listen_once(leader); /* likewise */
	return member->state != MEMBER_WAITS || member->is_silent;
}

/* Long investigations are no silence of ours. */
static void on_progress(void *context, const struct campaign_progress *progress)
{
	struct parts_leader *leader = context;

	(void)listen_once(leader);
	if (leader->listener->progress)
		leader->listener->progress(leader->listener->context, progress);
}

static void on_minimising(void *context, const struct minimise_progress *progress)
{
	struct parts_leader *leader = context;

	(void)listen_once(leader);
	if (leader->listener->minimising)
		leader->listener->minimising(leader->listener->context, progress);
}

static void on_started(void *context, const struct campaign_start *start)
{
	const struct parts_leader *leader = context;

	if (leader->listener->started)
		leader->listener->started(leader->listener->context, start);
}

static void on_confirming(void *context, const struct failure *failure)
{
	const struct parts_leader *leader = context;

	if (leader->listener->confirming)
		leader->listener->confirming(leader->listener->context, failure);
}

static void on_notice(void *context, const char *text)
{
	notice(context, "%s", text);
}

static void on_found(void *context, const struct campaign_found *found)
{
	const struct parts_leader *leader = context;

	if (leader->listener->found)
		leader->listener->found(leader->listener->context, found);
}

static int make_campaign(
	struct parts_leader *leader, struct campaign_result *result, struct error *err)
{
	const struct far_link far = {.context = leader,
		.count = leader->link->ranks - 1,
		.send = far_send,
		.stop = far_rest,
		.receive = far_receive,
		.is_lost = far_lost};
	const struct campaign_listener listener = {.context = leader,
		.started = on_started,
		.progress = on_progress,
		.confirming = on_confirming,
		.minimising = on_minimising,
		.notice = on_notice,
		.found = on_found};
	struct campaign_options options = *leader->options;

	options.far = &far;
	options.forwards_signals = false;
	options.is_interrupted = &leader->is_stopped;
	return campaign_run(&options, &listener, result, err);
}

/* ---- its life ---- */

static int set_up(struct parts_leader *leader, struct error *err)
{
	int status;

	if (leader->link->ranks < 2)
		return error_set(err, ERROR_USAGE,
			"--mpi wants more than one rank; start with mpirun -n 3 raddle run --mpi, "
			"or leave --mpi away");
	if (!strategies[leader->options->strategy]->parts)
		return error_set(err, ERROR_USAGE,
			"strategy %s makes one run after the other; leave --mpi away",
			strategies[leader->options->strategy]->name);
	status = target_find(&leader->target, leader->options->argv[0], err);
	return status < 0 ? status : target_fingerprint(&leader->target, &leader->fingerprint, err);
}

static void say_farewell(struct parts_leader *leader)
{
	struct wire_end end = {0};

	for (uint32_t rank = 1; rank < leader->link->ranks; rank++)
		leader->link->send(rank, WIRE_STOP, NULL, 0);
	wait_for(leader, MEMBER_LEFT, FAREWELL_NS);
	end.all_are_here = true;
	for (uint32_t rank = 1; rank < leader->link->ranks; rank++)
		end.all_are_here &= leader->members[rank].state == MEMBER_LEFT;
	for (uint32_t rank = 1; rank < leader->link->ranks; rank++)
		leader->link->send(rank, WIRE_END, &end, sizeof end);
	leader->link->end(end.all_are_here);
}

int leader_lead_parts(const struct link *link, const struct campaign_options *options,
	uint64_t silent_ns, const struct campaign_listener *listener,
	struct campaign_result *result, struct error *err)
{
	struct parts_leader leader = {
		.link = link, .options = options, .listener = listener, .silent_ns = silent_ns};
	int status = set_up(&leader, err);

	leader.members = calloc(link->ranks, sizeof *leader.members);
	BUG_ON(!leader.members);
	for (uint32_t rank = 0; rank < link->ranks; rank++)
		leader.members[rank].heard_ns = platform_monotonic_ns();
	if (status == 0)
		wait_for(&leader, MEMBER_WAITS, WELCOME_NS);
	if (status == 0 && !leader.failure.code)
		status = make_campaign(&leader, result, err);
	say_farewell(&leader);
	if (leader.failure.code) {
		*err = leader.failure;
		status = leader.failure.code;
	}
	for (uint32_t rank = 0; rank < link->ranks; rank++)
		free(leader.members[rank].report);
	free(leader.members);
	target_release(&leader.target);
	return status;
}
