/* A damaged symbol table counts as empty. */
#include "branches/decode/symbol_file.h"

#include <fcntl.h>
#include <gelf.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/array.h"

static int symbol_file_compare(const void *left, const void *right)
{
	const struct symbol_entry *a = left, *b = right;
	const int order = strcmp(a->name, b->name);

	if (order)
		return order;
	return a->group < b->group ? -1 : a->group > b->group;
}

static void symbol_file_add_symbols(
	struct symbol_file *file, Elf_Scn *section, size_t strings, uint64_t base)
{
	Elf_Data *contents = elf_getdata(section, NULL);
	GElf_Sym symbol;

	for (int i = 1; contents && gelf_getsym(contents, i, &symbol); i++) {
		const char *name = elf_strptr(file->elf, strings, symbol.st_name);
		const bool is_local = GELF_ST_BIND(symbol.st_info) == STB_LOCAL;

		if (!name)
			continue;
		if (GELF_ST_TYPE(symbol.st_info) == STT_FILE) {
			file->groups = array_resize(
				file->groups, file->group_count + 2, sizeof *file->groups);
			file->groups[++file->group_count] = name;
		} else if (symbol.st_shndx != SHN_UNDEF &&
			   GELF_ST_TYPE(symbol.st_info) != STT_TLS && *name) {
			ARRAY_APPEND(file->entries, file->count,
				(struct symbol_entry){.name = name,
					.address = base + symbol.st_value,
					.group = is_local ? file->group_count : 0});
		}
	}
}

void symbol_file_open(struct symbol_file *file, const char *path, uint64_t base)
{
	const int descriptor = open(path, O_RDONLY | O_CLOEXEC);
	Elf_Scn *section = NULL;
	GElf_Shdr header;

	BUG_ON(elf_version(EV_CURRENT) == EV_NONE);
	*file = (struct symbol_file){.elf = elf_begin(descriptor, ELF_C_READ_MMAP, NULL)};
	while (file->elf && (section = elf_nextscn(file->elf, section)))
		if (gelf_getshdr(section, &header) &&
			(header.sh_type == SHT_SYMTAB || header.sh_type == SHT_DYNSYM))
			symbol_file_add_symbols(file, section, header.sh_link, base);
	(void)elf_cntl(file->elf, ELF_C_FDREAD); /* the descriptor is not needed any more */
	if (descriptor >= 0)
		(void)close(descriptor); /* opened for reading only */
	if (file->count)
		qsort(file->entries, file->count, sizeof *file->entries, symbol_file_compare);
}

void symbol_file_close(struct symbol_file *file)
{
	(void)elf_end(file->elf); /* returns the reference count, which is 0 */
	free(file->entries);
	free(file->groups);
	*file = (struct symbol_file){0};
}

/* Finds a symbol by its name. The name of a versioned symbol ("stdout@GLIBC_2.2.5") ends before the
 * version. */
uint64_t symbol_file_find(const struct symbol_file *file, const char *name, uint32_t group)
{
	const struct symbol_entry key = {.name = name, .group = group};
	const struct symbol_entry *found = file->count ? bsearch(&key, file->entries, file->count,
								 sizeof key, symbol_file_compare)
						       : NULL;

	return found ? found->address : 0;
}
