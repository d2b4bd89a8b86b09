/* Sleeps until a doorbell changes, which guests and the SIGCHLD handler increment. */
#pragma once

#include <stdint.h>

struct doorbell {
	uint32_t *word;
	uint32_t seen; /* value of the doorbell when the worker was last polled */
};

/* Sleeps until a ring, a signal, or timeout_ns. May return early. */
void doorbell_wait(const struct doorbell *bells, unsigned count, uint64_t timeout_ns);
