/*
 * A descent: a run that follows one random path of a tree of runs. At each step the tree branches
 * into a persistent set of threads (descent_sets.c) outside the sleep set. Each Mazurkiewicz trace
 * is exactly one leaf. A path on which all threads of the set sleep is redundant.
 *
 * The sets, and the expected shares of the traces behind each branch, come from the accesses of
 * earlier runs (descent_accesses.c). Threads are identified by *slots* as in dpor.h. An *epoch* of
 * a thread is the part of its run between two of its creations or joins of threads.
 */
#pragma once

#include "base/rng.h"
#include "strategies/dpor/dpor.h"

#define DESCENT_SLOTS 32
#define DESCENT_OBJECTS 256 /* the last one stands for all further objects */
#define DESCENT_SEEN 8192   /* capacity of the table of objects; a power of two */
#define DESCENT_LOCKS 64
#define DESCENT_PRIVATE UINT16_MAX /* only one thread accesses the object */
#define DESCENT_WHOLE (UINT64_C(1) << 30)
/* Accesses to more than eight bytes, which depend on the accesses to all memory. */
#define DESCENT_WIDE 0u

struct descent_seen {
	uint64_t key; /* dpor_key(); 0: free */
	uint16_t object;
	uint8_t slot; /* the first thread that accessed the object */
};

/* Accesses of one thread to one shared object. */
struct descent_access {
	uint64_t epochs, write_epochs;
	uint64_t locks, write_locks; /* locks held at every access, and at every write */
	uint32_t last, last_write;   /* ordinal of the last op; UINT32_MAX: not constant */
	uint32_t run_last, run_last_write;
	uint32_t runs;	   /* number of descents that include an access */
	uint32_t done[2];  /* number of writes and of reads in this descent */
	uint32_t total[2]; /* numbers in all descents */
	uint64_t usual[2]; /* 256 times the mean number in a descent */
};

struct descent {
	struct rng rng;
	bool is_lost;	   /* too many threads */
	bool is_blocked;   /* a redundant path: all threads of the set sleep */
	bool is_unknown;   /* fixed: this descent has a thread that earlier ones did not have */
	bool has_grown;	   /* this descent has shown accesses that earlier descents did not */
	bool is_fixed;	   /* this descent follows the knowledge below and does not add to it */
	uint64_t descents; /* number of descents, learning ones included */

	/* this descent, by slot */
	uint32_t known; /* number of threads with a slot */
	uint8_t slot_of[DESCENT_SLOTS], index_of[DESCENT_SLOTS];
	uint32_t ordinal[DESCENT_SLOTS]; /* number of ops done */
	uint32_t epoch[DESCENT_SLOTS];
	uint64_t held[DESCENT_SLOTS]; /* locks */
	uint8_t depth[DESCENT_LOCKS]; /* number of acquisitions not yet released */
	uint64_t exists, asleep;
	uint32_t first;	 /* slot at which the search for a smallest set starts */
	uint32_t chosen; /* slot of the choice that is not yet executed; DPOR_NONE: none */
	uint32_t mover;	 /* slot that moved last */
	/* the pending ops at this point */
	uint64_t alive, enabled;
	struct dpor_op op[DESCENT_SLOTS];
	uint16_t object[DESCENT_SLOTS];	 /* DESCENT_PRIVATE: none */
	uint16_t mutex[DESCENT_SLOTS];	 /* the mutex that the op acquires beside its object */
	uint32_t read_at[DESCENT_SLOTS]; /* value of `changes` when both were read */

	/* knowledge from all descents */
	uint32_t slot_count;
	thread_name names[DESCENT_SLOTS];
	uint8_t creator[DESCENT_SLOTS];
	object_name thread_object[DESCENT_SLOTS];
	/* epoch of the first slot after which it joins the second; 0: never joins it */
	uint8_t joined[DESCENT_SLOTS][DESCENT_SLOTS];
	uint64_t joins[DESCENT_SLOTS]; /* slots that the slot joins in any epoch */
	uint32_t lock_count;
	object_name locks[DESCENT_LOCKS];
	uint32_t object_count, seen_count;
	uint32_t changes; /* number of objects that became shared, and of locks */
	struct descent_seen seen[DESCENT_SEEN];
	struct descent_access access[DESCENT_SLOTS][DESCENT_OBJECTS];
	uint64_t writers[DESCENT_OBJECTS], accessors[DESCENT_OBJECTS]; /* sets of slots */
};

enum descent_direction { DESCENT_WRITE, DESCENT_READ };

static inline enum descent_direction descent_direction(const struct dpor_op *op)
{
	return op->flags & OP_READ ? DESCENT_READ : DESCENT_WRITE;
}

static inline uint64_t descent_bit(uint32_t slot)
{
	return UINT64_C(1) << slot;
}

/* Slots of which a thread of this descent can still move. */
static inline uint64_t descent_with_future(const struct descent *descent)
{
	return (descent->alive | ~descent->exists) & (descent_bit(descent->slot_count) - 1);
}

static inline bool descent_has_future(const struct descent *descent, uint32_t slot)
{
	return descent_with_future(descent) >> slot & 1;
}

/* Gives the next thread of this run its slot, which is the same in all runs. If no slot is free, or the
 * thread is new after learning has ended, notes that in the descent and returns 0. */
uint32_t descent_add_thread(struct descent *descent, thread_name name, uint32_t creator);
void descent_set_op(struct descent *descent, uint32_t slot, const struct pending_op *pending);
/* Reads the threads and their pending ops. */
void descent_read_view(struct descent *descent, const struct schedule_view *view);
/* The thread performs its pending op. */
void descent_note_op(struct descent *descent, uint32_t slot);
void descent_begin(struct descent *descent);
void descent_end(struct descent *descent);
/* Locks that threads in `slots` hold. */
uint64_t descent_held(const struct descent *descent, uint64_t slots);
/* The lock's number; DPOR_NONE: not known. `second`: op_second() of the lock. */
uint32_t descent_lock_of(const struct descent *descent, object_name lock);
uint32_t descent_lock_of_second(const struct descent *descent, uint16_t second);

/* The threads between which the tree branches here: enabled and awake. Empty: a redundant path. If
 * several sets have the smallest size, the result is the first one that a search from slot `first`
 * upwards finds. */
uint64_t descent_branches(const struct descent *descent);
/* Fills `shares`, by slot: each branch's expected share of the traces, relative to DESCENT_WHOLE. */
void descent_expect(const struct descent *descent, uint64_t branches, uint64_t *shares);
/* The thread moves next: which of the sleeping threads sleep on. */
void descent_advance(struct descent *descent, uint32_t slot);
