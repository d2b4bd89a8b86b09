/* Names static variables, with debug information as accounts[1].lock, else accounts+40. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/files/base_name.h"
#include "base/bug.h"
#include "base/hash_table.h"
#include "symbols/symbols_internal.h"

/* Nesting of namespaces, functions and blocks. */
#define DEPTH_MAX 32

struct variable {
	/* address in the layout; for thread-local variables the offset in the module's block */
	uint64_t start, size;
	uint64_t inner; /* offset in the variable, if this is a piece of it */
	bool is_thread_local;
	Dwarf_Die die, unit;
	const char *scope; /* "bank::teller::serve::" where no mangled name contains it */
};

/* The variables of one module, read at the first query. */
struct variable_index {
	Dwfl_Module *module;
	struct variable *variables;
	size_t count;
	UT_hash_handle hh;
};

/* Location of a variable, or of a piece of a variable that the compiler split. */
struct fixed_location {
	uint64_t location;
	uint64_t inner, bytes; /* offset and size of the piece; bytes 0: the whole variable */
	bool is_thread_local;
};

/* Reads the operand of an operation with an address, or with an offset in the thread-local
 * block. */
static bool static_data_operand_of(Dwarf_Attribute *attribute, const Dwarf_Op *op, uint64_t *value)
{
	Dwarf_Attribute indirect;

	switch (op->atom) {
	case DW_OP_addr:
	case DW_OP_const4u:
	case DW_OP_const8u:
		*value = op->number;
		return true;
	case DW_OP_addrx:
	case DW_OP_GNU_addr_index:
	case DW_OP_constx:
	case DW_OP_GNU_const_index:
		return !dwarf_getlocation_attr(attribute, op, &indirect) &&
		       !dwarf_formaddr(&indirect, value);
	default:
		return false;
	}
}

struct surroundings {
	struct symbols *symbols;
	struct variable_index *index;
	Dwarf_Die *unit;
	Dwarf_Addr bias;
	const char *scope; /* owned by symbols: "bank::teller::" */
	bool is_in_function;
};

static void static_data_add_variable(const struct surroundings *surroundings, Dwarf_Die *die,
	const struct fixed_location *location)
{
	struct variable_index *index = surroundings->index;
	const bool has_name = !surroundings->is_in_function && symbols_die_linkage_name(die);
	struct variable variable = {.die = *die,
		.unit = *surroundings->unit,
		.scope = has_name ? NULL : surroundings->scope,
		.start = location->location,
		.inner = location->inner,
		.size = location->bytes,
		.is_thread_local = location->is_thread_local};
	Dwarf_Die type;

	if (!variable.size && types_of(die, &type))
		variable.size = types_size(&type);
	if (!variable.size)
		variable.size = 1; /* a type without a size has at least a first byte */
	ARRAY_APPEND(index->variables, index->count, variable);
}

static void static_data_add_variables(const struct surroundings *surroundings, Dwarf_Die *die)
{
	const Dwarf_Addr bias = surroundings->bias;
	struct fixed_location location = {.inner = 0};
	bool has_location = false;
	Dwarf_Attribute attribute;
	Dwarf_Op *ops;
	size_t count;

	if (!dwarf_attr(die, DW_AT_location, &attribute) ||
		dwarf_getlocation(&attribute, &ops, &count))
		return;
	for (size_t i = 0; i < count; i++) {
		if (ops[i].atom == DW_OP_plus_uconst && has_location) {
			location.location += ops[i].number;
		} else if ((ops[i].atom == DW_OP_form_tls_address ||
				   ops[i].atom == DW_OP_GNU_push_tls_address) &&
			   has_location) {
			location.is_thread_local = true;
			location.location -= bias;
		} else if (ops[i].atom == DW_OP_piece) {
			location.bytes = ops[i].number;
			if (has_location)
				static_data_add_variable(surroundings, die, &location);
			location.inner += location.bytes;
			has_location = false;
		} else if (!has_location &&
			   static_data_operand_of(&attribute, &ops[i], &location.location)) {
			location.location += bias;
			has_location = true;
		} else {
			return;
		}
	}
	if (has_location)
		static_data_add_variable(surroundings, die, &location);
}

/* Returns whether the readable name of a function is that of the call of a lambda. */
static bool static_data_is_lambda_call(const char *name)
{
	const char *call = strstr(name, "::operator()");

	return call && !call[strlen("::operator()")] &&
	       symbols_is_lambda(name, (size_t)(call - name));
}

/* Returns the scope for declarations in a namespace or function, which may have no mangled name. */
static const char *static_data_scope_of(const struct surroundings *around, Dwarf_Die *die)
{
	const bool is_function = dwarf_tag(die) == DW_TAG_subprogram;
	const char *raw = is_function ? symbols_die_linkage_name(die) : NULL;
	const char *plain = dwarf_diename(die);
	FREE_SCOPED char *name = raw ? symbols_readable_name(raw) : NULL;
	FREE_SCOPED char *scope = NULL;

	if (is_function && !name && !plain) /* clang: the function is inlined everywhere */
		return around->scope;
	if (name)
		BUG_ON(asprintf(&scope,
			       "%s::", static_data_is_lambda_call(name) ? "lambda" : name) < 0);
	else
		BUG_ON(asprintf(&scope, "%s%s::", around->scope,
			       plain ? plain : "(anonymous namespace)") < 0);
	return symbols_keep(around->symbols, scope);
}

