/*
 * A worker that is elsewhere: its block is here, and what is made of a batch happens in another one, by whoever
 * serves there (serve.h). Setting out sends the plan, the strategy's state and, where it has changed, what is known of
 * memory; a report brings back what the batch has made of the block. So to a campaign it is a worker like any
 * other, but that it may get lost, as processes on other machines may. Both ends run the same raddle with the
 * same options, so that blocks are laid out alike.
 */
#ifndef RADDLE_WORKER_REMOTE_H
#define RADDLE_WORKER_REMOTE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/strbuf.h"
#include "worker/worker.h"

/* How to reach those who serve, by number from 0. Nothing of it waits. */
struct remote_link {
	void *context;
	uint32_t count;
	void (*send)(void *context, uint32_t number, const void *bytes, size_t size);
	/* The batch is to end after the current run. */
	void (*stop)(void *context, uint32_t number);
	/* What it sent; to be freed; NULL: nothing yet. */
	char *(*receive)(void *context, uint32_t number, size_t *size);
	/* It is not there, or has not been heard of for long. */
	bool (*is_lost)(void *context, uint32_t number);
};

/* Before each message's areas. */
struct remote_head {
	uint32_t serial; /* of the batch */
	uint32_t report; /* enum contract_report; REPORT_NONE in a message to the worker */
	int32_t exit_status;
	/* Booleans travel as bytes, since a byte other than 0 and 1 is no value of `bool`. */
	uint8_t was_killed_outside;
	uint8_t has_memory; /* the message has memory's area */
	uint32_t newly_shared, points_changed;
	struct contract contract;
};

/* What worker_begin(), _stop(), _poll() and _kill() do with one that is elsewhere. */
void remote_begin(struct worker *worker);
void remote_stop(struct worker *worker);
int remote_poll(struct worker *worker, enum contract_report *report, struct error *err);
void remote_kill(struct worker *worker);
/* Is nobody there who would make its batches? In is_lost, too. */
bool remote_is_lost(struct worker *worker);

/* ---- messages ---- */

/* Puts the stretches of the strategy's area, or of memory's, that are not empty behind it. */
void remote_pack_area(struct strbuf *message, struct worker *worker, bool is_memory);
/* Puts the threads and the schedule of the last run behind it. */
void remote_pack_run(struct strbuf *message, struct contract *contract);
/* Ends it. */
void remote_pack_end(struct strbuf *message);
/* Takes over all that was put behind the head; areas that come are as they were sent. False: it is damaged. */
bool remote_unpack(struct worker *worker, const char *bytes, size_t size);

#endif
