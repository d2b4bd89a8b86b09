#include <stdlib.h>

#include "base/array.h"
#include "base/hash_table.h"
#include "symbols/tables/site_table.h"
#include "symbols/symbols_internal.h"

struct point_index {
	Dwfl_Module *module;
	struct site_table *table; /* NULL if the module has no sites, or they are unreadable */
	uint64_t bias;
	UT_hash_handle hh;
};

static const struct point_index *points_index_of(struct symbols *symbols, Dwfl_Module *module)
{
	struct point_index *index;
	const char *path = NULL;
	GElf_Addr bias = 0;
	struct error err;

	HASH_FIND_PTR(symbols->points, &module, index);
	if (index)
		return index;
	index = array_new(1, sizeof *index);
	index->module = module;
	if (dwfl_module_getelf(module, &bias))
		(void)dwfl_module_info(module, NULL, NULL, NULL, NULL, NULL, &path, NULL);
	index->bias = bias;
	/* Sites of a module without a table have no compiler data. */
	if (path && site_table_open(&index->table, path, &err))
		index->table = NULL;
	HASH_ADD_PTR(symbols->points, module, index);
	return index;
}

const struct site *points_at(struct symbols *symbols, uint64_t address)
{
	Dwfl_Module *module = symbols_module_at(symbols, address);
	const struct point_index *index = module ? points_index_of(symbols, module) : NULL;

	return index && index->table ? site_table_find(index->table, address - index->bias) : NULL;
}

bool points_has_sites(struct symbols *symbols, Dwfl_Module *module)
{
	return points_index_of(symbols, module)->table != NULL;
}

bool symbols_is_point(struct symbols *symbols, uint64_t address)
{
	return points_at(symbols, address);
}

bool symbols_describe_field(struct symbols *symbols, uint64_t address, struct strbuf *out)
{
	const struct site *site = points_at(symbols, address);
	FREE_SCOPED char *name = NULL;
	Dwarf_Die type;

	if (!site || !site->type || !site->field)
		return false;
	name = symbols_readable_type(site->type);
	strbuf_adds(out, name);
	/* The compiler notes the offset, such as "+8", if it does not know the field. The debug information may know it. */
	if (*site->field != '+')
		strbuf_addf(out, ".%s", site->field);
	else if (types_named(symbols, symbols_module_at(symbols, address), name, &type))
		types_describe_inside(&type, strtoull(site->field + 1, NULL, 10), site->bytes, out);
	else
		strbuf_adds(out, site->field);
	return true;
}

void symbols_forget_points(struct symbols *symbols)
{
	HASH_FREE_EACH(symbols->points, index, site_table_free(index->table));
}
