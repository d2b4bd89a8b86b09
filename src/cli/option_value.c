#include "cli/option_value.h"

#include <ctype.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

uint64_t option_number(struct argp_state *state, const char *option, const char *text,
	uint64_t least, uint64_t most)
{
	uint64_t number = 0;

	if (number_parse(text, least, most, &number))
		return number;
	if (most >= UINT64_MAX / 2)
		argp_error(state, "%s wants a whole number of at least %llu, not %s", option,
			(unsigned long long)least, text);
	else
		argp_error(state, "%s wants a whole number from %llu to %llu, not %s", option,
			(unsigned long long)least, (unsigned long long)most, text);
	return least;
}

/* Parses a time like duration_parse(), in nanoseconds. */
static uint64_t option_time(struct argp_state *state, const char *option, const char *text)
{
	uint64_t ns = 0;

	if (!duration_parse(text, &ns))
		argp_error(
			state, "%s wants a time such as 500ms, 30s or 10m, not %s", option, text);
	return ns;
}

error_t option_store(const struct option_value *values, const struct argp_option *option, int key,
	char *text, struct argp_state *state)
{
	char *member, name[64];
	uint64_t number;

	while (values->key && values->key != key)
		values++;
	if (!values->key)
		return ARGP_ERR_UNKNOWN;
	while (option->key != key)
		option++;
	(void)snprintf(name, sizeof name, "--%s", option->name);
	member = (char *)state->input + values->at;
	switch (values->kind) {
	case VALUE_FLAG:
		*(bool *)member = true;
		return 0;
	case VALUE_TEXT:
		memcpy(member, &text, sizeof text);
		return 0;
	case VALUE_NUMBER:
		number = option_number(state, name, text, values->least, values->most);
		if (values->bytes == sizeof(uint32_t))
			*(uint32_t *)(void *)member = (uint32_t)number;
		else
			*(uint64_t *)(void *)member = number;
		return 0;
	case VALUE_LIMIT:
	case VALUE_TIME:
		*(uint64_t *)(void *)member = values->kind == VALUE_LIMIT && strcmp(text, "0") == 0
						      ? 0
						      : option_time(state, name, text);
		return 0;
	}
	return ARGP_ERR_UNKNOWN;
}
