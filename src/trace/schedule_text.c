/* Schedules as text (docs/trace-format.md). People edit them: everything is checked. */
#include "trace/schedule_text.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/files/text_file.h"
#include "model/memory/layout.h"
#include "model/thread_name.h"

#define ORDINAL_MAX (THREAD_ORDINAL_DRAINER - 1)
#define WORDS_MAX 5 /* one more than the longest valid line has */
/* Twice the maximum number of threads, so that probing always finds a free slot. */
#define SLOT_COUNT (2 * THREAD_CAPACITY)

struct piece {
	const char *start;
	size_t length;
};

struct parser {
	const char *path; /* path for messages */
	const char *at, *end;
	unsigned line;
	struct piece text; /* text of the current line, trimmed */
	bool has_steps, has_layout;
	uint64_t declared_steps;
	struct schedule_file file;
	uint16_t slots[SLOT_COUNT]; /* hash table by name: thread index + 1, 0: free */
	struct error *err;
};

void schedule_file_release(struct schedule_file *file)
{
	for (uint32_t i = 0; i < file->thread_count; i++)
		free(file->threads[i].path);
	free(file->threads);
	free(file->segments);
	free(file->program);
	free(file->outcome);
	*file = (struct schedule_file){0};
}

static bool schedule_text_is_blank(char byte)
{
	return byte == ' ' || byte == '\t' || byte == '\r';
}

static bool schedule_text_piece_is(struct piece piece, const char *word)
{
	return piece.length == strlen(word) && !memcmp(piece.start, word, piece.length);
}

static int schedule_text_parser_refuse(struct parser *parser, const char *cause, struct piece what)
{
	int length = what.length > 60 ? 60 : (int)what.length;
	char shown[64];

	for (int i = 0; i < length; i++)
		shown[i] = what.start[i] >= ' ' && what.start[i] < 0x7f ? what.start[i] : '?';
	shown[length] = '\0';
	return error_set(parser->err, ERROR_FORMAT,
		"%s:%u: %s: \"%s\"; correct the line or record the schedule again", parser->path,
		parser->line, cause, shown);
}

/* Refuses leading zeros, so that each number has one spelling. */
static bool schedule_text_read_number(struct piece piece, uint64_t most, uint64_t *value)
{
	uint64_t result = 0;

	if (!piece.length || (piece.start[0] == '0' && piece.length > 1))
		return false;
	for (size_t i = 0; i < piece.length; i++) {
		const unsigned digit = (unsigned)(unsigned char)piece.start[i] - '0';

		if (digit > 9 || result > (most - digit) / 10)
			return false;
		result = result * 10 + digit;
	}
	*value = result;
	return true;
}

static unsigned schedule_text_read_hex(char digit)
{
	static const char digits[] = "0123456789abcdef";
	const char *found = digit ? strchr(digits, digit) : NULL;

	return found ? (unsigned)(found - digits) : 256;
}

/* Reads "main" or "main.0.2" as the stable name. Returns false if there is no creation path. */
static bool schedule_text_read_path(struct piece piece, thread_name *name)
{
	const char *at = piece.start;
	const char *const end = piece.start + piece.length;
	thread_name result = THREAD_NAME_MAIN;

	if (piece.length < 4 || memcmp(at, "main", 4))
		return false;
	for (at += 4; at < end;) {
		struct piece ordinal = {.start = at + 1};
		uint64_t value;

		if (*at++ != '.')
			return false;
		while (at < end && *at != '.')
			at++;
		ordinal.length = (size_t)(at - ordinal.start);
		if (schedule_text_piece_is(ordinal, THREAD_PATH_DRAINER))
			value = THREAD_ORDINAL_DRAINER;
		else if (!schedule_text_read_number(ordinal, ORDINAL_MAX, &value))
			return false;
		result = thread_name_child(result, (uint32_t)value);
	}
	*name = result;
	return true;
}

thread_name thread_path_name(const char *path)
{
	thread_name name;

	return schedule_text_read_path((struct piece){path, strlen(path)}, &name) ? name : 0;
}

