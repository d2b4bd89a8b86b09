/* See site_table.h. The content of sections is decoded here byte by byte. */
#include "symbols/tables/site_table.h"

#include <errno.h>
#include <fcntl.h>
#include <gelf.h>
#include <libelf.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/array.h"
#include "base/bug.h"
#include "base/search.h"
#include "abi/instrument_abi.h"
#include "symbols/tables/site_units.h"

struct section {
	uint64_t address; /* 0: not loaded */
	uint64_t bytes;
	const unsigned char *contents; /* NULL if none */
};

struct site_table {
	const char *name; /* valid only while opening */
	const unsigned char *bytes;
	size_t size;
	Elf *elf;
	struct section records, info, notes;
	struct site_units descriptions;
	struct site *sites;
	uint32_t count;
	uint32_t *by_point; /* indices sorted by address */
	uint32_t point_count;
};

static int site_table_damaged(const struct site_table *table, struct error *err, const char *what)
{
	return error_set(err, ERROR_FORMAT, "%s is damaged: %s; build it again", table->name, what);
}

/* Returns the section's bytes in the file; none if they are absent or incomplete. */
static struct section site_table_section_from(
	const struct site_table *table, const GElf_Shdr *header)
{
	if (header->sh_type == SHT_NOBITS || header->sh_offset > table->size ||
		header->sh_size > table->size - header->sh_offset)
		return (struct section){0};
	return (struct section){
		.address = header->sh_addr,
		.bytes = header->sh_size,
		.contents = table->bytes + header->sh_offset,
	};
}

static struct section site_table_section_find(const struct site_table *table, const char *name)
{
	Elf_Scn *section = NULL;
	GElf_Shdr header;
	size_t names;

	if (elf_getshdrstrndx(table->elf, &names))
		return (struct section){0};
	while ((section = elf_nextscn(table->elf, section))) {
		const char *found;

		if (!gelf_getshdr(section, &header))
			continue;
		found = elf_strptr(table->elf, names, header.sh_name);
		if (found && strcmp(found, name) == 0)
			return site_table_section_from(table, &header);
	}
	return (struct section){0};
}

const void *site_table_section(const struct site_table *table, const char *name, size_t *size)
{
	const struct section section = site_table_section_find(table, name);

	*size = section.contents ? section.bytes : 0;
	return section.contents;
}

/* Returns the address that the offset stored at `address` refers to; 0: none. */
static uint64_t site_table_target(uint64_t address, int32_t distance)
{
	return distance ? address + (uint64_t)(int64_t)distance : 0;
}

bool site_table_outer(const struct site_table *table, const struct site_source *location,
	struct site_source *outer)
{
	return location->outer && site_units_location(&table->descriptions, location->outer, outer);
}

const char *site_table_function(const struct site_table *table, const struct site *site)
{
	struct site_source location = site->location;

	while (site_table_outer(table, &location, &location))
		;
	return location.function;
}

static bool site_table_read_site(const struct site_table *table, uint32_t index, struct site *site)
{
	const uint64_t address = table->records.address + index * sizeof(struct site_record);
	struct site_record record;
	uint64_t at;

	memcpy(&record, table->records.contents + index * sizeof record, sizeof record);
	at = site_table_target(address + offsetof(struct site_record, info), record.info);
	if (!at || record.kind >= SITE_KIND_COUNT || site_record_order(&record) > SITE_SEQUENTIAL)
		return false;
	*site = (struct site){
		.point = site_table_target(address, record.point),
		.index = index,
		.kind = record.kind,
		.order = (uint8_t)site_record_order(&record),
		.bytes = record.bytes,
	};
	return site_units_describe(&table->descriptions, at - table->info.address, site);
}

/* Compares points by address. Equal addresses are ordered by index, which makes the order
 * deterministic. */
static int site_table_compare_points(const void *a, const void *b, void *sites)
{
	const struct site *first = (const struct site *)sites + *(const uint32_t *)a;
	const struct site *second = (const struct site *)sites + *(const uint32_t *)b;

	if (first->point != second->point)
		return first->point < second->point ? -1 : 1;
	return first->index < second->index ? -1 : first->index > second->index;
}

static int site_table_read_sites(struct site_table *table, struct error *err)
{
	const uint64_t count = table->records.bytes / sizeof(struct site_record);

	if (table->records.bytes % sizeof(struct site_record) || count > UINT32_MAX / 2)
		return site_table_damaged(
			table, err, "the table of its sites has no whole number of records");
	table->sites = calloc(count + 1, sizeof *table->sites);
	table->by_point = calloc(count + 1, sizeof *table->by_point);
	if (!table->sites || !table->by_point)
		return error_set(
			err, ERROR_NOMEM, "no memory for the sites of %s; free some", table->name);
	for (uint32_t i = 0; i < count; i++) {
		if (!site_table_read_site(table, i, &table->sites[i]))
			return error_set(err, ERROR_FORMAT,
				"%s is damaged: the record of site %u makes no sense; build it again",
				table->name, i);
		if (table->sites[i].point)
			table->by_point[table->point_count++] = i;
	}
	table->count = (uint32_t)count;
	qsort_r(table->by_point, table->point_count, sizeof *table->by_point,
		site_table_compare_points, table->sites);
	return 0;
}

