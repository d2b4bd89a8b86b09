#include "cli/option.h"

#include <argp.h>
#include <ctype.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/strbuf.h"
#include "cli/command.h"
#include "cli/terminal.h"
#include "plan/settings.h"

bool number_parse(const char *text, uint64_t least, uint64_t most, uint64_t *out)
{
	unsigned long long value;
	char *end;

	/* strtoull accepts signs and blanks, and wraps negative numbers. */
	if (!isdigit((unsigned char)*text))
		return false;
	errno = 0;
	value = strtoull(text, &end, 10);
	if (errno || *end || value < least || value > most)
		return false;
	*out = value;
	return true;
}

bool duration_parse(const char *text, uint64_t *out_ns)
{
	static const struct {
		const char *unit;
		double ns;
	} units[] = {{"", 1e9}, {"s", 1e9}, {"ms", 1e6}, {"m", 60e9}, {"min", 60e9}, {"h", 3600e9}};
	double value;
	char *end;

	if (!isdigit((unsigned char)*text) && *text != '.')
		return false;
	value = strtod(text, &end);
	for (size_t i = 0; i < sizeof units / sizeof *units; i++) {
		if (strcmp(end, units[i].unit) != 0)
			continue;
		value *= units[i].ns;
		/* Up to a century, far from overflow. */
		if (!(value >= 1) || value > 3e18)
			return false;
		*out_ns = (uint64_t)value;
		return true;
	}
	return false;
}

int option_read_tolerated(const char *text, void *settings, struct error *err)
{
	return settings_parse_tolerated(text, &((struct settings *)settings)->tolerated, err);
}

static uint64_t option_parse_number(
	struct argp_state *state, const struct command_option *option, const char *text)
{
	const struct option_value *value = &option->value;
	uint64_t number = 0;

	if (number_parse(text, value->least, value->most, &number))
		return number;
	if (value->most >= UINT64_MAX / 2)
		argp_error(state, "--%s wants a whole number of at least %llu, not %s",
			option->name, (unsigned long long)value->least, text);
	else
		argp_error(state, "--%s wants %s from %llu to %llu, not %s", option->name,
			value->kind == VALUE_MEGABYTES ? "megabytes, a whole number"
						       : "a whole number",
			(unsigned long long)value->least, (unsigned long long)value->most, text);
	return value->least;
}

static uint64_t option_parse_time(
	struct argp_state *state, const struct command_option *option, const char *text)
{
	uint64_t ns = 0;

	if (option->value.kind == VALUE_LIMIT && strcmp(text, "0") == 0)
		return 0;
	if (!duration_parse(text, &ns))
		argp_error(state, "--%s wants a time such as 500ms, 30s or 10m, not %s",
			option->name, text);
	return ns;
}

/* Returns the index of the word in "a|b|c". */
static uint64_t option_parse_choice(
	struct argp_state *state, const struct command_option *option, const char *text)
{
	STRBUF_SCOPED words = STRBUF_EMPTY;
	uint64_t index = 0;

	for (const char *word = option->argument;; index++) {
		const size_t length = strcspn(word, "|");

		if (length == strlen(text) && memcmp(word, text, length) == 0)
			return index;
		strbuf_addf(&words, "%s%.*s",
			!index	       ? ""
			: word[length] ? ", "
				       : " or ",
			(int)length, word);
		if (!word[length])
			break;
		word += length + 1;
	}
	argp_error(state, "--%s is %s, not %s", option->name, words.text, text);
	return 0;
}

static void option_store_number(void *member, size_t bytes, uint64_t number)
{
	if (bytes == sizeof(bool))
		*(bool *)member = number;
	else if (bytes == sizeof(uint32_t))
		*(uint32_t *)member = (uint32_t)number;
	else
		*(uint64_t *)member = number;
}

/* What argp hands to the parser. */
struct option_input {
	const struct command *command;
	void *arguments;
};

static void option_store(
	struct argp_state *state, const struct command_option *option, const char *text)
{
	const struct option_value *value = &option->value;
	void *member = (char *)((struct option_input *)state->input)->arguments + value->at;
	struct error err;

