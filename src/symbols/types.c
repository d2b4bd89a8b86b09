/*
 * Describes locations inside a variable: "[1].lock" for an address in an array of structs; and names
 * types.
 *
 * Members of library types (_M_i, __data) are skipped: a std::atomic is named like the variable
 * itself, and a std::array is indexed. Different offsets must still have different names: if only
 * skipped members lead to a location, the offset is added.
 */
#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "base/array.h"
#include "symbols/symbols_internal.h"

#define DIMENSIONS_MAX 8
/* Nesting of structs and namespaces. */
#define DEPTH_MAX 32

bool types_of(Dwarf_Die *die, Dwarf_Die *type)
{
	Dwarf_Attribute attribute;

	return dwarf_formref_die(dwarf_attr_integrate(die, DW_AT_type, &attribute), type) &&
	       !dwarf_peel_type(type, type);
}

uint64_t types_size(Dwarf_Die *type)
{
	Dwarf_Word size;

	return dwarf_aggregate_size(type, &size) ? 0 : size;
}

bool types_is_struct(Dwarf_Die *type)
{
	const int tag = dwarf_tag(type);

	return tag == DW_TAG_structure_type || tag == DW_TAG_class_type || tag == DW_TAG_union_type;
}

bool types_is_constant(Dwarf_Die *die)
{
	Dwarf_Attribute attribute;
	Dwarf_Die type = *die;

	while (dwarf_formref_die(dwarf_attr_integrate(&type, DW_AT_type, &attribute), &type)) {
		const int tag = dwarf_tag(&type);

		if (tag == DW_TAG_const_type)
			return true;
		if (tag != DW_TAG_typedef && tag != DW_TAG_volatile_type &&
			tag != DW_TAG_array_type)
			return false;
	}
	return false;
}

/* Finds the number of elements per dimension, outermost first; 0: unknown. Returns 0: no such
 * array. */
static unsigned types_dimensions_of(Dwarf_Die *array, uint64_t counts[DIMENSIONS_MAX])
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
		else if (!count)
			counts[count++] = 0;
		else
			return 0;
	} while (!dwarf_siblingof(&child, &child));
	return count;
}

struct descent {
	Dwarf_Die type;
	uint64_t offset; /* offset in the type */
	uint64_t bytes;	 /* bytes of the access; 0: unknown */
	uint64_t hidden; /* offset of skipped members since the last name */
	bool is_constant;
	struct strbuf *out;
};

static bool types_step_into_array(struct descent *descent)
{
	uint64_t counts[DIMENSIONS_MAX];
	const unsigned count = types_dimensions_of(&descent->type, counts);
	Dwarf_Word stride;
	Dwarf_Die element;

	if (!count || !types_of(&descent->type, &element))
		return false;
	stride = types_size(&element);
	for (unsigned i = 1; i < count; i++)
		if (__builtin_mul_overflow(stride, counts[i], &stride))
			return false;
	if (!stride)
		return false;
	for (unsigned i = 0; i < count; i++) {
		strbuf_addf(descent->out, "[%llu]", (unsigned long long)(descent->offset / stride));
		descent->offset %= stride;
		if (i + 1 < count)
			stride /= counts[i + 1];
	}
	descent->hidden = 0;
	descent->type = element;
	return true;
}

/* Finds offset and size of a member in bytes. Returns false if there is no fixed offset. */
static bool types_location_of(
	Dwarf_Die *member, Dwarf_Die *type, uint64_t *location, uint64_t *bytes)
{
	Dwarf_Attribute attribute;
	Dwarf_Word number, bits;

	if (!types_of(member, type) || dwarf_hasattr(member, DW_AT_virtuality))
		return false;
	*bytes = types_size(type);
	if (!dwarf_formudata(dwarf_attr(member, DW_AT_data_bit_offset, &attribute), &number)) {
		*location = number / 8;
		if (!dwarf_formudata(dwarf_attr(member, DW_AT_bit_size, &attribute), &bits))
			*bytes = (number % 8 + bits + 7) / 8;
		return true;
	}
	if (dwarf_formudata(dwarf_attr(member, DW_AT_data_member_location, &attribute), location))
		*location = 0; /* union members; static members have no type with a size here */
	return !dwarf_hasattr(member, DW_AT_external);
}

/* Returns whether the struct's objects may be longer than their type: the member is a flexible array at the end, without a
 * size, or with the size 0 or 1 as in programs older than C99. */
