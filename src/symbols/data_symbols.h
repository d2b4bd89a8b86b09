/* Where static data lies, by the symbol table of a file; nothing is known of a file that was stripped. */
#ifndef RADDLE_SYMBOLS_DATA_SYMBOLS_H
#define RADDLE_SYMBOLS_DATA_SYMBOLS_H

#include <stdint.h>

struct data_symbol {
	char *name; /* as linked */
	/* Where it begins, from the first record of the file's sites (abi/instrument_abi.h). */
	int64_t start;
	uint64_t bytes;
	unsigned misplaced; /* its address modulo 8 */
};

/* In the order of their places. */
struct data_symbols {
	struct data_symbol *symbols;
	uint32_t count;
};

/* Of an executable or shared library with sites. */
void data_symbols_read(struct data_symbols *out, const char *path);
void data_symbols_release(struct data_symbols *symbols);

#endif
