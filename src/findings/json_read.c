/* Checks presence, type and range: the file may be edited, truncated, or of another version. */
#include <errno.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/strbuf.h"
#include "base/visible.h"
#include "findings/finding.h"
#include "findings/fields_internal.h"

/* Limit on entries, so that a damaged file cannot exhaust memory. */
#define ENTRIES_MAX (1u << 20)

/* State of the reader. After the first error all values that it returns are empty. */
struct reader {
	int status;
	struct error *err;
};

static void json_read_reader_refuse(struct reader *reader, const char *field, const char *cause)
{
	if (!reader->status)
		reader->status = error_set(reader->err, ERROR_FORMAT,
			"the stored finding is damaged: field \"%s\" %s; delete the finding or find it again",
			field, cause);
}

static int json_read_hex_digit(char digit)
{
	if (digit >= '0' && digit <= '9')
		return digit - '0';
	return digit >= 'a' && digit <= 'f' ? digit - 'a' + 10 : -1;
}

static char *json_read_text_from_hex(const char *hex)
{
	const size_t length = strlen(hex) / 2;
	char *text = array_new(length + 1, 1);

	for (size_t i = 0; i < length; i++) {
		const int high = json_read_hex_digit(hex[2 * i]),
			  low = json_read_hex_digit(hex[2 * i + 1]);

		if (high < 0 || low < 0 || high + low == 0) {
			free(text);
			return NULL;
		}
		text[i] = (char)(high * 16 + low);
	}
	return text;
}

static char *json_read_string(struct reader *reader, json_t *value, const char *field)
{
	const char *hex = json_string_value(json_object_get(value, "hex"));
	char *text = NULL;

	if (json_is_string(value)) {
		text = string_copy(json_string_value(value));
	} else if (hex && strlen(hex) % 2 == 0) {
		text = json_read_text_from_hex(hex);
	}
	if (!text)
		json_read_reader_refuse(reader, field, "is not a text");
	return text;
}

/* Reads `value`, which is not null, into the member. */
typedef void json_read_kind(
	struct reader *reader, json_t *value, void *member, const struct finding_field *field);

static void json_read_text(
	struct reader *reader, json_t *value, void *member, const struct finding_field *field)
{
	*(char **)member = json_read_string(reader, value, field->name);
}

static void json_read_line(
	struct reader *reader, json_t *value, void *member, const struct finding_field *field)
{
	FREE_SCOPED char *text = json_read_string(reader, value, field->name);

	*(char **)member = visible_text(text, false);
}

static void json_read_object(
	struct reader *reader, json_t *value, void *member, const struct finding_field *field)
{
	if (json_is_object(value))
		*(char **)member = json_dumps(value, JSON_COMPACT);
	else
		json_read_reader_refuse(reader, field->name, "is not an object");
}

static void json_read_id(
	struct reader *reader, json_t *value, void *member, const struct finding_field *field)
{
	FREE_SCOPED char *text = json_read_string(reader, value, field->name);

	if (text && strlen(text) >= field->bytes)
		json_read_reader_refuse(reader, field->name, "is too long");
	else if (text && !*text && field->presence == FIELD_OPTIONAL)
		json_read_reader_refuse(reader, field->name, "is empty");
	else if (text)
		memcpy(member, text, strlen(text) + 1);
}

static void json_read_schedule(
	struct reader *reader, json_t *value, void *member, const struct finding_field *field)
{
	FREE_SCOPED char *text = json_read_string(reader, value, field->name);

	if (text)
		reader->status = schedule_text_parse(
			text, strlen(text), "schedule of the stored finding", member, reader->err);
}

static void json_read_outcome(
	struct reader *reader, json_t *value, void *member, const struct finding_field *field)
{
	const char *word = json_string_value(value);
	int kind = 0;

	while (kind < OUTCOME_KIND_COUNT &&
		(!word || strcmp(outcome_descriptions[kind].word, word) != 0))
		kind++;
	if (kind < OUTCOME_KIND_COUNT)
		*(enum outcome_kind *)member = (enum outcome_kind)kind;
	else
		json_read_reader_refuse(reader, field->name, "names no kind of outcome");
}

static void json_read_boolean(
	struct reader *reader, json_t *value, void *member, const struct finding_field *field)
{
	*(bool *)member = json_is_true(value);
	if (!json_is_boolean(value))
		json_read_reader_refuse(reader, field->name, "is neither true nor false");
}

static void json_read_integer(
	struct reader *reader, json_t *value, void *member, const struct finding_field *field)
{
	const bool is_marked = field->presence == FIELD_OPTIONAL && field->mark_at == field->at;
	const json_int_t number = json_integer_value(value);
	const json_int_t least = field->kind == FIELD_INTEGER ? INT32_MIN : is_marked;
	const json_int_t most = field->kind == FIELD_COUNT	? INT64_MAX
				: field->kind == FIELD_UNSIGNED ? UINT32_MAX
								: INT32_MAX;

	if (!json_is_integer(value) || number < least || number > most)
		json_read_reader_refuse(reader, field->name, "is not a number of its range");
	else if (field->kind == FIELD_COUNT)
		*(uint64_t *)member = (uint64_t)number;
	else
		*(uint32_t *)member = (uint32_t)number;
}

