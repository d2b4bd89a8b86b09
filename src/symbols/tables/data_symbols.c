#include "symbols/tables/data_symbols.h"

#include <fcntl.h>
#include <gelf.h>
#include <libelf.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/array.h"
#include "base/bug.h"
#include "base/strbuf.h"

/* Finds the address of the site records. Returns false if there are no sites. */
static bool data_symbols_find_records(Elf *elf, uint64_t *address)
{
	Elf_Scn *section = NULL;
	GElf_Shdr header;
	size_t names;

	if (elf_getshdrstrndx(elf, &names))
		return false;
	while ((section = elf_nextscn(elf, section))) {
		const char *name = gelf_getshdr(section, &header)
					   ? elf_strptr(elf, names, header.sh_name)
					   : NULL;

		if (name && strcmp(name, "raddle_sites") == 0) {
			*address = header.sh_addr;
			return true;
		}
	}
	return false;
}

static void data_symbols_add_symbol(
	struct data_symbols *out, const GElf_Sym *symbol, const char *name, uint64_t records)
{
	if (GELF_ST_TYPE(symbol->st_info) != STT_OBJECT || symbol->st_shndx == SHN_UNDEF ||
		!symbol->st_size || !name || !*name)
		return;
	out->symbols[out->count] = (struct data_symbol){.name = string_copy(name),
		.start = (int64_t)(symbol->st_value - records),
		.bytes = symbol->st_size,
		.misplaced = symbol->st_value % 8};
	out->count++;
}

static void data_symbols_read_table(
	struct data_symbols *out, Elf *elf, Elf_Scn *section, uint64_t records)
{
	Elf_Data *contents = elf_getdata(section, NULL);
	GElf_Shdr header;
	GElf_Sym symbol;
	size_t count;

	if (!contents || !gelf_getshdr(section, &header) || !header.sh_entsize)
		return;
	count = header.sh_size / header.sh_entsize;
	out->symbols = array_new(count + 1, sizeof *out->symbols);
	for (size_t i = 0; i < count; i++)
		if (gelf_getsym(contents, (int)i, &symbol))
			data_symbols_add_symbol(out, &symbol,
				elf_strptr(elf, header.sh_link, symbol.st_name), records);
}

static int data_symbols_compare_symbols(const void *left, const void *right)
{
	const struct data_symbol *a = left, *b = right;

	if (a->start != b->start)
		return a->start < b->start ? -1 : 1;
	if (a->bytes != b->bytes)
		return a->bytes < b->bytes ? -1 : 1;
	return strcmp(a->name, b->name);
}

static void data_symbols_read_file(struct data_symbols *out, Elf *elf)
{
	Elf_Scn *section = NULL;
	GElf_Shdr header;
	uint64_t records;

	if (!data_symbols_find_records(elf, &records))
		return;
	while ((section = elf_nextscn(elf, section))) {
		if (!gelf_getshdr(section, &header) || header.sh_type != SHT_SYMTAB)
			continue;
		data_symbols_read_table(out, elf, section, records);
		break; /* a file has one such section */
	}
	if (out->count)
		qsort(out->symbols, out->count, sizeof *out->symbols, data_symbols_compare_symbols);
}

void data_symbols_read(struct data_symbols *out, const char *path)
{
	const int fd = open(path, O_RDONLY | O_CLOEXEC);
	Elf *elf;

	*out = (struct data_symbols){0};
	BUG_ON(elf_version(EV_CURRENT) == EV_NONE);
	elf = fd < 0 ? NULL : elf_begin(fd, ELF_C_READ, NULL);
	if (elf)
		data_symbols_read_file(out, elf);
	(void)elf_end(elf); /* returns the reference count, which is 0 */
	if (fd >= 0)
		(void)close(fd); /* opened for reading only */
}

void data_symbols_release(struct data_symbols *symbols)
{
	for (uint32_t i = 0; i < symbols->count; i++)
		free(symbols->symbols[i].name);
	free(symbols->symbols);
	*symbols = (struct data_symbols){0};
}
