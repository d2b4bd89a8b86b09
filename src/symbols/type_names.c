#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/hash_table.h"
#include "base/strbuf.h"
#include "symbols/symbols_internal.h"

/* Nesting of namespaces, classes and functions. */
#define DEPTH_MAX 32

struct named_type {
	char *name; /* "bank::account" */
	Dwarf_Die die;
	bool is_alias; /* named by a typedef only; a struct of that name has precedence */
	UT_hash_handle hh;
};

/* The complete structs, classes and unions of a module, read at the first query. */
struct type_index {
	Dwfl_Module *module;
	struct named_type *types;
	UT_hash_handle hh;
};

static void type_names_cut(struct strbuf *text, size_t length)
{
	if (text->length > length)
		text->text[text->length = length] = '\0';
}

static void type_names_add_type(
	struct type_index *index, const char *name, Dwarf_Die *die, bool is_alias)
{
	struct named_type *type;

	HASH_FIND_STR(index->types, name, type);
	if (type && type->is_alias && !is_alias) {
		type->die = *die;
		type->is_alias = false;
	}
	if (type)
		return;
	type = array_new(1, sizeof *type);
	type->name = string_copy(name);
	type->die = *die;
	type->is_alias = is_alias;
	HASH_ADD_KEYPTR(hh, index->types, type->name, strlen(type->name), type);
}

/* `prefix`: the scope, "bank::"; unchanged on return. */
static void type_names_add_types(
	struct type_index *index, Dwarf_Die *parent, struct strbuf *prefix, unsigned depth)
{
	const size_t length = prefix->length;
	Dwarf_Die child;

	if (depth > DEPTH_MAX || dwarf_child(parent, &child))
		return;
	do {
		const int tag = dwarf_tag(&child);
		const bool is_type = tag == DW_TAG_structure_type || tag == DW_TAG_class_type ||
				     tag == DW_TAG_union_type;
		const char *name = dwarf_diename(&child);

		if (!is_type && tag != DW_TAG_namespace && tag != DW_TAG_subprogram &&
			tag != DW_TAG_lexical_block && tag != DW_TAG_typedef)
			continue;
		/* Types inside functions keep plain names; unnamed structs take their typedef's. */
		if (is_type || tag == DW_TAG_namespace || tag == DW_TAG_typedef)
			strbuf_adds(prefix, name ? name : "(anonymous namespace)");
		if (is_type && name && types_size(&child))
			type_names_add_type(index, prefix->text, &child, false);
		if (tag == DW_TAG_typedef) {
			Dwarf_Die type;

			if (name && types_of(&child, &type) && types_is_struct(&type) &&
				types_size(&type))
				type_names_add_type(
					index, prefix->text, &type, dwarf_diename(&type));
		} else {
			if (is_type || tag == DW_TAG_namespace)
				strbuf_adds(prefix, "::");
			type_names_add_types(index, &child, prefix, depth + 1);
		}
		type_names_cut(prefix, length);
	} while (!dwarf_siblingof(&child, &child));
}

static struct type_index *type_names_index_of(struct symbols *symbols, Dwfl_Module *module)
{
	struct type_index *index;
	Dwarf_Die *unit = NULL;
	STRBUF_SCOPED prefix = STRBUF_EMPTY;
	Dwarf_Addr bias;

	HASH_FIND_PTR(symbols->types, &module, index);
	if (index)
		return index;
	index = array_new(1, sizeof *index);
	index->module = module;
	while ((unit = dwfl_module_nextcu(module, unit, &bias)))
		type_names_add_types(index, unit, &prefix, 0);
	HASH_ADD_PTR(symbols->types, module, index);
	return index;
}

bool types_named(struct symbols *symbols, Dwfl_Module *module, const char *name, Dwarf_Die *type)
{
	static const char *const words[] = {"struct ", "class ", "union "};
	struct named_type *found;

	for (size_t i = 0; i < sizeof words / sizeof *words; i++)
		if (!strncmp(name, words[i], strlen(words[i])))
			name += strlen(words[i]);
	HASH_FIND_STR(type_names_index_of(symbols, module)->types, name, found);
	if (found)
		*type = found->die;
	return found;
}

void symbols_forget_types(struct symbols *symbols)
{
	HASH_FREE_EACH(symbols->types, index, HASH_FREE_EACH(index->types, type, free(type->name)));
}
