/*
 * Text form of schedules, on one line without shell characters:
 *
 *	5b1e03c7:m4,m0x3,m0.1x2,v1x3,m
 *
 * A hash of the check's name precedes the segments of the schedule. A segment is a thread and its
 * number of consecutive steps, 1 if absent. A thread is its path of creations: "m" is main,
 * "m0.1" the second thread that main's first thread created. "s" follows the thread if its first
 * step ends a stall (model/stall.h). "v1x3" is the value 1 of 3. "p" precedes the names of the
 * variables whose accesses are scheduling points, for code with instrumented accesses.
 */
#include "check/check_internal.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/bug.h"
#include "base/hash.h"
#include "model/thread_name.h"

#define NAME_DIGITS 8

static uint32_t token_name_hash(const char *name)
{
	return (uint32_t)hash_bytes(name, strlen(name));
}

static void token_write_path(
	struct strbuf *out, const struct thread_record *threads, uint32_t index)
{
	const uint32_t parent = threads[index].parent.index;

	if (!index) {
		strbuf_adds(out, "m");
		return;
	}
	token_write_path(out, threads, parent);
	strbuf_addf(out, parent ? ".%u" : "%u", threads[index].ordinal);
}

static void token_write_points(struct strbuf *out, struct contract_memory *memory)
{
	const char *separator = ",p";

	for (uint32_t i = 0; i < memory->variable_count; i++) {
		if (!(memory_entry(memory, i)->flags & VARIABLE_POINT))
			continue;
		strbuf_addf(out, "%s%" PRIx64, separator, memory_entry(memory, i)->name);
		separator = ".";
	}
}

void token_write(struct strbuf *out, const char *name)
{
	struct contract *contract = room_contract();
	const struct schedule *schedule = contract_schedule(contract);
	const struct thread_record *threads = contract_threads(contract);

	strbuf_addf(out, "%0*" PRIx32 ":", NAME_DIGITS, token_name_hash(name));
	for (uint32_t i = 0; i < schedule->count; i++) {
		const struct schedule_segment *segment = &schedule->segments[i];

		if (i)
			strbuf_adds(out, ",");
		if (segment->flags & SEGMENT_VALUE)
			strbuf_addf(out, "v%u", segment->thread);
		else
			token_write_path(out, threads, segment->thread);
		if (segment->flags & SEGMENT_STALLS)
			strbuf_adds(out, "s");
		if (segment->count != 1 || segment->flags & SEGMENT_VALUE)
			strbuf_addf(out, "x%" PRIu32, segment->count);
	}
	if (contract->has_memory_sites)
		token_write_points(out, contract_memory(contract));
}

struct token_reader {
	const char *at;
	thread_name names[THREAD_CAPACITY];
	uint32_t name_count;
	struct schedule_segment *segments;
	uint32_t segment_count;
	variable_name *points;
	uint32_t point_count;
};

static bool token_read_number(struct token_reader *reader, uint32_t most, uint32_t *number)
{
	char *end;
	unsigned long long value;

	if (!isdigit((unsigned char)*reader->at))
		return false;
	value = strtoull(reader->at, &end, 10);
	if (value > most)
		return false;
	reader->at = end;
	*number = (uint32_t)value;
	return true;
}

static bool token_read_thread(struct token_reader *reader, uint16_t *thread)
{
	thread_name name = THREAD_NAME_MAIN;
	uint32_t ordinal;

	for (bool is_first = true;; is_first = false) {
		if (!is_first && *reader->at == '.')
			reader->at++;
		else if (!is_first || !isdigit((unsigned char)*reader->at))
			break;
		if (!token_read_number(reader, UINT16_MAX, &ordinal))
			return false;
		name = thread_name_child(name, ordinal);
	}
	for (uint32_t i = 0; i < reader->name_count; i++)
		if (reader->names[i] == name) {
			*thread = (uint16_t)i;
			return true;
		}
	if (reader->name_count == THREAD_CAPACITY)
		return false;
	reader->names[reader->name_count] = name;
	*thread = (uint16_t)reader->name_count++;
	return true;
}

static bool token_read_segment(struct token_reader *reader)
{
	struct schedule_segment *segment = &reader->segments[reader->segment_count++];
	const char kind = *reader->at++;
	uint32_t value;

	*segment = (struct schedule_segment){.count = 1};
	if (kind == 'v') {
		if (!token_read_number(reader, UINT16_MAX, &value) || *reader->at != 'x')
			return false;
		segment->thread = (uint16_t)value;
		segment->flags = SEGMENT_VALUE;
	} else if (kind != 'm' || !token_read_thread(reader, &segment->thread)) {
		return false;
	}
	if (*reader->at == 's' && !segment->flags) {
		reader->at++;
		segment->flags = SEGMENT_STALLS;
	}
	if (*reader->at == 'x') {
		reader->at++;
		return token_read_number(reader, UINT32_MAX, &segment->count) && segment->count;
	}
	return true;
}

