/*
 * Shared state of dpor: the current run as a stack of steps. Each step has the branches of its
 * wakeup tree that are still to be explored. dpor.c chooses threads, dpor_races.c finds races and
 * their other orders, and dpor_branches.c backtracks to the next branch. See also dpor_order.h
 * (clocks), dpor_shards.h (shards) and dpor_merge.h (tasks).
 *
 * Threads are identified by *slots*, which are equal in every run, unlike thread indices. A
 * *sleeper* is a member of a sleep set: a thread whose op is already explored from this step. All
 * memory is one block; offsets and indices replace pointers.
 *
 * Life cycle of a run: begin_run (or repeat_prefix) resets `depth`; each choice pushes or repeats a
 * step; end_run reverses races and backtracks.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "model/ids.h"
#include "model/op.h"
#include "model/view.h"
#include "strategies/dpor/dpor_shards.h"

#define DPOR_THREADS 64
#define DPOR_NONE UINT32_MAX
/* clocks have blocks of this many entries, which compile to vector instructions */
#define DPOR_LANES 16
#define DPOR_BUCKETS 256 /* number of buckets of steps, by dpor_key(); a power of two */
#define DPOR_BRANCHES_PER_STEP 16
#define DPOR_RACY (DPOR_RACY_WORDS * 64) /* bits of the set of raced objects; a power of two */

struct strategy_config;

enum dpor_option { DPOR_OPTION_STEPS, DPOR_OPTION_SYMMETRY };

/* Runs that only learn which objects threads race for. */
enum dpor_lesson { DPOR_LESSON_FIRST, DPOR_LESSON_LATEST, DPOR_LESSONS };

/* Begins like struct pending_op. */
struct dpor_op {
	uint8_t kind, flags;
	uint16_t second;
	object_name object;
	uint8_t thread; /* slot */
	/* `object`, `untouched` and `buffer` determine the dependence of this op */
	bool is_plain : 1;
	/* of a branch: the read of a waiting loop, which may turn out to be blocked there */
	bool is_doubtful : 1;
	/* slot of the drainer of a drain, or of a load's own store buffer; 0: another op, or no buffer */
	uint8_t buffer;
	uint8_t untouched; /* same as in struct pending_op */
};

/* A node of a wakeup tree: this op is next, followed by one of the children. */
struct dpor_branch {
	struct dpor_op op;
	uint32_t child, sibling; /* DPOR_NONE: none; the free list is linked by `sibling` */
	uint32_t task;		 /* number of the task that explores the branch; 0: none */
	/*
	 * Task that found this branch ahead of time; 0: no task. In other states, this branch and
	 * later siblings settle no race, because some runs with the race may begin here.
	 */
	uint32_t finder;
	uint32_t born; /* number of runs of the finder when it created the branch */
};

#define DPOR_FINDER_OTHER                                                                          \
	UINT32_MAX /* finder of a branch that another state found after this task was split off */

/* Sleep-set entry: the thread need not run until an op dependent on `op` has happened. */
struct dpor_sleeper {
	struct dpor_op op;
};

/* Slots of a wakeup tree (UINT64_MAX: not known), and the dpor_key_bit() of its ops. */
struct dpor_plan {
	uint64_t slots, keys;
};

struct dpor_step {
	struct dpor_op op;
	bool is_value;	/* a value choice instead of a step: `value` of `value_count` */
	bool has_other; /* a step of another thread may race with this one */
	/* ops on locks: number of times that the thread holds the lock after this step */
	uint8_t nesting;
	uint32_t value, value_count;
	uint32_t ordinal;  /* number of the step within its thread, from 1 */
	uint32_t previous; /* previous step of the same thread; DPOR_NONE: none */
	/* store buffers: another step that enabled this one; DPOR_NONE: none */
	uint32_t enabler;
	uint32_t previous_in_bucket; /* previous step of the same bucket; DPOR_NONE: none */
	uint32_t wide;		     /* previous wide step */
	uint32_t open_before;	     /* open steps only: the previous open step */
	/* branches to explore from here; the first one is the current one */
	uint32_t wakeup;
	uint32_t sleeper;
	uint32_t sleeper_count;
	uint64_t enabled;	  /* enabled slots */
	struct dpor_plan planned; /* a superset of the remaining wakeup tree */
	/* bits of pairs of which this step is the leading, or the waiting, event */
	uint64_t leads, follows;
	uint32_t changes; /* number of changes of `wakeup` by races */
	/* tasks: `changes` at the split or the last synchronisation */
	uint32_t changes_had;
};

