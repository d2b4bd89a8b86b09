/*
 * What the files of the recorder share: the state of the moving thread, which quick stubs (record_stubs.c)
 * read and write by absolute addresses of 32 bits.
 */
#ifndef RADDLE_RUNTIME_RECORD_INTERNAL_H
#define RADDLE_RUNTIME_RECORD_INTERNAL_H

#include <stddef.h>
#include <stdint.h>

#include "runtime/instrument_abi.h"

/* Written by the moving thread; private to the process. */
struct record_moving {
	int64_t left;	  /* predicted reports until the thread gives way */
	uint64_t pending; /* a write that was about to happen at the last report; 0: none */
	uint32_t pending_bytes;
	uint32_t wants_arguments; /* sites of arguments follow an entry */
	uint8_t *memory;	  /* what the thread saw and wrote, by record_place_of() */
	uint64_t *values;	  /* by record_value_slot() */
	int64_t mark;		  /* `left` at the last entry */
	struct record_thread *thread;
	uint32_t index;
	uint64_t copied_from; /* of a copy whose write is reported next */
};

/* Maps room for the state in the first 2 GiB; NULL: there is none, and there are no quick stubs. */
struct record_moving *record_stubs_open(void);
/*
 * Code for the point of a site that deals with its report where that is predicted, and goes on to the
 * site's own stub where not. NULL: there is none for it.
 */
const unsigned char *record_stub_of(
	const struct site_record *site, uint32_t index, uintptr_t code_start, uintptr_t code_end);

#endif
