/* Functions, variables and types by name, and texts in a program's sections. */
#include <gelf.h>
#include <string.h>

#include "base/array.h"
#include "symbols/owners.h"
#include "symbols/symbols_internal.h"

#define DEPTH_MAX 16

struct name_search {
	const char *name;
	bool wants_function; /* false: wants a variable */
};

static bool names_is_named(const struct name_search *search, Dwarf_Die *die)
{
	const char *raw = symbols_die_linkage_name(die), *plain = dwarf_diename(die);
	bool is_it = plain && strcmp(plain, search->name) == 0;
	FREE_SCOPED char *readable = NULL;

	if (is_it || !raw)
		return is_it;
	readable = symbols_readable_name(raw);
	return readable && strcmp(readable, search->name) == 0;
}

static bool names_search_die(const struct name_search *search, Dwarf_Die *parent, unsigned depth)
{
	Dwarf_Die child;

	if (depth > DEPTH_MAX || dwarf_child(parent, &child))
		return false;
	do {
		const int tag = dwarf_tag(&child);

		if (tag == (search->wants_function ? DW_TAG_subprogram : DW_TAG_variable) &&
			names_is_named(search, &child))
			return true;
		if ((tag == DW_TAG_namespace || tag == DW_TAG_subprogram ||
			    types_is_struct(&child)) &&
			names_search_die(search, &child, depth + 1))
			return true;
	} while (!dwarf_siblingof(&child, &child));
	return false;
}

struct module_visit {
	struct symbols *symbols;
	/* returns true to end the search */
	bool (*visit)(struct module_visit *visit, Dwfl_Module *module);
	const void *argument;
	bool is_found;
};

static int names_visit_module(
	Dwfl_Module *module, void **unused, const char *name, Dwarf_Addr start, void *argument)
{
	struct module_visit *visit = argument;

	(void)unused;
	(void)name;
	(void)start;
	if (!symbols_module_is_system(module))
		visit->is_found = visit->visit(visit, module);
	return visit->is_found ? DWARF_CB_ABORT : DWARF_CB_OK;
}

static bool names_visit_modules(struct module_visit *visit)
{
	(void)dwfl_getmodules(visit->symbols->dwfl, names_visit_module, visit, 0);
	return visit->is_found;
}

static bool names_search_module(struct module_visit *visit, Dwfl_Module *module)
{
	Dwarf_Die *unit = NULL;
	Dwarf_Addr bias;

	while ((unit = dwfl_module_nextcu(module, unit, &bias)))
		if (names_search_die(visit->argument, unit, 0))
			return true;
	return false;
}

static bool names_has_name(struct symbols *symbols, const char *name, bool wants_function)
{
	const struct name_search search = {.name = name, .wants_function = wants_function};
	struct module_visit visit = {
		.symbols = symbols, .visit = names_search_module, .argument = &search};

	return names_visit_modules(&visit);
}

bool symbols_has_function(struct symbols *symbols, const char *name)
{
	return names_has_name(symbols, name, true);
}

static bool names_find_member(Dwarf_Die *type, const char *name, size_t length, Dwarf_Die *out)
{
	Dwarf_Die child, base;

	if (dwarf_child(type, &child))
		return false;
	do {
		const int tag = dwarf_tag(&child);
		const char *own = dwarf_diename(&child);

		if (tag == DW_TAG_member && own && strlen(own) == length &&
			strncmp(own, name, length) == 0)
			return types_of(&child, out);
		if (tag == DW_TAG_inheritance && types_of(&child, &base) &&
			names_find_member(&base, name, length, out))
			return true;
	} while (!dwarf_siblingof(&child, &child));
	return false;
}

static bool names_search_type(struct module_visit *visit, Dwfl_Module *module)
{
	const char *name = visit->argument, *field = strchr(name, '.');
	FREE_SCOPED char *type_name = strndup(name, field ? (size_t)(field - name) : strlen(name));
	Dwarf_Die type;
	bool is_found = type_name && types_named(visit->symbols, module, type_name, &type);

	while (is_found && field) {
		const size_t length = strcspn(++field, ".");

		is_found = names_find_member(&type, field, length, &type);
		field = field[length] ? field + length : NULL;
		while (dwarf_tag(&type) == DW_TAG_array_type && types_of(&type, &type))
			;
	}
	return is_found;
}

bool symbols_has_part(struct symbols *symbols, const char *name)
{
	struct module_visit visit = {
		.symbols = symbols, .visit = names_search_type, .argument = name};

	return names_visit_modules(&visit) || names_has_name(symbols, name, false);
}

struct text_visit {
	const char *section;
	symbols_visit_text *visit;
	void *argument;
	int result;
};

static void names_visit_texts(struct text_visit *visit, Elf_Scn *section, const char *module)
{
	const Elf_Data *bytes = elf_rawdata(section, NULL);
	const char *text = bytes ? bytes->d_buf : NULL;
	const char *end = text ? text + bytes->d_size : NULL;

	while (text < end && visit->result == 0) {
		const size_t length = strnlen(text, (size_t)(end - text));

		/* Linkers fill gaps between strings with zeros. */
		if (length && text + length < end)
			visit->result = visit->visit(visit->argument, text, module);
		text += length + 1;
	}
}

static int names_visit_module_texts(
	Dwfl_Module *module, void **unused, const char *name, Dwarf_Addr start, void *argument)
{
	struct text_visit *visit = argument;
	Elf_Scn *section = NULL;
	size_t names;
	GElf_Addr bias;
	Elf *elf = dwfl_module_getelf(module, &bias);

	(void)unused;
	(void)name;
	(void)start;
	if (!elf || symbols_module_is_system(module) || elf_getshdrstrndx(elf, &names))
		return DWARF_CB_OK;
	while (visit->result == 0 && (section = elf_nextscn(elf, section))) {
		GElf_Shdr header;
		const char *own = gelf_getshdr(section, &header)
					  ? elf_strptr(elf, names, header.sh_name)
					  : NULL;

		if (own && strcmp(own, visit->section) == 0)
			names_visit_texts(visit, section, symbols_module_name(module));
	}
	return visit->result ? DWARF_CB_ABORT : DWARF_CB_OK;
}

int symbols_each_text(
	struct symbols *symbols, const char *section, symbols_visit_text *visit, void *argument)
{
	struct text_visit state = {.section = section, .visit = visit, .argument = argument};

	(void)dwfl_getmodules(symbols->dwfl, names_visit_module_texts, &state, 0);
	return state.result;
}
