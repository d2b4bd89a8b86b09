/*
 * The part of the contract for uncontrolled runs on kernel threads at full speed (src/noise): the memory accesses of
 * each thread. Each thread writes its own ring and never waits. The command reads all rings during the run, and
 * orders the events by the processor's time stamps. A ring overwrites events that the command did not read in time:
 * the newest events remain, and the number of lost ones is known.
 */
#ifndef RADDLE_ABI_CONTRACT_NOISE_H
#define RADDLE_ABI_CONTRACT_NOISE_H

#include <stdint.h>

#include "model/ids.h"

#define NOISE_RINGS 128u
#define NOISE_EVENTS 16384u /* in a ring; a power of two */

/* Classes of memory: 0, 1, and then one class per call that allocates blocks. */
#define NOISE_CLASSES 4096u
#define NOISE_CLASS_REST 0u
#define NOISE_CLASS_STATIC 1u
#define NOISE_CLASS_BLOCKS 2u

/* An access that a thread is about to make. */
struct noise_event {
	uint64_t time; /* the processor's time stamp */
	uint64_t site; /* code address: of the point, or the return address (tsan ABI) */
	uint64_t address;
	uint32_t block;	 /* distinguishes blocks that had the same address one after the other */
	uint16_t class;	 /* class of the memory */
	uint16_t thread; /* number in the order of creation; main is 0 */
	uint32_t bytes;
	uint32_t is_write;
};

/* Written by one thread at a time. [guest] */
struct noise_ring {
	/* Total of all events; the next one goes to events[written % NOISE_EVENTS] */
	uint64_t written;
	uint32_t is_taken;
	uint32_t unused[13]; /* padding: rings share no cache line */
	struct noise_event events[NOISE_EVENTS];
};

struct contract_noise {
	uint32_t thread_count;		 /* of this run, including threads without a ring [guest] */
	uint32_t class_count;		 /* of all runs: classes keep their numbers [guest] */
	uint64_t lost;			 /* accesses of threads without a ring [guest] */
	uint64_t roles[THREAD_CAPACITY]; /* start functions of threads; 0: main [guest] */
	/* Return address of the call that allocated blocks of this class [guest] */
	uint64_t classes[NOISE_CLASSES];
	struct noise_ring rings[NOISE_RINGS];
};

#endif
