#include "places/places.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/bug.h"
#include "symbols/symbols.h"

#define EXPORT __attribute__((visibility("default")))

EXPORT places_open raddle_places_open;
EXPORT places_describe raddle_places_describe;
EXPORT places_name_data raddle_places_name_data;
EXPORT places_close raddle_places_close;

void bug_report(const char *condition, const char *file, int line)
{
	(void)fprintf(stderr, "raddle: internal error: %s at %s:%d\n", condition, file, line);
	abort();
}

void *raddle_places_open(void)
{
	struct symbols *symbols;
	struct error err;

	return symbols_from_process(&symbols, getpid(), &err) ? NULL : symbols;
}

void raddle_places_describe(
	void *places, uint64_t address, bool is_return_address, struct strbuf *out)
{
	symbols_describe_code(places, address, is_return_address, out);
}

bool raddle_places_name_data(void *places, uint64_t address, struct strbuf *out)
{
	STRBUF_SCOPED name = STRBUF_EMPTY;
	bool is_named;

	is_named = symbols_describe_static_data(places, address, &name);
	/* The place of the declaration follows the name. */
	if (is_named)
		strbuf_add(out, name.text, strcspn(name.text, " "));
	return is_named;
}

void raddle_places_close(void *places)
{
	symbols_free(places);
}
