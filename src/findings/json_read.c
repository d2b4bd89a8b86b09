/*
 * Checks every field for presence, type and range: the file may be edited, truncated, or of another
 * version.
 */
#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/bug.h"
#include "base/visible.h"
#include "findings/finding.h"
#include "findings/json_internal.h"

/* Limit on entries, so that a damaged file cannot exhaust memory. */
#define ENTRIES_MAX (1u << 20)

/* State of the reader. After the first error all values that it returns are empty. */
struct reader {
	int status;
	struct error *err;
};

static void reader_refuse(struct reader *reader, const char *field, const char *cause)
{
	if (!reader->status)
		reader->status = error_set(reader->err, ERROR_FORMAT,
			"the stored finding is damaged: field \"%s\" %s; delete the finding or "
			"find it again",
			field, cause);
}

static void *reader_allocate(size_t count, size_t size)
{
	void *memory = calloc(count ? count : 1, size);

	BUG_ON(!memory);
	return memory;
}

static json_t *json_read_get(struct reader *reader, json_t *object, const char *field)
{
	json_t *value = json_object_get(object, field);

	if (!value)
		reader_refuse(reader, field, "is missing");
	return value;
}

static int hex_digit(char digit)
{
	if (digit >= '0' && digit <= '9')
		return digit - '0';
	return digit >= 'a' && digit <= 'f' ? digit - 'a' + 10 : -1;
}

static char *text_from_hex(const char *hex)
{
	const size_t length = strlen(hex) / 2;
	char *text = reader_allocate(length + 1, 1);

	for (size_t i = 0; i < length; i++) {
		const int high = hex_digit(hex[2 * i]), low = hex_digit(hex[2 * i + 1]);

		if (high < 0 || low < 0 || high + low == 0) {
			free(text);
			return NULL;
		}
		text[i] = (char)(high * 16 + low);
	}
	return text;
}

/* NULL for null (where allowed) and after an error. */
static char *json_read_text_of(
	struct reader *reader, json_t *value, const char *field, bool may_be_null)
{
	const char *hex;
	char *text = NULL;

	if (!value || (may_be_null && json_is_null(value)))
		return NULL;
	if (json_is_string(value)) {
		text = strdup(json_string_value(value));
		BUG_ON(!text);
		return text;
	}
	hex = json_string_value(json_object_get(value, "hex"));
	if (hex && strlen(hex) % 2 == 0)
		text = text_from_hex(hex);
	if (!text)
		reader_refuse(reader, field, "is not a text");
	return text;
}

static char *get_text(struct reader *reader, json_t *object, const char *field, bool may_be_null)
{
	return json_read_text_of(reader, json_read_get(reader, object, field), field, may_be_null);
}

/* Reads a single line that is printed: filtered by base/visible.h. */
static char *get_line(struct reader *reader, json_t *object, const char *field, bool may_be_null)
{
	char *text = get_text(reader, object, field, may_be_null);
	char *line = visible_text(text, false);

	free(text);
	return line;
}

static int64_t get_integer(
	struct reader *reader, json_t *object, const char *field, int64_t least, int64_t most)
{
	json_t *value = json_read_get(reader, object, field);
	const json_int_t number = json_integer_value(value);

	if (!value)
		return 0;
	if (json_is_integer(value) && number >= least && number <= most)
		return number;
	reader_refuse(reader, field, "is not a number of its range");
	return 0;
}

static bool get_boolean(struct reader *reader, json_t *object, const char *field)
{
	json_t *value = json_read_get(reader, object, field);

	if (value && !json_is_boolean(value))
		reader_refuse(reader, field, "is neither true nor false");
	return json_is_true(value);
}

static uint64_t get_wide(struct reader *reader, json_t *object, const char *field, int base)
{
	json_t *value = json_read_get(reader, object, field);
	const char *text = json_string_value(value);
	char *end = NULL;
	uint64_t number;

	if (!value)
		return 0;
	errno = 0;
	number = text && hex_digit(*text) >= 0 ? strtoull(text, &end, base) : 0;
	if (!end || *end || errno)
		reader_refuse(reader, field, "is not a number in a text");
	return number;
}

