/* Tables of accesses that the fast path (runtime/quick.h) passes without further work. They lie
 * in the contract. Assembly code of the sites includes this header, too. */
#pragma once

/* Entries in each of the two tables, one for reads, one for writes */
#define QUICK_GRANULES 131072
#define QUICK_GRANULE_BITS 3
/* Entries per kind of access, a power of two; each covers four bytes (a window of 32 kB). */
#define QUICK_SETS 8192

#ifndef __ASSEMBLER__

#include <stdint.h>

struct quick_entry {
	uint64_t address;
	/* The upper part is the epoch (*epoch*), or QUICK_OWN with the numbers of thread and run.
	 * The bits below ENGINE_EPOCH are quick_properties(). */
	uint64_t key;
};

/* Lies in the contract, so that a rewind need not restore it: no epoch or tag is used again in
 * another run. [guest] */
struct contract_quick {
	_Alignas(16) struct quick_entry entries[QUICK_SETS][2]; /* SITE_LOAD, SITE_STORE */
	/* The granule's number, exclusive-or a tag; a tag is a multiple of QUICK_TAG. Indices:
	 * SITE_LOAD, SITE_STORE. */
	uint64_t granules[2][QUICK_GRANULES];
	uint64_t tag;
	uint64_t epoch;
	/* number of the run or checkpoint; part of the keys of a thread's own memory */
	uint64_t ownership;
};

#endif