static void json_read_wide(
	struct reader *reader, json_t *value, void *member, const struct finding_field *field)
{
	const char *text = json_string_value(value);
	char *end = NULL;

	errno = 0;
	if (text && json_read_hex_digit(*text) >= 0)
		*(uint64_t *)member = strtoull(text, &end, field->kind == FIELD_HASH ? 16 : 10);
	if (!end || *end || errno)
		json_read_reader_refuse(reader, field->name, "is not a number in a text");
}

static uint32_t json_read_count(struct reader *reader, json_t *array, const char *field)
{
	if (!json_is_array(array))
		json_read_reader_refuse(reader, field, "is not an array");
	else if (json_array_size(array) > ENTRIES_MAX)
		json_read_reader_refuse(reader, field, "is too long");
	return reader->status ? 0 : (uint32_t)json_array_size(array);
}

static void json_read_arguments(
	struct reader *reader, json_t *array, void *member, const struct finding_field *field)
{
	const uint32_t count = json_read_count(reader, array, field->name);
	char **argv = array_new((size_t)count + 1, sizeof *argv);

	*(char ***)member = argv;
	for (uint32_t i = 0; i < count && !reader->status; i++)
		argv[i] = json_read_string(reader, json_array_get(array, i), field->name);
}

static void json_read_members(
	struct reader *reader, json_t *object, char *base, const struct finding_field *fields);

static void json_read_struct(
	struct reader *reader, json_t *value, void *member, const struct finding_field *field)
{
	json_read_members(reader, value, member, field->members);
}

static void json_read_pair(
	struct reader *reader, json_t *array, void *member, const struct finding_field *field)
{
	if (json_array_size(array) != 2)
		json_read_reader_refuse(reader, field->name, "has not two entries");
	for (size_t i = 0; i < 2; i++)
		json_read_members(reader, json_array_get(array, i),
			(char *)member + i * field->bytes, field->members);
}

static void json_read_list(
	struct reader *reader, json_t *array, void *member, const struct finding_field *field)
{
	const uint32_t count = json_read_count(reader, array, field->name);
	uint32_t *done = finding_item_count(member, field);
	char *items = array_new(count, field->bytes);

	memcpy(member, &items, sizeof items);
	for (; *done < count && !reader->status; items += field->bytes)
		json_read_members(reader, json_array_get(array, (*done)++), items, field->members);
}

static json_read_kind *const readers[] = {
	[FIELD_TEXT] = json_read_text,
	[FIELD_LINE] = json_read_line,
	[FIELD_OBJECT] = json_read_object,
	[FIELD_ID] = json_read_id,
	[FIELD_ARGUMENTS] = json_read_arguments,
	[FIELD_SCHEDULE] = json_read_schedule,
	[FIELD_OUTCOME] = json_read_outcome,
	[FIELD_BOOLEAN] = json_read_boolean,
	[FIELD_INTEGER] = json_read_integer,
	[FIELD_NUMBER] = json_read_integer,
	[FIELD_UNSIGNED] = json_read_integer,
	[FIELD_COUNT] = json_read_integer,
	[FIELD_DECIMAL] = json_read_wide,
	[FIELD_HASH] = json_read_wide,
	[FIELD_STRUCT] = json_read_struct,
	[FIELD_PAIR] = json_read_pair,
	[FIELD_LIST] = json_read_list,
};

static void json_read_members(
	struct reader *reader, json_t *object, char *base, const struct finding_field *fields)
{
	for (; fields->name && !reader->status; fields++) {
		json_t *value = json_object_get(object, fields->name);

		if (!value && fields->presence != FIELD_OPTIONAL)
			json_read_reader_refuse(reader, fields->name, "is missing");
		else if (value && (fields->presence == FIELD_REQUIRED || !json_is_null(value)))
			readers[fields->kind](reader, value, base + fields->at, fields);
	}
}

static int json_read_check_version(json_t *root, struct error *err)
{
	json_t *version = json_object_get(root, FINDING_JSON_FORMAT);

	if (!json_is_integer(version))
		return error_set(err, ERROR_FORMAT,
			"this is not a stored finding: it has no \"%s\" version; give the finding.json of a finding",
			FINDING_JSON_FORMAT);
	if (json_integer_value(version) != FINDING_JSON_VERSION)
		return error_set(err, ERROR_VERSION,
			"the finding is stored in version %" JSON_INTEGER_FORMAT
			", and this raddle reads version %d; use the raddle that wrote it",
			json_integer_value(version), FINDING_JSON_VERSION);
	return 0;
}

int finding_from_json(const char *text, size_t size, struct finding *out, struct error *err)
{
	struct reader reader = {.err = err};
	struct finding finding = {0};
	json_error_t cause;
	json_auto_t *root = json_loadb(text, size, JSON_REJECT_DUPLICATES, &cause);

	if (!root)
		return error_set(err, ERROR_FORMAT,
			"the stored finding is damaged: line %d: %s; delete the finding or find it again",
			cause.line, cause.text);
	reader.status = json_read_check_version(root, err);
	if (!reader.status)
		json_read_members(&reader, root, (char *)&finding, finding_fields);
	if (reader.status)
		finding_release(&finding);
	else
		*out = finding;
	return reader.status;
}
