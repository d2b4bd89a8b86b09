/*
 * Infers the type of a heap block from its allocation: malloc has no type, but the code around the
 * call has.
 *
 * Sources of the type, in this order: the return type of a C++ allocator's allocate(); "new T" in
 * the source; a cast of the result; sizeof in the arguments; the variable that receives the result.
 * The source counts only if it is not newer than the program. If a function returns void *, its
 * callers are examined.
 */
#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "symbols/symbols_internal.h"

#define NAME_BYTES 256

static const char *allocations_skip_blanks(const char *at)
{
	return at + strspn(at, " \t\r\n");
}

/* Returns the text after the closing bracket, or its end if the bracket is not closed. */
static const char *allocations_skip_brackets(const char *at, char open, char close)
{
	unsigned depth = 0;

	for (; *at; at++) {
		depth += *at == open;
		if (*at == close && !--depth)
			return at + 1;
	}
	return at;
}

/* Reads a type such as "struct node", "bank::Node<int>". Returns the text after the name; NULL if
 * there is no name. */
static const char *allocations_read_type(const char *at, char name[NAME_BYTES])
{
	static const char *const words[] = {"const", "struct", "class", "union", "volatile"};
	const char *end;
	bool is_skipped = true;

	while (is_skipped) {
		at = allocations_skip_blanks(at);
		is_skipped = false;
		for (size_t i = 0; i < sizeof words / sizeof *words && !is_skipped; i++) {
			const size_t length = strlen(words[i]);

			is_skipped = !strncmp(at, words[i], length) && !source_is_word(at[length]);
			at += is_skipped ? length : 0;
		}
	}
	for (end = at; source_is_word(*end) || !strncmp(end, "::", 2); end += *end == ':' ? 2 : 1)
		;
	if (end > at && *end == '<')
		end = allocations_skip_brackets(end, '<', '>');
	if (end == at || isdigit((unsigned char)*at) || (size_t)(end - at) >= NAME_BYTES)
		return NULL;
	memcpy(name, at, (size_t)(end - at));
	name[end - at] = '\0';
	return end;
}

struct allocation {
	struct symbols *symbols;
	Dwfl_Module *module;
	uint64_t code;
	const char *function;
	const char *text;
	bool (*fits)(const struct memory_block *block, Dwarf_Die *type);
	const struct memory_block *block;
	const char *wanted; /* name of the variable to find */
	Dwarf_Die found;    /* type of that variable */
	/* name of the found type where only a typedef names it; owned by symbols */
	const char *alias;
};

static bool allocations_find_type(struct allocation *allocation, const char *name, Dwarf_Die *type)
{
	char scoped[2 * NAME_BYTES + 2];
	size_t length = allocation->function ? strlen(allocation->function) : 0;

	allocation->alias = symbols_keep(allocation->symbols, name);
	for (; length; length--) {
		if (length < 2 || length >= NAME_BYTES ||
			strncmp(allocation->function + length - 2, "::", 2) != 0)
			continue;
		(void)snprintf(scoped, sizeof scoped, "%.*s%s", (int)length, allocation->function,
			name); /* fits */
		if (types_named(allocation->symbols, allocation->module, scoped, type))
			return true;
	}
	/* The scopes of an inlined function are not known, and code names no unnamed namespace. */
	return types_named(allocation->symbols, allocation->module, name, type) ||
	       types_named_in_any_scope(allocation->symbols, allocation->module, name, type);
}

static bool allocations_visit_wanted(struct symbols *symbols, struct local *local, void *argument)
{
	struct allocation *allocation = argument;
	const char *name = dwarf_diename(&local->variable);

	(void)symbols;
	return name && !strcmp(name, allocation->wanted) &&
	       types_of(&local->variable, &allocation->found);
}

/* Finds the type of the compilation unit's variable outside of functions and namespaces. */
static bool allocations_find_global(struct allocation *allocation)
{
	Dwarf_Die unit, child;

	if (!symbols_unit_at(allocation->symbols, allocation->module, allocation->code, &unit) ||
		dwarf_child(&unit, &child))
		return false;
	do {
		const char *name =
			dwarf_tag(&child) == DW_TAG_variable ? dwarf_diename(&child) : NULL;

		if (name && !strcmp(name, allocation->wanted))
			return types_of(&child, &allocation->found);
	} while (!dwarf_siblingof(&child, &child));
	return false;
}

