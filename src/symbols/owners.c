#include "symbols/owners.h"

#include <string.h>

#include "symbols/tables/site_table.h"
#include "symbols/symbols_internal.h"

#define BASES_DEPTH_MAX 8
#define FIELD_BYTES_MOST 256

struct type_list {
	struct symbols *symbols;
	const char **names;
	uint32_t *count;
	bool has_users; /* the user's code declares at least one of them */
};

static bool owners_is_of_system(Dwarf_Die *type)
{
	const char *file = dwarf_decl_file(type);

	return file && symbols_is_system_file(file);
}

static void owners_add_name(const struct type_list *list, const char *name)
{
	for (uint32_t i = 0; i < *list->count; i++)
		if (strcmp(list->names[i], name) == 0)
			return;
	if (*list->count < OWNERS_TYPES_MAX)
		list->names[(*list->count)++] = name;
}

static void owners_add_struct(struct type_list *list, Dwarf_Die *type, unsigned depth)
{
	const char *name = types_name(list->symbols, type);
	Dwarf_Die child, base;

	if (name)
		owners_add_name(list, name);
	list->has_users |= !owners_is_of_system(type);
	if (depth == BASES_DEPTH_MAX || dwarf_child(type, &child))
		return;
	do {
		if (dwarf_tag(&child) == DW_TAG_inheritance && types_of(&child, &base))
			owners_add_struct(list, &base, depth + 1);
	} while (!dwarf_siblingof(&child, &child));
}

static void owners_visit_struct(Dwarf_Die *type, void *argument)
{
	owners_add_struct(argument, type, 0);
}

static void owners_fill_location(struct symbols *symbols, Dwarf_Die *type, uint64_t offset,
	const struct symbols_access *access, struct symbols_part *out)
{
	struct type_list list = {symbols, out->types, &out->type_count, false};
	const char *name = dwarf_diename(type);
	Dwarf_Die object = *type;
	struct strbuf location;
	struct types_path path = {
		.type = type, .offset = offset, .bytes = access->bytes, .out = &location};

	strbuf_init(&location);
	out->is_constant |= types_follow(&path, owners_visit_struct, &list);
	out->location = strbuf_detach(&location);
	out->is_of_library = types_is_struct(&object) && name && types_is_reserved(name) &&
			     owners_is_of_system(&object) && !list.has_users;
}

/* Selects the element of an array of structs; `*offset` becomes relative to it. */
static uint64_t owners_enter_elements(Dwarf_Die *type, uint64_t *offset)
{
	uint64_t skipped = 0;

	while (dwarf_tag(type) == DW_TAG_array_type) {
		Dwarf_Die element = *type, inner;
		uint64_t size;

		do {
			if (!types_of(&element, &inner))
				return skipped;
			element = inner;
		} while (dwarf_tag(&element) == DW_TAG_array_type);
		size = types_size(&element);
		if (!types_is_struct(&element) || !size)
			return skipped;
		skipped += *offset / size * size;
		*offset %= size;
		*type = element;
	}
	return skipped;
}

static bool owners_part_of_static(
	struct symbols *symbols, const struct symbols_access *access, struct symbols_part *out)
{
	struct variable_found variable;
	Dwarf_Attribute folder;
	uint64_t offset;
	Dwarf_Die type;
	const char *name;

	if (!variables_find(symbols, access->address, &variable) || !types_of(&variable.die, &type))
		return false;
	offset = access->address - variable.start;
	name = dwarf_diename(&variable.die);
	out->variable = symbols_keep(symbols, name ? name : "(unnamed)");
	out->file = symbols_shown_path(symbols,
		dwarf_formstring(dwarf_attr(&variable.unit, DW_AT_comp_dir, &folder)),
		dwarf_diename(&variable.unit));
	out->is_constant = types_is_constant(&variable.die);
	out->is_lasting = true;
	out->start = variable.start + owners_enter_elements(&type, &offset);
	out->type = types_is_struct(&type) ? types_name(symbols, &type) : NULL;
	owners_fill_location(symbols, &type, offset, access, out);
	return true;
}

/* Offset behind the vtable pointer and the two reference counts. */
#define PAYLOAD_OFFSET 16

/* Finds the user's object of std::make_shared(), in untyped bytes after the counts
 * (bits/shared_ptr_base.h). Its type is the first template argument. Returns its start; 0: none.
 * *is_payload: the offset lies in it. */
static uint64_t owners_enter_payload(
	Dwarf_Die *type, uint64_t size, uint64_t *offset, bool *is_payload)
{
	const char *name = dwarf_diename(type);
	uint64_t bytes, start;
	Dwarf_Die child, payload;

	*is_payload = false;
	if (!name || strncmp(name, "_Sp_counted_ptr_inplace<", 24) != 0 ||
		dwarf_child(type, &child))
		return 0;
	while (dwarf_tag(&child) != DW_TAG_template_type_parameter)
		if (dwarf_siblingof(&child, &child))
			return 0;
	if (!types_of(&child, &payload))
		return 0;
	bytes = types_size(&payload);
	/* An object with a larger alignment lies at the end of the block, a multiple of it. */
	start = PAYLOAD_OFFSET + bytes + 16 > size ? PAYLOAD_OFFSET : size - bytes;
	if (!bytes || start + bytes > size || *offset < start)
		return 0;
	*is_payload = true;
	if (!types_is_struct(&payload))
		return 0;
	*type = payload;
	*offset -= start;
	return start;
}

