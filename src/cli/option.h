/*
 * Options and operands of a command. One row declares an option: its names, its help, and the
 * member of the command's arguments that stores its value. Parsing, --help, manual page and
 * completion read the rows. An invalid value ends raddle with a message about valid ones.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "base/error.h"

struct command;

/* Accepts a decimal integer in [least, most] only. */
bool number_parse(const char *text, uint64_t least, uint64_t most, uint64_t *out);
/* Accepts "500ms", "30s", "2m", "1h", or seconds, with an optional fraction; must be positive. */
bool duration_parse(const char *text, uint64_t *out_ns);

enum option_kind {
	VALUE_NONE,	     /* a heading, or an option that only the help shows */
	VALUE_FLAG,	     /* bool */
	VALUE_HIDDEN_FLAG,   /* the same; neither help nor completion shows the option */
	VALUE_QUIET,	     /* bool; also hides hints and live output */
	VALUE_TEXT,	     /* const char *, which points into the command line */
	VALUE_OPTIONAL_TEXT, /* the same; "" if the option has no value */
	VALUE_COPY,	     /* char *, which the arguments own */
	VALUE_NUMBER,	     /* uint32_t or uint64_t, in [least, most] */
	VALUE_MEGABYTES,     /* the same, stored in bytes */
	VALUE_TIME,	     /* uint64_t: nanoseconds */
	VALUE_LIMIT,	     /* the same; 0 is allowed */
	VALUE_CHOICE,	     /* enum or bool: index among the words "a|b|c" of `argument` */
	VALUE_READ	     /* read() parses the text */
};

struct option_value {
	enum option_kind kind;
	size_t at, bytes; /* the member: its offset and its size */
	uint64_t least, most;
	int (*read)(const char *text, void *member, struct error *err);
};

#define OPTION_VALUE(kind, type, member, least, most, read)                                        \
	{                                                                                          \
		kind, offsetof(struct type, member), sizeof(((struct type *)0)->member), least,    \
			most, read                                                                 \
	}
#define OPTION_OF(kind, type, member) OPTION_VALUE(VALUE_##kind, type, member, 0, 0, NULL)
#define OPTION_NUMBER(type, member, least, most)                                                   \
	OPTION_VALUE(VALUE_NUMBER, type, member, least, most, NULL)
#define OPTION_MEGABYTES(type, member, least, most)                                                \
	OPTION_VALUE(VALUE_MEGABYTES, type, member, least, most, NULL)
#define OPTION_READ(type, member, read) OPTION_VALUE(VALUE_READ, type, member, 0, 0, read)

/* A table ends with a row of zeros. A row without a name is a heading. */
struct command_option {
	const char *name;
	char letter;	      /* 0: none */
	const char *argument; /* name of the value; NULL: none */
	const char *help;
	struct option_value value;
};

#define OPTION_HEADING(text)                                                                       \
	{                                                                                          \
		.help = text                                                                       \
	}

static inline bool option_is_end(const struct command_option *option)
{
	return !option || (!option->name && !option->help);
}

/* What a command accepts behind its options. */
struct operands {
	enum operand_kind {
		OPERANDS_NONE,
		/* char *const *: the program, and everything behind it */
		OPERANDS_PROGRAM,
		OPERANDS_WORD, /* const char *: one word */
		OPERANDS_LIST  /* char *const *: any number of words, then NULL */
	} kind;
	size_t at;	     /* offset of the member */
	const char *missing; /* message if no operand is given; NULL: none is needed */
};

/* Stores options and operands in `arguments`. Ends raddle if they are wrong, or to print help. */
void options_parse(const struct command *command, int argc, char **argv, void *arguments);
void options_print_help(const struct command *command, FILE *stream);
/* An option_value.read() for --tolerate. `settings`: struct settings. */
int option_read_tolerated(const char *text, void *settings, struct error *err);
