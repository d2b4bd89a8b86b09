/* Parses option values; an invalid value ends the command with a message about valid ones. */
#pragma once

#include <argp.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Accepts a decimal integer in [least, most] only. */
bool number_parse(const char *text, uint64_t least, uint64_t most, uint64_t *out);
/* Accepts "500ms", "30s", "2m", "1h", or seconds, with an optional fraction; must be positive. */
bool duration_parse(const char *text, uint64_t *out_ns);

/* Returns an integer in [least, most]. The message omits a `most` of UINT64_MAX / 2 and above. */
uint64_t option_number(struct argp_state *state, const char *option, const char *text,
	uint64_t least, uint64_t most);

enum option_kind { VALUE_FLAG, VALUE_TEXT, VALUE_NUMBER, VALUE_TIME, VALUE_LIMIT };

/* The place of an option's value: a member of the struct that state->input points to. */
struct option_value {
	int key; /* 0 ends a table */
	enum option_kind kind;
	size_t at, bytes;
	uint64_t least, most;
};

#define OPTION_VALUE(key, kind, type, member, least, most)                                         \
	{                                                                                          \
		key, kind, offsetof(struct type, member), sizeof(((struct type *)0)->member),      \
			least, most                                                                \
	}
/* An option that sets a bool. */
#define OPTION_FLAG(key, type, member) OPTION_VALUE(key, VALUE_FLAG, type, member, 0, 0)
/* An option with a text (const char *). */
#define OPTION_TEXT(key, type, member) OPTION_VALUE(key, VALUE_TEXT, type, member, 0, 0)
/* An option with an integer in [least, most], stored as uint32_t or uint64_t. */
#define OPTION_NUMBER(key, type, member, least, most)                                              \
	OPTION_VALUE(key, VALUE_NUMBER, type, member, least, most)
/* An option with a time, stored in nanoseconds as uint64_t. OPTION_LIMIT: 0 is allowed. */
#define OPTION_TIME_SPAN(key, type, member) OPTION_VALUE(key, VALUE_TIME, type, member, 0, 0)
#define OPTION_LIMIT(key, type, member) OPTION_VALUE(key, VALUE_LIMIT, type, member, 0, 0)

/* Stores the option's value. Returns ARGP_ERR_UNKNOWN if `values` lacks the key. `option`: the
 * command's table of options. */
error_t option_store(const struct option_value *values, const struct argp_option *option, int key,
	char *text, struct argp_state *state);