/* Finds the struct that a pointer variable points to. Returns false if the code sees no such variable. */
static bool allocations_find_target(
	struct allocation *allocation, const char *name, Dwarf_Die *type)
{
	Dwarf_Attribute attribute;
	Dwarf_Die alias;

	allocation->wanted = name;
	if ((!locals_each(
		     allocation->symbols, allocation->code, allocations_visit_wanted, allocation) &&
		    !allocations_find_global(allocation)) ||
		dwarf_tag(&allocation->found) != DW_TAG_pointer_type ||
		!types_of(&allocation->found, type))
		return false;
	if (dwarf_formref_die(dwarf_attr(&allocation->found, DW_AT_type, &attribute), &alias))
		allocation->alias = symbols_keep(allocation->symbols, dwarf_diename(&alias));
	return true;
}

/* Adds a type that fits. Returns true if it differs from an earlier one, so that the text is
 * ambiguous. */
static bool allocations_add_candidate(
	struct allocation *allocation, Dwarf_Die *candidate, Dwarf_Die *type, unsigned *count)
{
	if (!allocation->fits(allocation->block, candidate))
		return false;
	if (*count && dwarf_dieoffset(candidate) != dwarf_dieoffset(type))
		return true;
	*type = *candidate;
	++*count;
	return false;
}

/* Finds the type in "new T", "make_unique<T>". */
static bool allocations_find_new(struct allocation *allocation, Dwarf_Die *type)
{
	static const char *const words[] = {"new", "make_unique"};
	char name[NAME_BYTES];
	Dwarf_Die candidate;
	unsigned count = 0;

	for (size_t i = 0; i < sizeof words / sizeof *words; i++)
		for (const char *at = allocation->text;
			(at = source_find_word(at, words[i], allocation->text));) {
			const char *word = allocations_skip_blanks(at);

			if (!i && *word == '(') /* placement, or std::nothrow */
				word = allocations_skip_brackets(word, '(', ')');
			if (i && *word++ != '<')
				continue;
			if (allocations_read_type(word, name) &&
				allocations_find_type(allocation, name, &candidate) &&
				allocations_add_candidate(allocation, &candidate, type, &count))
				return false;
		}
	return count;
}

/* Finds the type in "(T *)malloc(...)", "static_cast<T *>(malloc(...))". */
static bool allocations_find_cast(struct allocation *allocation, Dwarf_Die *type)
{
	char name[NAME_BYTES];
	Dwarf_Die candidate;
	unsigned count = 0;

	for (const char *at = allocation->text; *at; at++) {
		const char *end =
			*at == '(' || *at == '<' ? allocations_read_type(at + 1, name) : NULL;

		end = end ? allocations_skip_blanks(end) : "";
		if (*end != '*')
			continue;
		end = allocations_skip_blanks(end + 1);
		if (*end++ != (*at == '(' ? ')' : '>'))
			continue;
		end = allocations_skip_blanks(end);
		if (*at == '(' ? !source_is_word(*end) : *end != '(')
			continue;
		if (allocations_find_type(allocation, name, &candidate) &&
			allocations_add_candidate(allocation, &candidate, type, &count))
			return false;
	}
	return count;
}

/* Finds the type in "sizeof(struct node)", "sizeof *node". */
static bool allocations_find_sizeof(struct allocation *allocation, Dwarf_Die *type)
{
	char name[NAME_BYTES];
	Dwarf_Die candidate;
	unsigned count = 0;

	for (const char *at = allocation->text;
		(at = source_find_word(at, "sizeof", allocation->text));) {
		const char *word = at + strspn(at, " \t(");
		const bool is_target = *word == '*';
		const char *end = allocations_read_type(word + is_target, name);

		if (!end || !strncmp(end, "->", 2) || *end == '.')
			continue;
		if ((is_target ? allocations_find_target(allocation, name, &candidate)
			       : allocations_find_type(allocation, name, &candidate)) &&
			allocations_add_candidate(allocation, &candidate, type, &count))
			return false;
	}
	return count;
}

