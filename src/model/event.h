/* A step of a run as the runtime recorded it, with that run's addresses. Trace files store it. */
#pragma once

#include <stdint.h>

#include "model/ids.h"

/* Around `site`; a std::mutex may be locked two calls below the user's code. */
#define TRACE_CALLERS 10
/* The innermost TRACE_LOCATION_CALLERS of these return addresses are part of a location's identity. */
#define TRACE_LOCATION_CALLERS 4

struct trace_event {
	uint64_t step;	  /* position in the run; never decreases from one event to the next */
	uint64_t site;	  /* return address in the target; 0: not known */
	uint64_t address; /* address of the object; 0: none */
	object_name object;
	uint16_t thread; /* index in the run */
	uint8_t kind;	 /* enum op_kind */
	uint8_t enabled; /* number of enabled threads at that point, capped at 255 */
	/* memory accesses: size of the access; OP_LEAVE: 1 if the function was left otherwise than
	 * by a return */
	uint32_t bytes;
	uint16_t
		number; /* descriptor (descriptor_number()), number of the signal, or threads of a barrier's round; 0: none */
	uint16_t other; /* index of the thread that the op acts on, plus 1; 0: none */
	uint8_t order;	/* memory order of atomic accesses and fences, as C11 numbers them */
	uint8_t call;	/* enum call_kind; with kind OP_NONE the event is only this call */
	uint8_t result; /* enum op_result */
	/* Takes the place of padding, which an initialiser need not clear: events are compared as bytes. */
	uint8_t reserved[5];
	/*
	 * The frames of the calls under way, innermost first. `stack` is an address in the first frame, or below
	 * it. frames[i] is the distance from there to the end of frame i, where the stack pointer is after the
	 * return to callers[i]; 0: unknown. Files do not have these fields.
	 */
	uint64_t stack;
	uint32_t frames[TRACE_CALLERS];
	/* The call stack, innermost first, padded with 0. The unwinder finds it through
	 * .eh_frame. */
	uint64_t callers[TRACE_CALLERS];
};

/* Returns the frame of the thread that contains the address: 1: of `site`, 2: of its caller, ...; 0: none. */
static inline unsigned trace_event_frame_at(const struct trace_event *event, uint64_t address)
{
	for (unsigned i = 0; i < TRACE_CALLERS && event->frames[i]; i++)
		if (address - event->stack < event->frames[i])
			return i + 1;
	return 0;
}
