/*
 * The constraints of a run, as TAME (section 4) has them, for Z3. Each thread has a *cut*: its events below
 * it happen, in their order. Each event that happens has a number in the total order. Branches below the
 * cut go the way they went, what leaves sight has the value that it had, and each read gives what the last
 * write before it wrote.
 */
#ifndef RADDLE_BRANCHES_SOLVE_CONSTRAINTS_H
#define RADDLE_BRANCHES_SOLVE_CONSTRAINTS_H

#include <stdbool.h>
#include <stdint.h>
#include <z3.h>

#include "branches/solve/addresses.h"
#include "branches/solve/order.h"

/* A read or write of a place of memory. */
struct place_access {
	uint64_t address, position;
	struct event_id id;
	uint8_t bytes;
	uint8_t from; /* the first of the event's bytes that it is; where sizes are mixed */
	bool is_write;
	bool is_conditional; /* a write that may not be made: walk_event.when */
};

/* Accesses that overlap, directly or through others; and those that stand with other groups. */
struct place_group {
	uint32_t first, count;
	uint32_t united; /* number of a group that it stands with; its own: of the first of them */
	bool is_mixed;	 /* of different sizes */
	bool is_open;	 /* what is read there is said already */
};

struct place_groups {
	const struct place_access *accesses; /* by address */
	struct place_group *items;	     /* likewise */
	uint32_t count, capacity;
};

/* Critical sections of one thread. */
struct section_list {
	const struct order_section **items;
	uint32_t count, capacity;
};

/* A term as the solver has it. */
struct solver_term {
	const struct term *term; /* NULL: free */
	Z3_ast ast;
};

enum constraints_kind {
	CONSTRAINTS_PLAIN, /* addresses are those of the run */
	CONSTRAINTS_OPEN,  /* those that depend on shared memory may be others (addresses.h) */
	/*
	 * TSO, as x86 has it: reads pass earlier writes of their thread to other places, which others see later, in the
	 * order in which they were made; operations and updates wait for them. Addresses are those of the run.
	 */
	CONSTRAINTS_STORE_BUFFERS
};

struct wakes;

struct constraints {
	const struct walk *walk;
	const struct order *order;
	const struct order_window *window;
	Z3_context z3;
	Z3_solver solver;
	Z3_sort integer;
	Z3_ast **moments;	       /* by thread and event: its number; NULL: it has none */
	Z3_ast *cuts;		       /* by thread: how many events happen */
	struct section_list *sections; /* by thread: those that the window has a part of */
	uint64_t count;		       /* of assertions */
	uint64_t terms_made;	       /* comparisons and connectives */
	uint32_t hard_cost;	       /* of floating-point operations and divisions */
	uint64_t concrete_terms;       /* beyond the solver: they keep their value */
	uint64_t mixed_reads;	       /* of which only a part was written at once: likewise */
	bool has_open_addresses;
	bool has_store_buffers;	   /* the moment of a write is when others see it */
	uint64_t end_ns;	   /* on the monotonic clock: building is given up then; 0: never */
	bool is_cut;		   /* it was: nothing may be concluded */
	struct wakes *wakes;	   /* by condition variable: constraints_conditions.c */
	struct solver_term *terms; /* by term; open addressing */
	uint64_t term_count, term_capacity;
};

void constraints_open(struct constraints *constraints, const struct walk *walk,
	const struct order *order, const struct order_window *window, enum constraints_kind kind,
	uint64_t end_ns);
void constraints_close(struct constraints *constraints);

void constraints_add(struct constraints *constraints, Z3_ast assertion);
/* Is there no time left to build them? Then they are cut. */
bool constraints_is_late(struct constraints *constraints);
/* Is the event one of the window, or before it? */
bool constraints_has(const struct constraints *constraints, struct event_id event);
bool constraints_is_past(const struct constraints *constraints, struct event_id event);
/* Does the event happen? */
Z3_ast constraints_happens(const struct constraints *constraints, struct event_id event);
/* Is the outcome of the branch (or what must not change) as it was? */
Z3_ast constraints_as_it_was(struct constraints *constraints, const struct walk_event *event);
/* What is searched for at the event; NULL: nothing. */
Z3_ast constraints_otherwise(struct constraints *constraints, const struct walk_event *event);

/* Does the section begin before the window's end, and is it not left before its beginning? */
bool constraints_counts(const struct constraints *constraints, const struct order_section *section);
/* Before the next two. */
void constraints_list_sections(struct constraints *constraints);
void constraints_release_sections(struct constraints *constraints);
/* The section of this lock that the event lies in; NULL: none. */
const struct order_section *constraints_section_of(
	const struct constraints *constraints, struct event_id event, uint64_t lock);
/* The lock that all writes of a place are made under; false: there is none. */
bool constraints_find_guard(const struct constraints *constraints, const struct place_access *items,
	uint32_t count, uint64_t *lock);

/* The event happens, and surely before the other one. (Where nothing says which is the earlier one both may have one moment.) */
Z3_ast constraints_happens_before(
	struct constraints *constraints, struct event_id event, struct event_id other);
