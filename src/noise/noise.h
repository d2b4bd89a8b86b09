/*
 * The other guest, libraddle-noise.so: the target runs as it would by itself, on kernel threads at full
 * speed and with glibc's own locks. Nothing is controlled. Threads are delayed at random, for a short
 * time each, before accesses to shared memory and operations on locks, and every such access is told in
 * the contract (abi/contract_noise.h).
 *
 * Park, Vuduc and Harrold, "Falcon: Fault Localization in Concurrent Programs", ICSE 2010, section 4.1
 * (artificial delays, which irritate the scheduler). Deviation: delays are bounded, see delay.c.
 *
 *   startup.c   the contract, the ends of a run, what is needed of sites.c
 *   record.c    an access, from a site or a __tsan_ function to the thread's ring
 *   learn.c     which sites touch memory that threads share
 *   blocks.c    which allocation an address belongs to; allocate.c: the functions that allocate
 *   delay.c     delays
 *   threads.c   threads and locks: interposed functions that do what glibc's do
 *
 * Like the runtime a guest: nothing here prints, allocates from the target's heap or ends the process.
 * Everything runs in any thread of the target, in many at the same time.
 */
#ifndef RADDLE_NOISE_NOISE_H
#define RADDLE_NOISE_NOISE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/rng.h"
#include "abi/contract_memory.h"
#include "abi/contract_noise.h"

struct noise_access {
	uintptr_t address;
	size_t bytes;
	uint64_t site;
	uint8_t *site_state; /* its byte in contract_memory.sites; NULL: it has none */
	bool is_write;
};

/* What a thread knows of itself. Thread-local. */
struct noise_thread {
	enum { NOISE_UNKNOWN, NOISE_ALIVE, NOISE_ENDED } state;
	uint16_t number;
	struct noise_ring *ring; /* NULL: there was none left */
	uint32_t until_delay;	 /* accesses and operations up to the next delay */
	uint64_t delayed_ns;	 /* so far */
	struct rng rng;
	struct noise_access pending; /* from site_reached() to site_perform() */
};

extern __thread struct noise_thread noise_thread;

/* NULL: nobody drives this process, or it was forked by the target. */
struct contract_noise *noise_log(void);
/* The number that decides on delays in this run. */
uint64_t noise_seed(void);

/* ---- threads.c ---- */

/* The calling thread is met for the first time. */
void noise_meet_thread(void);

/* ---- record.c ---- */

/* The access has been told, and that was all. False: noise_record_all() has to do it. General registers only. */
bool noise_record(const struct noise_access *access);
void noise_record_all(const struct noise_access *access);

/* ---- learn.c: general registers only ---- */

/* `block`: that it is in. */
void noise_learn(const struct noise_access *access, uint32_t block);

/* ---- delay.c ---- */

void noise_draw_delay(void);
/* An operation on a lock. */
void noise_maybe_delay(void);
/* The thread's turn has come. */
void noise_delay(void);

/* ---- blocks.c ---- */

void noise_block_made(const void *start, size_t bytes, uint64_t site);
void noise_block_freed(const void *start);
/* What is at an address: kind of memory, and a number that blocks at one address do not share. */
struct noise_place {
	uint32_t block;
	uint16_t class;
};
/* Known from before? General registers only. */
bool noise_place_known(uintptr_t address, struct noise_place *place);
struct noise_place noise_place_find(uintptr_t address);

#endif
