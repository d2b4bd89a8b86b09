/*
 * Sleeping until one of several words in shared memory is no longer what it was. The words are the
 * doorbells of workers: their guests ring them, and so does the SIGCHLD handler (children.h).
 */
#ifndef RADDLE_PROCESS_DOORBELL_H
#define RADDLE_PROCESS_DOORBELL_H

#include <stdint.h>

/* One word to watch. */
struct doorbell {
	uint32_t *word;
	uint32_t seen; /* its value when its owner was last looked at */
};

/* Returns at a ring, at a signal, or after timeout_ns. May return early for no reason. */
void doorbell_wait(const struct doorbell *bells, unsigned count, uint64_t timeout_ns);

#endif
