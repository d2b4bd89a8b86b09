/*
 * Source locations for checks (src/check). A separate library, because it needs elfutils, which
 * passing tests never load.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/strbuf.h"

#define LOCATIONS_LIBRARY "libraddle-check-locations.so"
#define LOCATIONS_OPEN "raddle_locations_open"
#define LOCATIONS_DESCRIBE "raddle_locations_describe"
#define LOCATIONS_NAME_DATA "raddle_locations_name_data"
#define LOCATIONS_CLOSE "raddle_locations_close"

/* Reads the modules of this process; returns NULL on failure. */
typedef void *locations_open(void);
/* Appends a location such as "withdraw (account.c:17)". `is_return_address`: describes the call before
 * the address. */
typedef void locations_describe(
	void *locations, uint64_t address, bool is_return_address, struct strbuf *out);
/* Appends a name such as "accounts[1].lock" for static data. Returns false for other memory;
 * nothing is added then. */
typedef bool locations_name_data(void *locations, uint64_t address, struct strbuf *out);
typedef void locations_close(void *locations);
