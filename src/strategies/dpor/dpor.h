/*
 * What the parts of dpor share: the run at hand as a stack of steps, each with the branches that are still to
 * be taken from there. dpor.c says who moves next, dpor_races.c which other orders there are, dpor_branches.c
 * goes back to the next one; see also dpor_order.h.
 *
 * Threads are known by *slots*, which are equal in every run, whatever their indices. All memory is
 * one block; places in it are indices.
 */
#ifndef RADDLE_STRATEGIES_DPOR_DPOR_H
#define RADDLE_STRATEGIES_DPOR_DPOR_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "model/ids.h"
#include "model/op.h"
#include "model/view.h"
#include "strategies/dpor/dpor_shards.h"

#define DPOR_THREADS 64
#define DPOR_NONE UINT32_MAX
#define DPOR_LANES 16	 /* clocks are handled in such parts: few instructions each */
#define DPOR_BUCKETS 256 /* of steps by what they are about; a power of two */
#define DPOR_RACY 1024	 /* bits of what was raced for; a power of two */

/* Runs that only teach what is raced for. */
enum dpor_lesson { DPOR_LESSON_FIRST, DPOR_LESSON_LATEST, DPOR_LESSONS };

struct dpor_op {
	object_name object;
	uint8_t kind, flags;
	uint16_t second; /* as in struct pending_op */
	uint8_t thread;	 /* slot */
	bool is_plain;	 /* nothing but its object matters */
};

/* A node of a wakeup tree: this op next, then what its children say. */
struct dpor_branch {
	struct dpor_op op;
	uint32_t child, sibling; /* DPOR_NONE: none; free ones are chained by `sibling` */
	uint32_t part;		 /* number of the part that takes it; 0: none does */
	/*
	 * Number of the part that has found it before its turn has come, 0: none. To those who are at other runs no branch
	 * from here on settles a race: some of the runs that share it begin with this one, too, and would be missed here.
	 */
	uint32_t finder;
	uint32_t born; /* after so many runs, of the finder */
};

#define DPOR_FINDER_OTHER                                                                          \
	UINT32_MAX /* of what a part was told: it was found by somebody else since it was split off */

/* A thread that need not move from here until something that depends on its op has happened. */
struct dpor_sleeper {
	struct dpor_op op;
};

/* Of a wakeup tree: its slots, UINT64_MAX: not known; and bits of what its ops are about (dpor_key_bit). */
struct dpor_plan {
	uint64_t slots, keys;
};

struct dpor_step {
	struct dpor_op op;
	bool is_value;	/* no step but a choice of a value: `value` of `value_count` */
	bool has_other; /* some step of another thread may race with it */
	uint32_t value, value_count;
	uint32_t ordinal;     /* n-th step of its thread, from 1 */
	uint32_t previous;    /* step of the same thread, DPOR_NONE: there is none */
	uint32_t alike;	      /* step before it of the same bucket, DPOR_NONE: there is none */
	uint32_t wide;	      /* step before it that is wide */
	uint32_t open_before; /* of an open step: the open step before it */
	uint32_t wakeup;      /* branches to take from here; the first is being taken */
	uint32_t sleeper;     /* first of its sleepers; they end where the next step's begin */
	uint32_t sleeper_count;
	uint64_t enabled;	  /* slots that could move */
	struct dpor_plan planned; /* at least what is in its wakeup tree */
	uint32_t leads,
		follows;  /* pairs of a shard of which it is the event that comes first, or waits */
	uint32_t changes; /* of `wakeup` by races so far, */
	uint32_t changes_had; /* and of a part: before it was split off */
};

struct dpor {
	uint32_t step_capacity, branch_capacity, sleeper_capacity, thread_capacity;
	uint32_t depth;	      /* steps of the run at hand */
	uint32_t step_count;  /* on the stack: those from `depth` on are to be repeated */
	uint32_t first_new;   /* step whose branch is taken for the first time in this run */
	uint32_t open;	      /* the last step with races that are not settled; DPOR_NONE: none */
	uint32_t branch_free; /* chain */
	uint32_t branch_used; /* those beyond have never been used */
	uint32_t sleeper_used;
	uint32_t slot_count;
	uint32_t width; /* of clocks: slots in use, rounded up to whole lanes */

	struct dpor_op left[DPOR_THREADS]; /* pending when the run ended, by slot */
	uint64_t left_slots;		   /* that have one */
	uint64_t left_enabled;		   /* and could have moved */

	/*
	 * What ops raced for in this campaign, by the hash of its name; two with the same are one, which costs
	 * nothing but time.
	 */
	uint64_t racy[DPOR_RACY / 64];
	uint32_t main_ops; /* that main had in each of them, at least */
	uint32_t lessons;  /* so many are over; DPOR_LESSONS: all */

	/* A part of another state's work (dpor_parts.c); 0: it is whole. */
	uint32_t base;	     /* steps below are not its own: it tries nothing else there */
	uint32_t part;	     /* its number */
	uint32_t last;	     /* the step at which it was split off, base - 1 or before */
	uint32_t split_runs; /* that had been made then */
	bool is_exact;	     /* it has to make the very runs of one state */
	bool has_arrived;    /* its first run has been where `base` is: before, that is not known */
	uint64_t tree_hash;  /* of the wakeup tree that it began with */
	uint64_t open_hash;  /* of the open steps below its base, likewise */
	uint64_t racy_hash;  /* of `racy`, likewise */

