/* A thread of a run, as the runtime reports it. */
#pragma once

#include <stdint.h>

#include "model/ids.h"

/* Its index is its position in an array of the run's threads; index 0 is the main thread. */
struct thread_record {
	thread_name name;
	struct thread_id parent; /* a lower index; ignored for the main thread */
	uint16_t ordinal;	 /* number among its parent's children */
	uint64_t create_site;	 /* return address of the creating call, 0: unknown */
	uint64_t start;		 /* address of its start function, 0: unknown */
	uint64_t steps;		 /* ops performed */
	/* Stack of the thread in a process that stopped for inspection, see symbols_unwind(): the frame
	 * that context_switch_* saved (platform/context.S). 0: the thread has ended, or its stack is
	 * not available. */
	uint64_t stack_pointer;
	uint64_t thread_base;
	char label[16]; /* name set by pthread_setname_np, else empty */
};
