/*
 * Stored form of a finding, version 1: one table of fields for its writer, its reader and
 * finding_release(). A string that is not valid UTF-8 is {"hex": "ff61"}; numbers that may exceed
 * 63 bits are strings.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#define FINDING_JSON_FORMAT "raddle_finding"
#define FINDING_JSON_VERSION 1

enum field_kind {
	FIELD_TEXT,	 /* char *, owned; any bytes */
	FIELD_LINE,	 /* char *, owned; a single line that is printed */
	FIELD_OBJECT,	 /* char *, owned; the text of a JSON object */
	FIELD_ID,	 /* char[], at most `bytes` */
	FIELD_ARGUMENTS, /* char **, owned, NULL-terminated */
	FIELD_SCHEDULE,	 /* struct schedule_file */
	FIELD_OUTCOME,	 /* enum outcome_kind */
	FIELD_BOOLEAN,	 /* bool */
	FIELD_INTEGER,	 /* int */
	FIELD_NUMBER,	 /* unsigned, at most INT32_MAX */
	FIELD_UNSIGNED,	 /* uint32_t */
	FIELD_COUNT,	 /* uint64_t, at most INT64_MAX */
	FIELD_DECIMAL,	 /* uint64_t as a string */
	FIELD_HASH,	 /* uint64_t as a string of 16 hexadecimal digits */
	FIELD_STRUCT,	 /* struct with these `members` */
	FIELD_PAIR,	 /* array of two such structs of `bytes` each */
	FIELD_LIST /* pointer to such structs, owned; their number is a uint32_t `count_behind` it */
};

enum field_presence {
	FIELD_REQUIRED,
	FIELD_NULLABLE, /* null if empty */
	FIELD_OPTIONAL	/* absent if the member at `mark_at` is zero */
};

struct finding_field {
	const char *name; /* NULL ends a table */
	enum field_kind kind;
	enum field_presence presence;
	size_t at, bytes;
	size_t count_behind; /* modulo 2^64 */
	size_t mark_at, mark_bytes;
	const struct finding_field *members;
};

extern const struct finding_field finding_fields[];

/* The items of a list member, and their number. */
void *finding_items(const void *list);
uint32_t *finding_item_count(const void *list, const struct finding_field *field);