/* Advances to the next line that is neither blank nor a comment; false at the end of the file. */
static bool schedule_text_parser_next_line(struct parser *parser)
{
	while (parser->at < parser->end) {
		const char *start = parser->at;
		const char *stop = memchr(start, '\n', (size_t)(parser->end - start));

		parser->at = stop ? stop + 1 : parser->end;
		stop = stop ? stop : parser->end;
		parser->line++;
		while (start < stop && schedule_text_is_blank(*start))
			start++;
		while (stop > start && schedule_text_is_blank(stop[-1]))
			stop--;
		if (start == stop || *start == '#')
			continue;
		parser->text = (struct piece){start, (size_t)(stop - start)};
		return true;
	}
	return false;
}

/* Splits a line into words. A word that starts with # begins a comment. A result of WORDS_MAX means
 * "too many". */
static unsigned schedule_text_split_words(struct piece line, struct piece words[WORDS_MAX])
{
	unsigned count = 0;
	const char *at = line.start;
	const char *const end = line.start + line.length;

	while (count < WORDS_MAX) {
		while (at < end && schedule_text_is_blank(*at))
			at++;
		if (at == end || *at == '#')
			break;
		words[count].start = at;
		while (at < end && !schedule_text_is_blank(*at))
			at++;
		words[count].length = (size_t)(at - words[count].start);
		count++;
	}
	return count;
}

static int schedule_text_read_version(struct parser *parser)
{
	struct piece words[WORDS_MAX];
	uint64_t version;

	if (!schedule_text_parser_next_line(parser) ||
		schedule_text_split_words(parser->text, words) != 3 ||
		!schedule_text_piece_is(words[0], "raddle") ||
		!schedule_text_piece_is(words[1], "schedule") ||
		!schedule_text_read_number(words[2], UINT32_MAX, &version))
		return error_set(parser->err, ERROR_FORMAT,
			"%s: this is not a schedule: it does not start with \"raddle schedule %d\"; give the schedule.txt of a finding",
			parser->path, SCHEDULE_TEXT_VERSION);
	if (version != SCHEDULE_TEXT_VERSION)
		return error_set(parser->err, ERROR_VERSION,
			"%s: schedule format version %" PRIu64
			", and this raddle reads version %d; use the raddle that wrote it or record the schedule again",
			parser->path, version, SCHEDULE_TEXT_VERSION);
	return 0;
}

static int schedule_text_read_text(struct parser *parser, struct piece piece, char **out)
{
	char *text, *to;

	if (*out)
		return schedule_text_parser_refuse(parser, "this line stands twice", parser->text);
	text = to = array_new(piece.length + 1, 1);
	for (size_t i = 0; i < piece.length; i++) {
		unsigned value = (unsigned char)piece.start[i];

		if (value == '\\') {
			const bool is_whole = i + 3 < piece.length && piece.start[i + 1] == 'x';

			value = is_whole ? schedule_text_read_hex(piece.start[i + 2]) * 16 +
						   schedule_text_read_hex(piece.start[i + 3])
					 : 0;
			value = value < 256 ? value : 0;
			i += 3;
		}
		if (!value) {
			free(text);
			return schedule_text_parser_refuse(
				parser, "a wrong \\x escape or a zero byte", piece);
		}
		*to++ = (char)value;
	}
	*to = '\0';
	*out = text;
	return 0;
}

static int schedule_text_find_thread(struct parser *parser, struct piece path, uint16_t *index)
{
	struct schedule_file *file = &parser->file;
	struct schedule_thread *thread;
	thread_name name;
	uint32_t slot;

	if (!schedule_text_read_path(path, &name))
		return schedule_text_parser_refuse(
			parser, "not a thread (main, main.0, main.0.2, ...)", path);
	for (slot = name % SLOT_COUNT; parser->slots[slot]; slot = (slot + 1) % SLOT_COUNT) {
		thread = &file->threads[parser->slots[slot] - 1];
		if (thread->name != name)
			continue;
		/* Two paths with the same hash would be indistinguishable in a run. */
		if (strlen(thread->path) != path.length ||
			memcmp(thread->path, path.start, path.length))
			return schedule_text_parser_refuse(parser,
				"this thread cannot be distinguished from another one", path);
		*index = (uint16_t)(parser->slots[slot] - 1);
		return 0;
	}
	if (file->thread_count == THREAD_CAPACITY)
		return schedule_text_parser_refuse(
			parser, "more threads than a run may have", path);
	*index = (uint16_t)file->thread_count;
	ARRAY_APPEND(file->threads, file->thread_count,
		(struct schedule_thread){name, string_copy_part(path.start, path.length)});
	parser->slots[slot] = (uint16_t)file->thread_count;
	return 0;
}

