/*
 * Units of work as parties to a violation: what has to be known of their accesses to shared memory,
 * gathered over several runs. What was written by one thread in one run and by another one in the next can
 * so be looked at together.
 */
#ifndef RADDLE_ANALYSES_PARTIES_H
#define RADDLE_ANALYSES_PARTIES_H

#include "analyses/unit_trace.h"

struct party_lock {
	uint64_t address;
	uint32_t taken; /* index of the event: one lock taken twice has two */
	bool is_shared;
	struct trace_event event; /* that took it */
	uint32_t context;
};

struct party_access {
	struct trace_event event;
	uint32_t index; /* of the event in its run */
	uint32_t context;
	uint64_t location;
	const struct epoch *epoch;
	const struct party_lock *locks;
	uint32_t lock_count;
	bool is_write;
};

struct party {
	uint32_t run;
	uint32_t thread;
	thread_name name;	       /* of the thread */
	const char *function;	       /* NULL: not known; of the sets */
	struct party_access *accesses; /* owned */
	struct party_lock *locks;      /* owned */
	uint32_t count;
	uint64_t signature; /* equal for those that make the same accesses */
};

/* All that are known of one set. */
struct party_set {
	uint32_t kind;
	uint64_t address;
	uint32_t run; /* of a set that no other run has; UINT32_MAX: a lasting one */
	struct party *parties;
	uint32_t count, capacity;
	bool is_cut;
};

struct party_pool {
	struct party_set *sets;
	uint32_t count, capacity;
	bool is_cut;
};

/* `is_whole`: every access of every unit, else those that tell something new. */
void party_pool_add(
	struct party_pool *pool, const struct unit_trace *trace, uint32_t run, bool is_whole);
void party_pool_release(struct party_pool *pool);

/* NULL: the lock is not held. */
const struct party_lock *party_lock_at(const struct party_access *access, uint64_t address);

#endif
