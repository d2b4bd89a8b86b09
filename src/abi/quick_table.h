/*
 * Tables of accesses that need no second look (runtime/quick.h), as they lie in the memory that command and target
 * share. The assembly of the sites reads this header, too.
 */
#ifndef RADDLE_ABI_QUICK_TABLE_H
#define RADDLE_ABI_QUICK_TABLE_H

/* Granules in each of the two tables: of those that are read, and of those that are written. */
#define QUICK_GRANULES 131072
#define QUICK_GRANULE_BITS 3
/* Entries for each kind of access, a power of two: four bytes each, so 32 kB of neighbours. */
#define QUICK_PLACES 8192

#ifndef __ASSEMBLER__

#include <stdint.h>

struct quick_entry {
	uint64_t address;
	/* The episode, or QUICK_OWN and what tells thread and run; below ENGINE_EPISODE, quick_properties(). */
	uint64_t key;
};

/* In the contract, so that no rewind has to restore it: no number comes back in another run. [guest] */
struct contract_quick {
	_Alignas(16) struct quick_entry entries[QUICK_PLACES][2]; /* SITE_LOAD, SITE_STORE */
	/* The number of a granule, exclusive or a tag: QUICK_TAG times a number of its own. SITE_LOAD, SITE_STORE. */
	uint64_t granules[2][QUICK_GRANULES];
	uint64_t tag;	    /* the latest of all */
	uint64_t episode;   /* likewise */
	uint64_t ownership; /* number of the run, or of a part of it: of keys of own memory */
};

#endif
#endif