/* Descends only into DIEs that can contain variables. */
static void static_data_add_children(
	const struct surroundings *around, Dwarf_Die *parent, unsigned depth)
{
	Dwarf_Die child;

	if (depth > DEPTH_MAX || dwarf_child(parent, &child))
		return;
	do {
		const int tag = dwarf_tag(&child);
		struct surroundings inner = *around;

		switch (tag) {
		case DW_TAG_variable:
			static_data_add_variables(around, &child);
			break;
		case DW_TAG_namespace:
		case DW_TAG_subprogram:
			inner.scope = static_data_scope_of(around, &child);
			inner.is_in_function |= tag == DW_TAG_subprogram;
			static_data_add_children(&inner, &child, depth + 1);
			break;
		case DW_TAG_lexical_block:
		case DW_TAG_inlined_subroutine:
			static_data_add_children(around, &child, depth + 1);
			break;
		}
	} while (!dwarf_siblingof(&child, &child));
}

static const struct variable_index *static_data_index_of(
	struct symbols *symbols, Dwfl_Module *module)
{
	struct variable_index *index;
	Dwarf_Die *unit = NULL;
	Dwarf_Addr bias;

	HASH_FIND_PTR(symbols->variables, &module, index);
	if (index)
		return index;
	index = array_new(1, sizeof *index);
	index->module = module;
	while ((unit = dwfl_module_nextcu(module, unit, &bias)))
		static_data_add_children(&(struct surroundings){.symbols = symbols,
						 .index = index,
						 .unit = unit,
						 .bias = bias,
						 .scope = ""},
			unit, 0);
	HASH_ADD_PTR(symbols->variables, module, index);
	return index;
}

void symbols_forget_variables(struct symbols *symbols)
{
	HASH_FREE_EACH(symbols->variables, index, free(index->variables));
}

static const struct variable *static_data_find_variable(
	const struct variable_index *index, uint64_t location, bool is_thread_local)
{
	for (size_t i = 0; i < index->count; i++)
		if (location - index->variables[i].start < index->variables[i].size &&
			index->variables[i].is_thread_local == is_thread_local)
			return &index->variables[i];
	return NULL;
}

static void static_data_add_declaration(struct symbols *symbols, Dwarf_Die *die, struct strbuf *out)
{
	const char *file = symbols_die_file(symbols, die, DW_AT_decl_file);

	if (file)
		strbuf_addf(
			out, " (%s:%u)", base_name(file), symbols_die_number(die, DW_AT_decl_line));
}

/* Returns the mangled name; NULL if there is none, or variable->scope has it. gcc gives the
 * anonymous namespace only to the symbol. */
static const char *static_data_mangled_name(Dwfl_Module *module, const struct variable *variable)
{
	Dwarf_Die die = variable->die;
	const char *raw;
	GElf_Off offset;
	GElf_Sym symbol;

	if (!variable->scope)
		return symbols_die_linkage_name(&die);
	if (*variable->scope || variable->is_thread_local)
		return NULL;
	raw = dwfl_module_addrinfo(module, variable->start, &offset, &symbol, NULL, NULL, NULL);
	return raw && !offset && !strncmp(raw, "_Z", 2) ? raw : NULL;
}

static void static_data_describe_variable(struct symbols *symbols, Dwfl_Module *module,
	const struct variable *variable, const struct variable_location *location,
	struct strbuf *out)
{
	Dwarf_Die die = variable->die, type;
	const char *mangled = static_data_mangled_name(module, variable);
	const char *raw = mangled ? mangled : dwarf_diename(&die);
	FREE_SCOPED char *name = raw ? symbols_readable_name(raw) : NULL;
	const uint64_t offset = location->location - variable->start + variable->inner;

	if (variable->scope && !mangled)
		strbuf_adds(out, variable->scope);
	strbuf_adds(out, name ? name : "(unnamed)");
	if (types_of(&die, &type))
		types_describe_inside(&type, offset, location->bytes, out);
	else if (offset)
		strbuf_addf(out, "+%llu", (unsigned long long)offset);
	if (!location->is_brief)
		static_data_add_declaration(symbols, &die, out);
}

bool variables_find(struct symbols *symbols, uint64_t address, struct variable_found *out)
{
	Dwfl_Module *module = symbols_data_module(symbols, address);
	const struct variable *variable =
		module ? static_data_find_variable(
				 static_data_index_of(symbols, module), address, false)
		       : NULL;

	if (!variable)
		return false;
	*out = (struct variable_found){.die = variable->die,
		.unit = variable->unit,
		.start = variable->start - variable->inner,
		.scope = variable->scope};
	return true;
}

bool variables_describe(struct symbols *symbols, Dwfl_Module *module,
	const struct variable_location *location, struct strbuf *out)
{
	const struct variable *variable =
		static_data_find_variable(static_data_index_of(symbols, module), location->location,
			location->is_thread_local);

	if (variable)
		static_data_describe_variable(symbols, module, variable, location, out);
	return variable;
}

bool symbols_describe_static_data(struct symbols *symbols, uint64_t address, struct strbuf *out)
{
	return static_data_describe(symbols, &(struct variable_location){.location = address}, out);
}

bool static_data_describe(
	struct symbols *symbols, const struct variable_location *location, struct strbuf *out)
{
	Dwfl_Module *module = symbols_data_module(symbols, location->location);
	const char *raw;
	GElf_Off offset;
	GElf_Sym symbol;
	FREE_SCOPED char *name = NULL;

	if (!module)
		return false;
	if (variables_describe(symbols, module, location, out))
		return true;
	raw = dwfl_module_addrinfo(module, location->location, &offset, &symbol, NULL, NULL, NULL);
	if (!raw || GELF_ST_TYPE(symbol.st_info) != STT_OBJECT || offset >= symbol.st_size)
		return false;
	name = symbols_readable_name(raw);
	strbuf_adds(out, name);
	if (offset)
		strbuf_addf(out, "+%llu", (unsigned long long)offset);
	return true;
}
