/* Addresses of symbols by name, from the symbol tables of a loaded executable or library. */
#pragma once

#include <libelf.h>
#include <stdint.h>

struct symbol_entry {
	const char *name;
	uint64_t address;
	/* Local symbols: number of the preceding STT_FILE symbol, from 1; others: 0 */
	uint32_t group;
};

struct symbol_file {
	Elf *elf;		      /* owns the names; NULL if the file is unreadable */
	struct symbol_entry *entries; /* sorted by name, then group */
	uint32_t count;
	const char **groups; /* names of the source files, from 1 */
	uint32_t group_count;
};

/* Opens a file that was loaded at `base`. An unreadable file has no symbols. */
void symbol_file_open(struct symbol_file *file, const char *path, uint64_t base);
void symbol_file_close(struct symbol_file *file);
/* Returns the address of the symbol; 0: not found. */
uint64_t symbol_file_find(const struct symbol_file *file, const char *name, uint32_t group);
