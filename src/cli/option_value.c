#include "cli/option_value.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "cli/number.h"

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

uint64_t option_time(struct argp_state *state, const char *option, const char *text)
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
