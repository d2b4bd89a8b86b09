/*
 * What ranks tell each other. All run the same raddle on the same kind of machine (WIRE_HELLO says so), so that
 * structs travel as they are.
 */
#ifndef RADDLE_CREW_WIRE_H
#define RADDLE_CREW_WIRE_H

#include "campaign/campaign.h"
#include "handout/handout.h"

enum wire_tag {
	/* From a member to rank 0. */
	WIRE_HELLO,   /* struct wire_hello; wants a unit */
	WIRE_ALIVE,   /* nothing; and back, so that each knows of the other */
	WIRE_STARTED, /* struct wire_started, from the first rank that knows */
	WIRE_FINDING, /* struct wire_finding, then the JSON and the trace */
	WIRE_NOTICE,  /* text */
	WIRE_DONE,    /* struct wire_done of the unit that it had; wants the next */
	WIRE_LEFT,    /* struct wire_done: it stops in the middle, and has made so many */
	WIRE_FAILED,  /* text: it cannot work; it will ask no more */
	WIRE_REPORT,  /* of a part's batch, as campaign/far.h has it */
	/* From rank 0. */
	WIRE_UNIT, /* struct handout_unit */
	WIRE_PART, /* a batch of a part, as campaign/far.h has it */
	WIRE_REST, /* nothing: that batch is to end after the current run */
	WIRE_STOP, /* nothing: enough has been found, or time is up */
	WIRE_END   /* struct wire_end: the last message */
};

#define WIRE_RELEASE 64

struct wire_hello {
	char release[WIRE_RELEASE];
	uint64_t target; /* fingerprint of the program's file */
	char host[64];
	char folder[4096]; /* where its findings are until rank 0 has them */
};

struct wire_started {
	uint32_t restart;
	bool has_memory_sites, has_dispatch;
};

struct wire_done {
	uint64_t took_ns;
	uint64_t runs, failures, steps; /* since the last one */
	uint64_t outcomes[OUTCOME_KIND_COUNT];
	uint64_t steps_most;
	uint32_t threads_most;
};

struct wire_finding {
	struct confirmation confirmation;
	bool is_minimal;
	uint64_t json_bytes, trace_bytes;
};

struct wire_end {
	bool keeps_folder; /* rank 0 could not store what is there */
	bool all_are_here;
};

#endif
