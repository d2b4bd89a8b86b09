#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/strbuf.h"
#include "parallel/remote/roll.h"
#include "platform/platform.h"

void roll_open(struct roll *roll, const struct link *link, const struct campaign_listener *listener,
	uint64_t silent_ns)
{
	const uint64_t now_ns = platform_monotonic_ns();

	*roll = (struct roll){.link = link, .listener = listener, .silent_ns = silent_ns};
	roll->members = array_new(link->ranks, sizeof *roll->members);
	for (uint32_t rank = 0; rank < link->ranks; rank++)
		roll->members[rank].heard_ns = now_ns;
}

void roll_close(struct roll *roll)
{
	target_release(&roll->target);
	free(roll->members);
}

void roll_notice(const struct roll *roll, const char *format, ...)
{
	STRBUF_SCOPED text = STRBUF_EMPTY;
	va_list args;

	if (!roll->listener->notice)
		return;
	va_start(args, format);
	strbuf_vaddf(&text, format, args);
	va_end(args);
	roll->listener->notice(roll->listener->context, text.text);
}

void roll_hear(struct roll *roll, uint32_t from)
{
	struct roll_member *member = &roll->members[from];

	member->heard_ns = platform_monotonic_ns();
	if (member->is_silent && member->state != MEMBER_LEFT)
		roll_notice(roll, "rank %u sends messages again", from);
	member->is_silent = false;
}

/* Reads a hello. One of another release may have another size; then none of it is read. */
void roll_take_hello(struct roll *roll, const struct link_message *message)
{
	struct roll_member *member = &roll->members[message->from];
	struct wire_hello hello = {0};

	if (message->size == sizeof hello)
		memcpy(&hello, message->bytes, sizeof hello);
	hello.host[sizeof hello.host - 1] = hello.folder[sizeof hello.folder - 1] = '\0';
	memcpy(member->host, hello.host, sizeof member->host);
	memcpy(member->folder, hello.folder, sizeof member->folder);
	if (strncmp(hello.release, RADDLE_RELEASE, sizeof hello.release) != 0)
		(void)error_set(&roll->failure, ERROR_VERSION,
			"rank %u%s%s runs another raddle; install the same one everywhere",
			message->from, *member->host ? " on " : "", member->host);
	else if (hello.target != roll->fingerprint)
		(void)error_set(&roll->failure, ERROR_TARGET,
			"rank %u on %s sees another file as %s; give all ranks the same program, such as in a shared folder",
			message->from, member->host, roll->target.path);
}

void roll_refuse(struct roll *roll, const struct link_message *message)
{
	struct roll_member *member = &roll->members[message->from];

	member->state = MEMBER_LEFT;
	if (roll->failure.code)
		return;
	(void)error_set(&roll->failure, ERROR_FORMAT,
		"rank %u%s%s sent a message that cannot be read (kind %u, %zu bytes); install the "
		"same raddle everywhere, and use a network interface of your own",
		message->from, *member->host ? " on " : "", member->host, message->tag,
		message->size);
}

void roll_look_for_silence(struct roll *roll)
{
	const uint64_t now_ns = platform_monotonic_ns();

	for (uint32_t rank = 1; rank < roll->link->ranks; rank++) {
		struct roll_member *member = &roll->members[rank];

		if (member->state == MEMBER_LEFT || member->is_silent ||
			now_ns - member->heard_ns < roll->silent_ns)
			continue;
		member->is_silent = true;
		roll_notice(roll,
			"rank %u%s%s has sent nothing for %" PRIu64
			" s; another rank makes its runs",
			rank, *member->host ? " on " : "", member->host,
			roll->silent_ns / UINT64_C(1000000000));
	}
}
