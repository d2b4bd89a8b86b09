/*
 * Messages between ranks: an input is a sequence of messages, each a part whose tag holds the kind of message and the
 * sender. Rank 0 leads a campaign that gets these messages, and a member reads them too. Both end, and no message
 * makes them use a value outside of its range.
 */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/bug.h"
#include "process/target.h"
#include "parallel/remote/cluster.h"
#include "parallel/remote/member_internal.h"
#include "parallel/remote/wire.h"
#include "fuzz/fuzz_targets.h"
#include "platform/platform.h"
#include "support/sample_finding.h"

#define RANKS 4
/* A part's tag is the kind of message plus TAGS times the sender. */
#define TAGS 16
#define PROGRAM "/bin/true"
#define SILENT_NS UINT64_C(30000000000)

static struct {
	const uint8_t *bytes;
	size_t size, at;
	uint32_t left; /* ranks that have taken leave after the last message */
	volatile int is_interrupted;
} input;

static void messages_set(
	struct link_message *message, uint32_t from, uint32_t tag, const void *bytes, size_t size)
{
	*message = (struct link_message){.from = from, .tag = tag, .size = size};
	message->bytes = malloc(size + 1);
	BUG_ON(!message->bytes);
	if (size)
		memcpy(message->bytes, bytes, size);
	message->bytes[size] = '\0';
}

/* The messages of the input, then a leave of each rank, so that rank 0 need not wait. */
static bool messages_receive(struct link_message *message)
{
	static const struct wire_done nothing;
	struct fuzz_part part;

	if (fuzz_part_next(&part, input.bytes, input.size, &input.at)) {
		messages_set(
			message, part.tag / TAGS % RANKS, part.tag % TAGS, part.bytes, part.size);
		return true;
	}
	input.is_interrupted = 1;
	if (input.left + 1 >= RANKS)
		return false;
	messages_set(message, ++input.left, WIRE_LEFT, &nothing, sizeof nothing);
	return true;
}

static void messages_send(uint32_t to, uint32_t tag, const void *bytes, size_t size)
{
	struct lease_table_unit unit;

	BUG_ON(!to || to >= RANKS);
	if (tag != WIRE_UNIT)
		return;
	BUG_ON(size != sizeof unit);
	memcpy(&unit, bytes, sizeof unit);
	BUG_ON(unit.first >= unit.end);
}

static void messages_end(bool all_are_here)
{
	(void)all_are_here;
}

static const struct link leader_link = {
	.ranks = RANKS, .send = messages_send, .receive = messages_receive, .end = messages_end};

static void messages_begin(const uint8_t *bytes, size_t size)
{
	input.bytes = bytes;
	input.size = size;
	input.at = input.left = 0;
	input.is_interrupted = 0;
}

static bool messages_lead(const uint8_t *bytes, size_t size)
{
	static char *argv[] = {PROGRAM, NULL};
	static char folder[96];
	const struct campaign_listener listener = {0};
	struct campaign_options options;
	struct campaign_result result;
	struct error err = {0};
	int status;

	if (!*folder) {
		(void)snprintf(folder, sizeof folder, "%s/leader", fuzz_folder()); /* short */
		BUG_ON(setenv("XDG_STATE_HOME", fuzz_folder(), 1));
	}
	fuzz_remove(folder);
	BUG_ON(mkdir(folder, 0700));
	messages_begin(bytes, size);
	campaign_options_init(&options);
	options.argv = argv;
	options.directory = folder;
	options.keep_going = true;
	options.schedules = 1000;
	options.is_interrupted = &input.is_interrupted;
	status = cluster_lead(&leader_link, &options, SILENT_NS, &listener, &result, &err);
	if (status)
		BUG_ON(status != err.code || strchr(err.text, '\n'));
	settings_release(&options.settings);
	return status == 0;
}

static void messages_follow(const uint8_t *bytes, size_t size)
{
	static const struct link link = {
		.rank = 1, .ranks = RANKS, .send = messages_send, .receive = messages_receive};
	const struct campaign_options options = {.is_interrupted = &input.is_interrupted};
	struct member member = {.link = &link,
		.options = &options,
		.silent_ns = SILENT_NS,
		.leader_ns = platform_monotonic_ns()};

	messages_begin(bytes, size);
	member_listen(&member);
	if (member.has_unit)
		BUG_ON(member.unit.first >= member.unit.end || member.unit.end > WIRE_RUNS_MAX);
	free(member.task);
}

static bool messages_run(const uint8_t *bytes, size_t size)
{
	messages_follow(bytes, size);
	return messages_lead(bytes, size);
}

/* ---- a valid exchange ---- */

static size_t messages_add(uint8_t *bytes, size_t size, uint32_t from, uint32_t tag,
	const void *message, size_t length)
{
	return fuzz_part_add(
		bytes, size, FUZZ_CAPACITY, (uint8_t)(tag + TAGS * from), message, length);
}

static size_t messages_add_hello(uint8_t *bytes, size_t size, uint32_t from)
{
	struct wire_hello hello = {.release = RADDLE_RELEASE, .host = "host", .folder = "/tmp"};
	struct target target;

	BUG_ON(target_find(&target, PROGRAM, NULL));
	BUG_ON(target_fingerprint(&target, &hello.target, NULL));
	target_release(&target);
	return messages_add(bytes, size, from, WIRE_HELLO, &hello, sizeof hello);
}

static size_t messages_add_finding(uint8_t *bytes, size_t size, uint32_t from)
{
	static char message[FUZZ_CAPACITY];
	struct finding finding = sample_finding();
	char *json = finding_to_json(&finding);
	struct wire_finding head = {
		.confirmation = {.replays = 3, .failed_again = 3}, .json_bytes = strlen(json)};

	head.trace_bytes = fuzz_target_trace.make_seed(
		(uint8_t *)message + sizeof head + head.json_bytes, FUZZ_CAPACITY / 4);
	memcpy(message, &head, sizeof head);
	memcpy(message + sizeof head, json, head.json_bytes);
	free(json);
	finding_release(&finding);
	return messages_add(bytes, size, from, WIRE_FINDING, message,
		sizeof head + head.json_bytes + head.trace_bytes);
}

static size_t messages_make_seed(uint8_t *bytes, size_t capacity)
{
	const struct wire_started started = {.has_dispatch = 1};
	const struct wire_done done = {
		.took_ns = 1000, .runs = 16, .steps = 400, .threads_most = 3};
	const struct lease_table_unit unit = {.first = 3, .end = 9};
	size_t size = 0;

	BUG_ON(capacity != FUZZ_CAPACITY);
	for (uint32_t from = 1; from < RANKS; from++)
		size = messages_add_hello(bytes, size, from);
	size = messages_add(bytes, size, 1, WIRE_STARTED, &started, sizeof started);
	size = messages_add(bytes, size, 1, WIRE_NOTICE, "a notice", 8);
	size = messages_add(bytes, size, 2, WIRE_DONE, &done, sizeof done);
	size = messages_add(bytes, size, 0, WIRE_UNIT, &unit, sizeof unit);
	size = messages_add_finding(bytes, size, 2);
	size = messages_add(bytes, size, 1, WIRE_ALIVE, NULL, 0);
	size = messages_add(bytes, size, 3, WIRE_DONE, &done, sizeof done);
	return messages_add(bytes, size, 2, WIRE_LEFT, &done, sizeof done);
}

const struct fuzz_target fuzz_target_messages = {.name = "messages",
	.run = messages_run,
	.make_seed = messages_make_seed,
	.damage = fuzz_part_damage};
