/*
 * Source places for checks (src/check). A separate library, because it needs elfutils, which
 * passing tests never load.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/strbuf.h"

#define PLACES_LIBRARY "libraddle-check-places.so"
#define PLACES_OPEN "raddle_places_open"
#define PLACES_DESCRIBE "raddle_places_describe"
#define PLACES_NAME_DATA "raddle_places_name_data"
#define PLACES_CLOSE "raddle_places_close"

/* Reads the modules of this process; returns NULL on failure. */
typedef void *places_open(void);
/* Appends a place such as "withdraw (account.c:17)". `is_return_address`: describes the call before
 * the address. */
typedef void places_describe(
	void *places, uint64_t address, bool is_return_address, struct strbuf *out);
/* Appends a name such as "accounts[1].lock" for static data. Returns false for other memory;
 * nothing is added then. */
typedef bool places_name_data(void *places, uint64_t address, struct strbuf *out);
typedef void places_close(void *places);
