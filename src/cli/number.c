#include "cli/number.h"

#include <ctype.h>
#include <errno.h>
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
