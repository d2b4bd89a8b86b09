#include "commands/explain/runs/explain_locations.h"

#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/slots.h"
#include "abi/instrument_abi.h"
#include "symbols/tables/site_table.h"

#define FRAMES_MAX 16
/* Limit on the sites of a program whose copies of lines are searched: looking up a site takes
 * microseconds. */
#define PROGRAM_SITES_MAX 50000u

void explain_locations_release(struct explain_locations *locations)
{
	slots_release(&locations->slots);
	*locations = (struct explain_locations){0};
}

static uint64_t explain_locations_hash_text(uint64_t hash, const char *text)
{
	return text ? hash_pair(hash, hash_bytes(text, strlen(text))) : hash_pair(hash, 0);
}

static void explain_locations_fill_from_symbols(
	struct symbols *symbols, struct explain_location *location)
{
	struct symbols_frame frames[FRAMES_MAX];
	unsigned count = symbols_lookup(symbols, location->site,
		!symbols_is_point(symbols, location->site), frames, FRAMES_MAX);
	unsigned at = 0;

	location->offset = symbols_module_offset(symbols, location->site, &location->module);
	location->id = symbols_stable_code(symbols, location->site);
	while (at < count && frames[at].is_system)
		at++;
	if (at == count)
		at = 0;
	location->is_system = count && frames[at].is_system;
	location->function_name = frames[at].function;
	if (location->function_name)
		location->function = explain_locations_hash_text(1, location->function_name);
	if (!frames[at].file || !frames[at].line)
		return;
	location->file = frames[at].file;
	location->line = frames[at].line;
	location->function = explain_locations_hash_text(location->function, location->file);
	location->id = hash_pair(location->function, location->line);
}

static struct explain_location *explain_locations_location_at(
	struct explain_locations *locations, uint64_t site)
{
	struct explain_location *location = slots_get(&locations->slots, sizeof *location, site);

	if (location)
		return location;
	location = slots_add(&locations->slots, sizeof *location, site);
	location->id = location->function = site;
	if (locations->symbols)
		explain_locations_fill_from_symbols(locations->symbols, location);
	return location;
}

const struct explain_location *explain_location(struct explain_locations *locations, uint64_t site)
{
	return explain_locations_location_at(locations, site);
}

uint64_t explain_locations_key(struct explain_locations *locations, const struct pattern *pattern)
{
	struct pattern placed = *pattern;

	for (unsigned i = 0; i < pattern_access_count(pattern); i++) {
		struct explain_location *location =
			explain_locations_location_at(locations, pattern->sites[i]);

		if (pattern_is_write(pattern, i))
			location->is_written = true;
		else
			location->is_read = true;
		placed.sites[i] = location->id;
	}
	return pattern_key(&placed);
}

void explain_locations_add_program(
	struct explain_locations *locations, const char *path, uint64_t site)
{
	const struct explain_location known = *explain_locations_location_at(locations, site);
	struct site_table *table;

	if (site_table_open(&table, path, NULL) < 0)
		return;
	for (uint32_t i = 0;
		site_table_count(table) <= PROGRAM_SITES_MAX && i < site_table_count(table); i++) {
		const struct site *record = site_table_at(table, i);
		struct explain_location *location;

		/* The known site gives the program's load address. */
		if (!record->point || record->kind >= SITE_FUNCTION_ENTRY)
			continue;
		location = explain_locations_location_at(
			locations, record->point + (site - known.offset));
		location->is_written |= site_kind_writes(record->kind);
		location->is_read |= !site_kind_writes(record->kind);
	}
	site_table_free(table);
}

uint32_t explain_locations_like(const struct explain_locations *locations,
	const struct pattern *pattern, unsigned access, uint64_t *sites, uint32_t most)
{
	const bool is_write = pattern_is_write(pattern, access);
	const struct explain_location *all = locations->slots.items;
	const struct explain_location *own =
		slots_get(&locations->slots, sizeof *own, pattern->sites[access]);
	uint32_t count = 0;

	sites[count++] = pattern->sites[access];
	for (uint32_t i = 0; own && i < locations->slots.capacity && count < most; i++) {
		const struct explain_location *location = &all[i];

		if (location->site && location != own && location->id == own->id &&
			(is_write ? location->is_written : location->is_read))
			sites[count++] = location->site;
	}
	return count;
}