/* The event surely does not come before the other one. */
Z3_ast constraints_happens_later(
	struct constraints *constraints, struct event_id event, struct event_id other);

/* What must happen before what (constraints_order.c). */
void constraints_add_edges(struct constraints *constraints);
/* Operations whose outcome may be another one (constraints_outcomes.c), and semaphores. */
void constraints_add_operations(struct constraints *constraints);
/* Barriers (constraints_rounds.c). */
void constraints_add_rounds(struct constraints *constraints);
/* Is it an arrival in such a round? What it is told is said there. */
bool constraints_has_open_round(const struct constraints *constraints, struct event_id arrival);
/* May another one come last than in the run? */
bool constraints_is_open_round(
	const struct constraints *constraints, const struct order_round *round);
/* Of an arrival at a barrier, or of leaving it: does the thread come last? NULL: it is neither. */
Z3_ast constraints_comes_last(
	struct constraints *constraints, struct event_id event, bool *was_last);
/* The thread comes to the goal behind its last step: NULL: nothing can keep it from that. */
Z3_ast constraints_is_reached(struct constraints *constraints, struct event_id goal);
/* Of an arrival at a barrier: the thread still waits there at that event. NULL: it is none. */
Z3_ast constraints_is_held_at_barrier(
	struct constraints *constraints, struct event_id arrival, struct event_id event);
/* What came of the operation is not what it was, if it happens; NULL: it always is. */
Z3_ast constraints_comes_otherwise(struct constraints *constraints, struct event_id event);
/* It happens, and comes to what it did. */
Z3_ast constraints_comes_as_it_did(struct constraints *constraints, struct event_id event);

/* Somebody else got the lock by a try that failed in the run, before that event, and keeps it; NULL: nobody can. */
Z3_ast constraints_is_taken_before(
	struct constraints *constraints, uint64_t lock, struct event_id event, bool is_shared);

/* Who is woken by what (constraints_conditions.c). */
void constraints_add_conditions(struct constraints *constraints);
void constraints_release_conditions(struct constraints *constraints);
/* Of a thread that was woken, and takes its mutex again: can it, before that event? NULL: another event, or not known. */
Z3_ast constraints_is_woken_before(
	struct constraints *constraints, struct event_id back, struct event_id event);
/* The signal wakes the wait, by their numbers (order.h); NULL: it never does, or that is not known. */
Z3_ast constraints_wakes(
	const struct constraints *constraints, uint32_t condition, uint32_t wait, uint32_t signal);

/* Does the event happen while the section's thread has the lock? */
Z3_ast constraints_is_inside(struct constraints *constraints, struct event_id event,
	const struct order_section *section);

/*
 * Who yields lets the others move (constraints_yields.c). Not of constraints_open(): the recorded run, where accesses
 * were no points, may not have.
 */
void constraints_add_yields(struct constraints *constraints);
/* Reads and writes (constraints_memory.c). */
void constraints_add_memory(struct constraints *constraints);
/* Of these, reads of places that accesses without a fixed address may go to (constraints_aliases.c). */
void constraints_add_aliases(struct constraints *constraints, struct place_groups *groups);
/* What was there before all writes of the window, of accesses to one place; false: not known. */
bool constraints_find_initial(const struct constraints *constraints,
	const struct place_access *items, uint32_t count, uint64_t *value);
static inline bool constraints_is_certain(const struct place_access *access)
{
	return access->is_write && !access->is_conditional;
}

/* Is a write made that may not be? */
Z3_ast constraints_is_made(struct constraints *constraints, const struct place_access *write);
/* What it gives or leaves there. */
Z3_ast constraints_accessed(struct constraints *constraints, const struct place_access *access);
/* Reads of one place, which all these access: as large as each other. */
void constraints_add_place(
	struct constraints *constraints, const struct place_access *items, uint32_t count);
/* These reads give what they gave. */
void constraints_keep_reads(
	struct constraints *constraints, const struct place_access *items, uint32_t count);
/* Accesses of several sizes that overlap, by address (constraints_mixed.c). */
void constraints_add_mixed(
	struct constraints *constraints, const struct place_access *items, uint32_t count);
/* A term as the solver's (constraints_terms.c). */
Z3_ast constraints_term(struct constraints *constraints, struct term *term);
/* Makes room for more of them; also for the first ones. */
void constraints_grow_terms(struct constraints *constraints);
Z3_ast constraints_bits(struct constraints *constraints, uint32_t width, uint64_t value);
/* constraints_counts.c: of an intrinsic function that counts bits or turns words round; NULL: it is another one. */
Z3_ast constraints_count(struct constraints *constraints, const struct term *term, Z3_ast a);

Z3_ast constraints_and(struct constraints *constraints, Z3_ast a, Z3_ast b);
Z3_ast constraints_or(struct constraints *constraints, Z3_ast a, Z3_ast b);
Z3_ast constraints_implies(struct constraints *constraints, Z3_ast a, Z3_ast b);
/* `first` comes before `second`. */
Z3_ast constraints_before(
	struct constraints *constraints, struct event_id first, struct event_id second);

#endif
