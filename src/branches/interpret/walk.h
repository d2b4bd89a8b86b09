/*
 * The walk re-executes a recorded run, thread by thread: it interprets the bitcode and reads from
 * the record all that the bitcode cannot determine. An analysis makes three walks: - WALK_SHARING
 * determines which memory is shared between threads; - WALK_CHOOSING determines which sites access
 * shared memory; - WALK_EVENTS makes values that depend on shared reads symbolic (term.h), and
 * lists the *events* of each thread. Events are shared accesses, operations, branches on symbolic
 * conditions, and constraints on terms.
 *
 * A run with too many events is divided into parts (struct walk_part), and WALK_EVENTS runs once
 * for each part. Life cycle: walk_open(), walk_run() per mode, walk_forget_events() between parts,
 * walk_close().
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "base/search.h"
#include "base/slots.h"
#include "branches/record/run_record.h"
#include "branches/decode/code.h"
#include "branches/values/objects.h"
#include "branches/values/stretch.h"
#include "branches/values/term.h"

enum walk_mode {
	WALK_SHARING = 1,  /* fills `shared` */
	WALK_CHOOSING = 2, /* fills `chosen` */
	WALK_EVENTS = 4,   /* fills the threads' events */
	WALK_COUNTING = 8, /* fills the outcomes of `watches` */
	WALK_PATHS = 16	   /* records all branches and accesses as events without terms */
};

/* Addresses below this value are treated as null pointers. */
#define NULL_PAGE 4096

enum event_kind {
	EVENT_READ, /* a read of shared memory; `term` is the new variable */
	/* a write to shared memory; `term` is NULL if the value is the same in every run */
	EVENT_WRITE,
	EVENT_STEPS, /* stands for all steps before the part, up to this one */
	/* `term`: an outcome that may differ, with `address` as the other value; or NULL. */
	EVENT_OP,
	EVENT_BRANCH,
	/* A select instruction: no effect on control flow */
	EVENT_CHOICE,
	/*
	 * Memory at the symbolic address `term` is accessed. The events that follow are valid for
	 * this address only. If a known object should contain the address, `address` and
	 * `occurrence` are its start and size.
	 */
	EVENT_ADDRESS,
	EVENT_TARGET,  /* an indirect call to `term`; a following EVENT_ADDRESS pins the term */
	EVENT_DIVISOR, /* `term` is a divisor and must not be zero */
	/* same as EVENT_ADDRESS, for an address that lies in its object in this run */
	EVENT_INDEX,
	EVENT_VALUE, /* `term` must keep its value, because the walk cannot follow a use of it */
	/* pthread_once() at `address` found the routine completed: no operation */
	EVENT_ONCE
};

/* 48 bytes, as a run has millions of events: indices of the arena (term.h), 48-bit pointers. */
struct walk_event {
	uint8_t kind; /* enum event_kind */
	uint8_t bytes : 4;
	/* write of an update: one atomic access with the previous event, its read */
	bool is_atomic : 1;
	bool is_taken : 1; /* BRANCH, CHOICE: value of the condition in this run */
	/* ADDRESS, INDEX: not pinned, so what follows is also valid for other addresses */
	bool is_open : 1;
	bool is_never_null : 1;	   /* ADDRESS: a search for a null pointer here is pointless */
	uint16_t instruction_high; /* see event_instruction() */
	uint32_t instruction_low;
	union {
		uint32_t site;	     /* READ, WRITE; OP: SITE_NONE */
		uint32_t case_value; /* BRANCH, CHOICE: index of the edge that was taken */
	};
	/* READ, WRITE, OP: the thread's step number of this event; else of its next step */
	uint32_t step;
	uint32_t position; /* position in the run, see record.h */
	uint32_t term;	   /* location of the term, 0: none; see walk_event_term() */
	uint64_t address;
	/* Value read or written; OP: index in the record's ops, UINT64_MAX: not performed */
	uint64_t value;
	union {
		/* BRANCH, CHOICE: number of earlier executions by this thread */
		uint64_t occurrence;
		struct {
			uint32_t
				at; /* READ, WRITE: location of the term of an open address; else 0 */
			union {
				/* WRITE: location of a one-bit condition; 0: always */
				uint32_t when;
				/* READ by a library function: index of the argument */
				uint32_t argument;
			};
		} access;
	};
};

