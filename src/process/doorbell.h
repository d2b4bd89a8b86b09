/* Sleeps until a doorbell changes, which guests and the SIGCHLD handler increment. */
#ifndef RADDLE_PROCESS_DOORBELL_H
#define RADDLE_PROCESS_DOORBELL_H

#include <stdint.h>

struct doorbell {
	uint32_t *word;
	uint32_t seen; /* its value when the worker was last polled */
};

/* Returns at a ring, at a signal, or after timeout_ns. May return early. */
void doorbell_wait(const struct doorbell *bells, unsigned count, uint64_t timeout_ns);

#endif
