/*
 * Messages between ranks: tagged bytes, in order per sender, or none if a rank has vanished.
 * libraddle-mpi.so alone uses MPI. One thread of each rank uses the link.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

struct link_message {
	uint32_t from, tag;
	size_t size;
	char *bytes; /* freed by the receiver; a 0 follows them */
};

struct link {
	uint32_t rank, ranks;
	/* Sends a copy of the bytes, without waiting for the receiver. */
	void (*send)(uint32_t to, uint32_t tag, const void *bytes, size_t size);
	/* Receives a message. Returns false if there is none. Never blocks. */
	bool (*receive)(struct link_message *message);
	/* Ends the link. `all_are_here`: all ranks finalise together. Returns false if a rank was
	 * lost and this one leaves alone. */
	void (*end)(bool all_are_here);
};

/* Function of libraddle-mpi.so. It returns NULL if MPI cannot be used. Call it once per process. */
#define LINK_ENTRY "raddle_link_begin"
typedef const struct link *link_entry(struct error *err);

/* Loads libraddle-mpi.so and initialises MPI. */
int link_open(const struct link **link, struct error *err);
