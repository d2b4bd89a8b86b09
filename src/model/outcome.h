/*
 * The outcome of a run with its evidence, in a form that survives a crash: plain numbers in shared
 * memory. The command gives them names and lines.
 */
#ifndef RADDLE_MODEL_OUTCOME_H
#define RADDLE_MODEL_OUTCOME_H

#include <stdbool.h>
#include <stdint.h>

#include "model/ids.h"
#include "model/op.h"

enum outcome_kind {
#define OUTCOME(name, word, is_failure, sentence) OUTCOME_##name,
#include "model/outcomes.def"
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

/* One thread that waits at the end of a run: an edge of the waits-for graph. */
struct wait_edge {
	struct thread_id waiter;
	struct thread_id holder; /* whom it waits for, THREAD_NONE where nobody in particular */
	uint8_t op;		 /* enum op_kind of the pending op */
	uint8_t is_on_cycle;	 /* part of a cycle of waits */
	uint16_t lost_signals;	 /* condition variables: signals sent while nobody waited */
	object_name object;
	/* Equal for static data and stacks: `object`. Equal for all blocks that one call allocates. */
	object_name object_group;
	uint8_t is_in_child; /* in a child forked by `waiter`; `holder` may be a thread of the parent */
	uint8_t call;	     /* enum call_kind */
	uint16_t number;     /* as in struct trace_event */
	uint32_t reserved; /* 0 */
	uint64_t object_address;
	uint64_t site;	      /* where it waits: return address in the target */
	uint64_t holder_site; /* where the holder took the object, 0 if not known */
};

struct outcome {
	uint16_t kind;		 /* enum outcome_kind */
	struct thread_id thread; /* whose step ended the run */
	int32_t code;		 /* exit status, or signal number */
	uint64_t step;		 /* steps of the run */
	uint64_t site;	   /* program counter or return address where it happened, 0 if not known */
	uint64_t address;  /* object or faulting address, 0 if none */
	uint64_t clock_ns; /* virtual time at the end */
	/*
	 * A race: the earlier of the two accesses; of memory that was freed: how it was. An abort: the call that aborted,
	 * 0 if not known. A lock that is destroyed while held or released by another thread: its holder, and where that
	 * took it.
	 */
	uint64_t other_site;
	uint64_t other_step;
	struct thread_id other_thread;
	uint8_t other_op; /* enum op_kind; OP_NONE: no race */
	uint8_t op; /* of the later access; of such a lock: an op that takes one of its kind */
	uint32_t wait_count;	 /* entries of waits[] that are filled */
	uint32_t waits_left_out; /* waiting threads beyond OUTCOME_WAITS_MAX */
	uint32_t reserved;	 /* 0 */
	struct wait_edge waits[OUTCOME_WAITS_MAX];
	char text[256]; /* one line in words where numbers do not say it: why refused, tainted */
};

static inline bool outcome_is_failure(const struct outcome *outcome)
{
	return outcome_descriptions[outcome->kind].is_failure;
}

/* Its evidence is two accesses to the same memory: the fields other_*, site and op are theirs. */
static inline bool outcome_has_accesses(const struct outcome *outcome)
{
	return outcome->kind == OUTCOME_RACE || outcome->kind == OUTCOME_USE_AFTER_FREE ||
	       outcome->kind == OUTCOME_DOUBLE_FREE;
}

/* Fills kind, thread, code and clears the rest. */
void outcome_set(
	struct outcome *outcome, enum outcome_kind kind, struct thread_id thread, int code);

#endif
