/*
 * One event of a trace: a step of a run as the runtime noted it, with the addresses of that run.
 * The runtime writes arrays of them into the shared memory, trace/ puts them into files, findings/
 * reads them.
 */
#ifndef RADDLE_MODEL_EVENT_H
#define RADDLE_MODEL_EVENT_H

#include <stdint.h>

#include "model/ids.h"

/*
 * Return addresses that are kept of the calls around `site`. A std::mutex that was not inlined is
 * locked two calls below the user's code.
 */
#define TRACE_CALLERS 10
/* The first of the kept callers are part of a place's identity. */
#define TRACE_PLACE_CALLERS 4

struct trace_event {
	uint64_t step;	  /* position in the run; never smaller than that of the event before */
	uint64_t site;	  /* return address in the target, 0: not known */
	uint64_t address; /* of the object, 0: none */
	object_name object;
	uint16_t thread; /* index in the run */
	uint8_t kind;	 /* enum op_kind */
	uint8_t enabled; /* number of enabled threads at that point, capped at 255 */
	uint32_t bytes;	 /* accesses to memory: how many; OP_LEAVE: 1, not by a return */
	uint16_t
		number; /* descriptor (descriptor_number()) or number of the sent signal; 0: none */
	uint16_t other; /* index of the thread that the op acts on, + 1; 0: none */
	uint8_t order;	/* memory order of atomic accesses and fences, as C11 numbers them */
	uint8_t call;	/* enum call_kind; kind OP_NONE: the event is this call only */
	uint8_t result; /* enum op_result */
	/*
	 * The call whose frame holds the object at `address`: 1 that of the code at `site`, 2 its caller and so on; 0: no
	 * frame of this thread, or not known. Not in trace files.
	 */
	uint8_t frame;
	int32_t frame_offset; /* of the object from that frame's address, which is the caller's stack pointer */
	/* Innermost first, then 0. The code's unwinding rules (.eh_frame) lead there. */
	uint64_t callers[TRACE_CALLERS];
};

#endif
