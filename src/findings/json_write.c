#include <inttypes.h>
#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/bug.h"
#include "base/strbuf.h"
#include "findings/finding.h"
#include "findings/fields_internal.h"

static json_t *json_write_text_value(const char *text)
{
	json_t *value;
	STRBUF_SCOPED hex = STRBUF_EMPTY;

	if (!text)
		return json_null();
	value = json_string(text);
	if (value)
		return value;
	for (const char *at = text; *at; at++)
		strbuf_addf(&hex, "%02x", (unsigned char)*at);
	return json_pack("{s:s}", "hex", hex.text);
}

static json_t *json_write_wide_value(uint64_t value, const char *format)
{
	char text[32];

	(void)snprintf(text, sizeof text, format, value); /* 20 digits at most */
	return json_string(text);
}

static json_t *json_write_arguments_value(char *const *argv)
{
	json_t *value = json_array();

	for (; argv && *argv; argv++)
		BUG_ON(json_array_append_new(value, json_write_text_value(*argv)));
	return value;
}

/* The schedule in its own text form, so that one reader checks both. */
static json_t *json_write_schedule_value(const struct schedule_file *schedule)
{
	STRBUF_SCOPED text = STRBUF_EMPTY;

	schedule_text_write(schedule, &text);
	return json_write_text_value(text.text);
}

/* An object as which its text is stored; null if it is damaged. */
static json_t *json_write_object_value(const char *text)
{
	json_t *value = text ? json_loads(text, 0, NULL) : NULL;

	return value ? value : json_null();
}

static json_t *json_write_members_value(const char *base, const struct finding_field *fields);

static json_t *json_write_items_value(
	const char *items, uint32_t count, size_t bytes, const struct finding_field *fields)
{
	json_t *value = json_array();

	for (uint32_t i = 0; i < count; i++)
		BUG_ON(json_array_append_new(
			value, json_write_members_value(items + i * bytes, fields)));
	return value;
}

static json_t *json_write_value(const char *base, const struct finding_field *field)
{
	const void *member = base + field->at;

	switch (field->kind) {
	case FIELD_TEXT:
	case FIELD_LINE:
		return json_write_text_value(*(char *const *)member);
	case FIELD_OBJECT:
		return json_write_object_value(*(char *const *)member);
	case FIELD_ID:
		return json_write_text_value(member);
	case FIELD_ARGUMENTS:
		return json_write_arguments_value(*(char *const *const *)member);
	case FIELD_SCHEDULE:
		return json_write_schedule_value(member);
	case FIELD_OUTCOME:
		return json_string(outcome_descriptions[*(const enum outcome_kind *)member].word);
	case FIELD_BOOLEAN:
		return json_boolean(*(const bool *)member);
	case FIELD_INTEGER:
		return json_integer(*(const int *)member);
	case FIELD_NUMBER:
	case FIELD_UNSIGNED:
		return json_integer(*(const uint32_t *)member);
	case FIELD_COUNT:
		return json_integer((json_int_t) * (const uint64_t *)member);
	case FIELD_DECIMAL:
		return json_write_wide_value(*(const uint64_t *)member, "%" PRIu64);
	case FIELD_HASH:
		return json_write_wide_value(*(const uint64_t *)member, "%016" PRIx64);
	case FIELD_STRUCT:
		return json_write_members_value(member, field->members);
	case FIELD_PAIR:
		return json_write_items_value(member, 2, field->bytes, field->members);
	case FIELD_LIST:
		return json_write_items_value(finding_items(member),
			*finding_item_count(member, field), field->bytes, field->members);
	}
	return NULL;
}

static bool json_write_is_zero(const char *at, size_t bytes)
{
	while (bytes && !at[bytes - 1])
		bytes--;
	return !bytes;
}

static void json_write_add_members(
	json_t *object, const char *base, const struct finding_field *fields)
{
	for (; fields->name; fields++)
		if (fields->presence != FIELD_OPTIONAL ||
			!json_write_is_zero(base + fields->mark_at, fields->mark_bytes))
			BUG_ON(json_object_set_new(
				object, fields->name, json_write_value(base, fields)));
}

static json_t *json_write_members_value(const char *base, const struct finding_field *fields)
{
	json_t *object = json_object();

	json_write_add_members(object, base, fields);
	return object;
}

char *finding_to_published_json(const struct finding *finding)
{
	struct finding published = *finding;

	published.environment = NULL;
	return finding_to_json(&published);
}

char *finding_to_json(const struct finding *finding)
{
	json_auto_t *root = json_object();
	char *text;

	BUG_ON(json_object_set_new(root, FINDING_JSON_FORMAT, json_integer(FINDING_JSON_VERSION)));
	json_write_add_members(root, (const char *)finding, finding_fields);
	text = json_dumps(root, JSON_INDENT(1));
	BUG_ON(!text);
	return text;
}
