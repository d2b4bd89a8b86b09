/* A damaged symbol table counts as empty. */
#include "branches/decode/symbol_file.h"

#include <elf.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
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

static const char *name_at(const struct symbol_file *file, const Elf64_Shdr *strings, uint32_t at)
{
	const char *start = (const char *)file->bytes + strings->sh_offset;

	if (at >= strings->sh_size || !memchr(start + at, '\0', strings->sh_size - at))
		return NULL;
	return start + at;
}

static void add_symbols(
	struct symbol_file *file, const Elf64_Shdr *table, const Elf64_Shdr *strings, uint64_t base)
{
	const uint64_t count = table->sh_size / sizeof(Elf64_Sym);

	file->entries = array_resize(file->entries, file->count + count + 1, sizeof *file->entries);
	for (uint64_t i = 1; i < count; i++) {
		const Elf64_Sym *symbol =
			(const Elf64_Sym *)((const char *)file->bytes + table->sh_offset) + i;
		const char *name = name_at(file, strings, symbol->st_name);
		const bool is_local = ELF64_ST_BIND(symbol->st_info) == STB_LOCAL;

		if (!name)
			continue;
		if (ELF64_ST_TYPE(symbol->st_info) == STT_FILE) {
			file->groups = array_resize(
				file->groups, file->group_count + 2, sizeof *file->groups);
			file->groups[++file->group_count] = name;
		} else if (symbol->st_shndx != SHN_UNDEF &&
			   ELF64_ST_TYPE(symbol->st_info) != STT_TLS && *name)
			file->entries[file->count++] = (struct symbol_entry){.name = name,
				.address = base + symbol->st_value,
				.group = is_local ? file->group_count : 0};
	}
}

static bool symbol_file_is_inside(const struct symbol_file *file, uint64_t offset, uint64_t bytes)
{
	return offset <= file->size && bytes <= file->size - offset;
}

static void read_tables(struct symbol_file *file, uint64_t base)
{
	const Elf64_Ehdr *head = file->bytes;
	const Elf64_Shdr *sections;

	if (file->size < sizeof *head || memcmp(head->e_ident, ELFMAG, SELFMAG) != 0 ||
		head->e_ident[EI_CLASS] != ELFCLASS64 || head->e_shentsize != sizeof *sections ||
		!symbol_file_is_inside(
			file, head->e_shoff, (uint64_t)head->e_shnum * sizeof *sections))
		return;
	sections = (const Elf64_Shdr *)((const char *)file->bytes + head->e_shoff);
	for (uint32_t i = 0; i < head->e_shnum; i++) {
		const Elf64_Shdr *table = &sections[i];

		if ((table->sh_type != SHT_SYMTAB && table->sh_type != SHT_DYNSYM) ||
			table->sh_link >= head->e_shnum ||
			!symbol_file_is_inside(file, table->sh_offset, table->sh_size) ||
			!symbol_file_is_inside(file, sections[table->sh_link].sh_offset,
				sections[table->sh_link].sh_size))
			continue;
		add_symbols(file, table, &sections[table->sh_link], base);
	}
}

void symbol_file_open(struct symbol_file *file, const char *path, uint64_t base)
{
	struct stat status;
	const int descriptor = open(path, O_RDONLY | O_CLOEXEC);
	void *bytes;

	*file = (struct symbol_file){0};
	if (descriptor < 0)
		return;
	if (fstat(descriptor, &status) == 0 && status.st_size > 0) {
		bytes = mmap(NULL, (size_t)status.st_size, PROT_READ, MAP_PRIVATE, descriptor, 0);
		if (bytes != MAP_FAILED) {
			file->bytes = bytes;
			file->size = (size_t)status.st_size;
			read_tables(file, base);
		}
	}
	(void)close(descriptor); /* read-only */
	if (file->count)
		qsort(file->entries, file->count, sizeof *file->entries, symbol_file_compare);
}

void symbol_file_close(struct symbol_file *file)
{
	if (file->bytes)
		(void)munmap(file->bytes, file->size); /* cannot fail: our own mapping */
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
