#include "symbols/tables/site_units.h"

#include <stdlib.h>
#include <string.h>

#include <zstd.h>

#include "abi/instrument_abi.h"
#include "base/array.h"
#include "base/search.h"

/* No compiler makes a unit of this size: a larger number is damage. */
#define PLAIN_BYTES_MAX (UINT32_C(1) << 28)

struct site_unit_rows {
	size_t flags_at; /* offset in the section */
	const unsigned char *flags;
	char *plain; /* owns the strings */
	const char **strings;
	uint32_t (*locations)[LOCATION_COLUMNS];
	uint32_t (*sites)[SITE_COLUMNS];
	uint32_t site_count, location_count, string_count;
};

/* The rest of the decompressed content; `at` NULL after damage. */
struct reader {
	const unsigned char *at, *end;
};

static uint64_t site_units_number(struct reader *reader)
{
	uint64_t number = 0;

	for (unsigned shift = 0; reader->at && shift < 64; shift += 7) {
		unsigned char byte;

		if (reader->at == reader->end)
			break;
		byte = *reader->at++;
		number |= (uint64_t)(byte & 0x7f) << shift;
		if (byte < 0x80)
			return number;
	}
	reader->at = NULL;
	return 0;
}

/* Reads a column into every `columns`-th number. */
static void site_units_column(
	struct reader *reader, uint32_t *to, uint32_t count, uint32_t columns, uint64_t most)
{
	int64_t value = 0;

	for (uint32_t i = 0; i < count && reader->at; i++) {
		const uint64_t number = site_units_number(reader);
		const int64_t half = (int64_t)(number / 2 & INT64_C(0xffffffff));

		value += number & 1 ? -half - 1 : half;
		if (value < 0 || (uint64_t)value > most) {
			reader->at = NULL;
			return;
		}
		to[(size_t)i * columns] = (uint32_t)value;
	}
}

static bool site_units_strings(struct site_unit_rows *rows, struct reader *reader)
{
	for (uint32_t i = 0; i < rows->string_count; i++) {
		const unsigned char *zero =
			memchr(reader->at, '\0', (size_t)(reader->end - reader->at));

		if (!zero)
			return false;
		rows->strings[i] = (const char *)reader->at;
		reader->at = zero + 1;
	}
	return true;
}

static bool site_units_columns(struct site_unit_rows *rows, struct reader *reader)
{
	const uint64_t strings = rows->string_count;
	const uint64_t of_locations[] = {[LOCATION_FUNCTION] = strings,
		[LOCATION_FILE] = strings,
		[LOCATION_OUTER] = rows->location_count,
		[LOCATION_LINE] = UINT32_MAX,
		[LOCATION_COLUMN] = UINT32_MAX};
	const uint64_t of_sites[] = {[SITE_LOCATION] = rows->location_count,
		[SITE_TYPE] = strings,
		[SITE_FIELD] = strings,
		[SITE_FUNCTION_NUMBER] = UINT32_MAX,
		[SITE_INSTRUCTION_NUMBER] = UINT32_MAX};

	for (uint32_t column = 0; column < LOCATION_COLUMNS && rows->location_count; column++)
		site_units_column(reader, &rows->locations[0][column], rows->location_count,
			LOCATION_COLUMNS, of_locations[column]);
	for (uint32_t column = 0; column < SITE_COLUMNS && rows->site_count; column++)
		site_units_column(reader, &rows->sites[0][column], rows->site_count, SITE_COLUMNS,
			of_sites[column]);
	for (uint32_t i = 0; i < rows->location_count;
		i++) /* so no chain of locations is a cycle */
		if (rows->locations[i][LOCATION_OUTER] > i)
			return false;
	return reader->at != NULL;
}

