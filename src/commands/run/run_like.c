#include "commands/run/run_like.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/strbuf.h"
#include "base/files/text_file.h"
#include "exchange/contract_block.h"
#include "model/memory/fixed_addresses.h"
#include "process/target.h"
#include "strategies/directed/directed.h"
#include "strategies/strategy.h"

/* The reader's position in a report. */
struct like_reader {
	struct run_like *like;
	const char *program; /* without its folder */
	int access;	     /* index of the access whose stack is read; -1: none yet */
	bool is_race;
	bool has_source[2]; /* the chosen frame has a source line */
};

static const char *run_like_file_of(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

/* Takes a frame such as "#0 work /src/racy.c:5 (racy+0x11e7)". The innermost frame of the program
 * counts, but a frame with a source line before an interceptor, which has none. */
static void run_like_read_frame(struct like_reader *reader, const char *frame)
{
	const size_t length = strlen(reader->program);
	const char *name = strchr(frame, ' '), *offset = strstr(frame, "+0x"), *module = NULL;
	const bool has_source = !strstr(frame, " <null> (");
	char **text = &reader->like->frames[reader->access];

	for (const char *at = strstr(frame, " ("); at && at < offset; at = strstr(at + 1, " ("))
		module = at;
	if (!module || module - name < 2 || (size_t)(offset - module) < length ||
		strncmp(offset - length, reader->program, length) != 0 ||
		(*text && (reader->has_source[reader->access] || !has_source)))
		return;
	free(*text);
	*text = string_copy_part(name + 1, (size_t)(module - name) - 1);
	reader->has_source[reader->access] = has_source;
	/* ThreadSanitizer prints the last byte of the call. */
	reader->like->sites[reader->access] = strtoull(offset + 3, NULL, 16) + 1;
}

/* Returns false behind the second stack. */
static bool run_like_read_line(struct like_reader *reader, const char *line)
{
	const char *text = line + strspn(line, " ");

	if (strstr(line, "WARNING: ThreadSanitizer: ")) {
		reader->is_race = strstr(line, "ThreadSanitizer: data race") != NULL;
		return true;
	}
	if (!reader->is_race)
		return true;
	if (strstr(text, " of size ") && strstr(text, " at 0x"))
		return ++reader->access < 2;
	if (*text != '#')
		return !(reader->access == 1 && reader->like->frames[1] && !*text);
	if (reader->access >= 0)
		run_like_read_frame(reader, text);
	return true;
}

static int run_like_check(const struct like_reader *reader, struct error *err)
{
	const struct run_like *like = reader->like;

	if (reader->access < 0)
		return error_set(err, ERROR_USAGE,
			"%s has no report of a data race by ThreadSanitizer; give the output of the run that reported it",
			like->path);
	for (int i = 0; i < 2; i++)
		if (!like->frames[i])
			return error_set(err, ERROR_USAGE,
				"the report in %s has no stack of its %s access in %s; give the program that made it, or record it again with TSAN_OPTIONS=history_size=7",
				like->path, i ? "second" : "first", reader->program);
	return 0;
}

int run_like_read(struct run_like *out, const char *path, const char *program, struct error *err)
{
	struct like_reader reader = {
		.like = out, .program = run_like_file_of(program), .access = -1};
	STRBUF_SCOPED text = STRBUF_EMPTY;
	char *line, *rest;
	int status;

	*out = (struct run_like){.path = path};
	status = text_file_read(fopen(path, "re"), "the report", path, &text, err);
	rest = text.text;
	while ((line = strsep(&rest, "\n")) && run_like_read_line(&reader, line))
		continue;
	if (status == 0)
		status = run_like_check(&reader, err);
	if (status < 0)
		run_like_release(out);
	return status;
}

void run_like_release(struct run_like *like)
{
	for (int i = 0; i < 2; i++)
		free(like->frames[i]);
	*like = (struct run_like){0};
}

static void run_like_equip(void *context, void *strategy_state)
{
	const struct run_like *like = context;
	struct directed_stop stops[2] = {{.site = like->sites[0]}, {.site = like->sites[1]}};

	directed_state_init(strategy_state, stops, 2);
	directed_state_set_race(strategy_state);
}

static void run_like_on_ran(void *context, struct contract *contract)
{
	const struct directed_state *state = contract_strategy(contract);
	struct run_like *like = context;

	like->arrivals[0] = state->arrivals[0];
	like->arrivals[1] = state->arrivals[1];
	like->rendezvous = state->rendezvous;
}

int run_like_apply(struct run_like *like, struct campaign_options *options,
	struct campaign_listener *listener, struct error *err)
{
	struct target target;
	const int status = target_find(&target, options->argv[0], err);

	if (status < 0)
		return status;
	/* The report has offsets in a position-independent program, else addresses. */
	for (int i = 0; i < 2 && !target.traits.has_fixed_address; i++)
		like->sites[i] += FIXED_PROGRAM;
	target_release(&target);
	for (uint32_t i = 0; i < strategy_count; i++)
		if (strategies[i] == &strategy_directed)
			options->strategy = i;
	options->strategy_config = (struct strategy_config){.thread_capacity = THREAD_CAPACITY};
	options->workers = 1;
	options->like = like->sites;
	listener->run_context = like;
	listener->equip = run_like_equip;
	listener->ran = run_like_on_ran;
	return 0;
}

void run_like_report(const struct run_like *like, const struct campaign_result *result)
{
	if (result->races)
		return;
	(void)fprintf(stderr,
		"the accesses of %s met in %llu schedules; threads stopped at %s in %llu, and at %s in %llu\n",
		like->path, (unsigned long long)like->rendezvous, like->frames[0],
		(unsigned long long)like->arrivals[0], like->frames[1],
		(unsigned long long)like->arrivals[1]);
	if (!like->arrivals[0] && !like->arrivals[1])
		(void)fprintf(stderr,
			"note: no thread reached either access; the report must come from this build of the program\n");
}