	struct dpor_share share; /* a shard's, else all zero */

	uint32_t awaited; /* the part that has to be joined before anything else is run; 0: none */
	bool is_exhausted;
	bool is_blocked;   /* this run repeats what is known: all that could move slept */
	bool has_diverged; /* this run did not do what it did before */
	bool is_lost;	   /* memory, threads or steps have run out: no verdict */
	uint64_t runs, blocked_runs, diverged_runs;

	thread_name names[DPOR_THREADS];  /* of slots */
	uint16_t index_of[DPOR_THREADS];  /* of slots, in this run; UINT16_MAX: not there yet */
	uint8_t slot_of[DPOR_THREADS];	  /* of indices, in this run */
	uint32_t known;			  /* indices that have a slot */
	bool is_straight;		  /* in this run every index is its own slot */
	uint32_t last_step[DPOR_THREADS]; /* of slots, in this run */
	uint32_t creation[DPOR_THREADS];  /* step that made the slot's thread; DPOR_NONE: none */

	/*
	 * Slots whose pending ops others contend for (dpor_bystander): not looked at again before something could
	 * have changed that.
	 */
	uint64_t contended;

	/*
	 * The last step of each bucket in this run. What a step depends on is in its bucket, but for *wide*
	 * ones, which may depend on any, and any on them.
	 */
	uint32_t last_alike[DPOR_BUCKETS];
	uint32_t last_wide;

	/* Places in the block, as distances from its start. */
	uint32_t steps_at, clocks_at, branches_at, sleepers_at, scratch_at;
};

static inline struct dpor_step *dpor_steps(struct dpor *dpor)
{
	return (struct dpor_step *)((char *)dpor + dpor->steps_at);
}

/* What happens before the step, by slot: how many steps of that thread, its own included. */
static inline uint32_t *dpor_clock(struct dpor *dpor, uint32_t step)
{
	return (uint32_t *)((char *)dpor + dpor->clocks_at) + (uint64_t)step * DPOR_THREADS;
}

static inline struct dpor_branch *dpor_branches(struct dpor *dpor)
{
	return (struct dpor_branch *)((char *)dpor + dpor->branches_at);
}

static inline struct dpor_sleeper *dpor_sleepers(struct dpor *dpor)
{
	return (struct dpor_sleeper *)((char *)dpor + dpor->sleepers_at);
}

/* Room for the numbers of all steps. */
static inline uint32_t *dpor_scratch(struct dpor *dpor)
{
	return (uint32_t *)((char *)dpor + dpor->scratch_at);
}

/* A new leaf; DPOR_NONE and is_lost: there is no room. */
uint32_t dpor_branch_new(struct dpor *dpor, const struct dpor_op *op);
/* The branch and all behind it; its siblings stay. */
void dpor_branch_free(struct dpor *dpor, uint32_t branch);

/* As if no run had been made, but for what has been learnt. */
void dpor_forget(struct dpor *dpor);

/* The run is over: goes back to the last step from which a branch is still to be taken. */
void dpor_back_up(struct dpor *dpor);

struct strategy_parts;
extern const struct strategy_parts dpor_parts;

/* ---- dependence ---- */

static inline uint8_t dpor_class_of(const struct dpor_op *op)
{
	return op_descriptions[op->kind].object;
}

/* Of these, what one op does another may feel although their objects have different names. */
static inline bool dpor_is_entangled(uint8_t class)
{
	return class == OBJECT_FD || class == OBJECT_CHILD || class == OBJECT_SIGNAL ||
	       class == OBJECT_FUTEX;
}

/* A wait on a condition variable gives up a mutex, and may take it again. */
static inline bool dpor_has_mutex(const struct dpor_op *op)
{
	return op->second && dpor_class_of(op) == OBJECT_COND;
}

/* Memory of more than the eight bytes that its object names. */
static inline bool dpor_is_wide_access(const struct dpor_op *op)
{
	return op->flags & OP_WIDE && dpor_class_of(op) == OBJECT_MEMORY;
}

/* Whatever another thread does, it does before or not at all. */
static inline bool dpor_is_exit(const struct dpor_op *op)
{
	return op->kind == OP_PROCESS_EXIT;
}

static inline bool dpor_is_plain(const struct dpor_op *op)
{
	return !dpor_is_exit(op) && !dpor_is_entangled(dpor_class_of(op)) && !dpor_has_mutex(op) &&
	       !dpor_is_wide_access(op);
}

/* Wide: it has to do with more than its object. */
static inline bool dpor_is_wide(const struct dpor_op *op)
{
	return !op->is_plain && (dpor_has_mutex(op) || dpor_is_wide_access(op) || dpor_is_exit(op));
}

/* What it is about, as a number; 0: nothing, and it depends on nothing. */
static inline uint64_t dpor_key(const struct dpor_op *op)
{
	uint8_t class;

	if (op->is_plain)
		return op->object;
	class = dpor_class_of(op);
	return dpor_is_entangled(class) || dpor_is_exit(op) ? class : op->object;
}

