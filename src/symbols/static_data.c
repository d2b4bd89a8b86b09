/*
 * Names of global and static variables. With debug information the place inside an array or a
 * struct is said in the program's own words: accounts[1].lock; else as a distance: accounts+40.
 */
#include <stdlib.h>
#include <string.h>

#include <uthash.h>

#include "base/bug.h"
#include "symbols/symbols_internal.h"

#define DIMENSIONS_MAX 8
/* Namespaces, functions and blocks around a static variable; types deeper than this are not named. */
#define DEPTH_MAX 32

struct variable {
	uint64_t start, size; /* in the layout */
	Dwarf_Die die, unit;
};

/* The variables with a fixed address of one module, made when the first is asked for. */
struct variable_index {
	Dwfl_Module *module;
	struct variable *variables;
	size_t count, capacity;
	UT_hash_handle hh;
};

/* ---- the index ---- */

static bool type_of(Dwarf_Die *die, Dwarf_Die *type)
{
	Dwarf_Attribute attribute;

	return dwarf_formref_die(dwarf_attr_integrate(die, DW_AT_type, &attribute), type) &&
	       !dwarf_peel_type(type, type);
}

static bool fixed_address(Dwarf_Die *die, uint64_t *address)
{
	Dwarf_Attribute attribute, indirect;
	Dwarf_Op *ops;
	size_t count;

	if (!dwarf_attr(die, DW_AT_location, &attribute) ||
		dwarf_getlocation(&attribute, &ops, &count) || count != 1)
		return false;
	if (ops[0].atom == DW_OP_addr) {
		*address = ops[0].number;
		return true;
	}
	return (ops[0].atom == DW_OP_addrx || ops[0].atom == DW_OP_GNU_addr_index) &&
	       !dwarf_getlocation_attr(&attribute, ops, &indirect) &&
	       !dwarf_formaddr(&indirect, address);
}

static void add_variable(
	struct variable_index *index, Dwarf_Die *unit, Dwarf_Die *die, Dwarf_Addr bias)
{
	struct variable variable = {.die = *die, .unit = *unit};
	Dwarf_Die type;
	Dwarf_Word size = 0;

	if (!fixed_address(die, &variable.start))
		return;
	variable.start += bias;
	if (type_of(die, &type) && !dwarf_aggregate_size(&type, &size))
		variable.size = size;
	if (!variable.size)
		variable.size = 1; /* a type without a size still has a first byte */
	if (index->count == index->capacity) {
		index->capacity = index->capacity ? 2 * index->capacity : 64;
		index->variables =
			realloc(index->variables, index->capacity * sizeof *index->variables);
		BUG_ON(!index->variables);
	}
	index->variables[index->count++] = variable;
}

/* Descends only where variables can stand. */
static void add_children(struct variable_index *index, Dwarf_Die *unit, Dwarf_Die *parent,
	Dwarf_Addr bias, unsigned depth)
{
	Dwarf_Die child;

	if (depth > DEPTH_MAX || dwarf_child(parent, &child))
		return;
	do {
		switch (dwarf_tag(&child)) {
		case DW_TAG_variable:
			add_variable(index, unit, &child, bias);
			break;
		case DW_TAG_namespace:
		case DW_TAG_subprogram:
		case DW_TAG_lexical_block:
		case DW_TAG_inlined_subroutine:
			add_children(index, unit, &child, bias, depth + 1);
			break;
		}
	} while (!dwarf_siblingof(&child, &child));
}

static const struct variable_index *index_of(struct symbols *symbols, Dwfl_Module *module)
{
	struct variable_index *index;
	Dwarf_Die *unit = NULL;
	Dwarf_Addr bias;

	HASH_FIND_PTR(symbols->variables, &module, index);
	if (index)
		return index;
	index = calloc(1, sizeof *index);
	BUG_ON(!index);
	index->module = module;
	while ((unit = dwfl_module_nextcu(module, unit, &bias)))
		add_children(index, unit, unit, bias, 0);
	HASH_ADD_PTR(symbols->variables, module, index);
	return index;
}

void symbols_forget_variables(struct symbols *symbols)
{
	struct variable_index *index, *next;

	HASH_ITER(hh, symbols->variables, index, next)
	{
		HASH_DEL(symbols->variables, index);
		free(index->variables);
		free(index);
	}
}

static const struct variable *find_variable(const struct variable_index *index, uint64_t address)
{
	for (size_t i = 0; i < index->count; i++)
		if (address - index->variables[i].start < index->variables[i].size)
			return &index->variables[i];
	return NULL;
}

/* ---- the place inside ---- */

