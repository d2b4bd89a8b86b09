/*
 * Places inside a variable in the program's own words: "[1].lock" of an address in an array of
 * structs; and types by their names.
 *
 * Members of the libraries (_M_i, __data) are no words: they are passed through in silence, so that a
 * std::atomic is the variable itself and a std::array is indexed. What lies at different distances
 * inside must still read differently: if silence was all there was, the distance is said.
 */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <uthash.h>

#include "base/bug.h"
#include "symbols/symbols_internal.h"

#define DIMENSIONS_MAX 8
/* Structs within structs, namespaces within namespaces. */
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

/* ---- arrays ---- */

/*
 * Elements per dimension, outermost first. The first may be unknown (0): a flexible array, or one
 * that another unit defines. 0: this is no array with places.
 */
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
		else if (!count)
			counts[count++] = 0;
		else
			return 0;
	} while (!dwarf_siblingof(&child, &child));
	return count;
}

/* A way down from a variable to the place of an access. */
struct descent {
	Dwarf_Die type;
	uint64_t offset; /* in the type */
	uint64_t bytes;	 /* of the access; 0: not known */
	uint64_t hidden; /* distance passed in silence since the last word */
	bool is_constant;
	struct strbuf *out;
};

/* Steps into the element that holds the offset: "[1][2]". */
static bool step_into_array(struct descent *descent)
{
	uint64_t counts[DIMENSIONS_MAX];
	const unsigned count = dimensions_of(&descent->type, counts);
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

/* ---- structs ---- */

/* Where a member begins and what it covers, in bytes. False: it is not at a fixed place. */
static bool place_of(Dwarf_Die *member, Dwarf_Die *type, uint64_t *place, uint64_t *bytes)
{
	Dwarf_Attribute attribute;
	Dwarf_Word number, bits;

	if (!types_of(member, type) || dwarf_hasattr(member, DW_AT_virtuality))
		return false;
	*bytes = types_size(type);
	if (!dwarf_formudata(dwarf_attr(member, DW_AT_data_bit_offset, &attribute), &number)) {
		*place = number / 8;
		if (!dwarf_formudata(dwarf_attr(member, DW_AT_bit_size, &attribute), &bits))
			*bytes = (number % 8 + bits + 7) / 8;
		return true;
	}
	if (dwarf_formudata(dwarf_attr(member, DW_AT_data_member_location, &attribute), place))
		*place = 0; /* members of unions; static ones have no type with a size here */
	return !dwarf_hasattr(member, DW_AT_external);
}

/* A flexible array at the end has no size of its own and holds whatever follows. */
static bool is_open_array(Dwarf_Die *type)
{
	uint64_t counts[DIMENSIONS_MAX];

	return dwarf_tag(type) == DW_TAG_array_type && dimensions_of(type, counts) && !counts[0];
}

/* How well something fits an access; of the members of a union the best one is meant. */
enum fit {
	FIT_NONE,    /* it does not reach there */
	FIT_INSIDE,  /* the access begins inside of a scalar */
	FIT_SHORTER, /* it begins where the access does and ends before */
	FIT_LONGER,  /* or after */
	FIT_EXACT
};

static enum fit fit_of(Dwarf_Die *type, uint64_t offset, uint64_t bytes, unsigned depth);

static enum fit fit_of_array(Dwarf_Die *type, uint64_t offset, uint64_t bytes, unsigned depth)
{
	Dwarf_Die element;
	uint64_t size;

	if (!types_of(type, &element) || !(size = types_size(&element)))
		return FIT_INSIDE;
	return fit_of(&element, offset % size, bytes, depth + 1);
}

static enum fit fit_of_members(Dwarf_Die *type, uint64_t offset, uint64_t bytes, unsigned depth)
{
	enum fit best = FIT_INSIDE;
	Dwarf_Die member, inner;

	if (dwarf_child(type, &member))
		return best;
	do {
		const int tag = dwarf_tag(&member);
		uint64_t place, size;
		enum fit fit;

		if ((tag != DW_TAG_member && tag != DW_TAG_inheritance) ||
			!place_of(&member, &inner, &place, &size) || offset < place ||
			(offset - place >= size && !is_open_array(&inner)))
			continue;
		fit = fit_of(&inner, offset - place, bytes, depth + 1);
		best = fit > best ? fit : best;
	} while (!dwarf_siblingof(&member, &member));
	return best;
}

static enum fit fit_of(Dwarf_Die *type, uint64_t offset, uint64_t bytes, unsigned depth)
{
	const uint64_t size = types_size(type);
	const int tag = dwarf_tag(type);

	if (!offset && size == bytes)
		return FIT_EXACT;
	if (depth < DEPTH_MAX && tag == DW_TAG_array_type)
		return fit_of_array(type, offset, bytes, depth);
	if (depth < DEPTH_MAX && (tag == DW_TAG_structure_type || tag == DW_TAG_class_type ||
					 tag == DW_TAG_union_type))
		return fit_of_members(type, offset, bytes, depth);
	if (offset)
		return FIT_INSIDE;
	return size < bytes ? FIT_SHORTER : FIT_LONGER;
}

/* Names that C and C++ reserve for their libraries. */
bool types_is_reserved(const char *name)
{
	return name[0] == '_' && (name[1] == '_' || isupper((unsigned char)name[1]));
}

static void add_member(struct descent *descent, const char *name, uint64_t place)
{
	if (!name || types_is_reserved(name)) {
		descent->hidden += place;
		return;
	}
	descent->hidden = 0;
	/* Clang and gcc name a class's pointer to its table after the class. */
	strbuf_addf(descent->out, ".%s", strncmp(name, "_vptr", 5) ? name : "vptr");
}

/*
 * Steps into the member that the access is about. Bases and members without a name are no step
 * that a person makes. False: the access is about the struct as a whole, or about none of its members.
 */
static bool step_into_struct(struct descent *descent)
{
	Dwarf_Die member, best, best_type, type;
	enum fit best_fit = FIT_NONE, fit;
	unsigned members = 0;
	uint64_t best_place = 0, best_bytes = 0;

	if (dwarf_child(&descent->type, &member))
		return false;
	do {
		const int tag = dwarf_tag(&member);
		uint64_t place, bytes;

		if ((tag != DW_TAG_member && tag != DW_TAG_inheritance) ||
			!place_of(&member, &type, &place, &bytes))
			continue;
		members++;
		if (descent->offset < place ||
			(descent->offset - place >= bytes && !is_open_array(&type)))
			continue;
		fit = fit_of(&type, descent->offset - place, descent->bytes, 0);
		if (fit <= best_fit)
			continue;
		best_fit = fit;
		best = member;
		best_type = type;
		best_place = place;
		best_bytes = bytes;
	} while (!dwarf_siblingof(&member, &member));
	/* Wider than its first member: the struct was meant, as in an assignment. */
	if (!best_fit || (!descent->offset && members > 1 && best_bytes < descent->bytes))
		return false;
	descent->is_constant |= types_is_constant(&best);
	add_member(descent, dwarf_diename(&best), best_place);
	descent->offset -= best_place;
	descent->type = best_type;
	return true;
}

bool types_follow(struct types_path *path, types_visit *visit, void *argument)
{
	struct descent descent = {.type = *path->type,
		.offset = path->offset,
		.bytes = path->bytes,
		.out = path->out};
	bool goes_on = true;

	for (unsigned depth = 0; goes_on && depth < DEPTH_MAX; depth++) {
		const int tag = dwarf_tag(&descent.type);

		if (tag == DW_TAG_array_type)
			goes_on = step_into_array(&descent);
		else if (!types_is_struct(&descent.type))
			break;
		else {
			if (visit)
				visit(&descent.type, argument);
			goes_on = step_into_struct(&descent);
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
	return fit_of(type, offset, bytes, 0) > FIT_INSIDE;
}

/* Does ".points[1].x" say "points.x", or go on where that ends? */
static bool says_field(const char *inside, const char *field)
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
	struct strbuf inside;
	bool is_field;

	/* A distance, or a library's own member: no word. */
	if (!field || *field == '+' || strstr(field, "_M_") || strstr(field, "__"))
		return types_fits(type, offset, bytes);
	strbuf_init(&inside);
	types_describe_inside(type, offset, bytes, &inside);
	is_field = says_field(inside.text, field);
	strbuf_release(&inside);
	return is_field;
}

/* C says "struct account", C++ "account". */
const char *types_name(struct symbols *symbols, Dwarf_Die *type)
{
	const char *name = dwarf_diename(type), *kept;
	Dwarf_Attribute language;
	Dwarf_Word number = 0;
	char *full = NULL;
	Dwarf_Die unit;

	if (!name)
		return NULL;
	if (dwarf_diecu(type, &unit, NULL, NULL))
		(void)dwarf_formudata(dwarf_attr(&unit, DW_AT_language, &language), &number);
	if (number != DW_LANG_C89 && number != DW_LANG_C && number != DW_LANG_C99 &&
		number != DW_LANG_C11)
		return symbols_keep(symbols, name);
	BUG_ON(asprintf(&full, "%s %s", dwarf_tag(type) == DW_TAG_union_type ? "union" : "struct",
		       name) < 0);
	kept = symbols_keep(symbols, full);
	free(full);
	return kept;
}

/* ---- types by name ---- */

struct named_type {
	char *name; /* "bank::account" */
	Dwarf_Die die;
	UT_hash_handle hh;
};

/* The complete structs, classes and unions of a module, made when the first is asked for. */
struct type_index {
	Dwfl_Module *module;
	struct named_type *types;
	UT_hash_handle hh;
};

static void cut(struct strbuf *text, size_t length)
{
	if (text->length > length)
		text->text[text->length = length] = '\0';
}

static void add_type(struct type_index *index, const char *name, Dwarf_Die *die)
{
	struct named_type *type;

	HASH_FIND_STR(index->types, name, type);
	if (type)
		return;
	type = calloc(1, sizeof *type);
	BUG_ON(!type);
	type->name = strdup(name);
	BUG_ON(!type->name);
	type->die = *die;
	HASH_ADD_KEYPTR(hh, index->types, type->name, strlen(type->name), type);
}

/* `prefix` is the scope: "bank::"; it is as it was on return. */
static void add_types(
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
		/* Types of a function go by their own name; so does a struct that only a typedef names. */
		if (is_type || tag == DW_TAG_namespace || tag == DW_TAG_typedef)
			strbuf_adds(prefix, name ? name : "(anonymous namespace)");
		if (is_type && name && types_size(&child))
			add_type(index, prefix->text, &child);
		if (tag == DW_TAG_typedef) {
			Dwarf_Die type;

			if (types_of(&child, &type) && !dwarf_diename(&type) && types_size(&type))
				add_type(index, prefix->text, &type);
		} else {
			if (is_type || tag == DW_TAG_namespace)
				strbuf_adds(prefix, "::");
			add_types(index, &child, prefix, depth + 1);
		}
		cut(prefix, length);
	} while (!dwarf_siblingof(&child, &child));
}

static struct type_index *index_of(struct symbols *symbols, Dwfl_Module *module)
{
	struct type_index *index;
	Dwarf_Die *unit = NULL;
	struct strbuf prefix;
	Dwarf_Addr bias;

	HASH_FIND_PTR(symbols->types, &module, index);
	if (index)
		return index;
	index = calloc(1, sizeof *index);
	BUG_ON(!index);
	index->module = module;
	strbuf_init(&prefix);
	while ((unit = dwfl_module_nextcu(module, unit, &bias)))
		add_types(index, unit, &prefix, 0);
	strbuf_release(&prefix);
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
	HASH_FIND_STR(index_of(symbols, module)->types, name, found);
	if (found)
		*type = found->die;
	return found;
}

void symbols_forget_types(struct symbols *symbols)
{
	struct type_index *index, *next_index;

	HASH_ITER(hh, symbols->types, index, next_index)
	{
		struct named_type *type, *next;

		HASH_ITER(hh, index->types, type, next)
		{
			HASH_DEL(index->types, type);
			free(type->name);
			free(type);
		}
		HASH_DEL(symbols->types, index);
		free(index);
	}
}
