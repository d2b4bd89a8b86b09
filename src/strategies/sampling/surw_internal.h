/* What the files of `surw` share: its state. surw.c chooses, surw_learn.c learns. */
#ifndef RADDLE_STRATEGIES_SAMPLING_SURW_INTERNAL_H
#define RADDLE_STRATEGIES_SAMPLING_SURW_INTERNAL_H

#include "base/rng.h"
#include "strategies/key_table.h"
#include "strategies/strategy.h"

#define SURW_LOCKS 4 /* what is held beyond them is not seen */

/* Locks that are held; 0: none. */
struct surw_locks {
	object_name locks[SURW_LOCKS];
};

struct surw_pair {	     /* a thread and an object, known by names */
	uint16_t thread;     /* index in `threads` */
	uint16_t object;     /* index in `objects`, UINT16_MAX: that table is full */
	uint32_t count;	     /* interesting ops in the run that is learnt from */
	uint32_t sixteenths; /* of the ops expected per run */
};

struct surw_object {
	uint32_t thread_count;	  /* different threads that ever had interesting ops on it */
	bool is_contended;	  /* one of them while there was more than one thread */
	struct surw_locks common; /* held at each of those so far */
};

/* Runs of a round that teach, and what of one is kept. */
#define SURW_TEACHING 16u
#define SURW_LESSON_THREADS 1024u
#define SURW_LESSON_OBJECTS 1024u
#define SURW_LESSON_PAIRS 2048u

struct surw_lesson_object {
	object_name name;
	bool is_contended;
	struct surw_locks common; /* held at each op of the run on it */
};

struct surw_lesson_pair {
	uint16_t thread; /* its index in the run */
	uint16_t object; /* index in the lesson's objects */
	uint32_t count;
};

struct surw_lesson {
	bool is_whole; /* the run was not cut off */
	uint32_t thread_count, object_count, pair_count;
	struct {
		thread_name name;
		uint32_t creator; /* its index in the run; KEY_TABLE_NONE: not known */
	} threads[SURW_LESSON_THREADS];
	struct surw_lesson_object objects[SURW_LESSON_OBJECTS];
	struct surw_lesson_pair pairs[SURW_LESSON_PAIRS];
};

struct surw {
	struct rng rng;
	uint32_t place;		   /* of the run in its round */
	object_name object;	   /* of this run, 0: walk at random */
	struct thread_id intended; /* THREAD_NONE: to be drawn */
	uint32_t known;		   /* threads of this run that have a weight */
	bool is_exhausted;	   /* no weight is left: walk at random */
	uint32_t eligible_count;
	uint16_t eligible[KEY_TABLE_CAPACITY]; /* indices in `objects` that two threads share */

	/* By thread index of this run. */
	uint32_t weight[THREAD_CAPACITY]; /* interesting ops left, uncreated descendants' too */
	struct surw_locks held[THREAD_CAPACITY];
	uint64_t candidates[BITSET_WORDS(THREAD_CAPACITY)];

	/* Learnt, by stable names. A thread's parent stands before it. */
	struct key_table threads; /* thread_name */
	struct key_table objects; /* object_name */
	struct key_table pairs;	  /* index in `threads` << 32 | object_name */
	uint32_t parent[KEY_TABLE_CAPACITY];
	uint32_t subtree[KEY_TABLE_CAPACITY]; /* expected for this run's object, descendants' too */
	struct surw_object object_of[KEY_TABLE_CAPACITY];
	struct surw_pair pair_of[KEY_TABLE_CAPACITY];

	/* Of a run that teaches: where its lesson has an object, and a thread's ops on it. */
	struct key_table run_objects; /* object_name */
	struct key_table run_pairs;   /* thread index << 32 | index of the object */
	struct surw_lesson lessons[SURW_TEACHING];
};

/* Does the run at hand teach? */
static inline bool surw_teaches(const struct surw *surw)
{
	return surw->place < SURW_TEACHING;
}

/* Of a run that teaches. */
void surw_begin_lesson(struct surw *surw);
void surw_meet_in_lesson(struct surw *surw, uint32_t thread, thread_name name, uint32_t creator);
/* The thread performs its op. */
void surw_note(struct surw *surw, const struct schedule_view *view, uint32_t thread);

/* Could the order of this op and others on its object be another one? */
bool surw_may_interest(const struct pending_op *op);

/* For struct strategy. */
void surw_end_run(void *state, const struct run_summary *summary);
void surw_take_place(void *state, uint32_t place);
void surw_gather(void *state, const void *other, uint32_t place, uint32_t count);
void surw_learn(void *state, uint32_t count, uint32_t next);
void surw_share(void *state, const void *other);

#endif
