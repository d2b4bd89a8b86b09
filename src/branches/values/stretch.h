/*
 * Memory that grows in place. The address range is reserved once, and the kernel supplies pages on
 * first touch: small pages at the start, huge pages after them. Small pages alone cost half of the
 * time of a walk with events: the kernel needs 1.4 us per 4 kB page, against 0.2 us per 4 kB in
 * huge pages.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* Size of the reservation: no run needs more for its events or terms. */
#define STRETCH_BYTES (UINT64_C(1) << 35)
/* Start in small pages: short runs need no more, and a huge page costs 0.1 ms. */
#define STRETCH_SMALL_BYTES (UINT64_C(1) << 16)

struct stretch {
	uint8_t *memory; /* STRETCH_BYTES of undefined contents; NULL if not opened */
	uint64_t ready;	 /* number of usable bytes */
	void *mapping;
	bool is_small; /* the next growth does not use huge pages */
};

/* Returns the processor time of this thread. */
uint64_t thread_processor_ns(void);

/* Makes the first `bytes` bytes usable. */
void stretch_reach(struct stretch *stretch, uint64_t bytes);
/* Releases the memory; also valid for a stretch that was never opened. */
void stretch_release(struct stretch *stretch);
