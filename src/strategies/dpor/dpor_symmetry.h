/*
 * Option `symmetry` of dpor: orders that differ only by an exchange of interchangeable threads count
 * as one.
 *
 * Threads are *interchangeable* if main creates them in a row, with no other step in between, with
 * the same start function, argument and attributes. For an
 * object that all of them change, let a(i) be the first change by thread i. Each trace has a mirror image, by an exchange of these threads, in which a(i)
 * precedes a(i + 1), and the threads that never make that change are the last ones. dpor therefore
 * explores only the program in which a(i + 1) waits for a(i): these are fixed pairs of
 * dpor_shards.h. Several groups of threads each have an object and pairs of their own.
 *
 * The object must keep its name under each exchange: no interchangeable thread, nor a thread that
 * one of them creates, has allocated the object.
 *
 * Each run checks what can be seen. A run that tells the threads of a group apart ends the use of
 * symmetry: the search begins anew without it. The checks are:
 * - main creates the threads of a group in a row, all with equal properties, in every run;
 * - main joins the threads of a group in a row, and has done so completely in a learning run,
 *   unless that run ended without a join; no other thread joins them;
 * - their results are NULL or equal to their argument, unless no thread reads the results;
 * - no thread reads its id, detaches, cancels or signals a thread, waits for a signal, a child or a
 *   futex, or waits for a time;
 * - while a thread waits for the event of a pair, fairness delays no thread, and no thread waits for
 *   something outside of the process when no other thread is enabled.
 * Orders of stack addresses and memory that is no scheduling point are not checked.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "model/ids.h"

#define DPOR_SYMMETRY_GROUPS 8
#define DPOR_SYMMETRY_THREADS 64 /* number of slots */
#define DPOR_SYMMETRY_PAIRS 32	 /* a larger group is ordered only in part, which costs runs */

enum dpor_asymmetry {
	DPOR_ASYMMETRY_NONE,
	DPOR_ASYMMETRY_THREADS, /* no group of threads */
	DPOR_ASYMMETRY_OBJECT,	/* no common object that the threads of a group change */
	DPOR_ASYMMETRY_CREATION,
	DPOR_ASYMMETRY_JOINS,
	DPOR_ASYMMETRY_RESULT,
	DPOR_ASYMMETRY_ID,
	DPOR_ASYMMETRY_TIME,
	DPOR_ASYMMETRY_CALL,
	DPOR_ASYMMETRY_DELAY,
	DPOR_ASYMMETRY_COUNT
};

struct dpor_group {
	uint64_t slots; /* in order of creation */
	uint8_t first;
	uint8_t ordered; /* number of threads with events of pairs */
};

struct dpor_symmetry {
	bool is_wanted;	   /* the option is set */
	bool is_active;	   /* the search has pairs of groups */
	bool has_no_event; /* a learning run had groups without a common object */
	uint8_t broken;	   /* enum dpor_asymmetry of the first violation */
	uint32_t group_count;
	struct dpor_group groups[DPOR_SYMMETRY_GROUPS];
	uint64_t equals_previous; /* slots that equal the previous thread of their creator */
	/* by slot: the thread as an object; 0: not known */
	object_name self[DPOR_SYMMETRY_THREADS];
	/* by slot: object of the first change that suits a pair; 0: none yet */
	object_name first[DPOR_SYMMETRY_THREADS];
	uint8_t untouched[DPOR_SYMMETRY_THREADS]; /* by slot: `untouched` of that change */
};

struct dpor;
struct dpor_op;
struct schedule_view;
struct strategy_verdict;

/* Checks a new thread of this run, if the option is set. */
void dpor_symmetry_add_thread(struct dpor *dpor, const struct schedule_view *view, uint32_t slot);
/* Checks the next step, before it is on the stack. `index`: its thread. */
void dpor_symmetry_note(struct dpor *dpor, const struct schedule_view *view, uint32_t index,
	const struct dpor_op *op);
/* Only threads that wait for events of pairs are enabled. */
void dpor_symmetry_hold_up(struct dpor *dpor, const struct schedule_view *view);
/* Checks the pending ops at the end of a run. */
void dpor_symmetry_end(struct dpor *dpor, const struct schedule_view *view);
/* Searches for groups, and adds their pairs, at the end of a learning run. */
void dpor_symmetry_learn(struct dpor *dpor);
/* Returns whether a run has shown that the threads of the groups are not interchangeable. */
bool dpor_symmetry_is_violated(const struct dpor *dpor);
/* Ends the use of symmetry for the rest of the search. */
void dpor_symmetry_drop(struct dpor *dpor);
void dpor_symmetry_verdict(const struct dpor *dpor, struct strategy_verdict *out);