static bool allocations_find_receiver(struct allocation *allocation, Dwarf_Die *type)
{
	char name[NAME_BYTES];
	Dwarf_Die candidate;
	unsigned count = 0;

	for (const char *at = allocation->text; (at = strchr(at, '=')); at++) {
		const char *end = at, *start;

		if (at[1] == '=' || at == allocation->text || strchr("=!<>+-*/|&^%", at[-1]))
			continue;
		while (end > allocation->text && isspace((unsigned char)end[-1]))
			end--;
		for (start = end; start > allocation->text && source_is_word(start[-1]);)
			start--;
		if (start == end || (start > allocation->text && strchr(".>", start[-1])) ||
			!allocations_read_type(start, name))
			continue;
		if (allocations_find_target(allocation, name, &candidate) &&
			allocations_add_candidate(allocation, &candidate, type, &count))
			return false;
	}
	return count;
}

/* Returns whether the function is a C++ allocator's "T *allocate(size_t)", and finds T. */
static bool allocations_is_allocator(Dwarf_Die *function, Dwarf_Die *type)
{
	const char *name = dwarf_diename(function), *file = dwarf_decl_file(function);
	Dwarf_Die pointer;

	return name && !strcmp(name, "allocate") && file && symbols_is_system_file(file) &&
	       types_of(function, &pointer) && dwarf_tag(&pointer) == DW_TAG_pointer_type &&
	       types_of(&pointer, type);
}

static bool allocations_returns_any_pointer(Dwarf_Die *function)
{
	Dwarf_Die pointer, target;

	return types_of(function, &pointer) && dwarf_tag(&pointer) == DW_TAG_pointer_type &&
	       !types_of(&pointer, &target);
}

/* Returns true if the search is over; `*is_known`: a type was found. */
static bool allocations_ask_call(
	struct allocation *allocation, uint64_t site, Dwarf_Die *type, bool *is_known)
{
	struct symbols_frame frames[CHAIN_MAX];
	struct chain chain = symbols_chain_at(allocation->symbols, site - 1);
	unsigned count;

	allocation->code = site - 1;
	allocation->module = dwfl_addrmodule(allocation->symbols->dwfl, site - 1);
	count = symbols_lookup(allocation->symbols, site, true, frames, CHAIN_MAX);
	for (unsigned i = 0; i < chain.count && i < count; i++) {
		Dwarf_Die *function = &chain.functions[chain.count - 1 - i];

		allocation->alias = NULL;
		if (allocations_is_allocator(function, type)) {
			*is_known = allocation->fits(allocation->block, type);
			return true;
		}
		if (frames[i].is_system || !frames[i].file)
			continue;
		allocation->function = frames[i].function;
		allocation->text = source_statement(
			allocation->symbols, allocation->module, frames[i].file, frames[i].line);
		*is_known =
			allocation->text && (allocations_find_new(allocation, type) ||
						    allocations_find_cast(allocation, type) ||
						    allocations_find_sizeof(allocation, type) ||
						    allocations_find_receiver(allocation, type));
		if (*is_known || !allocations_returns_any_pointer(function))
			return true;
	}
	return false;
}

const char *allocation_type(struct symbols *symbols, const struct memory_block *block,
	bool (*fits)(const struct memory_block *block, Dwarf_Die *type), Dwarf_Die *type)
{
	struct allocation allocation = {.symbols = symbols, .block = block, .fits = fits};
	bool is_known = false;
	bool is_over =
		!block->site || allocations_ask_call(&allocation, block->site, type, &is_known);
	const char *name;

	for (unsigned i = 0; !is_over && i < MEMORY_BLOCK_CALLERS && block->callers[i]; i++)
		is_over = allocations_ask_call(&allocation, block->callers[i], type, &is_known);
	if (!is_known)
		return NULL;
	name = types_name(symbols, type);
	return name ? name : allocation.alias;
}
