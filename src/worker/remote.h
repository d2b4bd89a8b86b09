/*
 * A worker whose batches are made in another process, usually on another machine.
 *
 * The command holds the worker's contract block; the remote process (explore/serve.h) holds another
 * one. remote_begin() sends the plan, the strategy's state and, if changed, the view of memory. The
 * report returns the results into the block. A campaign treats a remote worker like any other,
 * except that it may get lost.
 *
 * Invariant: both ends run the same release of raddle with the same options, so their blocks have
 * the same layout.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/strbuf.h"
#include "worker/worker.h"

/* How to reach the remote processes, by number from 0. The functions do not block. */
struct remote_link {
	void *context;
	uint32_t count;
	void (*send)(void *context, uint32_t number, const void *bytes, size_t size);
	void (*stop)(void *context, uint32_t number);
	/* Returns the next message of the process, which the caller frees; NULL: none. */
	char *(*receive)(void *context, uint32_t number, size_t *size);
	/* Returns whether the process is absent or has been silent for too long. */
	bool (*is_lost)(void *context, uint32_t number);
};

/* Head of a message, before its extents. */
struct remote_head {
	uint32_t serial; /* number of the batch */
	uint32_t report; /* enum contract_report; REPORT_NONE in a message to the remote side */
	int32_t exit_status;
	/* Booleans travel as bytes, since a byte other than 0 and 1 is no value of `bool`. */
	uint8_t was_killed_outside;
	uint8_t has_memory;    /* the message contains the memory area */
	uint32_t newly_shared; /* fields of struct contract_memory */
	uint64_t points_version, searched_version;
	struct contract contract;
};

/* worker_begin(), worker_stop(), worker_poll() and worker_kill() for a remote worker. */
void remote_begin(struct worker *worker);
void remote_stop(struct worker *worker);
int remote_poll(struct worker *worker, enum contract_report *report, struct error *err);
void remote_kill(struct worker *worker);
/* Returns whether the worker is lost. Also sets worker->is_lost. */
bool remote_is_lost(struct worker *worker);

/* Appends the non-empty pages of the strategy's area, or of the memory area. */
void remote_pack_area(struct strbuf *message, struct worker *worker, bool is_memory);
void remote_pack_run(struct strbuf *message, struct contract *contract);
void remote_pack_end(struct strbuf *message);
/* Copies a message's extents into the block, whose areas are cleared. Returns false if damaged. */
bool remote_unpack(struct worker *worker, const char *bytes, size_t size);
