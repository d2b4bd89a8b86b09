/*
 * Constraints of a run for Z3, after TAME, section 4. A model of the constraints is a schedule.
 *
 * Each thread has a *cut*: its events before the cut happen, in program order. Each event that is a
 * scheduling point has a *time*, its number in a total order of all threads. For all events that
 * happen:
 * - branches have the outcome that they had in the run;
 * - values passed to code that is not instrumented are those of the run;
 * - each read returns the value of the last write before it.
 *
 * Life cycle: solver_open() asserts all this for one window; a worker adds a query and asks
 * the solver; solver_close(). One object belongs to one worker thread.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <z3.h>

#include "branches/order/order.h"

/* An access to a *location*, a range of bytes in memory. */
struct location_access {
	uint64_t address, position;
	struct event_id id;
	uint8_t bytes;
	/* First of the event's bytes that this access covers; not 0 only for mixed sizes. */
	uint8_t from;
	bool is_write;
	bool is_conditional; /* the write may not happen: walk_event.when */
};

/* Accesses that overlap directly or transitively, and groups that open addresses unite. */
struct location_group {
	uint32_t first, count;
	/* First of the united groups; its own number if not united. */
	uint32_t united;
	bool is_mixed; /* its accesses have different sizes */
	bool is_open;  /* aliases.c has already constrained its reads */
};

struct location_groups {
	const struct location_access *accesses; /* sorted by address */
	struct location_group *items;		/* sorted by address */
	uint32_t count;
};

struct section_list {
	const struct order_section **items;
	uint32_t count;
};

struct solver_term {
	uint64_t term; /* address of a struct term */
	Z3_ast ast;
};

struct wakes;

struct solver {
	const struct walk *walk;
	const struct order *order;
	const struct order_window *window;
	Z3_context z3;
	Z3_solver handle;
	Z3_sort integer;
	/* Time of each event, by thread; NULL if the event has no time of its own. */
	Z3_ast **times;
	Z3_ast *cuts;		       /* number of events that happen, by thread */
	struct section_list *sections; /* sections that overlap the window, by thread */
	uint64_t count;		       /* assertions */
	uint64_t terms_made;	       /* comparisons and connectives */
	uint32_t hard_cost;	       /* cost of floating-point operations and divisions so far */
	bool has_open_addresses; /* addresses that depend on shared memory may differ (addresses.c) */
	uint64_t end_ns;	 /* CLOCK_MONOTONIC: building stops then; 0: never */
	bool is_cut;		 /* building was stopped: no conclusion is allowed */
	struct wakes *wakes;	 /* wakes by condition variable (wakes.c) */
	struct slots terms;	 /* struct solver_term */
};

/* Everything that solver_open() needs to know. */
struct solver_question {
	const struct walk *walk;
	const struct order *order;
	const struct order_window *window;
	bool has_open_addresses;
	uint64_t end_ns;
};

void solver_open(struct solver *solver, const struct solver_question *question);
void solver_close(struct solver *solver);

/* Asserts without counting: a worker's query. */
static inline void solver_assert(const struct solver *solver, Z3_ast assertion)
{
	Z3_solver_assert(solver->z3, solver->handle, assertion);
}

void solver_add(struct solver *solver, Z3_ast assertion);
/* Adds: the condition implies the requirement. */
void solver_require(struct solver *solver, Z3_ast condition, Z3_ast requirement);
/* Returns whether the deadline `end_ns` has passed. The first such call sets `is_cut`: no further
 * constraints are built, and a model of them is no schedule. */
bool solver_is_late(struct solver *solver);
/* Returns whether the event lies in the window or before it. */
bool solver_has(const struct solver *solver, struct event_id event);
/* Returns whether the event lies before the window. Such events happen in each schedule. */
bool solver_is_past(const struct solver *solver, struct event_id event);
static inline bool solver_is_in_window(const struct solver *solver, struct event_id event)
{
	return solver_has(solver, event) && !solver_is_past(solver, event);
}

/* Returns the condition that the event happens, that is, lies before its thread's cut. */
Z3_ast solver_occurs(const struct solver *solver, struct event_id event);
/* These conditions location the cut of the event's thread: directly before the event (stops_before),
 * there or earlier (stops_by), there or later (reaches). */
Z3_ast solver_stops_before(const struct solver *solver, struct event_id event);
Z3_ast solver_stops_by(const struct solver *solver, struct event_id event);
Z3_ast solver_reaches(const struct solver *solver, struct event_id event);
/* Returns the condition that the term has the value. */
Z3_ast solver_equals(struct solver *solver, struct term *term, uint64_t value);
/* Returns the condition that the branch has its recorded outcome, or the fixed value its recorded
 * value. */
Z3_ast solver_as_it_was(struct solver *solver, const struct walk_event *event);
/* Returns the condition for the outcome that a query asks for; NULL if no other outcome exists. */
Z3_ast solver_otherwise(struct solver *solver, const struct walk_event *event);

/* Returns whether the section overlaps the window. */
bool solver_counts(const struct solver *solver, const struct order_section *section);
/* Lists the critical sections. Precondition of solver_section_of() and
 * solver_find_guard(). */
void solver_list_sections(struct solver *solver);
void solver_release_sections(struct solver *solver);
/* Returns NULL if the event is in no section of this lock. */
const struct order_section *solver_section_of(
	const struct solver *solver, struct event_id event, uint64_t lock);
