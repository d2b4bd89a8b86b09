#include "locations/locations.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/bug.h"
#include "symbols/symbols.h"

#define EXPORT __attribute__((visibility("default")))

EXPORT locations_open raddle_locations_open;
EXPORT locations_describe raddle_locations_describe;
EXPORT locations_name_data raddle_locations_name_data;
EXPORT locations_close raddle_locations_close;

void bug_report(const char *condition, const char *file, int line)
{
	(void)fprintf(stderr, "raddle: internal error: %s at %s:%d\n", condition, file, line);
	abort();
}

void *raddle_locations_open(void)
{
	struct symbols *symbols;
	struct error err;

	return symbols_from_process(&symbols, getpid(), &err) ? NULL : symbols;
}

void raddle_locations_describe(
	void *locations, uint64_t address, bool is_return_address, struct strbuf *out)
{
	symbols_describe_code(locations, address, is_return_address, out);
}

bool raddle_locations_name_data(void *locations, uint64_t address, struct strbuf *out)
{
	STRBUF_SCOPED name = STRBUF_EMPTY;
	bool is_named;

	is_named = symbols_describe_static_data(locations, address, &name);
	/* The location of the declaration follows the name. */
	if (is_named)
		strbuf_add(out, name.text, strcspn(name.text, " "));
	return is_named;
}

void raddle_locations_close(void *locations)
{
	symbols_free(locations);
}