struct dpor {
	uint32_t step_capacity, branch_capacity, sleeper_capacity, thread_capacity;
	uint32_t depth;	      /* number of steps of the current run */
	uint32_t step_count;  /* steps on the stack; steps from `depth` on must be repeated */
	uint32_t first_new;   /* step whose branch is explored for the first time in this run */
	uint32_t open;	      /* the last step with unsettled races; DPOR_NONE: none */
	uint32_t branch_free; /* head of the free list */
	uint32_t branch_used; /* branches from this index on have never been used */
	uint32_t sleeper_used;
	uint32_t value_steps; /* value choices of the current run */
	uint32_t slot_count;
	uint32_t width; /* width of clocks: slots in use, rounded up to blocks of DPOR_LANES */

	struct dpor_op left[DPOR_THREADS]; /* pending ops at the end of the run, by slot */
	uint64_t left_slots;		   /* slots with an entry in `left` */
	uint64_t left_enabled;		   /* those slots that are enabled */

	/* Objects of races, by hash of the name. A collision only costs time. */
	uint64_t racy[DPOR_RACY_WORDS];
	uint32_t main_ops; /* the smallest number of ops of main in a learning run */
	uint32_t lessons;  /* number of completed learning runs; DPOR_LESSONS: all */

	/* Task fields (dpor_tasks.c). Steps below `base` belong to the owner. */
	uint32_t base;
	uint32_t task;	     /* number of the task */
	uint32_t last;	     /* step of the branch at the split; less than `base` */
	uint32_t split_runs; /* number of runs of the owner at that time */
	bool is_exact;	     /* the task must make exactly the runs of a single state */
	bool has_arrived;    /* the first run has reached the final `base` */
	uint64_t tree_hash;  /* hash of the branch's wakeup tree at the split */
	uint64_t open_hash;  /* hash of the open steps below `last` at the split */
	uint64_t racy_hash;  /* hash of `racy` at the split */

	struct dpor_share share; /* all zero without shards and interchangeable threads */
	struct dpor_symmetry symmetry;

	uint32_t awaited; /* the task that must be joined before the next run; 0: none */
	bool is_exhausted;
	bool is_blocked;    /* a redundant execution: all enabled threads sleep */
	bool is_impossible; /* the run is redundant because the read of a waiting loop is blocked */
	/* the run did not repeat earlier ops: the program varies */
	bool has_diverged;
	bool is_lost;	 /* memory, threads or steps are exhausted: no verdict */
	bool has_merged; /* the search has branches that tasks found ahead of time */
	bool is_alone;	 /* the search makes no more tasks, because those needed too much memory */
	uint64_t runs, blocked_runs, diverged_runs;

	thread_name names[DPOR_THREADS]; /* names by slot */
	/* thread index of a slot; UINT16_MAX: not created */
	uint16_t index_of[DPOR_THREADS];
	uint8_t slot_of[DPOR_THREADS]; /* slot of a thread index in this run */
	uint32_t known;		       /* number of thread indices with a slot */
	bool is_observing;	       /* another strategy makes the choices of this run */
	bool is_view_observed; /* dpor_choose() has seen the view that dpor_executed() sees next */
	bool is_straight;      /* in this run, every thread index equals its slot */
	uint32_t last_step[DPOR_THREADS]; /* last step by slot, in this run */
	/* DPOR_NONE: no step created the slot's thread */
	uint32_t creation[DPOR_THREADS];
	uint8_t buffer_of[DPOR_THREADS]; /* slot that drains the store buffer of this slot, or 0 */
	uint32_t joined[DPOR_THREADS];	 /* result of dpor_own_past() with an enabler */

	/* Slots with contended pending ops: dpor_bystander()'s cache. */
	uint64_t contended;

	/* Last steps by bucket. An op depends only on steps of its bucket and on *wide* steps. */
	uint32_t last_in_bucket[DPOR_BUCKETS];
	uint32_t last_wide;
	uint32_t aimed_count; /* number of steps of the current run that are aimed at one thread */

	uint32_t steps_at, clocks_at, branches_at, sleepers_at, scratch_at;
};

static inline struct dpor_step *dpor_steps(struct dpor *dpor)
{
	return (struct dpor_step *)((char *)dpor + dpor->steps_at);
}

/* Vector clock: by slot, the number of steps of that thread that happen before or are the step. */
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

static inline uint32_t *dpor_scratch(struct dpor *dpor)
{
	return (uint32_t *)((char *)dpor + dpor->scratch_at);
}

/* A leaf; DPOR_NONE, with is_lost set: no space. */
uint32_t dpor_branch_new(struct dpor *dpor, const struct dpor_op *op);
void dpor_branch_free(struct dpor *dpor, uint32_t branch);

