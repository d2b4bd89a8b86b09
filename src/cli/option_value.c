#include "cli/option_value.h"

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