/* Finds a lock that is held at all writes of the location. Returns false if there is none. */
bool solver_find_guard(const struct solver *solver, const struct location_access *items,
	uint32_t count, uint64_t *lock);

/* Returns the condition that `event` happens, and at a smaller time than `other`. Two events without
 * an order may have equal times. */
Z3_ast solver_occurs_before(struct solver *solver, struct event_id event, struct event_id other);
/* Returns the condition that the event does not happen before the other one. */
Z3_ast solver_is_not_before(struct solver *solver, struct event_id event, struct event_id other);

/* Adds the happens-before order of the run that every schedule keeps (edges.c). */
void solver_add_edges(struct solver *solver);
/* Adds operations whose result may differ from the run, and semaphores (outcomes.c). */
void solver_add_operations(struct solver *solver);
/* Adds the barriers (rounds.c). */
void solver_add_rounds(struct solver *solver);
/* Returns whether rounds.c constrains the result of this arrival. */
bool solver_has_open_round(const struct solver *solver, struct event_id arrival);
bool solver_is_open_round(const struct solver *solver, const struct order_round *round);
/* Returns the condition that the thread arrives last at the barrier of this arrival or leave; NULL
 * if it is neither. */
Z3_ast solver_is_last_arrival(struct solver *solver, struct event_id event, bool *was_last);
/* Returns the condition that the thread reaches the goal after its last step; NULL if nothing can
 * block the thread there. */
Z3_ast solver_is_reached(struct solver *solver, struct event_id goal);
/* Returns the condition that the thread still waits at the barrier when the other event happens;
 * NULL if there is no arrival. */
Z3_ast solver_is_held_at_barrier(
	struct solver *solver, struct event_id arrival, struct event_id event);
/* Returns the condition that the operation, if it happens, has another result than in the run; NULL
 * if it never has. */
Z3_ast solver_differs_from_run(struct solver *solver, struct event_id event);
Z3_ast solver_is_as_recorded(struct solver *solver, struct event_id event);

/* Returns the condition that a thread other than `but` holds the lock at an attempt to lock it. */
Z3_ast solver_is_locked(struct solver *solver, const struct order_attempt *attempt, uint16_t but);

/* Determines which signal wakes which wait (wakes.c). */
void solver_add_conditions(struct solver *solver);
void solver_release_conditions(struct solver *solver);
/* Returns the condition that the thread that locks its mutex again at `back` is woken before the
 * other event; may be NULL. */
Z3_ast solver_is_woken_before(struct solver *solver, struct event_id back, struct event_id event);
/* Returns the condition that this signal wakes this wait; numbers as in order.h. NULL: never, or
 * not known. */
Z3_ast solver_wakes(
	const struct solver *solver, uint32_t condition, uint32_t wait, uint32_t signal);

Z3_ast solver_is_inside(
	struct solver *solver, struct event_id event, const struct order_section *section);

/* Adds the yields. solver_open() does not add these solver, because the recorded run may
 * violate them. */
void solver_add_yields(struct solver *solver);
/* Reads and writes (reads.c). */
void solver_add_memory(struct solver *solver);
/* Constrains the reads of locations that an open address may refer to (aliases.c). */
void solver_add_aliases(struct solver *solver, struct location_groups *groups);
/* Finds the value before all writes of the window; `items`: the location's accesses. Returns false if
 * not known. */
bool solver_find_initial(const struct solver *solver, const struct location_access *items,
	uint32_t count, uint64_t *value);
static inline bool solver_is_certain(const struct location_access *access)
{
	return access->is_write && !access->is_conditional;
}

Z3_ast solver_is_made(struct solver *solver, const struct location_access *write);
Z3_ast solver_accessed(struct solver *solver, const struct location_access *access);
/* Constrains the reads of one location. All items access the same bytes. */
void solver_add_location(
	struct solver *solver, const struct location_access *items, uint32_t count);
/* Constrains these reads to their recorded values. */
void solver_keep_reads(struct solver *solver, const struct location_access *items, uint32_t count);
/* Constrains overlapping accesses of several sizes, sorted by address (mixed.c). */
void solver_add_mixed(struct solver *solver, const struct location_access *items, uint32_t count);
Z3_ast solver_term(struct solver *solver, struct term *term);
Z3_ast solver_bits(struct solver *solver, uint32_t width, uint64_t value);
/* Returns the term of an intrinsic that counts or reverses bits (counts.c); NULL for
 * another intrinsic. */
Z3_ast solver_count(struct solver *solver, const struct term *term, Z3_ast a);

/* Logical connectives. In solver_or(), `a` may be NULL, which stands for false: a loop can so begin a
 * disjunction without terms. */
Z3_ast solver_not(const struct solver *solver, Z3_ast a);
Z3_ast solver_and(struct solver *solver, Z3_ast a, Z3_ast b);
Z3_ast solver_or(struct solver *solver, Z3_ast a, Z3_ast b);
Z3_ast solver_before(struct solver *solver, struct event_id first, struct event_id second);
/* Gives two unordered events of the window different times: at equal times, neither would be earlier. */
void solver_add_distinct(struct solver *solver, struct event_id first, struct event_id second);