/* Returns the step after the last one of the run; NULL, with is_lost set: no space. */
struct dpor_step *dpor_push_step(struct dpor *dpor);
/* Task: no branch leads on from the last step, so the task's own steps begin there. */
void dpor_arrive(struct dpor *dpor);

/* Discards all runs, but not what the learning runs found. */
void dpor_forget(struct dpor *dpor);

/* Sets the capacities and positions of a new state. Returns its size in bytes. */
size_t dpor_lay_out(const struct strategy_config *config, struct dpor *dpor);
/* Implements strategy_search.is_valid(). */
bool dpor_is_valid(void *state, const struct strategy_config *config);

/*
 * If a search with merged branches is lost, begins it again without tasks: these branches need memory
 * earlier than a search without tasks does.
 */
void dpor_begin_alone(struct dpor *dpor);

/* Backtracks to the last step with a branch to explore, at the end of a run. */
void dpor_back_up(struct dpor *dpor);

struct strategy_tasks;
extern const struct strategy_tasks dpor_tasks;

static inline uint8_t dpor_class_of(const struct dpor_op *op)
{
	return op_descriptions[op->kind].object;
}

/* The read of a waiting loop: only the value in memory decides whether it is enabled. */
static inline bool dpor_is_wait_for_value(const struct dpor_op *op)
{
	return op->flags & OP_MAYBLOCK && dpor_class_of(op) == OBJECT_MEMORY;
}

/* Ops of these classes may influence each other although their objects differ. */
static inline bool dpor_is_entangled(uint8_t class)
{
	return class == OBJECT_FD || class == OBJECT_CHILD || class == OBJECT_SIGNAL ||
	       class == OBJECT_FUTEX;
}

/* The op of a thread waits until the thread's store buffer is empty (engine/store_buffer.h). */
static inline bool dpor_awaits_drain(const struct dpor_op *op)
{
	return op->kind != OP_LOAD && op->kind != OP_ATOMIC_LOAD && op->kind != OP_DRAIN;
}

/* A wait on a condition variable releases a mutex and may reacquire it. Most calls on a futex read or change its word in
 * memory. A call on a descriptor whose number is or was closed depends on the calls that make descriptors and may get the
 * number. Calls that change the contents of a file, and calls with paths that depend on them, have a common second object. */
static inline bool dpor_has_second(const struct dpor_op *op)
{
	return op->second &&
	       (dpor_class_of(op) == OBJECT_COND || dpor_class_of(op) == OBJECT_FUTEX ||
		       dpor_class_of(op) == OBJECT_FD || op->kind == OP_FILE_CHANGE ||
		       op->kind == OP_FILE_CHECK);
}

/* An access to memory beyond the eight bytes of its object. */
static inline bool dpor_is_wide_access(const struct dpor_op *op)
{
	return op->flags & OP_WIDE && dpor_class_of(op) == OBJECT_MEMORY;
}

/* c11: a sequentially consistent fence orders all sequentially consistent accesses. */
static inline bool dpor_is_sequential_fence(const struct dpor_op *op)
{
	return op->kind == OP_FENCE && op->flags & OP_SEQUENTIAL;
}

/* The end of the process: every op of another thread happens before it or never. */
static inline bool dpor_is_exit(const struct dpor_op *op)
{
	return op->kind == OP_PROCESS_EXIT;
}

/* A signal or a request for cancellation interrupts its receiver between any two ops. A fork copies what all threads
 * have done. `second` is the receiver's slot plus 1; 0: all threads. */
static inline bool dpor_is_aimed_at_threads(const struct dpor_op *op)
{
	return op->kind == OP_SIGNAL_SEND || op->kind == OP_THREAD_CANCEL ||
	       op->kind == OP_PROCESS_FORK;
}

static inline bool dpor_is_aimed_at(const struct dpor_op *op, uint8_t slot)
{
	return dpor_is_aimed_at_threads(op) && (!op->second || op->second == slot + 1u);
}

static inline bool dpor_is_plain(const struct dpor_op *op)
{
	return !dpor_is_exit(op) && !dpor_is_entangled(dpor_class_of(op)) && !dpor_has_second(op) &&
	       !dpor_is_wide_access(op) && !dpor_is_sequential_fence(op) &&
	       !dpor_is_aimed_at_threads(op);
}

/* A wide op concerns more than its object. */
static inline bool dpor_is_wide(const struct dpor_op *op)
{
	return !op->is_plain &&
	       (dpor_has_second(op) || dpor_is_wide_access(op) || dpor_is_exit(op) ||
		       dpor_is_sequential_fence(op) || dpor_is_aimed_at_threads(op));
}

