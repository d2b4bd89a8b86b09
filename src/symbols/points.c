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

struct points_search {
	struct symbols *symbols;
	const char *name;
	unsigned count;
};

static bool points_is_program(Elf *elf)
{
	GElf_Phdr header;
	size_t count;

	if (elf_getphdrnum(elf, &count))
		return false;
	for (size_t i = 0; i < count; i++)
		if (gelf_getphdr(elf, (int)i, &header) && header.p_type == PT_INTERP)
			return true;
	return false;
}

static int points_visit_module(
	Dwfl_Module *module, void **user, const char *path, Dwarf_Addr start, void *argument)
{
	struct points_search *search = argument;
	GElf_Addr bias;
	Elf *elf;

	(void)user;
	(void)path;
	(void)start;
	/* The name of the vDSO is in brackets. */
	if (*symbols_module_name(module) == '[' || symbols_module_is_system(module))
		return DWARF_CB_OK;
	elf = dwfl_module_getelf(module, &bias);
	if (!elf || points_is_program(elf) || points_index_of(search->symbols, module)->table)
		return DWARF_CB_OK;
	if (!search->count++)
		search->name = symbols_module_name(module);
	return DWARF_CB_OK;
}

unsigned symbols_opaque_libraries(struct symbols *symbols, const char **name)
{
	struct points_search search = {.symbols = symbols};

	(void)dwfl_getmodules(symbols->dwfl, points_visit_module, &search, 0);
	*name = search.name;
	return search.count;
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
