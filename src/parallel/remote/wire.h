/*
 * Messages between ranks. All ranks run the same release on machines of one kind, which the hello
 * verifies: structs travel as they lie in memory. Each message is validated before its contents are
 * used: wire_read_*().
 */
#pragma once

#include "explore/campaign.h"
#include "parallel/remote/link.h"
#include "parallel/remote/lease_table.h"

enum wire_tag {
	/* Messages from a remote worker to rank 0 */
	WIRE_HELLO,   /* struct wire_hello; asks for a unit */
	WIRE_ALIVE,   /* empty; rank 0 answers with the same message */
	WIRE_STARTED, /* struct wire_started, from the first rank that has started the program */
	WIRE_FINDING, /* struct wire_finding, then the JSON and the trace */
	WIRE_NOTICE,  /* text */
	WIRE_DONE,    /* struct wire_done about the remote worker's unit; asks for the next unit */
	WIRE_LEFT,    /* struct wire_done: the remote worker stops before the end of its unit */
	WIRE_FAILED,  /* text: the remote worker cannot work, and asks for nothing more */
	WIRE_REPORT,  /* result of a task's batch, in the form of worker/remote.h */
	/* Messages from rank 0 */
	WIRE_UNIT, /* struct lease_table_unit */
	WIRE_PART, /* a batch of a task, in the form of worker/remote.h */
	WIRE_REST, /* empty: the batch ends after the current run */
	WIRE_STOP, /* empty: enough has been found, or the time is up */
	WIRE_END   /* struct wire_end: the last message */
};

#define WIRE_RELEASE 64
/* Limit on counts in a message, above those of any remote worker, so that sums do not overflow. */
#define WIRE_RUNS_MAX FINDING_SHARD_RUNS

struct wire_hello {
	char release[WIRE_RELEASE];
	uint64_t target; /* fingerprint of the program's file */
	char host[64];
	char folder[4096]; /* holds the remote worker's findings until rank 0 has stored them */
};

/* What the first rank that has started the program reports. Booleans travel as bytes, since a byte
 * other than 0 and 1 is no value of `bool`. */
struct wire_started {
	uint32_t restart; /* enum contract_restart */
	uint8_t has_memory_sites, has_dispatch;
};

/* Counts since the remote worker's last message of this kind. */
struct wire_done {
	uint64_t took_ns;
	uint64_t runs, failures, steps;
	uint64_t outcomes[OUTCOME_KIND_COUNT];
	uint64_t steps_most;
	uint32_t threads_most;
};

struct wire_finding {
	struct confirmation confirmation;
	uint64_t json_bytes, trace_bytes;
};

struct wire_end {
	uint8_t keeps_folder; /* rank 0 could not store the remote worker's findings */
	uint8_t all_are_here;
};

/* Each reader copies a valid message, or returns false and leaves *out unchanged. */

bool wire_read_started(struct wire_started *out, const struct link_message *message);
bool wire_read_done(struct wire_done *out, const struct link_message *message);
bool wire_read_unit(struct lease_table_unit *out, const struct link_message *message);
bool wire_read_end(struct wire_end *out, const struct link_message *message);

/* Reads the message, parses the JSON, and reads the trace to its end. The caller releases
 * *finding. */
int wire_read_finding(struct wire_finding *out, struct finding *finding,
	const struct link_message *message, struct error *err);
