/*
 * Detectors watch a run from inside, step by step, and may end it with a verdict. One file per
 * detector, one row in detectors.def. Like strategies they live in shared memory, allocate nothing,
 * and see only names, addresses and counts.
 *
 * A detector sees every performed step of a run, from its first thread creation on, in their order:
 * an access to memory before it happens, every other op when it is known what came of it, which is
 * before the next step. It must clear itself in begin_run() in constant time (numbered generations),
 * as runs take microseconds.
 */
#ifndef RADDLE_DETECTORS_DETECTOR_H
#define RADDLE_DETECTORS_DETECTOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model/ids.h"
#include "model/op.h"
#include "model/outcome.h"

/*
 * A performed step. An access to memory comes as one event per aligned eight bytes that it touches:
 * `address` and `bytes` lie within them, and `object` is their name. The name tells memory from what
 * lay at the same address before: an allocation that is made anew has another.
 */
struct detector_event {
	uint64_t step;
	uint64_t site;	  /* return address in the target, or address of the site's point */
	uint64_t address; /* of the object; 0: none, or (descriptors) connected to who knows what */
	uint64_t
		argument; /* OP_COND_WAIT: address of the mutex; OP_BARRIER_*: number of the round */
	object_name object;
	uint32_t bytes;	  /* accesses to memory: how many */
	thread_name name; /* of the thread; 0: nobody wants it */
	uint64_t role;	/* start function of the thread; 0: the main thread's, or nobody wants it */
	uint32_t class; /* kind of memory, where that is known already; else 0, and */
	/* Kind of memory at an address, equal in every run and never 0. NULL: all is of one kind. */
	uint32_t (*class_of)(uint64_t address);
	struct thread_id thread;
	struct thread_id other; /* created, joined or cancelled thread; THREAD_NONE */
	uint8_t kind;		/* enum op_kind */
	uint8_t order;		/* enum site_order of atomic accesses and fences */
	bool has_failed;	/* a try that did not succeed, a wait that timed out */
	bool may_only_read;	/* OP_ATOMIC_UPDATE: a compare-exchange, which may write nothing */
	bool is_last;		/* OP_BARRIER_ARRIVE: it opens the barrier */
	bool is_point;		/* an access to memory at a scheduling point of its own */
};

struct detector {
	const char *name;
	const char *summary; /* one line */
	size_t (*state_bytes)(void);
	void (*begin_run)(void *state);
	/* True: the run is to end, and *verdict (kind, site, address, other_...) is filled. */
	bool (*observe)(void *state, const struct detector_event *event, struct outcome *verdict);
};

enum detector_index {
#define DETECTOR(name) DETECTOR_##name,
#include "detectors/detectors.def"
#undef DETECTOR
	DETECTOR_COUNT
};

extern const struct detector *const detectors[DETECTOR_COUNT];

/* The states of all detectors lie one behind the other in one block of this size. */
size_t detectors_bytes(void);
void *detectors_state(void *block, enum detector_index index);

#endif
