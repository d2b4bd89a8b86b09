/*
 * Interface of the detectors, which watch a run step by step and may end it with a verdict. Each
 * detector is one file and one row in detectors.def. A detector runs in the moving thread, keeps
 * its state in shared memory, allocates nothing, and sees only names, addresses and counts.
 *
 * A detector receives every performed step of a run in order, from the first thread creation on. It
 * sees a memory access before the access is performed. It sees every other operation after its
 * result is known, and before the next step.
 *
 * begin_run() must reset the state in constant time, because runs take microseconds. Detectors
 * therefore number the runs (generations) and treat entries of older generations as free.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model/ids.h"
#include "model/op.h"
#include "model/outcome/outcome.h"

/*
 * A performed step. A memory access is one event per aligned eight-byte word that it touches;
 * `object` names the memory. A new allocation has another name, so that detectors can discard the
 * freed memory's history.
 */
struct detector_event {
	uint64_t step;
	uint64_t site; /* Return address in the target, or address of the instrumentation point */
	/* address of the object; 0: none, or a descriptor whose peer is not known */
	uint64_t address;
	/* OP_COND_WAIT: address of the mutex; OP_BARRIER_*: round number; OP_FENCE: address whose
	 * annotated release and acquire this is, 0 for fences */
	uint64_t argument;
	object_name object;
	uint32_t bytes;	  /* memory accesses: size */
	thread_name name; /* name of the thread; 0: no detector in use needs it */
	/* Start function of the thread; 0: the main thread, or no detector in use needs it */
	uint64_t role;
	/* Class of the memory at an address, equal in every run, never 0. NULL if all memory has
	 * class 1. */
	uint32_t (*class_of)(uint64_t address);
	struct thread_id thread;
	/* The thread that is created, joined or cancelled; else THREAD_NONE */
	struct thread_id other;
	uint8_t kind;	 /* enum op_kind */
	uint8_t order;	 /* enum site_order of atomic accesses and fences */
	bool has_failed; /* a try operation that did not succeed, or a wait that timed out */
	/* OP_ATOMIC_UPDATE: a compare-exchange, which may fail and write nothing */
	bool may_only_read;
	bool is_last;  /* OP_BARRIER_ARRIVE: the last arrival, which opens the barrier */
	bool is_point; /* a memory access that is a scheduling point */
	struct store_messages messages; /* of an atomic access under c11 */
};

struct detector {
	const char *name;
	const char *summary; /* one line */
	size_t state_bytes;
	void (*begin_run)(void *state);
	/* Observes a step. Returns true if the run must end; *verdict (kind, site, address,
	 * other_...) is filled then. */
	bool (*observe)(void *state, const struct detector_event *event, struct outcome *verdict);
};

enum detector_index {
#define DETECTOR(name) DETECTOR_##name,
#include "detectors/detectors.def"
#undef DETECTOR
	DETECTOR_COUNT
};

extern const struct detector *const detectors[DETECTOR_COUNT];

/* Returns the size of the block that holds the states of all detectors one after the other. */
size_t detectors_bytes(void);
void *detectors_state(void *block, enum detector_index index);
