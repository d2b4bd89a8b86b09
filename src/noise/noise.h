/*
 * The second guest, libraddle-noise.so. The target runs uncontrolled, on kernel threads at full
 * speed and with glibc's own locks. The guest injects *timing jitter* ("noise"): it delays
 * threads at random, for a short time each, before accesses to shared memory and lock operations.
 * It reports each such access in the contract (abi/contract_noise.h).
 *
 * Park, Vuduc and Harrold, "Falcon: Fault Localization in Concurrent Programs", ICSE 2010,
 * section 4.1 (artificial delays that perturb the scheduler). Deviation: delays are bounded, see
 * delay.c.
 *
 *   startup.c   the contract, the end of a run, the functions that sites.c needs
 *   record.c    an access, from a site or a __tsan_ function to the thread's ring
 *   learn.c     which sites touch memory that threads share
 *   blocks.c    which allocation an address belongs to
 *   allocate.c  interposed allocation functions
 *   delay.c     delays
 *   threads.c   interposed thread and lock functions, which call glibc's
 *
 * The code is a guest like the runtime: it does not print, allocate from the target's heap or end
 * the process. All functions may run in several threads of the target at the same time.
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
	uint8_t *site_state; /* its byte in contract_memory.sites; NULL: none */
	bool is_write;
};

/* Thread-local state of a thread. */
struct noise_thread {
	enum { NOISE_UNKNOWN, NOISE_ALIVE, NOISE_ENDED } state;
	uint16_t number;
	struct noise_ring *ring; /* NULL: all rings are in use */
	uint32_t until_delay;	 /* accesses and lock operations until the next delay */
	uint64_t delayed_ns;	 /* sum of the thread's delays */
	struct rng rng;
	struct noise_access pending; /* passed from site_reached() to site_perform() */
};

extern __thread struct noise_thread noise_thread;

/* The log in the contract. NULL: no command controls this process, or the target forked it. */
struct contract_noise *noise_log(void);
/* The run's seed for delays. */
uint64_t noise_seed(void);

/* ---- threads.c ---- */

/* Registers the calling thread at its first access. */
void noise_meet_thread(void);

/* ---- record.c ---- */

/* Reports the access, with general registers only. False: noise_record_all() must report it. */
bool noise_record(const struct noise_access *access);
void noise_record_all(const struct noise_access *access);

/* ---- learn.c: general registers only ---- */

/* Learns which blocks the access's site touches. `block` is the block of the address. */
void noise_learn(const struct noise_access *access, uint32_t block);

/* Draws the number of accesses until the next delay. */

void noise_draw_delay(void);
/* Counts a lock operation; delays the thread if a delay is due. */
void noise_maybe_delay(void);
/* Delays the thread and draws the next delay. */
void noise_delay(void);

/* ---- blocks.c ---- */

void noise_block_made(const void *start, size_t bytes, uint64_t site);
void noise_block_freed(const void *start);
/* Kind of memory at an address, and a number that distinguishes successive blocks at one address. */
struct noise_place {
	uint32_t block;
	uint16_t class;
};
/* Looks the place up in the cache, with general registers only. False: not cached. */
bool noise_place_known(uintptr_t address, struct noise_place *place);
struct noise_place noise_place_find(uintptr_t address);

#endif