static bool site_units_decode(struct site_unit_rows *rows, size_t plain_bytes)
{
	struct reader reader = {
		(unsigned char *)rows->plain, (unsigned char *)rows->plain + plain_bytes};
	const uint64_t location_count = site_units_number(&reader);
	const uint64_t string_count = site_units_number(&reader);

	/* Each number has a byte at least, and each string its zero. */
	if (!reader.at || location_count > plain_bytes / LOCATION_COLUMNS ||
		string_count > plain_bytes || rows->site_count > plain_bytes / SITE_COLUMNS)
		return false;
	rows->location_count = (uint32_t)location_count;
	rows->string_count = (uint32_t)string_count;
	rows->locations = array_new(location_count, sizeof *rows->locations);
	rows->sites = array_new(rows->site_count, sizeof *rows->sites);
	rows->strings = array_new(string_count, sizeof *rows->strings);
	return site_units_columns(rows, &reader) && site_units_strings(rows, &reader);
}

static bool site_units_read_one(
	struct site_units *units, const unsigned char *section, size_t size, size_t *at)
{
	struct site_unit unit;
	struct site_unit_rows *rows;
	size_t plain;

	if (size - *at < sizeof unit)
		return false;
	memcpy(&unit, section + *at, sizeof unit);
	*at += sizeof unit;
	if (unit.magic != INSTRUMENT_MAGIC || unit.plain_bytes > PLAIN_BYTES_MAX ||
		unit.site_count > size - *at || unit.stored_bytes > size - *at - unit.site_count)
		return false;
	rows = ARRAY_NEXT(units->units, units->count);
	*rows = (struct site_unit_rows){.flags_at = *at,
		.flags = section + *at,
		.site_count = unit.site_count,
		.plain = array_new(unit.plain_bytes, 1)};
	*at += unit.site_count;
	plain = ZSTD_decompress(rows->plain, unit.plain_bytes, section + *at, unit.stored_bytes);
	*at += unit.stored_bytes;
	return !ZSTD_isError(plain) && plain == unit.plain_bytes && site_units_decode(rows, plain);
}

bool site_units_read(struct site_units *units, const unsigned char *section, size_t size)
{
	for (size_t at = 0; at < size; at += -at & (SITE_UNIT_ALIGNMENT - 1))
		if (!site_units_read_one(units, section, size, &at))
			return false;
	return true;
}

void site_units_release(struct site_units *units)
{
	for (uint32_t i = 0; i < units->count; i++) {
		free(units->units[i].plain);
		free((void *)units->units[i].strings);
		free(units->units[i].locations);
		free(units->units[i].sites);
	}
	free(units->units);
}

static const char *site_units_string(const struct site_unit_rows *rows, uint32_t number)
{
	return number ? rows->strings[number - 1] : NULL;
}

static uint64_t site_units_reference(uint32_t unit, uint32_t location)
{
	return location ? (uint64_t)unit << 32 | location : 0;
}

bool site_units_location(
	const struct site_units *units, uint64_t reference, struct site_source *location)
{
	const uint32_t unit = (uint32_t)(reference >> 32);
	const uint32_t number = (uint32_t)reference;
	const struct site_unit_rows *rows;
	const uint32_t *columns;

	if (!number || unit >= units->count || number > units->units[unit].location_count)
		return false;
	rows = &units->units[unit];
	columns = rows->locations[number - 1];
	*location = (struct site_source){
		.function = site_units_string(rows, columns[LOCATION_FUNCTION]),
		.file = site_units_string(rows, columns[LOCATION_FILE]),
		.line = columns[LOCATION_LINE],
		.column = columns[LOCATION_COLUMN],
		.outer = site_units_reference(unit, columns[LOCATION_OUTER])};
	return true;
}

bool site_units_describe(const struct site_units *units, uint64_t offset, struct site *site)
{
	const struct site_unit_rows *rows;
	const uint32_t *columns;
	uint32_t behind;
	uint64_t number;

	SEARCH(behind, 0, units->count, units->units[behind].flags_at <= offset);
	if (!behind)
		return false;
	rows = &units->units[behind - 1];
	number = offset - rows->flags_at;
	if (number >= rows->site_count)
		return false;
	columns = rows->sites[number];
	site->flags = rows->flags[number];
	site->type = site_units_string(rows, columns[SITE_TYPE]);
	site->field = site_units_string(rows, columns[SITE_FIELD]);
	site->function_number = columns[SITE_FUNCTION_NUMBER];
	site->instruction_number = columns[SITE_INSTRUCTION_NUMBER];
	return site_units_location(
		units, site_units_reference(behind - 1, columns[SITE_LOCATION]), &site->location);
}
