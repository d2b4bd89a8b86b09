/*
 * The outcome of a run with its evidence. The struct holds plain numbers in shared memory and
 * survives a crash of the target. The command adds names and source lines. The evidence consists of
 * blocked threads (waits[]), a pair of accesses (other_*, site, op), or an address with a call.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "model/ids.h"
#include "model/op.h"

enum outcome_kind {
#define OUTCOME(name, word, is_failure, sentence) OUTCOME_##name,
#include "model/outcome/outcomes.def"
#undef OUTCOME
	OUTCOME_KIND_COUNT
};

struct outcome_description {
	const char *word;
	bool is_failure;
	const char *sentence;
};

extern const struct outcome_description outcome_descriptions[OUTCOME_KIND_COUNT];

#define OUTCOME_WAITS_MAX 64

/* A thread that is blocked at the end of a run: an edge of the wait-for graph. */
struct wait_edge {
	struct thread_id waiter;
	/* the thread that blocks the waiter; THREAD_NONE: no particular thread */
	struct thread_id holder;
	uint8_t op;	       /* enum op_kind of the pending op */
	uint8_t is_on_cycle;   /* part of a cycle of the wait-for graph */
	uint16_t lost_signals; /* condition variables: signals sent while no thread waited */
	object_name object;
	/* Static data and stacks: equal to `object`. Heap: the same number for all blocks that one
	 * call allocates. */
	object_name object_group;
	/* the wait is in a child forked by `waiter`; `holder` may be a thread of the parent */
	uint8_t is_in_child;
	uint8_t call;	       /* enum call_kind */
	uint16_t number;       /* same as in struct trace_event */
	uint8_t is_in_handler; /* the waiter runs a signal handler */
	uint8_t reserved[3];
	uint64_t object_address;
	uint64_t site;	      /* return address in the target where the thread waits */
	uint64_t holder_site; /* address where the holder acquired the object; 0: not known */
};

/* Stands for an address that no memory can have. */
#define OUTCOME_NO_MEMORY UINT64_MAX

struct outcome {
	uint16_t kind;		 /* enum outcome_kind */
	struct thread_id thread; /* the thread whose step ended the run */
	int32_t code;		 /* exit status, or signal number */
	uint64_t step;		 /* number of steps of the run */
	uint64_t site;	   /* program counter or return address of the failure; 0: not known */
	uint64_t address;  /* object or faulting address (OUTCOME_NO_MEMORY); 0: none */
	uint64_t clock_ns; /* virtual time at the end */
	/*
	 * Race: the earlier access. Use after free: the freeing or destroying call. Abort: the aborting call, 0:
	 * unknown. Misused lock: its holder and the location of the acquisition.
	 */
	uint64_t other_site;
	uint64_t other_step;
	struct thread_id other_thread;
	uint8_t other_op; /* enum op_kind; OP_NONE: no race */
	/* the op of the later access; for such a lock: the op that acquires locks of its kind */
	uint8_t op;
	uint32_t wait_count;	 /* number of valid entries in waits[] */
	uint32_t waits_left_out; /* number of blocked threads beyond OUTCOME_WAITS_MAX */
	/* Use after free, double free: the same number for all blocks that one call allocates. 0: not
	 * known. */
	object_name object_group;
	struct wait_edge waits[OUTCOME_WAITS_MAX];
	/* one line of explanation that numbers cannot express, such as the reason of a refusal */
	char text[256];
};

static inline bool outcome_is_failure(const struct outcome *outcome)
{
	return outcome_descriptions[outcome->kind].is_failure;
}

/* Returns whether the evidence is a pair of accesses to the same memory. Then other_*, site and op
 * describe them. */
static inline bool outcome_has_accesses(const struct outcome *outcome)
{
	return outcome->kind == OUTCOME_RACE || outcome->kind == OUTCOME_WEAK ||
	       outcome->kind == OUTCOME_USE_AFTER_FREE || outcome->kind == OUTCOME_DOUBLE_FREE;
}

/* Returns whether the object that was used, as opposed to memory, had been destroyed. */
static inline bool outcome_is_of_destroyed(const struct outcome *outcome)
{
	return outcome->kind == OUTCOME_USE_AFTER_FREE && outcome->other_op &&
	       op_descriptions[outcome->other_op].object != OBJECT_MEMORY;
}

/* Returns whether the run ends before the second of two accesses to memory that is not freed. */
static inline bool outcome_is_of_pair(enum outcome_kind kind)
{
	return kind == OUTCOME_RACE || kind == OUTCOME_WEAK;
}

/* Returns whether the run was cut off at an arbitrary location. */
static inline bool outcome_is_cut_off(enum outcome_kind kind)
{
	return kind == OUTCOME_LIVELOCK || kind == OUTCOME_HANG || kind == OUTCOME_STEP_LIMIT;
}

/* Sets kind, thread and code, and clears all other fields; wait_count 0 empties waits[]. */
/* Returns the wait of a thread; NULL if it does not wait. */
struct wait_edge *outcome_wait_of(const struct outcome *outcome, struct thread_id thread);
void outcome_set(
	struct outcome *outcome, enum outcome_kind kind, struct thread_id thread, int code);
