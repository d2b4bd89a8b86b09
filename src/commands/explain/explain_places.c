#include "commands/explain/explain_places.h"

#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/slots.h"
#include "abi/instrument_abi.h"
#include "symbols/tables/site_table.h"

#define FRAMES_MAX 16
#define PLACES_FIRST 256
/* Limit on the sites of a program whose copies of lines are searched: looking up a site takes
 * microseconds. */
#define PROGRAM_SITES_MAX 50000u

void explain_places_release(struct explain_places *places)
{
	free(places->places);
	*places = (struct explain_places){0};
}

static uint64_t explain_places_hash_text(uint64_t hash, const char *text)
{
	return text ? hash_pair(hash, hash_bytes(text, strlen(text))) : hash_pair(hash, 0);
}

static void explain_places_fill_from_symbols(struct symbols *symbols, struct explain_place *place)
{
	struct symbols_frame frames[FRAMES_MAX];
	unsigned count = symbols_lookup(
		symbols, place->site, !symbols_is_point(symbols, place->site), frames, FRAMES_MAX);
	unsigned at = 0;

	place->offset = symbols_module_offset(symbols, place->site, &place->module);
	place->id = symbols_stable_code(symbols, place->site);
	while (at < count && frames[at].is_system)
		at++;
	if (at == count)
		at = 0;
	place->is_system = count && frames[at].is_system;
	place->function_name = frames[at].function;
	if (place->function_name)
		place->function = explain_places_hash_text(1, place->function_name);
	if (!frames[at].file || !frames[at].line)
		return;
	place->file = frames[at].file;
	place->line = frames[at].line;
	place->function = explain_places_hash_text(place->function, place->file);
	place->id = hash_pair(place->function, place->line);
}

static struct explain_place *explain_places_find_slot(
	const struct explain_places *places, uint64_t site)
{
	return slots_find(places->places, places->capacity, sizeof *places->places, site);
}

static struct explain_place *explain_places_place_at(struct explain_places *places, uint64_t site)
{
	struct explain_place *place;

	places->places = slots_reserve(places->places, &places->capacity, sizeof *places->places,
		places->count, PLACES_FIRST);
	place = explain_places_find_slot(places, site);
	if (place->site)
		return place;
	*place = (struct explain_place){.site = site, .id = site, .function = site};
	places->count++;
	if (places->symbols)
		explain_places_fill_from_symbols(places->symbols, place);
	return place;
}

const struct explain_place *explain_place(struct explain_places *places, uint64_t site)
{
	return explain_places_place_at(places, site);
}

uint64_t explain_places_key(struct explain_places *places, const struct pattern *pattern)
{
	struct pattern placed = *pattern;

	for (unsigned i = 0; i < pattern_access_count(pattern); i++) {
		struct explain_place *place = explain_places_place_at(places, pattern->sites[i]);

		if (pattern_is_write(pattern, i))
			place->is_written = true;
		else
			place->is_read = true;
		placed.sites[i] = place->id;
	}
	return pattern_key(&placed);
}

void explain_places_add_program(struct explain_places *places, const char *path, uint64_t site)
{
	const struct explain_place known = *explain_places_place_at(places, site);
	struct site_table *table;

	if (site_table_open(&table, path, NULL) < 0)
		return;
	for (uint32_t i = 0;
		site_table_count(table) <= PROGRAM_SITES_MAX && i < site_table_count(table); i++) {
		const struct site *record = site_table_at(table, i);
		struct explain_place *place;

		/* The known site gives the program's load address. */
		if (!record->point || record->kind >= SITE_FUNCTION_ENTRY)
			continue;
		place = explain_places_place_at(places, record->point + (site - known.offset));
		place->is_written |= site_kind_writes(record->kind);
		place->is_read |= !site_kind_writes(record->kind);
	}
	site_table_free(table);
}

uint32_t explain_places_like(const struct explain_places *places, const struct pattern *pattern,
	unsigned access, uint64_t *sites, uint32_t most)
{
	const bool is_write = pattern_is_write(pattern, access);
	const struct explain_place *own = explain_places_find_slot(places, pattern->sites[access]);
	uint32_t count = 0;

	sites[count++] = pattern->sites[access];
	for (uint32_t i = 0; own->site && i < places->capacity && count < most; i++) {
		const struct explain_place *place = &places->places[i];

		if (place->site && place != own && place->id == own->id &&
			(is_write ? place->is_written : place->is_read))
			sites[count++] = place->site;
	}
	return count;
}