/* The array of that name and its length; NULL and 0 if absent. */
static json_t *get_array(struct reader *reader, json_t *object, const char *field, uint32_t *count)
{
	json_t *value = json_read_get(reader, object, field);

	*count = 0;
	if (value && !json_is_array(value)) {
		reader_refuse(reader, field, "is not an array");
		return NULL;
	}
	if (json_array_size(value) > ENTRIES_MAX)
		reader_refuse(reader, field, "is too long");
	else
		*count = (uint32_t)json_array_size(value);
	return value;
}

static void read_frame(struct reader *reader, json_t *value, struct finding_frame *frame)
{
	if (!json_is_object(value)) {
		reader_refuse(reader, "frame", "is not an object");
		return;
	}
	frame->function = get_line(reader, value, "function", true);
	frame->file = get_line(reader, value, "file", true);
	frame->line = (unsigned)get_integer(reader, value, "line", 0, INT32_MAX);
	frame->module = get_line(reader, value, "module", true);
	frame->is_system = get_boolean(reader, value, "is_system");
	frame->is_wrapper =
		json_object_get(value, "is_wrapper") && get_boolean(reader, value, "is_wrapper");
}

static void read_stack(
	struct reader *reader, json_t *object, const char *field, struct finding_stack *stack)
{
	uint32_t count;
	json_t *array = get_array(reader, object, field, &count);

	stack->frames = reader_allocate(count, sizeof *stack->frames);
	for (; stack->count < count && !reader->status; stack->count++)
		read_frame(
			reader, json_array_get(array, stack->count), &stack->frames[stack->count]);
}

static void read_waits(struct reader *reader, json_t *root, struct finding *finding)
{
	uint32_t count;
	json_t *array = get_array(reader, root, "waits", &count);

	finding->waits = reader_allocate(count, sizeof *finding->waits);
	while (finding->wait_count < count && !reader->status) {
		json_t *entry = json_array_get(array, finding->wait_count);
		struct finding_wait *wait = &finding->waits[finding->wait_count++];

		wait->thread = get_line(reader, entry, "thread", false);
		wait->verb = get_line(reader, entry, "verb", false);
		wait->object = get_line(reader, entry, "object", true);
		read_stack(reader, entry, "at", &wait->at);
		wait->holder = get_line(reader, entry, "holder", true);
		read_frame(reader, json_read_get(reader, entry, "held_since"), &wait->held_since);
		wait->is_on_cycle = get_boolean(reader, entry, "is_on_cycle");
		wait->lost_signals =
			(uint32_t)get_integer(reader, entry, "lost_signals", 0, UINT32_MAX);
	}
}

/* An absent list means that the program has named no thread. */
static void json_read_read_threads(struct reader *reader, json_t *root, struct finding *finding)
{
	uint32_t count = 0;
	json_t *array = json_object_get(root, "threads")
				? get_array(reader, root, "threads", &count)
				: NULL;

	finding->threads = reader_allocate(count, sizeof *finding->threads);
	while (finding->thread_count < count && !reader->status) {
		json_t *entry = json_array_get(array, finding->thread_count);
		struct finding_thread *thread = &finding->threads[finding->thread_count++];

		thread->path = get_line(reader, entry, "path", false);
		thread->label = get_line(reader, entry, "label", false);
	}
}

/* Absent in findings of other kinds and of versions without race detection. */
static void read_race(struct reader *reader, json_t *root, struct finding *finding)
{
	json_t *race = json_object_get(root, "race");
	json_t *accesses;
	uint32_t count;

	if (!race)
		return;
	finding->variable = get_line(reader, race, "variable", true);
	accesses = get_array(reader, race, "accesses", &count);
	if (count != FINDING_ACCESSES)
		reader_refuse(reader, "accesses", "has not two entries");
	for (unsigned i = 0; i < FINDING_ACCESSES && !reader->status; i++) {
		json_t *entry = json_array_get(accesses, i);
		struct finding_access *access = &finding->race[i];

		access->thread = get_line(reader, entry, "thread", false);
		access->verb = get_line(reader, entry, "verb", false);
		access->held = get_line(reader, entry, "held", true);
		read_stack(reader, entry, "at", &access->at);
	}
}

