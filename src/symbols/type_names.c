#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/bug.h"
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

/* A type by its name without scopes. */
struct unscoped_type {
	const char *name;	       /* the end of the type's full name */
	const struct named_type *type; /* NULL if several types have this name */
	UT_hash_handle hh;
};

/* The complete structs, classes and unions of a module, read at the first query. */
struct type_index {
	Dwfl_Module *module;
	struct named_type *types;
	struct unscoped_type *unscoped; /* made at the first query without scopes */
	UT_hash_handle hh;
};

/* libdw finds the scopes of a type by a walk through its whole unit: names are remembered. */
struct type_full_name {
	const void *die;
	const char *name; /* of the symbols */
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

/* Returns the part of a full name behind its scopes: "set<std::string>" of "bank::set<std::string>". */
static const char *type_names_without_scopes(const char *name)
{
	const char *end = name + strcspn(name, "<");

	for (const char *at = name; at < end; at++)
		if (at[0] == ':' && at[1] == ':')
			name = at + 2;
	return name;
}

static void type_names_add_unscoped(struct type_index *index, const struct named_type *type)
{
	const char *name = type_names_without_scopes(type->name);
	struct unscoped_type *known;

	/* A program that uses a type of the C++ library names its scope. */
	if (!strncmp(type->name, "std::", 5) || types_is_reserved(type->name))
		return;
	HASH_FIND_STR(index->unscoped, name, known);
	if (known) {
		known->type = NULL;
		return;
	}
	known = array_new(1, sizeof *known);
	known->name = name;
	known->type = type;
	HASH_ADD_KEYPTR(hh, index->unscoped, known->name, strlen(known->name), known);
}

bool types_named_in_any_scope(
	struct symbols *symbols, Dwfl_Module *module, const char *name, Dwarf_Die *type)
{
	struct type_index *index = type_names_index_of(symbols, module);
	struct unscoped_type *found;

	if (!index->unscoped)
		for (struct named_type *each = index->types; each; each = each->hh.next)
			type_names_add_unscoped(index, each);
	HASH_FIND_STR(index->unscoped, name, found);
	if (!found || !found->type)
		return false;
	*type = found->type->die;
	return true;
}

/* Returns a name such as "bank::account" for a C++ type in a namespace or class. */
static const char *type_names_with_scopes(struct symbols *symbols, Dwarf_Die *type)
{
	FREE_SCOPED Dwarf_Die *scopes = NULL;
	const int count = dwarf_getscopes_die(type, &scopes);
	STRBUF_SCOPED name = STRBUF_EMPTY;

	for (int i = count; i-- > 1;) {
		const int tag = dwarf_tag(&scopes[i]);
		const char *scope = dwarf_diename(&scopes[i]);

		if (scope && (tag == DW_TAG_namespace || types_is_struct(&scopes[i])))
			strbuf_addf(&name, "%s::", scope);
	}
	strbuf_adds(&name, dwarf_diename(type));
	return symbols_keep(symbols, name.text);
}

static const char *type_names_make_full(struct symbols *symbols, Dwarf_Die *type)
{
	Dwarf_Attribute language;
	Dwarf_Word number = 0;
	FREE_SCOPED char *full = NULL;
	Dwarf_Die unit;

	if (dwarf_diecu(type, &unit, NULL, NULL))
		(void)dwarf_formudata(dwarf_attr(&unit, DW_AT_language, &language), &number);
	if (number != DW_LANG_C89 && number != DW_LANG_C && number != DW_LANG_C99 &&
		number != DW_LANG_C11)
		return type_names_with_scopes(symbols, type);
	BUG_ON(asprintf(&full, "%s %s", dwarf_tag(type) == DW_TAG_union_type ? "union" : "struct",
		       dwarf_diename(type)) < 0);
	return symbols_keep(symbols, full);
}

const char *types_name(struct symbols *symbols, Dwarf_Die *type)
{
	const void *die = type->addr;
	struct type_full_name *known;

	if (!dwarf_diename(type))
		return NULL;
	HASH_FIND_PTR(symbols->type_names, &die, known);
	if (known)
		return known->name;
	known = array_new(1, sizeof *known);
	known->die = die;
	known->name = type_names_make_full(symbols, type);
	HASH_ADD_PTR(symbols->type_names, die, known);
	return known->name;
}

static void type_names_forget(struct type_index *index)
{
	HASH_FREE(index->unscoped);
	HASH_FREE_EACH(index->types, type, free(type->name));
}

void symbols_forget_types(struct symbols *symbols)
{
	HASH_FREE(symbols->type_names);
	HASH_FREE_EACH(symbols->types, index, type_names_forget(index));
}
