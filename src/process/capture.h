/*
 * What a run prints, kept with bounded memory: an anonymous file that the target writes to, from
 * which the middle is cut while it grows. A file, not a pipe: a pipe that is full blocks its
 * writer, and then the schedule would depend on how fast the reader is.
 */
#ifndef RADDLE_PROCESS_CAPTURE_H
#define RADDLE_PROCESS_CAPTURE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "base/strbuf.h"

/* Kept at the beginning and at the end: enough to see what went wrong. */
#define CAPTURE_KEPT_BYTES (256 * 1024)

struct capture {
	int file;	   /* for the target's descriptors 1 and 2; append mode */
	uint64_t cut_to;   /* bytes between CAPTURE_KEPT_BYTES and here are gone */
	uint64_t shown_to; /* bytes before this have been passed on by capture_pass_on */
	bool keeps_all;	   /* nothing is cut: somebody is to judge every byte */
};

int capture_open(struct capture *capture, struct error *err);
void capture_close(struct capture *capture);

/* Forgets everything: before the next run. */
void capture_clear(struct capture *capture);
/* Gives back the memory of the middle. To be called now and then while a run prints. */
void capture_trim(struct capture *capture);
/* Copies to `descriptor` what has come since the last call. False: nobody reads it any more. */
bool capture_pass_on(struct capture *capture, int descriptor);
/* The head and the tail with a line between them that says how much is missing. */
void capture_read(const struct capture *capture, struct strbuf *out);

#endif
