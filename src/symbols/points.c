/*
 * The sites that raddle-cc put into an object file: where they are, and what they access. Read from
 * the file's sections; whatever lies outside of them is as if it were not there.
 */
#include <stdlib.h>
#include <string.h>

#include <uthash.h>

#include "base/bug.h"
#include "symbols/symbols_internal.h"

/*
 * struct site_record and struct site_info of runtime/instrument_abi.h as bytes: offsets from the
 * field itself to what it means, 0 for nothing.
 */
#define RECORD_BYTES 16
#define RECORD_INFO 8
#define INFO_TYPE 24
#define INFO_FIELD 28

struct section {
	uint64_t start, bytes; /* in the file's own addresses */
	const char *contents;
};

struct point_index {
	Dwfl_Module *module;
	struct point *points; /* by address */
	size_t count;
	UT_hash_handle hh;
};

/* The sections that sites are made of. */
struct sections {
	struct section sites, descriptions, strings;
};

static struct section section_from(Elf_Scn *scn, const GElf_Shdr *header)
{
	const Elf_Data *contents = elf_getdata(scn, NULL);

	if (!contents || !contents->d_buf || header->sh_type == SHT_NOBITS)
		return (struct section){0};
	return (struct section){header->sh_addr, contents->d_size, contents->d_buf};
}

static void find_sections(Elf *elf, struct sections *sections)
{
	Elf_Scn *scn = NULL;
	size_t names;

	if (elf_getshdrstrndx(elf, &names))
		return;
	while ((scn = elf_nextscn(elf, scn))) {
		GElf_Shdr header;
		const char *name;

		if (!gelf_getshdr(scn, &header))
			continue;
		name = elf_strptr(elf, names, header.sh_name);
		if (!name)
			continue;
		if (!strcmp(name, "raddle_sites"))
			sections->sites = section_from(scn, &header);
		else if (!strcmp(name, "raddle_info"))
			sections->descriptions = section_from(scn, &header);
		else if (!strcmp(name, "raddle_strings"))
			sections->strings = section_from(scn, &header);
	}
}

/* What the field at this address refers to; 0: nothing. */
static uint64_t target_of(const struct section *section, uint64_t address)
{
	const uint64_t offset = address - section->start;
	int32_t distance;

	if (section->bytes < sizeof distance || offset > section->bytes - sizeof distance)
		return 0;
	memcpy(&distance, section->contents + offset, sizeof distance);
	return distance ? address + (uint64_t)(int64_t)distance : 0;
}

static const char *string_at(const struct section *section, uint64_t address)
{
	const uint64_t offset = address - section->start;

	if (!address || offset >= section->bytes ||
		!memchr(section->contents + offset, '\0', section->bytes - offset) ||
		!section->contents[offset])
		return NULL;
	return section->contents + offset;
}

static int compare_points(const void *a, const void *b)
{
	const uint64_t first = ((const struct point *)a)->address;
	const uint64_t second = ((const struct point *)b)->address;

	return (first > second) - (first < second);
}

static void read_points(struct point_index *index, const struct sections *sections, uint64_t bias)
{
	const size_t capacity = sections->sites.bytes / RECORD_BYTES;

	index->points = calloc(capacity + 1, sizeof *index->points);
	BUG_ON(!index->points);
	for (size_t i = 0; i < capacity; i++) {
		const uint64_t record = sections->sites.start + i * RECORD_BYTES;
		const uint64_t point = target_of(&sections->sites, record);
		const uint64_t description = target_of(&sections->sites, record + RECORD_INFO);
		struct point *to = &index->points[index->count];

		if (!point)
			continue;
		to->address = point + bias;
		to->type = string_at(&sections->strings,
			target_of(&sections->descriptions, description + INFO_TYPE));
		to->field = string_at(&sections->strings,
			target_of(&sections->descriptions, description + INFO_FIELD));
		index->count++;
	}
	qsort(index->points, index->count, sizeof *index->points, compare_points);
}

static const struct point_index *index_of(struct symbols *symbols, Dwfl_Module *module)
{
	struct sections sections = {0};
	struct point_index *index;
	GElf_Addr bias;
	Elf *elf;

	HASH_FIND_PTR(symbols->points, &module, index);
	if (index)
		return index;
	index = calloc(1, sizeof *index);
	BUG_ON(!index);
	index->module = module;
	elf = dwfl_module_getelf(module, &bias);
	if (elf)
		find_sections(elf, &sections);
	if (sections.sites.bytes)
		read_points(index, &sections, bias);
	HASH_ADD_PTR(symbols->points, module, index);
	return index;
}

const struct point *points_at(struct symbols *symbols, uint64_t address)
{
	Dwfl_Module *module = dwfl_addrmodule(symbols->dwfl, address);
	const struct point_index *index = module ? index_of(symbols, module) : NULL;
	const struct point key = {.address = address};

	if (!index || !index->count)
		return NULL;
	return bsearch(&key, index->points, index->count, sizeof key, compare_points);
}

bool symbols_is_point(struct symbols *symbols, uint64_t address)
{
	return points_at(symbols, address);
}

void symbols_forget_points(struct symbols *symbols)
{
	struct point_index *index, *next;

	HASH_ITER(hh, symbols->points, index, next)
	{
		HASH_DEL(symbols->points, index);
		free(index->points);
		free(index);
	}
}
