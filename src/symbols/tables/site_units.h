/*
 * The descriptions of sites in the section raddle_info (struct site_unit of abi/instrument_abi.h),
 * decompressed and checked. Used by site_table.c only.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "symbols/tables/site_table.h"

struct site_units {
	struct site_unit_rows *units;
	uint32_t count;
};

/* Reads all units. Returns false if they are damaged; site_units_release() frees what was read. */
bool site_units_read(struct site_units *units, const unsigned char *section, size_t size);
void site_units_release(struct site_units *units);

/* Fills the description of the site whose byte of flags lies at `offset` in the section. Returns false
 * if there is no such byte. */
bool site_units_describe(const struct site_units *units, uint64_t offset, struct site *site);
/* Fills a location that the `outer` of another location refers to. */
bool site_units_location(
	const struct site_units *units, uint64_t reference, struct site_source *location);