/* An event is named by its thread and its index in the thread's list. */
struct event_id {
	uint16_t thread;
	uint32_t index;
};

/* Compares for qsort(): by thread, then by index. */
static inline int event_compare_ids(struct event_id a, struct event_id b)
{
	if (a.thread != b.thread)
		return a.thread < b.thread ? -1 : 1;
	return a.index < b.index ? -1 : a.index > b.index;
}

static inline bool event_is_same(struct event_id a, struct event_id b)
{
	return a.thread == b.thread && a.index == b.index;
}

static inline bool event_is_access(const struct walk_event *event)
{
	return event->kind == EVENT_READ || event->kind == EVENT_WRITE;
}

static inline bool event_is_branch(const struct walk_event *event)
{
	return event->kind == EVENT_BRANCH || event->kind == EVENT_CHOICE;
}

/* Returns whether the event asks for another value of a term that later computations do not use. */
static inline bool event_is_check(const struct walk_event *event)
{
	return event->kind == EVENT_DIVISOR || event->kind == EVENT_ADDRESS ||
	       event->kind == EVENT_TARGET || event->kind == EVENT_INDEX;
}

/* Returns whether the event is a step of its own, no part of an earlier access. */
static inline bool event_is_step(const struct walk_event *event)
{
	return event->kind == EVENT_OP || (event_is_access(event) && !event->is_atomic);
}

static inline LLVMValueRef event_instruction(const struct walk_event *event)
{
	return (LLVMValueRef)(uintptr_t)((uint64_t)event->instruction_high << 32 |
					 event->instruction_low);
}

static inline void event_set_instruction(struct walk_event *event, LLVMValueRef instruction)
{
	const uint64_t bits = (uint64_t)(uintptr_t)instruction;

	event->instruction_low = (uint32_t)bits;
	event->instruction_high = (uint16_t)(bits >> 32);
}

enum walk_end {
	WALK_COMPLETE, /* the record's end was reached */
	WALK_CRASHED,  /* an access faults */
	WALK_UNKNOWN,  /* the walk has reached an unsupported instruction or a limit */
	WALK_LOST      /* the record contradicts the walk: an internal error */
};

struct walk_summary {
	uint64_t instructions;
	uint64_t steps;
	enum walk_end end;
	char reason[160]; /* cause of an early end */
};

/* First and last segment (segments.h) in which a thread reads, or writes, the bytes. */
struct shared_span {
	uint16_t first, last; /* first > last: no segment */
};

/* The accesses of one thread to the same halves of a word. */
struct shared_access {
	struct shared_span reads, writes;
	uint16_t thread;
	uint16_t halves; /* bit set: lower and upper four bytes */
	uint32_t next;	 /* index + 1 in shared_map.accesses of the word's next one; 0: last */
};

/*
 * Eight aligned bytes. A word is shared if several threads access it and one writes it. Exception:
 * creation and joins order all conflicting accesses, and the written values are the same in every
 * run.
 */
struct shared_word {
	uint64_t address; /* address / 8 + 1; 0: free slot */
	struct shared_access access;
	uint8_t bytes; /* size of the smallest access */
	uint8_t access_count;
	bool is_many : 1, is_written : 1;
	/* A write is unordered with another access, or the word has too many accesses */
	bool is_unordered : 1;
	bool is_opaque : 1; /* passed to a function that may write unknown values */
	bool is_shared : 1;
};

struct shared_map {
	struct slots words;		/* struct shared_word */
	struct shared_access *accesses; /* all except the first access of each word */
	uint32_t access_count;
	/* First segment of each thread with a read of shared memory. Later writes may differ. */
	uint16_t *tainted;
	uint32_t thread_count;
	bool is_ordered; /* false if no segments are available */
	bool is_changed; /* since the last walk_settle_sharing() */
};