static bool types_may_extend(Dwarf_Die *member, Dwarf_Die *type)
{
	uint64_t counts[DIMENSIONS_MAX];
	Dwarf_Die sibling = *member;

	if (dwarf_tag(type) != DW_TAG_array_type || !types_dimensions_of(type, counts) ||
		counts[0] > 1)
		return false;
	while (!dwarf_siblingof(&sibling, &sibling))
		if (dwarf_tag(&sibling) == DW_TAG_member &&
			!dwarf_hasattr(&sibling, DW_AT_external))
			return false;
	return true;
}

bool types_extends_from(Dwarf_Die *type, uint64_t *start)
{
	Dwarf_Die member, inner;
	uint64_t bytes;

	if (!types_is_struct(type) || dwarf_child(type, &member))
		return false;
	do {
		if (dwarf_tag(&member) == DW_TAG_member &&
			types_location_of(&member, &inner, start, &bytes) &&
			types_may_extend(&member, &inner))
			return true;
	} while (!dwarf_siblingof(&member, &member));
	return false;
}

/* How well a member fits an access. This decides between the members of a union. */
enum fit {
	FIT_NONE,    /* the access lies outside */
	FIT_INSIDE,  /* the access begins inside of a scalar */
	FIT_SHORTER, /* starts with the access and is shorter */
	FIT_LONGER,  /* starts with the access and is longer */
	FIT_EXACT
};

static enum fit types_fit_of(Dwarf_Die *type, uint64_t offset, uint64_t bytes, unsigned depth);

static enum fit types_fit_of_array(Dwarf_Die *type, uint64_t offset, uint64_t bytes, unsigned depth)
{
	Dwarf_Die element;
	uint64_t size;

	if (!types_of(type, &element) || !(size = types_size(&element)))
		return FIT_INSIDE;
	return types_fit_of(&element, offset % size, bytes, depth + 1);
}

static enum fit types_fit_of_members(
	Dwarf_Die *type, uint64_t offset, uint64_t bytes, unsigned depth)
{
	enum fit best = FIT_INSIDE;
	Dwarf_Die member, inner;

	if (dwarf_child(type, &member))
		return best;
	do {
		const int tag = dwarf_tag(&member);
		uint64_t location, size;
		enum fit fit;

		if ((tag != DW_TAG_member && tag != DW_TAG_inheritance) ||
			!types_location_of(&member, &inner, &location, &size) ||
			offset < location ||
			(offset - location >= size && !types_may_extend(&member, &inner)))
			continue;
		fit = types_fit_of(&inner, offset - location, bytes, depth + 1);
		best = fit > best ? fit : best;
	} while (!dwarf_siblingof(&member, &member));
	return best;
}

static enum fit types_fit_of(Dwarf_Die *type, uint64_t offset, uint64_t bytes, unsigned depth)
{
	const uint64_t size = types_size(type);
	const int tag = dwarf_tag(type);

	if (!offset && size == bytes)
		return FIT_EXACT;
	if (depth < DEPTH_MAX && tag == DW_TAG_array_type)
		return types_fit_of_array(type, offset, bytes, depth);
	if (depth < DEPTH_MAX && (tag == DW_TAG_structure_type || tag == DW_TAG_class_type ||
					 tag == DW_TAG_union_type))
		return types_fit_of_members(type, offset, bytes, depth);
	if (offset)
		return FIT_INSIDE;
	return size < bytes ? FIT_SHORTER : FIT_LONGER;
}

/* Returns whether C and C++ reserve the name for their libraries. */
bool types_is_reserved(const char *name)
{
	return name[0] == '_' && (name[1] == '_' || isupper((unsigned char)name[1]));
}

/* Returns whether it is a member that programs cannot name, such as "c" of std::queue. */
static bool types_is_hidden_member(Dwarf_Die *member)
{
	const char *file = dwarf_decl_file(member);
	Dwarf_Attribute attribute;
	Dwarf_Word access;

	return !dwarf_formudata(dwarf_attr(member, DW_AT_accessibility, &attribute), &access) &&
	       access != DW_ACCESS_public && file && symbols_is_system_file(file);
}

static void types_add_member(struct descent *descent, Dwarf_Die *member, uint64_t location)
{
	const char *name = dwarf_diename(member);

	if (!name || types_is_reserved(name) || types_is_hidden_member(member)) {
		descent->hidden += location;
		return;
	}
	descent->hidden = 0;
	/* The compilers append the class name to the vtable pointer's name. */
	strbuf_addf(descent->out, ".%s", strncmp(name, "_vptr", 5) ? name : "vptr");
}

/* Returns whether it is the raw bytes of glibc's pthread_mutex_t or a similar type, where an index
 * has no meaning. */
