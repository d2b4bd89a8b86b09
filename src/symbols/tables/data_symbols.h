/* Addresses of static data from the symbol table of a file. A stripped file has none. */
#pragma once

#include <stdint.h>

struct data_symbol {
	char *name; /* linker name */
	/* Start, relative to the first record of the file's sites (abi/instrument_abi.h). */
	int64_t start;
	uint64_t bytes;
	unsigned misplaced; /* its address modulo 8 */
};

/* The symbols of a file's static data, sorted by start. */
struct data_symbols {
	struct data_symbol *symbols;
	uint32_t count;
};

void data_symbols_read(struct data_symbols *out, const char *path);
void data_symbols_release(struct data_symbols *symbols);