#define COPIED_RECENT 4096u

/* Two words, one of which was copied to the other: addresses divided by eight. */
struct copied_pair {
	uint64_t from, to;
};

struct copied_words {
	struct copied_pair *pairs;
	uint32_t count, capacity;
	struct copied_pair recent[COPIED_RECENT]; /* cache of pairs that are in the list */
};

struct walked_thread {
	struct walk_event *events; /* array in walk.event_memory */
	uint64_t count, capacity;
	uint64_t first;		 /* index of the first event inside the part */
	uint64_t critical_count; /* number of reads, writes and operations inside the part */
	uint64_t branch_count;	 /* number of branches and choices inside the part */
	struct walk_summary summary;
};

/* The walk interprets the bitcode of each thread of a recorded run. Returns whether it had to stop before the end of this
 * thread. */
static inline bool walk_is_unfinished(const struct walked_thread *thread)
{
	return thread->summary.end == WALK_UNKNOWN || thread->summary.end == WALK_LOST;
}

/* Returns how many events of the thread have a smaller position in the run than `position`. */
static inline uint64_t walk_events_before(const struct walked_thread *thread, uint64_t position)
{
	uint64_t low;

	SEARCH(low, 0, thread->count, thread->events[low].position < position);
	return low;
}

struct walk_part {
	uint64_t begin, end; /* 0: the end of the run */
};

/* Maximum depth of the call stack that a watch records. */
#define WALK_CALLERS_MOST 32

/* A branch execution whose outcome a caller of the walk requests. */
struct walk_watch {
	uint16_t thread;
	LLVMValueRef instruction;
	uint64_t occurrence;
	bool is_reached;
	uint64_t outcome;  /* index of the edge; for a select 0 or 1 */
	uint64_t position; /* position in the run */
	/* Innermost call first */
	LLVMValueRef callers[WALK_CALLERS_MOST];
	uint32_t caller_count;
};

/*
 * A function that the walk cannot follow: it wrote unknown values to shared memory, or (is_read)
 * has an unknown result of shared or symbolic data.
 */
struct walk_unknown {
	const char *name; /* name in the bitcode */
	bool is_read;
	uint64_t count;
};

/* A semaphore that the program initialised. */
struct walk_semaphore {
	uint64_t address;
	uint32_t value; /* initial count */
	bool is_known;	/* initialised exactly once */
};

/* A block of shared memory that the program freed. */
struct walk_release {
	uint64_t address;
	uint32_t index; /* number of the thread's events before it */
	uint16_t thread;
};

struct walk_room;

struct walk {
	struct code_book *book;
	const struct run_record *record;
	uint64_t instructions_most; /* approximate limit per thread; 0: none */
	struct shared_map shared;
	struct segments *segments; /* WALK_SHARING; NULL if too many segments */
	struct copied_words copied;
	/* Bit set by the low bits of shared words, a filter before shared_words; may be NULL */
	uint64_t *shared_lines;
	struct slots shared_words; /* keys of the shared words of `shared` */
	uint64_t *chosen;	   /* bit set of the sites that access shared memory */
	struct term_arena terms;
	struct object_table objects; /* filled by the first walk */
	struct walk_room *room;	     /* work memory for the next thread; NULL if none is cached */
	struct walked_thread *threads;
	struct stretch event_memory; /* events of all threads; opened with the first event */
	uint64_t event_room;	     /* number of allocated entries */
	struct walk_unknown *unknowns;
	uint32_t unknown_count;
	struct walk_watch *watches;
	uint32_t watch_count;
	struct walk_semaphore *semaphores; /* WALK_EVENTS */
	uint32_t semaphore_count;
	struct walk_release *releases; /* WALK_EVENTS: only those inside the part */
	uint32_t release_count;
	/* Last values that the first thread wrote before the second thread existed. */
	struct slots initials; /* struct initial_value */
	/* Upper bound of positions: each has an entry */
	uint64_t position_most;
	/* WALK_EVENTS: the part whose events are recorded; all zero: the whole run */
	struct walk_part part;
	/* Approximate number of events by position, counted by WALK_CHOOSING */
	uint32_t *weights;
	uint64_t weight_count;
	struct slots before; /* struct word_before: values written before the part */
	/*
	 * Does not pin symbolic addresses of shared memory: the solver knows the other memory that
	 * the access may reach (branches/order/addresses.c). Other symbolic addresses are pinned
	 * and recorded in `wanted`.
	 */
	bool has_open_addresses;
	uint64_t *wanted; /* such words: addresses divided by eight */
	uint32_t wanted_count;
};

