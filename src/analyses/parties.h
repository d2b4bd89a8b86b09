/* Units of work that may take part in a violation, gathered over several runs. */
#pragma once

#include "analyses/units/unit_trace.h"

struct party_lock {
	uint64_t address;
	uint32_t taken; /* index of the event: two acquisitions of a lock differ */
	bool is_shared;
	struct trace_event event; /* the acquisition */
	uint32_t context;
};

struct party_access {
	struct trace_event event;
	uint32_t index; /* index of the event in its run */
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
	thread_name name;	       /* name of the thread */
	const char *function;	       /* NULL if unknown; owned by the sets */
	struct party_access *accesses; /* owned */
	struct party_lock *locks;      /* owned */
	uint32_t count;
	uint64_t signature; /* equal for parties with the same accesses */
};

/* All known parties of one set. */
struct party_set {
	uint32_t kind;
	uint64_t address;
	uint64_t block; /* of struct atomic_member */
	uint32_t run;	/* the only run that has this set; UINT32_MAX: all runs have it */
	struct party *parties;
	uint32_t count;
	bool is_cut;
};

struct party_pool {
	struct party_set *sets;
	uint32_t count;
	bool is_cut;
};

/* Adds the units of a run. `is_whole`: adds every access of every unit; otherwise only accesses
 * with new information. */
void party_pool_add(
	struct party_pool *pool, const struct unit_trace *trace, uint32_t run, bool is_whole);
void party_pool_release(struct party_pool *pool);

/* Returns the party's acquisition of the lock; NULL if the access does not hold the lock. */
const struct party_lock *party_lock_at(const struct party_access *access, uint64_t address);
