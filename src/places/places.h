/*
 * Places in the source for checks (src/check). A library of its own, which needs elfutils, so that tests that
 * pass never load that.
 */
#ifndef RADDLE_PLACES_PLACES_H
#define RADDLE_PLACES_PLACES_H

#include <stdbool.h>
#include <stdint.h>

#include "base/strbuf.h"

#define PLACES_LIBRARY "libraddle-check-places.so"
#define PLACES_OPEN "raddle_places_open"
#define PLACES_DESCRIBE "raddle_places_describe"
#define PLACES_NAME_DATA "raddle_places_name_data"
#define PLACES_CLOSE "raddle_places_close"

/* What is loaded into this process; NULL: it cannot be read. */
typedef void *places_open(void);
/* "withdraw (account.c:17)". `is_return_address`: of the call before it. */
typedef void places_describe(
	void *places, uint64_t address, bool is_return_address, struct strbuf *out);
/* "accounts[1].lock" of static data. False: nothing is written, as the address is in none. */
typedef bool places_name_data(void *places, uint64_t address, struct strbuf *out);
typedef void places_close(void *places);

#endif