/* Two plain ops without a bit in common are independent. */
static inline uint64_t dpor_key_bit(const struct dpor_op *op)
{
	const uint64_t key = dpor_key(op);

	return key ? UINT64_C(1) << ((key ^ key >> 16 ^ key >> 32) & 63) : 0;
}

/*
 * The same op, in memory as words: where fields that have just been written one by one are read together, as by whoever
 * copies the op, the processor waits for all of them to arrive.
 */
static inline struct dpor_op dpor_op_whole(const struct dpor_op *op)
{
	const uint64_t first = (uint64_t)op->object | (uint64_t)op->kind << 32 |
			       (uint64_t)op->flags << 40 | (uint64_t)op->second << 48;
	const uint32_t rest = op->thread | (uint32_t)op->is_plain << 8;
	struct dpor_op whole;

	_Static_assert(sizeof whole == sizeof first + sizeof rest, "there are other fields");
	memcpy(&whole, &first, sizeof first);
	memcpy((char *)&whole + sizeof first, &rest, sizeof rest);
	return whole;
}

/* Has an op on what this one is about been in a race? */
static inline bool dpor_is_racy(const struct dpor *dpor, const struct dpor_op *op)
{
	const uint64_t key = dpor_key(op);
	const uint64_t bit = (key ^ key >> 16) % DPOR_RACY;

	return key && dpor->racy[bit / 64] >> bit % 64 & 1;
}

static inline void dpor_note_racy(struct dpor *dpor, const struct dpor_op *op)
{
	const uint64_t key = dpor_key(op);
	const uint64_t bit = (key ^ key >> 16) % DPOR_RACY;

	dpor->racy[bit / 64] |= UINT64_C(1) << bit % 64;
}

bool dpor_dependent_otherwise(const struct dpor_op *a, const struct dpor_op *b);

/* May exchanging two ops of different threads change anything? */
static inline bool dpor_dependent(const struct dpor_op *a, const struct dpor_op *b)
{
	if (a->flags & b->flags & OP_READ)
		return false;
	if (a->object == b->object && a->object)
		return true;
	return !(a->is_plain && b->is_plain) && dpor_dependent_otherwise(a, b);
}

/* ---- threads ---- */

static inline uint8_t dpor_slot_of(const struct dpor *dpor, uint32_t index)
{
	return index < DPOR_THREADS ? dpor->slot_of[index] : 0;
}

/* Gives threads that are new a slot. */
void dpor_meet_new(struct dpor *dpor, const struct schedule_view *view);

static inline void dpor_meet(struct dpor *dpor, const struct schedule_view *view)
{
	if (dpor->known < view->thread_count)
		dpor_meet_new(dpor, view);
}

/* The one that was met last is not there yet. */
void dpor_forget_thread(struct dpor *dpor);
/* What the thread is about to do. */
static inline struct dpor_op dpor_op_of(
	const struct dpor *dpor, const struct schedule_view *view, uint32_t index)
{
	const struct pending_op *pending = &view->pending[index];
	struct dpor_op op = {.object = pending->object,
		.kind = pending->kind,
		.flags = pending->flags,
		.second = pending->second,
		.thread = dpor_slot_of(dpor, index)};

	op.is_plain = dpor_is_plain(&op);
	return dpor_op_whole(&op);
}

bool dpor_can_move(const struct dpor *dpor, const struct schedule_view *view, uint8_t slot);
uint64_t dpor_enabled_slots(const struct dpor *dpor, const struct schedule_view *view);

/* ---- turns ---- */

/* One that does not sleep; DPOR_NONE: all do. */
uint32_t dpor_somebody_awake(
	struct dpor *dpor, const struct dpor_step *step, const struct schedule_view *view);
/* One that may move before the branches of the step, as it has nothing to do with them; DPOR_NONE: none is to. */
uint32_t dpor_bystander(
	struct dpor *dpor, const struct dpor_step *step, const struct schedule_view *view);
/* A step of that op is done: what dpor_bystander() remembers may no longer be so. */
void dpor_note_moved(struct dpor *dpor, const struct dpor_op *op);
/* What is in that wakeup tree. */
struct dpor_plan dpor_plan_of(struct dpor *dpor, uint32_t branch);

/* ---- steps and races ---- */

/* The step is the last of the run: those that come will find it. */
void dpor_enlist(struct dpor *dpor, uint32_t step);
/* The step is the last of the run, and is taken back. */
void dpor_strike(struct dpor *dpor, uint32_t step);
/* Fills its clock. */
void dpor_note_step(struct dpor *dpor, uint32_t step);
/* There are more slots than clocks are wide: those of all steps on the stack grow. */
void dpor_widen(struct dpor *dpor);
/* What is pending at the end of the run, and could come before something in it: not so what a shard holds. */
void dpor_note_left(struct dpor *dpor, const struct schedule_view *view);
/* The run is over: adds a branch for each race in it that has not been seen before. */
void dpor_reverse_races(struct dpor *dpor);

#endif