/* The op's bucket; 0: the op depends only on wide ops. */
static inline uint64_t dpor_key(const struct dpor_op *op)
{
	uint8_t class;

	if (op->is_plain)
		return op->object;
	class = dpor_class_of(op);
	if (dpor_is_aimed_at_threads(op))
		return OBJECT_THREAD;
	return dpor_is_entangled(class) || dpor_is_exit(op) ? class : op->object;
}

/* Two plain ops with disjoint bits are independent. 0: the op depends only on wide ops. */
static inline uint64_t dpor_key_bit(const struct dpor_op *op)
{
	const uint64_t key = dpor_key(op);

	return key ? UINT64_C(1) << ((key ^ key >> 16 ^ key >> 32) & 63) : 0;
}

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

/* Returns whether exchanging two ops of different threads can change the result. */
static inline bool dpor_dependent(const struct dpor_op *a, const struct dpor_op *b)
{
	if (a->flags & b->flags & OP_READ)
		return false;
	/* A thread reads its own store before and after the store's drain. */
	if (a->buffer == b->buffer && a->buffer)
		return false;
	if (a->object == b->object && a->object && op_overlaps(a->untouched, b->untouched))
		return true;
	return !(a->is_plain && b->is_plain) && dpor_dependent_otherwise(a, b);
}

static inline uint8_t dpor_slot_of(const struct dpor *dpor, uint32_t index)
{
	return index < DPOR_THREADS ? dpor->slot_of[index] : 0;
}

void dpor_add_new_threads(struct dpor *dpor, const struct schedule_view *view);

static inline void dpor_add_threads(struct dpor *dpor, const struct schedule_view *view)
{
	if (dpor->known < view->thread_count)
		dpor_add_new_threads(dpor, view);
}

/* The step, with store buffers, that enabled the next step of the op's thread; DPOR_NONE: none. */
uint32_t dpor_enabler(const struct dpor *dpor, const struct dpor_op *op);
void dpor_forget_thread(struct dpor *dpor);
static inline struct dpor_op dpor_op_of(
	const struct dpor *dpor, const struct schedule_view *view, uint32_t index)
{
	const struct pending_op *pending = &view->pending[index];
	const uint8_t thread = dpor_slot_of(dpor, index);
	uint32_t buffer = 0, rest;
	struct dpor_op op;

	_Static_assert(offsetof(struct pending_op, object) == offsetof(struct dpor_op, object) &&
			       offsetof(struct dpor_op, thread) + sizeof rest == sizeof op,
		"two words");
	memcpy(&op, pending, offsetof(struct dpor_op, thread));
	if (op.kind == OP_DRAIN)
		buffer = thread;
	else if (op.flags & OP_READ)
		buffer = dpor->buffer_of[thread];
	else if (op.second && dpor_is_aimed_at_threads(&op))
		op.second = dpor_slot_of(dpor, op.second - 1u) + 1;
	/* One word: a wide load of several freshly written small fields would stall the processor. */
	rest = thread | (uint32_t)dpor_is_plain(&op) << 8 | buffer << 16 |
	       (uint32_t)pending->untouched << 24;
	memcpy(&op.thread, &rest, sizeof rest);
	return op;
}

bool dpor_can_move(const struct dpor *dpor, const struct schedule_view *view, uint8_t slot);
uint64_t dpor_enabled_slots(const struct dpor *dpor, const struct schedule_view *view);

/* Outside the sleep set; DPOR_NONE: all enabled threads sleep (dpor_turns.c). */
uint32_t dpor_somebody_awake(
	struct dpor *dpor, const struct dpor_step *step, const struct schedule_view *view);
/* May run before the step's wakeup tree, as its op is independent of the tree; or DPOR_NONE. */
uint32_t dpor_bystander(
	struct dpor *dpor, const struct dpor_step *step, const struct schedule_view *view);
/* Updates the cache of dpor_bystander() after a step with this op. */
void dpor_note_moved(struct dpor *dpor, const struct dpor_op *op);
struct dpor_plan dpor_plan_of(struct dpor *dpor, uint32_t branch);

/* Adds the run's last step to its bucket, or removes it (strike). */
void dpor_enlist(struct dpor *dpor, uint32_t step);
void dpor_strike(struct dpor *dpor, uint32_t step);
void dpor_note_step(struct dpor *dpor, uint32_t step);
/* Widens the clocks of all steps for a new slot. */
void dpor_widen(struct dpor *dpor);
/* Pending ops at the end of the run that could precede one of its steps; no held threads. */
void dpor_note_left(struct dpor *dpor, const struct schedule_view *view);
/* After a run: adds a branch for the other order of each race that is not yet covered. */
void dpor_reverse_races(struct dpor *dpor);
