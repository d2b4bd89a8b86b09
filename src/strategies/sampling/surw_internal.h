/* State of `surw`, shared by surw.c (choices) and surw_learn.c (learning). */
#pragma once

#include "base/rng.h"
#include "strategies/key_table.h"
#include "strategies/strategy.h"

#define SURW_LOCKS 4 /* maximum number of held locks that are tracked */

struct surw_locks {
	object_name locks[SURW_LOCKS];
};

struct surw_pair {	     /* a thread and an object, identified by names */
	uint16_t thread;     /* index in `threads` */
	uint16_t object;     /* index in `objects`, UINT16_MAX: that table is full */
	uint32_t count;	     /* interesting ops in the run that is being learnt */
	uint32_t sixteenths; /* expected number of ops per run, in sixteenths */
};

struct surw_object {
	uint32_t thread_count; /* number of threads that ever had interesting ops on the object */
	bool is_contended;     /* one of these ops was made while more than one thread existed */
	struct surw_locks common; /* locks held at all of these ops */
};

/* Runs of a round that produce lessons, and the size of a lesson. */
#define SURW_TEACHING 16u
#define SURW_LESSON_THREADS 1024u
#define SURW_LESSON_OBJECTS 1024u
#define SURW_LESSON_PAIRS 2048u

struct surw_lesson_object {
	object_name name;
	bool is_contended;
	struct surw_locks common; /* locks held at all ops of the run on the object */
};

struct surw_lesson_pair {
	uint16_t thread; /* index in the run */
	uint16_t object; /* index in the lesson's objects */
	uint32_t count;
};

struct surw_lesson {
	bool is_whole; /* the run was complete */
	uint32_t thread_count, object_count, pair_count;
	struct {
		thread_name name;
		uint32_t creator; /* index in the run; KEY_TABLE_NONE: not known */
	} threads[SURW_LESSON_THREADS];
	struct surw_lesson_object objects[SURW_LESSON_OBJECTS];
	struct surw_lesson_pair pairs[SURW_LESSON_PAIRS];
};

struct surw {
	struct rng rng;
	uint32_t position;	   /* position of the run in its round */
	object_name object;	   /* object of this run; 0: random walk */
	struct thread_id intended; /* THREAD_NONE: must be drawn */
	uint32_t known;		   /* number of threads of this run with a weight */
	bool is_exhausted;	   /* no weight is left; the rest of the run is a random walk */
	uint32_t eligible_count;
	uint16_t eligible[KEY_TABLE_CAPACITY];

	/* remaining interesting ops, with those of descendants not yet created */
	uint32_t weight[THREAD_CAPACITY];
	struct surw_locks held[THREAD_CAPACITY];
	uint64_t candidates[BITSET_WORDS(THREAD_CAPACITY)];

	/* Learnt, by stable names. The parent of a thread precedes it. */
	struct key_table threads; /* thread_name */
	struct key_table objects; /* object_name */
	struct key_table pairs;	  /* index in `threads` << 32 | object_name */
	uint32_t parent[KEY_TABLE_CAPACITY];
	/* expected ops of the thread and its descendants on this run's object */
	uint32_t subtree[KEY_TABLE_CAPACITY];
	struct surw_object object_of[KEY_TABLE_CAPACITY];
	struct surw_pair pair_of[KEY_TABLE_CAPACITY];

	/* Learning runs: a key's index is its index in the lesson. */
	struct key_table run_objects; /* object_name */
	struct key_table run_pairs;   /* thread index << 32 | index of the object */
	struct surw_lesson lessons[SURW_TEACHING];
};

static inline bool surw_teaches(const struct surw *surw)
{
	return surw->position < SURW_TEACHING;
}

void surw_begin_lesson(struct surw *surw);
void surw_add_thread_to_lesson(
	struct surw *surw, uint32_t thread, thread_name name, uint32_t creator);
void surw_note(struct surw *surw, const struct schedule_view *view, uint32_t thread);

/* Returns whether the op can be reordered with other ops on its object. */
bool surw_may_interest(const struct pending_op *op);

/* Returns the number of interesting ops that a run is expected to have. */
static inline uint32_t surw_expected(const struct surw_pair *pair)
{
	return (pair->sixteenths + 8) / 16;
}

/* Returns whether one lock is held at all ops on the object: its order is that of the lock. */
static inline bool surw_is_guarded(const struct surw_object *object)
{
	for (uint32_t i = 0; i < SURW_LOCKS; i++)
		if (object->common.locks[i])
			return true;
	return false;
}

void surw_end_run(void *state, const struct run_summary *summary);
void surw_begin_position(void *state, uint32_t position);
void surw_gather(void *state, const void *other, uint32_t position, uint32_t count);
void surw_learn(void *state, uint32_t count, uint32_t next);
void surw_share(void *state, const void *other);
uint64_t surw_order_bits(const void *state);