/* All these fields are optional: without them reports show the step's own line without callers. */
static void read_step_calls(struct reader *reader, json_t *entry, struct finding_step *step)
{
	if (json_object_get(entry, "inner"))
		read_frame(reader, json_read_get(reader, entry, "inner"), &step->inner);
	if (json_object_get(entry, "callers"))
		read_stack(reader, entry, "callers", &step->callers);
	if (json_object_get(entry, "library_call"))
		step->library_call = get_line(reader, entry, "library_call", true);
}

static void read_steps(struct reader *reader, json_t *root, struct finding_step **steps,
	uint32_t *step_count, uint64_t *left_out)
{
	uint32_t count;
	json_t *array = get_array(reader, root, "steps", &count);

	*steps = reader_allocate(count, sizeof **steps);
	while (*step_count < count && !reader->status) {
		json_t *entry = json_array_get(array, *step_count);
		struct finding_step *step = &(*steps)[(*step_count)++];

		step->step = (uint64_t)get_integer(reader, entry, "step", 0, INT64_MAX);
		step->thread = get_line(reader, entry, "thread", false);
		step->verb = get_line(reader, entry, "verb", false);
		step->object = get_line(reader, entry, "object", true);
		read_frame(reader, json_read_get(reader, entry, "where"), &step->where);
		read_step_calls(reader, entry, step);
		step->is_switch = get_boolean(reader, entry, "is_switch");
		step->is_preemption = get_boolean(reader, entry, "is_preemption");
	}
	*left_out = (uint64_t)get_integer(reader, root, "steps_left_out", 0, INT64_MAX);
}

/* Absent in findings of older versions. */
static void read_passing(struct reader *reader, json_t *root, struct finding *finding)
{
	json_t *passing = json_object_get(root, "passing");

	if (passing && !reader->status)
		read_steps(reader, passing, &finding->passing_steps, &finding->passing_step_count,
			&finding->passing_steps_left_out);
}

static void json_read_read_arguments(struct reader *reader, json_t *root, struct finding *finding)
{
	uint32_t count;
	json_t *array = get_array(reader, root, "argv", &count);

	finding->argv = reader_allocate((size_t)count + 1, sizeof *finding->argv);
	for (uint32_t i = 0; i < count && !reader->status; i++)
		finding->argv[i] =
			json_read_text_of(reader, json_array_get(array, i), "argv", false);
}

static void read_kind(struct reader *reader, json_t *root, struct finding *finding)
{
	char *word = get_text(reader, root, "kind", false);

	if (!word)
		return;
	for (int kind = 0; kind < OUTCOME_KIND_COUNT; kind++) {
		if (strcmp(outcome_descriptions[kind].word, word))
			continue;
		finding->kind = (enum outcome_kind)kind;
		free(word);
		return;
	}
	free(word);
	reader_refuse(reader, "kind", "names no kind of outcome");
}

static char *get_object(struct reader *reader, json_t *root, const char *name)
{
	json_t *object = json_read_get(reader, root, name);

	if (json_is_object(object))
		return json_dumps(object, JSON_COMPACT);
	if (object && !json_is_null(object))
		reader_refuse(reader, name, "is not an object");
	return NULL;
}