	switch (value->kind) {
	case VALUE_QUIET:
		terminal_hide_live();
		__attribute__((fallthrough));
	case VALUE_FLAG:
	case VALUE_HIDDEN_FLAG:
		*(bool *)member = true;
		break;
	case VALUE_TEXT:
	case VALUE_OPTIONAL_TEXT:
		*(const char **)member = text ? text : "";
		break;
	case VALUE_COPY:
		*(char **)member = string_copy(text);
		break;
	case VALUE_NUMBER:
		option_store_number(member, value->bytes, option_parse_number(state, option, text));
		break;
	case VALUE_MEGABYTES:
		*(uint64_t *)member = option_parse_number(state, option, text) << 20;
		break;
	case VALUE_TIME:
	case VALUE_LIMIT:
		*(uint64_t *)member = option_parse_time(state, option, text);
		break;
	case VALUE_CHOICE:
		option_store_number(member, value->bytes, option_parse_choice(state, option, text));
		break;
	case VALUE_READ:
		if (value->read(text, member, &err) < 0)
			argp_error(state, "%s", err.text);
		break;
	case VALUE_NONE:
		break;
	}
}

static error_t option_store_operand(struct argp_state *state, char *text)
{
	const struct option_input *input = state->input;
	const struct operands *operands = &input->command->operands;
	void *member = (char *)input->arguments + operands->at;

	if (operands->kind == OPERANDS_NONE)
		return ARGP_ERR_UNKNOWN;
	if (operands->kind == OPERANDS_WORD) {
		if (*(const char **)member)
			argp_error(state, "one argument at a time; leave %s out", text);
		*(const char **)member = text;
		return 0;
	}
	/* All words that follow are operands. */
	*(char *const **)member = state->argv + state->next - 1;
	state->next = state->argc;
	return 0;
}

/* The key for argp: the option's letter, or a number above all letters. */
static int option_key(const struct command_option *options, int index)
{
	return options[index].letter ? options[index].letter : 256 + index;
}

static error_t option_parse(int key, char *text, struct argp_state *state)
{
	const struct command *command = ((struct option_input *)state->input)->command;
	const struct command_option *options = command->options;

	if (key == ARGP_KEY_ARG)
		return option_store_operand(state, text);
	if (key == ARGP_KEY_NO_ARGS && command->operands.missing)
		argp_error(state, "%s", command->operands.missing);
	for (int i = 0; !option_is_end(options + i); i++)
		if (options[i].name && option_key(options, i) == key) {
			option_store(state, options + i, text);
			return 0;
		}
	return ARGP_ERR_UNKNOWN;
}

/* Returns the options as argp's table; the caller frees it. */
static struct argp_option *option_make_table(const struct command_option *options)
{
	struct argp_option *table;
	int count = 0;

	while (!option_is_end(options + count))
		count++;
	table = array_new((size_t)count + 1, sizeof *table);
	for (int i = 0; i < count; i++) {
		table[i] = (struct argp_option){.name = options[i].name,
			.key = options[i].name ? option_key(options, i) : 0,
			.arg = options[i].argument,
			.doc = options[i].help};
		if (options[i].value.kind == VALUE_OPTIONAL_TEXT)
			table[i].flags = OPTION_ARG_OPTIONAL;
		if (options[i].value.kind == VALUE_HIDDEN_FLAG)
			table[i].flags = OPTION_HIDDEN;
	}
	return table;
}

static struct argp option_make_argp(const struct command *command, const struct argp_option *table)
{
	return (struct argp){.options = table,
		.parser = option_parse,
		.args_doc = command->usage,
		.doc = command->doc};
}

void options_parse(const struct command *command, int argc, char **argv, void *arguments)
{
	/* Words that follow the program are its arguments, so parsing stops there. */
	const unsigned flags = command->operands.kind == OPERANDS_PROGRAM ? ARGP_IN_ORDER : 0;
	FREE_SCOPED struct argp_option *table = option_make_table(command->options);
	const struct argp argp = option_make_argp(command, table);
	struct option_input input = {command, arguments};

	argp_parse(&argp, argc, argv, flags, NULL, &input);
}

void options_print_help(const struct command *command, FILE *stream)
{
	const unsigned what = ARGP_HELP_STD_HELP & ~(unsigned)ARGP_HELP_EXIT_OK;
	FREE_SCOPED struct argp_option *table = option_make_table(command->options);
	const struct argp argp = option_make_argp(command, table);
	char name[64];

	(void)snprintf(name, sizeof name, "raddle %s", command->name); /* names are short */
	argp_help(&argp, stream, what, name);
}
