/*
 * A scenario that strategy `directed` makes come about, part of its state: up to four ops of two threads,
 * the *parties*, one after the other. Threads are whoever comes first; so are objects, of which the ops
 * have one or two.
 *
 * An op is *due* when those before it have been performed. A thread that is to perform a later one is
 * stopped before it; where others need a lock that it would take on the way, it is stopped before that
 * lock (the *gate*) and never between lock and op, where it would keep the other party away. So after its
 * first op a thread goes on until it has given the lock back: the papers' vulnerable-window lockset. When
 * nobody but stopped threads could move, one of them, drawn at random, does (thrashing); a thread that
 * leaves its turn so puts the scenario back to its beginning. Others may never come to rest: when threads
 * have been kept waiting for SCENARIO_PATIENCE steps, the run is left to chance.
 *
 * Lai, Cheung, Chan, ICSE 2010, section 4.2; Park, Sen, "Randomized Active Atomicity Violation Detection
 * in Concurrent Programs", FSE 2008, for lock operations.
 */
#ifndef RADDLE_STRATEGIES_DIRECTED_DIRECTED_SCENARIO_H
#define RADDLE_STRATEGIES_DIRECTED_DIRECTED_SCENARIO_H

#include <stdbool.h>
#include <stdint.h>

#include "base/rng.h"
#include "model/view.h"

#define SCENARIO_OPS_MAX 4
/* From one op of a scenario to the next is rarely further, and traced steps cost a microsecond. */
#define SCENARIO_PATIENCE 5000
/* Threads whose comings are counted; scenarios may begin in any. */
#define SCENARIO_THREADS 64

struct directed_op {
	uint64_t site;
	uint64_t gate_site;		/* 0: there is none */
	uint32_t context, gate_context; /* 0: any */
	uint8_t kind;			/* enum op_kind */
	uint8_t party, variable;	/* 0 or 1 */
};

/*
 * Which of the places where a scenario could begin: one thread's so-many-th coming to the first op's site.
 * Alone: until it has come about once others than the two parties move only where neither party can, so
 * that nobody else changes what they find.
 */
struct directed_start {
	uint32_t ordinal;	/* from 1; 0: not known */
	uint16_t thread, other; /* of the first op, and the other party */
	bool is_alone;
};

struct directed_scenario {
	struct directed_op ops[SCENARIO_OPS_MAX];
	uint32_t op_count;		/* 0: there is none */
	struct directed_start recorded; /* where the run that was recorded had it */
	/* With what it really came about, whether a run failed then, and how far it is still trusted. */
	struct directed_start proven;
	bool has_failed;
	uint8_t trust;
	/* Over all runs. */
	uint64_t completions;		    /* runs in which it came about */
	uint64_t reached[SCENARIO_OPS_MAX]; /* runs in which the op was performed when it was due */
	/* Of the run. */
	uint32_t next;
	uint32_t skipped;		      /* first ops that are still let pass */
	uint32_t firsts;		      /* first ops of the run, or of the last one */
	struct directed_start parties;	      /* what the run began with, */
	bool tries_proven;		      /* and that this is the proven one */
	struct directed_start wanted;	      /* where it is to begin; ordinal 0: anywhere */
	struct directed_start began;	      /* where it did the last time, */
	struct directed_start completed_from; /* and where the one that came about did first */
	uint32_t comings[SCENARIO_THREADS];   /* of each thread to the first op's site */
	uint16_t threads[2];
	object_name objects[2]; /* 0: not yet known */
	uint64_t
		waiting_since; /* step + 1 at which somebody was first held back for the op that is due */
	uint8_t seen;	       /* bits of ops */
	uint8_t completed; /* times */
};

/*
 * Which of its first ops is to begin the scenario is drawn: mostly that which is proven, else half the
 * time that of the recorded run, alone or not, half the time one of as many as the last run had, the earlier the
 * likelier.
 */
void directed_scenario_begin_run(struct directed_scenario *scenario, struct rng *rng);
/* What came of the run, told by whoever looked at it, before the next one begins. */
void directed_scenario_learn(struct directed_scenario *scenario, bool is_shown, bool has_failed);
/* Must the thread wait before its pending op? */
bool directed_scenario_holds(const struct directed_scenario *scenario,
	const struct schedule_view *view, uint32_t thread);
/* A thread that could move was held back. */
void directed_scenario_waits(struct directed_scenario *scenario, const struct schedule_view *view);
/* Is its pending op the one that is due, by a party that is known? */
bool directed_scenario_wants(const struct directed_scenario *scenario,
	const struct schedule_view *view, uint32_t thread);
/* Is the run to be left to the parties for now? Then: is the thread none of them? */
bool directed_scenario_is_alone(const struct directed_scenario *scenario);
bool directed_scenario_is_outsider(const struct directed_scenario *scenario, uint32_t thread);
/* Is it the turn of this thread, whatever its pending op? */
bool directed_scenario_favours(const struct directed_scenario *scenario, uint32_t thread);
/* The thread is about to perform its pending op. */
void directed_scenario_executed(
	struct directed_scenario *scenario, const struct schedule_view *view, uint32_t thread);

#endif
