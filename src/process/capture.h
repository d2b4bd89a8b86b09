/*
 * Captures the output of a run in bounded memory: an anonymous file, whose middle is removed while
 * it grows. If the output were a pipe, the schedule would depend on the speed of the reader.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "base/strbuf.h"

/* Bytes retained at the beginning and at the end of the output. */
#define CAPTURE_KEPT_BYTES (256 * 1024)

struct capture {
	int file;	   /* file of the target's descriptors 1 and 2; append mode */
	uint64_t cut_to;   /* bytes between CAPTURE_KEPT_BYTES and this offset are removed */
	uint64_t shown_to; /* bytes before this offset have been printed by capture_pass_on */
	bool keeps_all;	   /* nothing is removed: a judge reads every byte */
};

int capture_open(struct capture *capture, struct error *err);
void capture_close(struct capture *capture);

/* Discards all output, before the next run. */
void capture_clear(struct capture *capture);
/* Releases the memory of the middle. Call it regularly while a run prints. */
void capture_trim(struct capture *capture);
/* Copies the output since the last call to `descriptor`. Returns false if writing failed, see
 * errno. */
bool capture_pass_on(struct capture *capture, int descriptor);
/* Returns head and tail, and between them a line with the number of missing bytes. */
void capture_read(const struct capture *capture, struct strbuf *out);