static int schedule_text_add_segment(struct parser *parser, struct schedule_segment segment)
{
	ARRAY_APPEND(parser->file.segments, parser->file.segment_count, segment);
	return 0;
}

static int schedule_text_read_value_line(
	struct parser *parser, const struct piece *words, unsigned count)
{
	uint64_t value, possibilities;

	if (count != 4 || !schedule_text_piece_is(words[2], "of") ||
		!schedule_text_read_number(words[1], UINT16_MAX, &value) ||
		!schedule_text_read_number(words[3], UINT32_MAX, &possibilities) ||
		value >= possibilities)
		return schedule_text_parser_refuse(parser,
			"not a value choice (\"value 1 of 3\", counted from 0)", parser->text);
	return schedule_text_add_segment(
		parser, (struct schedule_segment){.thread = (uint16_t)value,
				.flags = SEGMENT_VALUE,
				.count = (uint32_t)possibilities});
}

static int schedule_text_read_step_line(
	struct parser *parser, const struct piece *words, unsigned count)
{
	struct schedule_segment segment = {0};
	uint64_t steps;
	int status = schedule_text_find_thread(parser, words[0], &segment.thread);

	if (status)
		return status;
	if (count < 2 || !schedule_text_read_number(words[1], UINT32_MAX, &steps) || !steps)
		return schedule_text_parser_refuse(
			parser, "a thread needs a number of steps from 1 on", parser->text);
	for (unsigned i = 2; i < count; i++) {
		const uint16_t flag = schedule_text_piece_is(words[i], "preempts")
					      ? SEGMENT_PREEMPTS
				      : schedule_text_piece_is(words[i], "stalls") ? SEGMENT_STALLS
										   : 0;

		if (!flag || flag <= segment.flags)
			return schedule_text_parser_refuse(parser,
				"only \"preempts\" and \"stalls\" may follow the steps",
				parser->text);
		segment.flags |= flag;
	}
	segment.count = (uint32_t)steps;
	if (__builtin_add_overflow(parser->file.step_count, steps, &parser->file.step_count))
		return schedule_text_parser_refuse(
			parser, "more steps than can be counted", parser->text);
	return schedule_text_add_segment(parser, segment);
}

static int schedule_text_read_layout_line(
	struct parser *parser, const struct piece *words, unsigned count)
{
	uint64_t layout;

	if (parser->has_layout)
		return schedule_text_parser_refuse(parser, "this line stands twice", parser->text);
	if (count != 2 || !schedule_text_read_number(words[1], LAYOUT_MAX, &layout))
		return schedule_text_parser_refuse(
			parser, "not a layout (a number up to 65535)", parser->text);
	parser->has_layout = true;
	parser->file.layout = (uint32_t)layout;
	return 0;
}

static int schedule_text_read_points(struct parser *parser, enum interruption_points points)
{
	if (parser->file.interruption_points)
		return schedule_text_parser_refuse(parser, "this line stands twice", parser->text);
	parser->file.interruption_points = points;
	return 0;
}

static int schedule_text_read_line(struct parser *parser)
{
	struct piece words[WORDS_MAX];
	const unsigned count = schedule_text_split_words(parser->text, words);
	struct piece rest = {.start = words[0].start + words[0].length};

	while (rest.start < parser->text.start + parser->text.length &&
		schedule_text_is_blank(*rest.start))
		rest.start++;
	rest.length = (size_t)(parser->text.start + parser->text.length - rest.start);
	if (schedule_text_piece_is(words[0], "value"))
		return schedule_text_read_value_line(parser, words, count);
	if (words[0].length >= 4 && !memcmp(words[0].start, "main", 4))
		return schedule_text_read_step_line(parser, words, count);
	if (parser->file.segment_count)
		return schedule_text_parser_refuse(
			parser, "neither a thread nor a value choice", parser->text);
	if (schedule_text_piece_is(words[0], "program"))
		return schedule_text_read_text(parser, rest, &parser->file.program);
	if (schedule_text_piece_is(words[0], "outcome"))
		return schedule_text_read_text(parser, rest, &parser->file.outcome);
	if (schedule_text_piece_is(words[0], "steps") && count == 2 && !parser->has_steps &&
		schedule_text_read_number(words[1], UINT64_MAX, &parser->declared_steps)) {
		parser->has_steps = true;
		return 0;
	}
	if (schedule_text_piece_is(words[0], "layout"))
		return schedule_text_read_layout_line(parser, words, count);
	if (schedule_text_piece_is(words[0], "interruption") && count == 2 &&
		schedule_text_piece_is(words[1], "points"))
		return schedule_text_read_points(parser, INTERRUPTION_POINTS_ALL);
	if (schedule_text_piece_is(words[0], "file") && count == 2 &&
		schedule_text_piece_is(words[1], "points"))
		return schedule_text_read_points(parser, INTERRUPTION_POINTS_FILES);
	return schedule_text_parser_refuse(parser, "not a line of a schedule", parser->text);
}