static bool owners_part_of_block(struct symbols *symbols, const struct symbols_memory *memory,
	const struct symbols_access *access, struct symbols_part *out)
{
	const struct memory_block *block = blocks_at(symbols, memory, access);
	uint64_t offset, size;
	bool is_payload;
	Dwarf_Die type;

	if (!block || block->kind == BLOCK_MAPPING || !blocks_type(symbols, memory, block, &type))
		return false;
	size = types_size(&type);
	offset = access->address - block->start;
	out->start = block->start + offset / size * size;
	offset %= size;
	out->start += owners_enter_payload(&type, size, &offset, &is_payload);
	out->type = types_name(symbols, &type);
	out->is_lasting = !block->made_step;
	owners_fill_location(symbols, &type, offset, access, out);
	out->is_of_library &= !is_payload;
	return true;
}

/* Finds the struct around an access whose field the compiler has noted. */
static bool owners_part_of_field(
	struct symbols *symbols, const struct symbols_access *access, struct symbols_part *out)
{
	const struct site *site = points_at(symbols, access->site);
	uint64_t size, offset = UINT64_MAX;
	Dwarf_Die type;

	if (!site || !site->type || !site->field ||
		!types_named(symbols, symbols_module_at(symbols, access->site), site->type, &type))
		return false;
	size = types_size(&type);
	for (uint64_t at = 0; at < size && at < FIELD_BYTES_MOST && offset == UINT64_MAX; at++)
		if (types_is_field(&type, at, access->bytes, site->field) && *site->field != '+')
			offset = at;
	if (offset == UINT64_MAX)
		return false;
	out->start = access->address - offset;
	out->type = types_name(symbols, &type);
	owners_fill_location(symbols, &type, offset, access, out);
	return true;
}

bool symbols_part_at(struct symbols *symbols, const struct symbols_memory *memory,
	const struct symbols_access *access, struct symbols_part *out)
{
	*out = (struct symbols_part){0};
	return owners_part_of_static(symbols, access, out) ||
	       (!symbols_data_module(symbols, access->address) &&
		       (owners_part_of_block(symbols, memory, access, out) ||
			       owners_part_of_field(symbols, access, out)));
}

static void owners_add_parameter(const struct type_list *list, Dwarf_Die *parameter)
{
	Dwarf_Die type, target;
	int tag;

	if (!types_of(parameter, &type))
		return;
	tag = dwarf_tag(&type);
	if ((tag == DW_TAG_pointer_type || tag == DW_TAG_reference_type ||
		    tag == DW_TAG_rvalue_reference_type) &&
		types_of(&type, &target) && types_is_struct(&target) &&
		types_name(list->symbols, &target))
		owners_add_name(list, types_name(list->symbols, &target));
}

static void owners_add_parameters(const struct type_list *list, Dwarf_Die *function)
{
	Dwarf_Die child;

	if (dwarf_child(function, &child))
		return;
	do {
		if (dwarf_tag(&child) == DW_TAG_formal_parameter)
			owners_add_parameter(list, &child);
	} while (!dwarf_siblingof(&child, &child));
}

static void owners_fill_routine(struct symbols *symbols, Dwarf_Die *unit, Dwarf_Die *function,
	const struct symbols_frame *frame, struct symbols_routine *out)
{
	struct type_list list = {symbols, out->types, &out->type_count, false};
	Dwarf_Attribute folder;

	*out = (struct symbols_routine){
		.key = dwarf_tag(function) == DW_TAG_subprogram ? 0 : dwarf_dieoffset(function),
		.name = frame->function,
		.line = symbols_die_number(function, DW_AT_decl_line),
		.file = symbols_shown_path(symbols,
			dwarf_formstring(dwarf_attr(unit, DW_AT_comp_dir, &folder)),
			dwarf_diename(unit)),
		.is_system = frame->is_system,
	};
	owners_add_parameters(&list, function);
}

unsigned symbols_routines_at(
	struct symbols *symbols, uint64_t address, struct symbols_routine *out, unsigned capacity)
{
	Dwfl_Module *module = symbols_module_at(symbols, address);
	struct symbols_frame frames[CHAIN_MAX];
	struct chain chain = symbols_chain_at(symbols, address);
	Dwarf_Die unit;
	unsigned count;

	if (!chain.count || !symbols_unit_at(symbols, module, address, &unit))
		return 0;
	count = symbols_lookup(symbols, address, false, frames, CHAIN_MAX);
	if (count > chain.count)
		count = chain.count;
	if (count > capacity)
		count = capacity;
	/* The innermost frame is first. */
	for (unsigned i = 0; i < count; i++) {
		owners_fill_routine(
			symbols, &unit, &chain.functions[i], &frames[chain.count - 1 - i], &out[i]);
		if (!out[i].name)
			return i;
	}
	return count;
}