/* Checks the notes of all units: each must have the current version. */
static int site_table_check_notes(const struct site_table *table, struct error *err)
{
	struct note {
		uint32_t name_bytes, content_bytes, type;
		char name[8];
		uint32_t version;
	} note;
	const struct section *notes = &table->notes;
	uint64_t at;

	for (at = 0; notes->bytes - at >= sizeof note; at += sizeof note) {
		memcpy(&note, notes->contents + at, sizeof note);
		if (note.name_bytes != 7 || note.content_bytes != 4 || note.type != 1 ||
			memcmp(note.name, "raddle", 7) != 0)
			return site_table_damaged(
				table, err, "a note in .note.raddle makes no sense");
		if (note.version != INSTRUMENT_ABI_VERSION)
			return error_set(err, ERROR_VERSION,
				"%s was instrumented by another raddle (version %u of the agreement, "
				"this one has %d); build it again",
				table->name, note.version, INSTRUMENT_ABI_VERSION);
	}
	if (!at || at != notes->bytes)
		return site_table_damaged(table, err,
			".note.raddle does not name the version of raddle that instrumented it");
	return 0;
}

static int site_table_check_file(const struct site_table *table, struct error *err)
{
	GElf_Ehdr header;

	if (!table->elf || elf_kind(table->elf) != ELF_K_ELF || !gelf_getehdr(table->elf, &header))
		return error_set(err, ERROR_FORMAT,
			"%s is not a program or shared library; name one", table->name);
	if (header.e_ident[EI_CLASS] != ELFCLASS64 || header.e_ident[EI_DATA] != ELFDATA2LSB ||
		header.e_machine != EM_X86_64)
		return error_set(err, ERROR_FORMAT,
			"%s is for another kind of machine; build it for x86-64", table->name);
	if (header.e_type != ET_EXEC && header.e_type != ET_DYN)
		return error_set(err, ERROR_FORMAT, "%s is not linked; name what is linked from it",
			table->name);
	return 0;
}

static int site_table_read_file(struct site_table *table, struct error *err)
{
	int status;

	BUG_ON(elf_version(EV_CURRENT) == EV_NONE);
	/* elf_memory() only reads, although its parameter is not const. */
	table->elf = elf_memory((char *)(uintptr_t)table->bytes, table->size);
	status = site_table_check_file(table, err);
	if (status)
		return status;
	table->records = site_table_section_find(table, "raddle_sites");
	table->info = site_table_section_find(table, "raddle_info");
	table->notes = site_table_section_find(table, ".note.raddle");
	if (!table->records.contents && !table->notes.contents)
		return error_set(err, ERROR_NOTFOUND, "%s has no sites; build it with raddle-cc",
			table->name);
	status = site_table_check_notes(table, err);
	if (!status &&
		!site_units_read(&table->descriptions, table->info.contents, table->info.bytes))
		status = site_table_damaged(
			table, err, "the descriptions of its sites make no sense");
	return status ? status : site_table_read_sites(table, err);
}

static int site_table_map_file(struct site_table *table, struct error *err)
{
	const int fd = open(table->name, O_RDONLY | O_CLOEXEC);
	struct stat status;
	void *bytes;

	if (fd < 0)
		return error_set(err, ERROR_IO,
			"%s cannot be read (%s); correct its name or rights", table->name,
			strerror(errno));
	if (fstat(fd, &status) || !S_ISREG(status.st_mode) || !status.st_size) {
		(void)close(fd); /* opened for reading only */
		return error_set(err, ERROR_FORMAT,
			"%s is not a program or shared library; name one", table->name);
	}
	bytes = mmap(NULL, (size_t)status.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	(void)close(fd); /* opened for reading only */
	if (bytes == MAP_FAILED)
		return error_set(err, ERROR_IO, "%s cannot be mapped (%s); free some memory",
			table->name, strerror(errno));
	table->bytes = bytes;
	table->size = (size_t)status.st_size;
	return 0;
}

int site_table_open(struct site_table **out, const char *path, struct error *err)
{
	struct site_table *table = array_new(1, sizeof *table);
	int status;

	table->name = path;
	status = site_table_map_file(table, err);
	if (!status)
		status = site_table_read_file(table, err);
	table->name = NULL;
	if (status)
		site_table_free(table);
	else
		*out = table;
	return status;
}

void site_table_free(struct site_table *table)
{
	if (!table)
		return;
	if (table->elf)
		(void)elf_end(table->elf); /* returns the reference count, which is 0 */
	if (table->bytes)
		(void)munmap((void *)(uintptr_t)table->bytes, table->size);
	site_units_release(&table->descriptions);
	free(table->sites);
	free(table->by_point);
	free(table);
}

uint32_t site_table_count(const struct site_table *table)
{
	return table->count;
}

const struct site *site_table_at(const struct site_table *table, uint32_t index)
{
	BUG_ON(index >= table->count);
	return &table->sites[index];
}

const struct site *site_table_find(const struct site_table *table, uint64_t point)
{
	uint32_t low;

	SEARCH(low, 0, table->point_count, table->sites[table->by_point[low]].point < point);
	if (low == table->point_count || table->sites[table->by_point[low]].point != point)
		return NULL;
	return &table->sites[table->by_point[low]];
}
