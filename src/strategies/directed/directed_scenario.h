/*
 * A scenario that strategy `directed` forces: up to four ops of two threads (the *parties*) in a
 * fixed order. Threads, and one or two objects, are bound to the first that match.
 *
 * An op is *due* when all earlier ops have been performed. A thread at a later op is stopped before
 * the op. If the thread would first acquire a lock that others need (the *gate*), it is stopped
 * before the lock. It is never stopped between lock and op. After its first op a thread therefore
 * continues until it has released the lock: the papers' vulnerable-window lockset.
 *
 * If only stopped threads are enabled, a random one of them moves (thrashing); an untimely move of
 * a party resets the scenario. After a wait of SCENARIO_PATIENCE steps, the run continues at
 * random.
 *
 * Lai, Cheung, Chan, ICSE 2010, section 4.2; for lock operations Park, Sen, "Randomized Active
 * Atomicity Violation Detection in Concurrent Programs", FSE 2008.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/rng.h"
#include "model/view.h"

#define SCENARIO_OPS_MAX 4
/* Two ops of a scenario are rarely further apart, and a traced step costs a microsecond. */
#define SCENARIO_PATIENCE 5000
/* Threads whose visits are counted; scenarios may begin in any thread. */
#define SCENARIO_THREADS 64

struct directed_op {
	uint64_t site;
	uint64_t gate_site;		/* 0: no gate */
	uint32_t context, gate_context; /* 0: any */
	uint8_t kind;			/* enum op_kind */
	uint8_t party, variable;	/* 0 or 1 */
};

/*
 * The first op is a thread's visit `ordinal` to its site. `is_alone`: until the first completion
 * others move only if neither party is enabled.
 */
struct directed_start {
	uint32_t ordinal;	/* number of the visit, from 1; 0: not known */
	uint16_t thread, other; /* thread of the first op, and the other party */
	bool is_alone;
};

struct directed_scenario {
	struct directed_op ops[SCENARIO_OPS_MAX];
	uint32_t op_count;		/* 0: no scenario */
	struct directed_start recorded; /* the start in the recorded run */
	/* The start that completed the scenario, its result, and the trust left in it. */
	struct directed_start proven;
	bool has_failed;
	uint8_t trust;
	uint64_t completions;		    /* runs in which the scenario was completed */
	uint64_t reached[SCENARIO_OPS_MAX]; /* runs in which the op was performed when due */
	uint32_t next;
	uint32_t skipped;	       /* number of first ops still to skip */
	uint32_t firsts;	       /* number of first ops in this run, or in the last one */
	struct directed_start parties; /* the intended start of this run */
	bool tries_proven;	       /* `parties` is the proven start */
	struct directed_start wanted;  /* the required start; ordinal 0: anywhere */
	struct directed_start began;   /* the most recent start */
	struct directed_start completed_from; /* the start of the first completion */
	/* visits to the first op's site, by thread */
	uint32_t comings[SCENARIO_THREADS];
	uint16_t threads[2];
	object_name objects[2]; /* 0: not yet known */
	/* step + 1 at which a thread was first delayed for the due op */
	uint64_t waiting_since;
	uint8_t seen;	   /* bits of performed ops */
	uint8_t completed; /* number of completions */
};

/* Begins a run and chooses its start: usually the proven one. Else half of the runs use the
 * recorded one, alone or not; the others draw one of the last run's first ops, early ones more
 * often. */
void directed_scenario_begin_run(struct directed_scenario *scenario, struct rng *rng);
void directed_scenario_learn(struct directed_scenario *scenario, bool is_shown, bool has_failed);
bool directed_scenario_holds(const struct directed_scenario *scenario,
	const struct schedule_view *view, uint32_t thread);
void directed_scenario_waits(struct directed_scenario *scenario, const struct schedule_view *view);
/* Returns whether the pending op is due and the thread a known party. */
bool directed_scenario_wants(const struct directed_scenario *scenario,
	const struct schedule_view *view, uint32_t thread);
/* directed_scenario_is_alone(): only the parties move now. is_outsider: the thread is none of the
 * parties. */
bool directed_scenario_is_alone(const struct directed_scenario *scenario);
bool directed_scenario_is_outsider(const struct directed_scenario *scenario, uint32_t thread);
/* Returns whether this thread must move next, with any pending op. */
bool directed_scenario_favours(const struct directed_scenario *scenario, uint32_t thread);
void directed_scenario_executed(
	struct directed_scenario *scenario, const struct schedule_view *view, uint32_t thread);
