/* What the files of `pctvb` share: its state. pctvb.c chooses, pctvb_learn.c learns. */
#ifndef RADDLE_STRATEGIES_SAMPLING_PCTVB_INTERNAL_H
#define RADDLE_STRATEGIES_SAMPLING_PCTVB_INTERNAL_H

#include "base/rng.h"
#include "strategies/key_table.h"
#include "strategies/priority_table.h"
#include "strategies/strategy.h"

#define PCTVB_VARIABLES_MOST 8 /* of a run */

/* Where a thread falls to. */
enum pctvb_falls {
	FALLS_LOWEST, /* below everybody */
	FALLS_PLACES, /* right below one of the threads from the next one on downwards, each as likely */
	FALLS_RANDOM /* to a random priority below the next one's */
};

struct pctvb_access {
	uint16_t thread;       /* index + 1; 0: there was none */
	uint16_t thread_count; /* so many threads existed */
};

struct pctvb_variable {
	uint64_t count;		    /* contested accesses in the run that is learnt from */
	struct run_length accesses; /* of a run */
	bool is_shared;		    /* accesses to it may come in another order */
};

/* One of the run's variables. */
struct pctvb_drawn {
	uint16_t variable; /* index in `variables` */
	uint64_t class;
	uint64_t count; /* contested accesses so far */
};

struct pctvb_change {
	uint32_t drawn;	 /* index in `drawn` */
	uint64_t access; /* the thread about to make this one, counted from 0 */
};

/* Runs of a round that teach, and what of one is kept. How often runs use what settles in a few. */
#define PCTVB_TEACHING 16u
#define PCTVB_LESSON_VARIABLES 4096u

struct pctvb_taught {
	uint64_t class;
	uint64_t count;			 /* contested accesses */
	struct pctvb_access read, write; /* the last ones */
	bool is_shared;
};

struct pctvb_lesson {
	uint32_t outcome; /* enum outcome_kind */
	uint32_t threads;
	bool is_focused; /* accesses to other variables than those drawn may have been no points */
	uint32_t drawn_count;
	uint16_t drawn[PCTVB_VARIABLES_MOST];
	uint32_t count;
	struct pctvb_taught variables[PCTVB_LESSON_VARIABLES];
};

struct pctvb {
	struct rng rng;
	uint32_t depth, wanted, threads; /* threads 0: not asked for */
	uint32_t threads_most;
	enum pctvb_falls falls; /* in this run */
	uint32_t shared_count;
	uint32_t place; /* of the run in its round */
	uint32_t drawn_count, change_count, fallen;
	uint64_t
		drawn_for; /* seed + 1 of the run whose variables have been drawn already; 0: none */
	bool is_focused;   /* accesses to other variables than the run's may be no points */
	struct pctvb_drawn drawn[PCTVB_VARIABLES_MOST];
	struct pctvb_change changes[CHANGE_POINTS_MAX];
	struct priority_table priorities;
	struct key_table classes;
	uint16_t shared[KEY_TABLE_CAPACITY]; /* indices in `variables` */
	struct pctvb_variable variables[KEY_TABLE_CAPACITY];
	struct key_table run_classes; /* where the lesson of a run that teaches has them */
	struct pctvb_lesson lessons[PCTVB_TEACHING];
};

/* Does the run at hand teach? */
static inline bool pctvb_teaches(const struct pctvb *pctvb)
{
	return pctvb->place < PCTVB_TEACHING;
}

/* Who is created, begins, ends or is waited for cannot be in another order. */
static inline bool pctvb_has_variable(const struct pending_op *op)
{
	return op->object && op_descriptions[op->kind].object != OBJECT_THREAD;
}

/* Of a run that teaches. */
void pctvb_begin_lesson(struct pctvb *pctvb);
/* Threads stand at so many contested accesses that nobody else has stood at. */
void pctvb_note_stands(struct pctvb *pctvb, uint64_t class, uint64_t count);

/* For struct strategy. */
void pctvb_executed(void *state, const struct schedule_view *view, struct thread_id thread);
void pctvb_end_run(void *state, const struct run_summary *summary);
void pctvb_take_place(void *state, uint32_t place);
void pctvb_gather(void *state, const void *other, uint32_t place, uint32_t count);
void pctvb_learn(void *state, uint32_t count, uint32_t next);
void pctvb_share(void *state, const void *other);

#endif