int schedule_text_parse(const char *bytes, size_t size, const char *path, struct schedule_file *out,
	struct error *err)
{
	FREE_SCOPED struct parser *parser = array_new(1, sizeof *parser);
	int status;

	parser->path = path;
	parser->at = bytes;
	parser->end = bytes + size;
	parser->err = err;
	status = schedule_text_read_version(parser);
	while (!status && schedule_text_parser_next_line(parser))
		status = schedule_text_read_line(parser);
	if (!status && parser->has_steps && parser->declared_steps != parser->file.step_count)
		status = error_set(err, ERROR_FORMAT,
			"%s: the schedule has %" PRIu64
			" steps and its \"steps\" line says %" PRIu64
			"; it was cut off or edited: restore it, or take the \"steps\" line out",
			path, parser->file.step_count, parser->declared_steps);
	if (status)
		schedule_file_release(&parser->file);
	else
		*out = parser->file;
	return status;
}

int schedule_text_read(const char *path, struct schedule_file *out, struct error *err)
{
	STRBUF_SCOPED text = STRBUF_EMPTY;
	int status = text_file_read(fopen(path, "re"), "the schedule", path, &text, err);

	if (!status)
		status = schedule_text_parse(text.text, text.length, path, out, err);
	return status;
}

/* Writes text in which control characters, backslashes and blanks at either end become \xHH. */
static void schedule_text_write_escaped(struct strbuf *out, const char *text)
{
	const size_t length = strlen(text);

	for (size_t i = 0; i < length; i++) {
		const unsigned char byte = (unsigned char)text[i];
		const bool is_edge = i == 0 || i + 1 == length;

		if (byte < ' ' || byte == 0x7f || byte == '\\' || (byte == ' ' && is_edge))
			strbuf_addf(out, "\\x%02x", byte);
		else
			strbuf_add(out, text + i, 1);
	}
}

void schedule_text_write(const struct schedule_file *file, struct strbuf *out)
{
	strbuf_addf(out, "raddle schedule %d\n", SCHEDULE_TEXT_VERSION);
	if (file->program) {
		strbuf_adds(out, "program ");
		schedule_text_write_escaped(out, file->program);
		strbuf_adds(out, "\n");
	}
	if (file->outcome) {
		strbuf_adds(out, "outcome ");
		schedule_text_write_escaped(out, file->outcome);
		strbuf_adds(out, "\n");
	}
	strbuf_addf(out, "steps %" PRIu64 "\n", file->step_count);
	if (file->layout)
		strbuf_addf(out, "layout %" PRIu32 "\n", file->layout);
	if (file->interruption_points == INTERRUPTION_POINTS_ALL)
		strbuf_adds(out, "interruption points\n");
	if (file->interruption_points == INTERRUPTION_POINTS_FILES)
		strbuf_adds(out, "file points\n");
	for (uint32_t i = 0; i < file->segment_count; i++) {
		const struct schedule_segment *segment = &file->segments[i];

		if (segment->flags & SEGMENT_VALUE)
			strbuf_addf(
				out, "value %u of %" PRIu32 "\n", segment->thread, segment->count);
		else
			strbuf_addf(out, "%s %" PRIu32 "%s%s\n",
				file->threads[segment->thread].path, segment->count,
				segment->flags & SEGMENT_PREEMPTS ? " preempts" : "",
				segment->flags & SEGMENT_STALLS ? " stalls" : "");
	}
}
