/*
 * State of strategy `estimate`: the number of orders that dpor would execute, from random descents.
 *
 * A descent is a run that follows one random path of a tree of runs. At each step the tree branches
 * into a persistent set of threads (estimate_sets.c) outside the sleep set. Each Mazurkiewicz trace
 * is exactly one leaf. The weight of a leaf is the inverse of the probability of its path, and a
 * path that ends because all threads of the set sleep has the weight 0. The mean weight is
 * therefore an unbiased estimate of the number of traces, whatever the probabilities are.
 *
 * The sets and the probabilities come from the accesses of earlier descents (estimate_accesses.c).
 * Threads are identified by *slots* as in dpor.h. An *epoch* of a thread is the part of its run
 * between two of its creations or joins of threads.
 */
#pragma once

#include "base/rng.h"
#include "strategies/dpor/dpor.h"

#define ESTIMATE_SLOTS 32
#define ESTIMATE_OBJECTS 256 /* the last one stands for all further objects */
#define ESTIMATE_SEEN 8192   /* capacity of the table of objects; a power of two */
#define ESTIMATE_LOCKS 64
#define ESTIMATE_SIZES 16384	    /* capacity of the table of subtrees; a power of two */
#define ESTIMATE_BRANCHINGS 1024    /* of one descent; later ones are not learned */
#define ESTIMATE_TAIL 64u	    /* number of largest contributions that are kept */
#define ESTIMATE_PRIVATE UINT16_MAX /* only one thread accesses the object */
/* Accesses to more than eight bytes, which depend on the accesses to all memory. */
#define ESTIMATE_WIDE 0u

struct estimate_seen {
	uint64_t key; /* dpor_key(); 0: free */
	uint16_t object;
	uint8_t slot; /* the first thread that accessed the object */
};

/* Accesses of one thread to one shared object. */
struct estimate_access {
	uint64_t epochs, write_epochs;
	uint64_t locks, write_locks; /* locks held at every access, and at every write */
	uint32_t last, last_write;   /* ordinal of the last op; UINT32_MAX: not constant */
	uint32_t run_last, run_last_write;
	uint32_t runs;	  /* number of descents that include an access */
	uint32_t done[2]; /* number of writes and of reads in this descent */
	float usual[2];	  /* mean numbers of the descents */
};

/* Mean size of the subtrees behind a branch (estimate_sizes.c). */
struct estimate_size {
	uint64_t key; /* 0: free */
	double count, mean;
};

/* A branch that this descent has taken. */
struct estimate_branching {
	uint64_t key;
	double weight; /* of the path that ends with the branch */
};

struct estimate {
	struct rng rng;
	double weight; /* of the current path */
	bool is_blocked;
	bool is_lost;	   /* too many threads, or the weight is too large: no estimate */
	bool has_grown;	   /* this descent has shown accesses that earlier descents did not */
	uint64_t descents; /* number of descents, learning ones included */
	/* Weights of the descents since the last one with new accesses. */
	uint64_t count;
	/* Descent number i counts i times: later ones have better probabilities. Sums of the factors
	 * i and i^2, and of i^2 times the weight and its square. */
	double mean, factors, factors_squared, weights, squares;
	double largest; /* i times the weight above the mean of the descents before */
	/* The largest of i times the weight, in descending order. */
	double tail[ESTIMATE_TAIL + 1];

	/* this descent, by slot */
	uint32_t known; /* number of threads with a slot */
	uint8_t slot_of[ESTIMATE_SLOTS], index_of[ESTIMATE_SLOTS];
	uint32_t ordinal[ESTIMATE_SLOTS]; /* number of ops done */
	uint32_t epoch[ESTIMATE_SLOTS];
	uint64_t held[ESTIMATE_SLOTS]; /* locks */
	uint8_t depth[ESTIMATE_LOCKS]; /* number of acquisitions not yet released */
	uint64_t exists, asleep;
	uint32_t chosen; /* slot of the choice that is not yet executed; DPOR_NONE: none */
	uint32_t mover;	 /* slot that moved last */
	/* the pending ops at this point */
	uint64_t alive, enabled;
	struct dpor_op op[ESTIMATE_SLOTS];
	uint16_t object[ESTIMATE_SLOTS]; /* ESTIMATE_PRIVATE: none */
	uint16_t mutex[ESTIMATE_SLOTS];	 /* the mutex that the op acquires beside its object */

