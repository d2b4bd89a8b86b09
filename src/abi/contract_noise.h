/*
 * The part of the contract for runs on kernel threads at full speed (src/noise): what accesses to
 * memory were made, as each thread tells it. Each thread writes a ring of its own and waits for nobody;
 * the command reads all rings while the run goes on, and puts their events in one order by the
 * processor's time stamps. What is not read in time is overwritten: the newest events are there, and
 * how many are missing is known.
 */
#ifndef RADDLE_ABI_CONTRACT_NOISE_H
#define RADDLE_ABI_CONTRACT_NOISE_H

#include <stdint.h>

#include "model/ids.h"

#define NOISE_RINGS 128u
#define NOISE_EVENTS 16384u /* in a ring; a power of two */

/* Kinds of memory: 0 and 1, and then blocks by the call that allocated them. */
#define NOISE_CLASSES 4096u
#define NOISE_CLASS_REST 0u
#define NOISE_CLASS_STATIC 1u
#define NOISE_CLASS_BLOCKS 2u

/* An access that a thread is about to make. */
struct noise_event {
	uint64_t time; /* the processor's time stamp */
	uint64_t site; /* code address: of the point, or the return address (tsan ABI) */
	uint64_t address;
	uint32_t block;	 /* tells blocks apart that had the same address one after the other */
	uint16_t class;	 /* of the memory */
	uint16_t thread; /* number in the order of creation; main is 0 */
	uint32_t bytes;
	uint32_t is_write;
};

/* Written by one thread at a time. [guest] */
struct noise_ring {
	uint64_t written; /* events, ever: the next one goes to events[written % NOISE_EVENTS] */
	uint32_t is_taken;
	uint32_t unused[13]; /* rings share no cache line */
	struct noise_event events[NOISE_EVENTS];
};

struct contract_noise {
	uint32_t thread_count; /* of this run, also those without a place here [guest] */
	uint32_t class_count;  /* of all runs: kinds keep their numbers [guest] */
	uint64_t lost;	       /* accesses of threads for which there was no ring [guest] */
	uint64_t roles[THREAD_CAPACITY]; /* start functions of threads; 0: main [guest] */
	uint64_t classes[NOISE_CLASSES]; /* calls that allocated blocks of this kind [guest] */
	struct noise_ring rings[NOISE_RINGS];
};

#endif
