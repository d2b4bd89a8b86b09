/* list_sites FILE: "line: kind bytes order flags type.field" for every site but those of functions. */
#include <stdio.h>

#include "base/bug.h"
#include "abi/instrument_abi.h"
#include "symbols/tables/site_table.h"

static const char *const kinds[SITE_KIND_COUNT] = {
	[SITE_LOAD] = "load",
	[SITE_STORE] = "store",
	[SITE_ATOMIC_LOAD] = "atomic_load",
	[SITE_ATOMIC_STORE] = "atomic_store",
	[SITE_ATOMIC_UPDATE] = "update",
	[SITE_COMPARE_EXCHANGE] = "exchange_if",
	[SITE_FENCE] = "fence",
	[SITE_RANGE_READ] = "read_range",
	[SITE_RANGE_WRITE] = "write_range",
	[SITE_STRING_READ] = "read_string",
	[SITE_STRING_WRITE] = "write_string",
	[SITE_FUNCTION_ENTRY] = "entry",
	[SITE_FUNCTION_EXIT] = "exit",
	[SITE_OPAQUE] = "opaque",
};

static const char *const orders[] = {
	"", " consume", " acquire", " release", " acq_rel", " seq_cst"};

static void print_site(const struct site_table *table, const struct site *site)
{
	struct site_source outer;

	const bool is_range = site->kind >= SITE_RANGE_READ && site->kind <= SITE_STRING_WRITE;

	printf("%u: %s", site->location.line, kinds[site->kind]);
	if (is_range)
		printf("%s", site->bytes == SITE_APPENDS ? " appends" : "");
	else if (site->bytes)
		printf(" %u", site->bytes);
	printf("%s%s%s%s%s%s", orders[site->order], site->flags & SITE_VOLATILE ? " volatile" : "",
		site->flags & SITE_BIT_FIELD ? " bit_field" : "",
		site->flags & SITE_UNALIGNED ? " unaligned" : "",
		site->flags & SITE_VECTOR ? " vector" : "",
		site->flags & SITE_WAITS ? " waits" : "");
	if (site->type)
		printf(" %s.%s", site->type, site->field ? site->field : "");
	if (site_table_outer(table, &site->location, &outer))
		printf(" at %u", outer.line);
	printf("\n");
}

int main(int argc, char **argv)
{
	struct site_table *table;
	struct error err;

	if (argc != 2 || site_table_open(&table, argv[1], &err) < 0) {
		(void)fprintf(stderr, "list_sites: %s\n", argc == 2 ? err.text : "wants FILE");
		return 2;
	}
	for (uint32_t i = 0; i < site_table_count(table); i++) {
		const struct site *site = site_table_at(table, i);

		if (kinds[site->kind] && site->kind != SITE_FUNCTION_ENTRY &&
			site->kind != SITE_FUNCTION_EXIT)
			print_site(table, site);
	}
	site_table_free(table);
	return 0;
}
