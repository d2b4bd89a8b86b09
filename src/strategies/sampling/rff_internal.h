/* State of `rff`, shared by rff.c (choices) and rff_learn.c (learning). */
#pragma once

#include "base/rng.h"
#include "strategies/key_table.h"
#include "strategies/strategy.h"

#define RFF_CONSTRAINTS 3u
#define RFF_START UINT32_MAX /* instead of a first event: the object has not been written yet */
#define RFF_RANKS 16u	     /* later ops of a thread on an object count as the last of these */
#define RFF_SITE_BITS 12     /* bits of a code address that are the same at every load address */
#define RFF_PATIENCE 4096u   /* the maximum number of delays in a run */
#define RFF_TEACHING 16u     /* the number of runs of a round that produce lessons */
#define RFF_LESSON_PAIRS 2048u

struct rff_event {
	uint16_t object; /* index in `objects` */
	uint16_t next;	 /* index + 1 of the next event on the object; 0: none */
	uint8_t rank;
	bool is_write;
};

struct rff_object {
	uint16_t first_event; /* index + 1 of the last event learnt; 0: none */
	bool is_shared;	      /* several threads used it in one run */
	bool is_written;
};

enum rff_progress { RFF_AWAITS_FIRST, RFF_AWAITS_SECOND, RFF_ENDED };

/* "Event `second` is executed, and the last write before it is event `first`." */
struct rff_constraint {
	uint32_t first, second; /* indices in `events` */
	bool is_own;		/* one thread executes both */
	enum rff_progress state;
	uint32_t writer; /* thread of the first event, while the second event is awaited */
	object_name object;
	uint8_t ranks[THREAD_CAPACITY]; /* number of the thread's ops on the object, at most 255 */
};

struct rff_lesson_pair {
	uint64_t first, second; /* keys of events; first 0: none */
	object_name object;
	uint8_t first_rank, second_rank;
	bool is_own, is_second_write;
	bool is_shared; /* another thread has used the object in this run */
};

struct rff_lesson {
	uint32_t pair_count;
	uint32_t aim_count;
	uint64_t aims[RFF_CONSTRAINTS]; /* keys of the run's constraints */
	struct rff_lesson_pair pairs[RFF_LESSON_PAIRS];
};

/* The last write to an object in the current run, and the object's users. */
struct rff_write {
	uint64_t event; /* key; 0: no write yet */
	uint32_t thread;
	uint8_t rank;
	uint32_t first_user; /* the first thread that used the object */
	bool is_shared;	     /* other threads have used the object too */
};

struct rff {
	struct rng rng;
	uint32_t position; /* position of the run in its round */
	bool is_observing; /* another strategy makes the choices of this run */
	uint32_t known;	   /* number of threads of this run with a priority */
	uint32_t delays;   /* number of choices that the constraints changed */
	uint32_t constraint_count;
	struct rff_constraint constraints[RFF_CONSTRAINTS];
	uint64_t priority[THREAD_CAPACITY];

	/* Learnt. */
	struct key_table objects; /* object_name */
	struct key_table events;
	struct key_table pairs;
	struct rff_object object_of[KEY_TABLE_CAPACITY];
	struct rff_event event_of[KEY_TABLE_CAPACITY];
	/* number of learning runs that showed the pair or aimed at it */
	uint16_t count_of[KEY_TABLE_CAPACITY];
	bool has_grown; /* events, or the objects that are shared and written */
	uint32_t contended_count;
	uint16_t contended[KEY_TABLE_CAPACITY]; /* events on objects that are shared and written */

	/* Learning runs: objects, the last writes there, and the ranks of threads. */
	struct key_table run_objects; /* object_name */
	struct key_table run_ranks;   /* thread and object */
	struct key_table run_pairs;
	struct rff_write writes[KEY_TABLE_CAPACITY];
	uint8_t run_rank_of[KEY_TABLE_CAPACITY];
	struct rff_lesson lessons[RFF_TEACHING];
};

static inline bool rff_teaches(const struct rff *rff)
{
	return rff->position < RFF_TEACHING;
}

/* Returns whether the op can be reordered with other ops on its object. */
static inline bool rff_may_race(const struct pending_op *op)
{
	return op->object && !(op->flags & OP_RELEASE) &&
	       (op->kind < OP_THREAD_BEGIN || op->kind > OP_TEST_CANCEL);
}

static inline bool rff_is_write(const struct pending_op *op)
{
	return rff_may_race(op) && !(op->flags & OP_READ);
}

static inline bool rff_is_rank(uint32_t first, uint32_t second)
{
	return first == second || (first >= RFF_RANKS - 1 && second >= RFF_RANKS - 1);
}

static inline uint64_t rff_event_key(const struct pending_op *op, uint32_t rank)
{
	const uint64_t site = op->site & ((1u << RFF_SITE_BITS) - 1);
	const uint64_t kind_and_site = (uint64_t)op->kind << RFF_SITE_BITS | site;

	return hash_pair(hash_pair(op->object, kind_and_site),
		       rank < RFF_RANKS ? rank : RFF_RANKS - 1) |
	       1;
}

static inline uint64_t rff_pair_key(uint32_t first, uint32_t second, bool is_own)
{
	return (uint64_t)(first + 1) << 33 | (uint64_t)second << 1 | is_own;
}

void rff_begin_lesson(struct rff *rff);
/* Records the op that the thread executes. */
void rff_note(struct rff *rff, const struct schedule_view *view, uint32_t thread);

/* Members of struct strategy. */
void rff_begin_position(void *state, uint32_t position);
void rff_gather(void *state, const void *other, uint32_t position, uint32_t count);
void rff_learn(void *state, uint32_t count, uint32_t next);
void rff_share(void *state, const void *other);