	/* knowledge from all descents */
	uint32_t slot_count;
	thread_name names[ESTIMATE_SLOTS];
	uint8_t creator[ESTIMATE_SLOTS];
	object_name thread_object[ESTIMATE_SLOTS];
	/* epoch of the first slot after which it joins the second; 0: never joins it */
	uint8_t joined[ESTIMATE_SLOTS][ESTIMATE_SLOTS];
	uint64_t joins[ESTIMATE_SLOTS]; /* slots that the slot joins in any epoch */
	uint32_t lock_count;
	object_name locks[ESTIMATE_LOCKS];
	uint32_t object_count, seen_count;
	struct estimate_seen seen[ESTIMATE_SEEN];
	struct estimate_access access[ESTIMATE_SLOTS][ESTIMATE_OBJECTS];
	uint64_t writers[ESTIMATE_OBJECTS], accessors[ESTIMATE_OBJECTS]; /* sets of slots */
	uint32_t size_count;
	struct estimate_size sizes[ESTIMATE_SIZES];
	uint32_t branching_count;
	struct estimate_branching branchings[ESTIMATE_BRANCHINGS];
};

enum estimate_direction { ESTIMATE_WRITE, ESTIMATE_READ };

static inline enum estimate_direction estimate_direction(const struct dpor_op *op)
{
	return op->flags & OP_READ ? ESTIMATE_READ : ESTIMATE_WRITE;
}

static inline uint64_t estimate_bit(uint32_t slot)
{
	return UINT64_C(1) << slot;
}

/* Slots of which a thread of this descent can still move. */
static inline uint64_t estimate_with_future(const struct estimate *estimate)
{
	return (estimate->alive | ~estimate->exists) & (estimate_bit(estimate->slot_count) - 1);
}

static inline bool estimate_has_future(const struct estimate *estimate, uint32_t slot)
{
	return estimate_with_future(estimate) >> slot & 1;
}

/* Reads the threads and their pending ops. */
void estimate_read_view(struct estimate *estimate, const struct schedule_view *view);
/* The thread performs its pending op. */
void estimate_note_op(struct estimate *estimate, uint32_t slot);
void estimate_begin_descent(struct estimate *estimate);
void estimate_end_descent(struct estimate *estimate);
/* Locks that threads in `slots` hold. */
uint64_t estimate_held(const struct estimate *estimate, uint64_t slots);
/* The lock's number; DPOR_NONE: not known. `second`: op_second() of the lock. */
uint32_t estimate_lock_of(const struct estimate *estimate, object_name lock);
uint32_t estimate_lock_of_second(const struct estimate *estimate, uint16_t second);

/* The threads between which the tree branches here: enabled and awake. Empty: a redundant path. */
uint64_t estimate_branches(const struct estimate *estimate);
/* Expected share of the traces that begin with this slot's op, while `asleep` sleep after it. */
double estimate_share(const struct estimate *estimate, uint32_t slot, uint64_t asleep);

/* Identifies a branching, while the threads that slept before still do. */
uint64_t estimate_branching_key(const struct estimate *estimate, uint64_t branches);
/* Corrects the shares of the branches by the sizes that earlier descents have shown. */
void estimate_correct_shares(
	struct estimate *estimate, uint64_t key, uint64_t branches, double *share);
void estimate_note_branch(struct estimate *estimate, uint64_t key, uint32_t slot);
/* Learns from the descent, whose leaf has the weight. */
void estimate_learn_sizes(struct estimate *estimate, double weight);