static void read_identity(struct reader *reader, json_t *root, struct finding *finding)
{
	char *id = get_text(reader, root, "id", false);

	if (id && strlen(id) >= sizeof finding->id)
		reader_refuse(reader, "id", "is too long");
	else if (id)
		memcpy(finding->id, id, strlen(id) + 1);
	free(id);
	finding->signature = get_wide(reader, root, "signature", 16);
	read_kind(reader, root, finding);
	finding->code = (int)get_integer(reader, root, "code", INT32_MIN, INT32_MAX);
	finding->seed = get_wide(reader, root, "seed", 10);
	finding->run_number = (uint64_t)get_integer(reader, root, "run_number", 0, INT64_MAX);
	finding->settings = get_object(reader, root, "settings");
	finding->memory =
		json_object_get(root, "memory") ? get_object(reader, root, "memory") : NULL;
	finding->environment = json_object_get(root, "environment")
				       ? get_object(reader, root, "environment")
				       : NULL;
	finding->sources =
		json_object_get(root, "sources") ? get_object(reader, root, "sources") : NULL;
}

static void read_schedule(struct reader *reader, json_t *root, struct finding *finding)
{
	char *text = get_text(reader, root, "schedule", false);

	if (text && !reader->status)
		reader->status = schedule_text_parse(text, strlen(text),
			"schedule of the stored finding", &finding->schedule, reader->err);
	free(text);
}

static int check_version(json_t *root, struct error *err)
{
	json_t *version = json_object_get(root, FINDING_JSON_FORMAT);

	if (!json_is_integer(version))
		return error_set(err, ERROR_FORMAT,
			"this is not a stored finding: it has no \"%s\" version; give the "
			"finding.json of a finding",
			FINDING_JSON_FORMAT);
	if (json_integer_value(version) != FINDING_JSON_VERSION)
		return error_set(err, ERROR_VERSION,
			"the finding is stored in version %" JSON_INTEGER_FORMAT
			", and this raddle reads version %d; use the raddle that wrote it",
			json_integer_value(version), FINDING_JSON_VERSION);
	return 0;
}

static void read_finding(struct reader *reader, json_t *root, struct finding *finding)
{
	read_identity(reader, root, finding);
	json_read_read_arguments(reader, root, finding);
	read_schedule(reader, root, finding);
#define FIELD(member) finding->member = get_text(reader, root, #member, true);
	FINDING_TEXT_FIELDS(FIELD)
#undef FIELD
#define FIELD(member) finding->member = get_line(reader, root, #member, true);
	FINDING_LINE_FIELDS(FIELD)
#undef FIELD
#define FIELD(member)                                                                              \
	if (json_object_get(root, #member))                                                        \
		finding->member = get_text(reader, root, #member, true);
	FINDING_NEWER_TEXT_FIELDS(FIELD)
#undef FIELD
#define FIELD(member) finding->member = (uint32_t)get_integer(reader, root, #member, 0, UINT32_MAX);
	FINDING_COUNT_FIELDS(FIELD)
#undef FIELD
	if (json_object_get(root, "depth")) {
		finding->depth = (uint32_t)get_integer(reader, root, "depth", 1, UINT32_MAX);
		finding->radius = (uint32_t)get_integer(reader, root, "radius", 0, UINT32_MAX);
	}
	read_stack(reader, root, "at", &finding->at);
	json_read_read_threads(reader, root, finding);
	read_waits(reader, root, finding);
	read_race(reader, root, finding);
	read_steps(reader, root, &finding->steps, &finding->step_count, &finding->steps_left_out);
	if (json_object_get(root, "later_steps_left_out"))
		finding->later_steps_left_out =
			(uint64_t)get_integer(reader, root, "later_steps_left_out", 1, INT64_MAX);
	read_passing(reader, root, finding);
}

int finding_from_json(const char *text, size_t size, struct finding *out, struct error *err)
{
	struct reader reader = {.err = err};
	struct finding finding = {0};
	json_error_t cause;
	json_t *root = json_loadb(text, size, JSON_REJECT_DUPLICATES, &cause);

	if (!root)
		return error_set(err, ERROR_FORMAT,
			"the stored finding is damaged: line %d: %s; delete the finding or find it "
			"again",
			cause.line, cause.text);
	reader.status = check_version(root, err);
	if (!reader.status)
		read_finding(&reader, root, &finding);
	json_decref(root);
	if (reader.status)
		finding_release(&finding);
	else
		*out = finding;
	return reader.status;
}
