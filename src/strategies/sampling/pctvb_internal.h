/* State of `pctvb`, shared by pctvb.c (choices) and pctvb_learn.c (learning). */
#pragma once

#include "base/rng.h"
#include "strategies/key_table.h"
#include "strategies/priority_table.h"
#include "strategies/strategy.h"

#define PCTVB_VARIABLES_MOST 8 /* maximum number of variables of a run */

enum pctvb_falls {
	FALLS_LOWEST, /* the priority falls below all threads */
	/* the priority falls, with equal probability, directly below one of the threads from the
	 * next one downwards */
	FALLS_POSITIONS,
	FALLS_RANDOM /* a random priority below that of the next thread */
};

struct pctvb_access {
	uint16_t thread;       /* thread index + 1; 0: no access */
	uint16_t thread_count; /* number of threads at that time */
};

struct pctvb_variable {
	uint64_t count;		    /* contested accesses in the run that is being learnt */
	struct run_length accesses; /* number of accesses per run */
	bool is_shared;		    /* accesses to the variable may be reordered */
};

struct pctvb_drawn {
	uint16_t variable; /* index in `variables` */
	uint64_t class;
	uint64_t count; /* contested accesses so far */
};

struct pctvb_change {
	uint32_t drawn; /* index in `drawn` */
	/* number of the access, from 0, before which the priority changes */
	uint64_t access;
};

/* Runs of a round that produce lessons: access counts stabilise within a few runs. */
#define PCTVB_TEACHING 16u
#define PCTVB_LESSON_VARIABLES 4096u

struct pctvb_taught {
	uint64_t class;
	uint64_t count;			 /* number of contested accesses */
	struct pctvb_access read, write; /* the last read and the last write */
	bool is_shared;
};

struct pctvb_lesson {
	uint32_t outcome; /* enum outcome_kind */
	uint32_t threads;
	/* other variables' accesses may not have been scheduling points */
	bool is_focused;
	uint32_t drawn_count;
	uint16_t drawn[PCTVB_VARIABLES_MOST];
	uint32_t count;
	struct pctvb_taught variables[PCTVB_LESSON_VARIABLES];
};

struct pctvb {
	struct rng rng;
	uint32_t depth, wanted, threads; /* threads 0: option not given */
	uint32_t threads_most;
	enum pctvb_falls falls; /* method of this run */
	uint32_t shared_count;
	uint32_t position; /* position of the run in its round */
	uint32_t drawn_count, change_count, fallen;
	uint64_t drawn_for; /* seed + 1 of the run whose variables are already drawn; 0: none */
	bool is_focused;    /* accesses to other variables may not be scheduling points */
	struct pctvb_drawn drawn[PCTVB_VARIABLES_MOST];
	struct pctvb_change changes[CHANGE_POINTS_MAX];
	struct priority_table priorities;
	struct key_table classes;
	uint16_t shared[KEY_TABLE_CAPACITY]; /* indices in `variables` */
	struct pctvb_variable variables[KEY_TABLE_CAPACITY];
	struct key_table run_classes; /* index of a class in the lesson of a learning run */
	struct pctvb_lesson lessons[PCTVB_TEACHING];
};

static inline bool pctvb_teaches(const struct pctvb *pctvb)
{
	return pctvb->position < PCTVB_TEACHING;
}

/* Returns whether the op has a variable. Ops on threads (creation, begin, end, join) cannot be
 * reordered. */
static inline bool pctvb_has_variable(const struct pending_op *op)
{
	return op->object && op_descriptions[op->kind].object != OBJECT_THREAD;
}

void pctvb_begin_lesson(struct pctvb *pctvb);
/* Notes contested accesses of this class at which no other thread was pending. */
void pctvb_note_stands(struct pctvb *pctvb, uint64_t class, uint64_t count);

void pctvb_executed(void *state, const struct schedule_view *view, struct thread_id thread);
void pctvb_end_run(void *state, const struct run_summary *summary);
void pctvb_begin_position(void *state, uint32_t position);
void pctvb_gather(void *state, const void *other, uint32_t position, uint32_t count);
void pctvb_learn(void *state, uint32_t count, uint32_t next);
void pctvb_share(void *state, const void *other);
