/* Addresses by name, from the symbol tables of an executable or library as it was loaded. */
#ifndef RADDLE_BRANCHES_INTERPRET_SYMBOL_FILE_H
#define RADDLE_BRANCHES_INTERPRET_SYMBOL_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct symbol_entry {
	const char *name;
	uint64_t address;
	uint32_t group; /* of local ones: which STT_FILE they stand behind, from 1; of others 0 */
};

struct symbol_file {
	void *bytes; /* of the file, mapped */
	size_t size;
	struct symbol_entry *entries; /* sorted by name, then group */
	uint32_t count;
	const char **groups; /* names of the source files, from 1 */
	uint32_t group_count;
};

/* A file that cannot be read has no symbols. */
void symbol_file_open(struct symbol_file *file, const char *path, uint64_t base);
void symbol_file_close(struct symbol_file *file);
/* 0: there is none. */
uint64_t symbol_file_find(const struct symbol_file *file, const char *name, uint32_t group);

#endif
