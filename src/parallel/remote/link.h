/*
 * How ranks talk: bytes with a tag from one to another, in order, or not at all where one has vanished. What is
 * needed of MPI, so that nothing else of raddle knows MPI. Each rank has one thread that uses it.
 */
#ifndef RADDLE_PARALLEL_REMOTE_LINK_H
#define RADDLE_PARALLEL_REMOTE_LINK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

struct link_message {
	uint32_t from, tag;
	size_t size;
	char *bytes; /* to be freed; with a 0 behind them */
};

struct link {
	uint32_t rank, ranks;
	/* Copies the bytes and does not wait for who is to have them. */
	void (*send)(uint32_t to, uint32_t tag, const void *bytes, size_t size);
	/* False: there is none. Never waits. */
	bool (*receive)(struct link_message *message);
	/* `all_are_here`: no rank was lost, so all can leave together; else this one leaves alone. */
	void (*end)(bool all_are_here);
};

/* The symbol of libraddle-mpi.so: NULL where MPI cannot be used. Once in a process. */
#define LINK_ENTRY "raddle_link_begin"
typedef const struct link *link_entry(struct error *err);

/* Loads libraddle-mpi.so and begins. */
int link_open(const struct link **link, struct error *err);

#endif