static inline struct walk_event *walk_event_of(const struct walk *walk, struct event_id id)
{
	return &walk->threads[id.thread].events[id.index];
}

/* Returns the operation of an event; NULL if the event is none, or it was not performed. */
static inline const struct record_op *walk_op_of(const struct walk *walk, struct event_id id)
{
	const struct walk_event *event = walk_event_of(walk, id);

	return event->kind == EVENT_OP && event->value != UINT64_MAX
		       ? &walk->record->ops[event->value]
		       : NULL;
}

/* Serves as the condition of a loop over the events of all threads: for (id = {0}; walk_has_event(walk, &id); id.index++).
 * If the thread of *id has no more events, *id moves to the first event of the next thread that has some. */
static inline bool walk_has_event(const struct walk *walk, struct event_id *id)
{
	while (id->thread < walk->record->thread_count &&
		id->index >= walk->threads[id->thread].count)
		*id = (struct event_id){(uint16_t)(id->thread + 1), 0};
	return id->thread < walk->record->thread_count;
}

static inline struct term *walk_event_term(const struct walk *walk, const struct walk_event *event)
{
	return term_at(&walk->terms, event->term);
}

/* Returns NULL if the address is that of this run. */
static inline struct term *walk_event_at(const struct walk *walk, const struct walk_event *event)
{
	return event->kind <= EVENT_WRITE ? term_at(&walk->terms, event->access.at) : NULL;
}

static inline struct term *walk_event_when(const struct walk *walk, const struct walk_event *event)
{
	return event->kind == EVENT_WRITE ? term_at(&walk->terms, event->access.when) : NULL;
}

/* The allocator may overwrite this many bytes at the start of a freed block. */
#define RELEASED_BYTES 16u

/* Opens a walk. Book and record must outlive it. */
void walk_open(struct walk *walk, struct code_book *book, const struct run_record *record);
void walk_close(struct walk *walk);
/* Walks every thread. WALK_EVENTS requires an earlier walk with another mode. */
void walk_run(struct walk *walk, unsigned mode);

/* Divides the run into parts of about events_most events. The caller frees *parts. Requires
 * WALK_CHOOSING. */
uint32_t walk_divide(const struct walk *walk, uint64_t events_most, struct walk_part **parts);
/* Returns the part that ends after `position`, or with the run. Requires WALK_CHOOSING. */
struct walk_part walk_part_before(const struct walk *walk, uint64_t position, uint64_t events_most);
/* Discards all events and terms, so that WALK_EVENTS can run again for another part. */
void walk_forget_events(struct walk *walk);

/* Returns whether a byte of the range is shared. Requires WALK_SHARING. */
bool walk_is_shared(const struct walk *walk, uint64_t address, uint32_t bytes);
/* Returns whether a thread accessed the word (address / 8), or its initial value is known. */
bool walk_is_known(const struct walk *walk, uint64_t word);
/* Makes the word shared in the next walks. Returns false if it is shared already. */
bool walk_share(struct walk *walk, uint64_t word);
/* Adds the word to `wanted`; the caller may walk_share() it before the next walk. */
void walk_want(struct walk *walk, uint64_t word);
/* Finds the value at the creation of the second thread, or at the start of the part. Returns false
 * if unknown. */
bool walk_initial(const struct walk *walk, uint64_t address, uint32_t bytes, uint64_t *value);