/* Elements per dimension, outermost first; 0: not an array of known size. */
static unsigned dimensions_of(Dwarf_Die *array, uint64_t counts[DIMENSIONS_MAX])
{
	Dwarf_Die child;
	unsigned count = 0;

	if (dwarf_child(array, &child))
		return 0;
	do {
		Dwarf_Attribute attribute;
		Dwarf_Word value;

		if (dwarf_tag(&child) != DW_TAG_subrange_type || count == DIMENSIONS_MAX)
			return 0;
		if (!dwarf_formudata(dwarf_attr(&child, DW_AT_count, &attribute), &value))
			counts[count++] = value;
		else if (!dwarf_formudata(
				 dwarf_attr(&child, DW_AT_upper_bound, &attribute), &value))
			counts[count++] = value + 1;
		else
			return 0;
	} while (!dwarf_siblingof(&child, &child));
	return count;
}

/* Steps into the element that holds *offset: "[1][2]". */
static bool step_into_array(Dwarf_Die *type, uint64_t *offset, struct strbuf *out)
{
	uint64_t counts[DIMENSIONS_MAX];
	const unsigned count = dimensions_of(type, counts);
	Dwarf_Word stride;
	Dwarf_Die element;

	if (!count || !type_of(type, &element) || dwarf_aggregate_size(&element, &stride) ||
		!stride)
		return false;
	for (unsigned i = 1; i < count; i++)
		if (__builtin_mul_overflow(stride, counts[i], &stride) || !stride)
			return false;
	for (unsigned i = 0; i < count; i++) {
		strbuf_addf(out, "[%llu]", (unsigned long long)(*offset / stride));
		*offset %= stride;
		if (i + 1 < count)
			stride /= counts[i + 1];
	}
	*type = element;
	return true;
}

/* Steps into the member that holds *offset. Members of the libraries (_M_mutex) are no words. */
static bool step_into_struct(Dwarf_Die *type, uint64_t *offset, struct strbuf *out)
{
	Dwarf_Die member;

	if (dwarf_child(type, &member))
		return false;
	do {
		Dwarf_Attribute attribute;
		Dwarf_Die inner;
		Dwarf_Word place, size;
		const char *name = dwarf_diename(&member);

		if (dwarf_tag(&member) != DW_TAG_member || !name || *name == '_' ||
			dwarf_formudata(dwarf_attr(&member, DW_AT_data_member_location, &attribute),
				&place) ||
			!type_of(&member, &inner) || dwarf_aggregate_size(&inner, &size) ||
			*offset - place >= size)
			continue;
		strbuf_addf(out, ".%s", name);
		*offset -= place;
		*type = inner;
		return true;
	} while (!dwarf_siblingof(&member, &member));
	return false;
}

static void describe_inside(Dwarf_Die *variable, uint64_t offset, struct strbuf *out)
{
	Dwarf_Die type;
	bool goes_on = type_of(variable, &type);

	for (unsigned depth = 0; goes_on && depth < DEPTH_MAX; depth++) {
		const int tag = dwarf_tag(&type);

		if (tag == DW_TAG_array_type)
			goes_on = step_into_array(&type, &offset, out);
		else if (tag == DW_TAG_structure_type || tag == DW_TAG_class_type)
			goes_on = step_into_struct(&type, &offset, out);
		else
			break;
	}
	if (offset)
		strbuf_addf(out, "+%llu", (unsigned long long)offset);
}

/* ---- descriptions ---- */

static void describe_variable(struct symbols *symbols, const struct variable *variable,
	uint64_t address, struct strbuf *out)
{
	Dwarf_Die die = variable->die, unit = variable->unit;
	const char *linkage_name = symbols_die_linkage_name(&die);
	const char *raw = linkage_name ? linkage_name : dwarf_diename(&die);
	char *name = raw ? symbols_readable_name(raw) : NULL;
	const char *file = symbols_die_file(symbols, &unit, &die, DW_AT_decl_file);
	const char *slash = file ? strrchr(file, '/') : NULL;

	strbuf_adds(out, name ? name : "(unnamed)");
	describe_inside(&die, address - variable->start, out);
	if (file)
		strbuf_addf(out, " (%s:%u)", slash ? slash + 1 : file,
			symbols_die_number(&die, DW_AT_decl_line));
	free(name);
}

bool symbols_describe_static_data(struct symbols *symbols, uint64_t address, struct strbuf *out)
{
	Dwfl_Module *module = dwfl_addrmodule(symbols->dwfl, address);
	const struct variable *variable;
	const char *raw;
	GElf_Off offset;
	GElf_Sym symbol;
	char *name;

	if (!module)
		return false;
	variable = find_variable(index_of(symbols, module), address);
	if (variable) {
		describe_variable(symbols, variable, address, out);
		return true;
	}
	raw = dwfl_module_addrinfo(module, address, &offset, &symbol, NULL, NULL, NULL);
	if (!raw || GELF_ST_TYPE(symbol.st_info) != STT_OBJECT || offset >= symbol.st_size)
		return false;
	name = symbols_readable_name(raw);
	strbuf_adds(out, name);
	if (offset)
		strbuf_addf(out, "+%llu", (unsigned long long)offset);
	free(name);
	return true;
}