static bool types_is_raw_storage(Dwarf_Die *type, Dwarf_Die *member)
{
	const char *name = dwarf_diename(member);

	return dwarf_tag(type) == DW_TAG_union_type && name && !strcmp(name, "__size");
}

/* Base classes and unnamed members add no name. Returns false for the whole struct, or for no
 * member. */
static bool types_step_into_struct(struct descent *descent)
{
	Dwarf_Die member, best, best_type, type;
	enum fit best_fit = FIT_NONE, fit;
	unsigned members = 0;
	uint64_t best_location = 0, best_bytes = 0;

	if (dwarf_child(&descent->type, &member))
		return false;
	do {
		const int tag = dwarf_tag(&member);
		uint64_t location, bytes;

		if ((tag != DW_TAG_member && tag != DW_TAG_inheritance) ||
			!types_location_of(&member, &type, &location, &bytes))
			continue;
		members++;
		if (descent->offset < location ||
			(descent->offset - location >= bytes && !types_may_extend(&member, &type)))
			continue;
		fit = types_fit_of(&type, descent->offset - location, descent->bytes, 0);
		if (fit <= best_fit || types_is_raw_storage(&descent->type, &member))
			continue;
		best_fit = fit;
		best = member;
		best_type = type;
		best_location = location;
		best_bytes = bytes;
	} while (!dwarf_siblingof(&member, &member));
	/* An access wider than the first member refers to the struct, as in an assignment. */
	if (!best_fit || (!descent->offset && members > 1 && best_bytes < descent->bytes))
		return false;
	descent->is_constant |= types_is_constant(&best);
	types_add_member(descent, &best, best_location);
	descent->offset -= best_location;
	descent->type = best_type;
	return true;
}

bool types_follow(struct types_path *path, types_visit *visit, void *argument)
{
	struct descent descent = {.type = *path->type,
		.offset = path->offset,
		.bytes = path->bytes,
		.out = path->out};
	bool continues = true;

	for (unsigned depth = 0; continues && depth < DEPTH_MAX; depth++) {
		const int tag = dwarf_tag(&descent.type);

		if (tag == DW_TAG_array_type)
			continues = types_step_into_array(&descent);
		else if (!types_is_struct(&descent.type))
			break;
		else {
			if (visit)
				visit(&descent.type, argument);
			continues = types_step_into_struct(&descent);
		}
	}
	if (descent.offset + descent.hidden)
		strbuf_addf(
			path->out, "+%llu", (unsigned long long)(descent.offset + descent.hidden));
	return descent.is_constant;
}

void types_describe_inside(Dwarf_Die *type, uint64_t offset, uint64_t bytes, struct strbuf *out)
{
	struct types_path path = {.type = type, .offset = offset, .bytes = bytes, .out = out};

	(void)types_follow(&path, NULL, NULL);
}

bool types_fits(Dwarf_Die *type, uint64_t offset, uint64_t bytes)
{
	return types_fit_of(type, offset, bytes, 0) > FIT_INSIDE;
}

/* Returns whether ".points[1].x" contains "points.x", or ends inside it. */
static bool types_says_field(const char *inside, const char *field)
{
	for (; *field; inside++) {
		if (*inside == '[')
			inside += strcspn(inside, "]");
		else if (*inside == *field)
			field++;
		else if (*inside != '.')
			return false;
	}
	return true;
}

bool types_is_field(Dwarf_Die *type, uint64_t offset, uint64_t bytes, const char *field)
{
	STRBUF_SCOPED inside = STRBUF_EMPTY;

	/* An offset or an internal library member is no field name. */
	if (!field || *field == '+' || strstr(field, "_M_") || strstr(field, "__"))
		return types_fits(type, offset, bytes);
	types_describe_inside(type, offset, bytes, &inside);
	return types_says_field(inside.text, field);
}

bool types_member(Dwarf_Die *type, const char *name, Dwarf_Die *member_type, uint64_t *location)
{
	Dwarf_Die member;
	uint64_t bytes;

	if (dwarf_child(type, &member))
		return false;
	do {
		if (dwarf_tag(&member) == DW_TAG_member && dwarf_diename(&member) &&
			!strcmp(dwarf_diename(&member), name))
			return types_location_of(&member, member_type, location, &bytes);
	} while (!dwarf_siblingof(&member, &member));
	return false;
}

bool types_argument(Dwarf_Die *type, Dwarf_Die *argument)
{
	Dwarf_Die child;

	if (dwarf_child(type, &child))
		return false;
	do {
		if (dwarf_tag(&child) == DW_TAG_template_type_parameter)
			return types_of(&child, argument);
	} while (!dwarf_siblingof(&child, &child));
	return false;
}