static bool token_read_points(struct token_reader *reader)
{
	do {
		char *end;

		if (!isxdigit((unsigned char)*++reader->at))
			return false;
		reader->points[reader->point_count++] = strtoull(reader->at, &end, 16);
		reader->at = end;
	} while (*reader->at == '.');
	return !*reader->at;
}

static bool token_read_segments(struct token_reader *reader)
{
	while (*reader->at) {
		if (reader->segment_count && *reader->at++ != ',')
			return false;
		if (*reader->at == 'p')
			return token_read_points(reader);
		if (!token_read_segment(reader))
			return false;
	}
	return true; /* an empty schedule fails before its first step */
}

static bool token_is_name(const char *token)
{
	return strspn(token, "0123456789abcdef") == NAME_DIGITS && token[NAME_DIGITS] == ':';
}

static struct replay_state *token_make_state(
	const struct token_reader *reader, struct check_plan *plan, struct error *err)
{
	struct replay_state *state;

	plan->strategy_bytes = replay_state_bytes(reader->segment_count, 0);
	state = calloc(1, plan->strategy_bytes);
	if (!state) {
		(void)error_set(err, ERROR_NOMEM, "out of memory for RADDLE_REPLAY");
		return NULL;
	}
	replay_state_init(state, REPLAY_EXACT, reader->segments, reader->segment_count, NULL, 0);
	replay_state_set_names(state, reader->names, reader->name_count);
	return state;
}

static void token_freeze(
	struct contract_memory *memory, const variable_name *points, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++) {
		struct memory_variable *variable = memory_restore_variable(memory, points[i]);

		variable->flags = 0;
		memory_make_point(memory, variable);
	}
	memory->is_frozen = 1;
	for (uint32_t i = 0; i < memory->site_count; i++)
		memory->sites[i] = SITE_ON;
	memory->must_switch = true;
}

void token_freeze_points(void)
{
	struct contract_memory *memory = contract_memory(room_contract());
	variable_name *points = calloc(memory->variable_count + 1, sizeof *points);
	uint32_t count = 0;

	BUG_ON(!points);
	for (uint32_t i = 0; i < memory->variable_count; i++) {
		struct memory_variable *variable = memory_entry(memory, i);

		if (variable->flags & VARIABLE_POINT)
			points[count++] = variable->name;
		*variable = (struct memory_variable){0};
	}
	memory->variable_count = 0;
	token_freeze(memory, points, count);
	free(points);
}

void token_apply(const struct token *token)
{
	token_freeze(contract_memory(room_contract()), token->points, token->point_count);
	memcpy(contract_strategy(room_contract()), token->state, token->state->bytes);
}

enum token_fit token_read(const char *token, const char *name, struct check_plan *plan,
	struct token *out, struct error *err)
{
	struct token_reader reader = {.at = token + NAME_DIGITS + 1};
	enum token_fit fit = TOKEN_IS_BAD;

	if (!token_is_name(token)) {
		(void)error_set(err, ERROR_USAGE,
			"RADDLE_REPLAY does not begin as a token does; copy the whole value that the failing test printed");
		return TOKEN_IS_BAD;
	}
	if (strtoul(token, NULL, 16) != token_name_hash(name))
		return TOKEN_IS_FOREIGN;
	/* Upper bound: a segment takes at least a byte and a comma. */
	reader.segments = calloc(strlen(token) / 2 + 1, sizeof *reader.segments);
	reader.points = calloc(strlen(token) / 2 + 1, sizeof *reader.points);
	if (!reader.segments || !reader.points) {
		(void)error_set(err, ERROR_NOMEM, "out of memory for RADDLE_REPLAY");
		free(reader.segments);
		free(reader.points);
		return TOKEN_IS_BAD;
	}
	if (!token_read_segments(&reader))
		(void)error_set(err, ERROR_USAGE,
			"RADDLE_REPLAY is damaged at byte %td; copy the whole value that the failing test printed",
			reader.at - token + 1);
	else if ((out->state = token_make_state(&reader, plan, err)))
		fit = TOKEN_FITS;
	free(reader.segments);
	out->points = reader.points;
	out->point_count = reader.point_count;
	return fit;
}
