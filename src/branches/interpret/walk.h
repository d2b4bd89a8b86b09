/*
 * Walks a run again, thread by thread: every instruction with the values that it had. Three walks make an
 * analysis: the first tells which memory threads share, the second which sites access it, and the third
 * makes values that depend on shared reads symbolic and notes, per thread, the *events* that schedules and
 * branches depend on.
 */
#ifndef RADDLE_BRANCHES_INTERPRET_WALK_H
#define RADDLE_BRANCHES_INTERPRET_WALK_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "branches/record/run_record.h"
#include "branches/interpret/code.h"
#include "branches/interpret/objects.h"
#include "branches/interpret/stretch.h"
#include "branches/interpret/term.h"

enum walk_mode {
	WALK_SHARING = 1,  /* fills `shared` */
	WALK_CHOOSING = 2, /* fills `chosen` */
	WALK_EVENTS = 4,   /* fills the threads' events */
	WALK_COUNTING = 8, /* looks at watches */
	WALK_PATHS = 16	   /* all branches and accesses as events, none of them with a term */
};

/* Nothing is there, in any program. */
#define NULL_PAGE 4096

enum event_kind {
	EVENT_READ,  /* of shared memory; `term` is the variable */
	EVENT_WRITE, /* `term`: NULL where the value is the same in every run */
	EVENT_STEPS, /* before the part: all steps of the thread up to this one */
	/* Of the engine. `term`: what came of it, where that may be another; then that is `address`. Else NULL. */
	EVENT_OP,
	EVENT_BRANCH,
	EVENT_CHOICE, /* a value that is selected by a condition: no control flow depends on it */
	/*
	 * Memory at `term` is accessed: it must be the same for what follows. If it should lie in an array or variable,
	 * `address` is where that begins and `occurrence` its bytes.
	 */
	EVENT_ADDRESS,
	EVENT_TARGET, /* what is called lies at `term`; EVENT_ADDRESS behind it keeps it what it was */
	EVENT_DIVISOR, /* must not be zero */
	EVENT_INDEX,   /* the same, and it does lie there */
	EVENT_VALUE,   /* must be the same for what follows: it left what can be computed */
	EVENT_FENCE,   /* of sequential consistency */
	EVENT_ONCE     /* pthread_once() at `address` found all done, which took no step */
};

/*
 * 48 bytes: there are millions, and each is written to memory that is touched for the first time. So terms are known by their
 * places in the walk's arena (term.h), and pointers by the 48 bits that they have.
 */
struct walk_event {
	uint8_t kind; /* enum event_kind */
	uint8_t bytes : 4;
	bool is_atomic : 1; /* part of one access with the event before: an update's write */
	bool is_taken : 1;  /* BRANCH, CHOICE: the condition was true */
	bool is_open : 1;   /* ADDRESS, INDEX: what follows may be known for other values, too */
	bool is_never_null : 1; /* ADDRESS: nor so small as to be a member of what is not there */
	uint16_t instruction_high; /* see event_instruction() */
	uint32_t instruction_low;
	union {
		uint32_t site;	     /* READ, WRITE; OP: SITE_NONE */
		uint32_t case_value; /* BRANCH, CHOICE: number of the edge that was taken */
	};
	uint32_t
		step; /* READ, WRITE, OP: number of this step of the thread; else of the next one */
	uint32_t position; /* in the run: see RECORD_SYNC */
	uint32_t term;	   /* 0: there is none; see walk_event_term() */
	uint64_t address;
	uint64_t
		value; /* read or written; OP: index among the record's ops, UINT64_MAX: not performed */
	union {
		uint64_t
			occurrence; /* BRANCH, CHOICE: how often the thread had been there before */
		struct {
			uint32_t
				at; /* READ, WRITE: the term of its address, where that is open; else 0 */
			union {
				/* WRITE: a term of one bit; it is only made where this is 1, as in the run; else 0 */
				uint32_t when;
				/* READ by a function of the library: which of its arguments */
				uint32_t argument;
			};
		} access;
	};
};

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

/* How a walk of a thread ended. */
enum walk_end {
	WALK_COMPLETE, /* the record's end */
	WALK_CRASHED,  /* at an access that the program could not make */
	WALK_UNKNOWN,  /* at something that is not handled */
	WALK_LOST      /* record and walk do not agree: a defect */
};

struct walk_summary {
	uint64_t instructions;
	uint64_t steps;
	enum walk_end end;
	char reason[160]; /* why it ended before the record did */
};

/* A thread's reads, or writes, of some bytes: the first and the last of its segments (segments.h) that they are in. */
struct shared_span {
	uint16_t first, last; /* first > last: none */
};

/* A thread's accesses of the same part of a word. */
struct shared_access {
	struct shared_span reads, writes;
	uint16_t thread;
	uint16_t halves; /* bit set: the lower and the upper four bytes */
	uint32_t next;	 /* of the word: number in the map, plus one; 0: none */
};

/*
 * Eight bytes of memory. They are shared where several threads access them and one writes, unless creation and joins
 * order each write and what others do, and what is written is the same in every run: then so is what is read.
 */
struct shared_word {
	uint64_t address; /* divided by eight, plus one; 0: free */
	struct shared_access access;
	uint8_t bytes; /* of the smallest access */
	uint8_t access_count;
	bool is_many : 1, is_written : 1;
	bool is_unordered : 1; /* a write and another's access; or there are too many to be kept */
	bool is_opaque : 1;    /* given to a function that writes what is not known */
	bool is_shared : 1;
};

struct shared_map {
	struct shared_word *words;
	uint64_t count, capacity;
	struct shared_access *accesses; /* but for each word's first one */
	uint32_t access_count, access_capacity;
	/* By thread: from this segment on it has read what is shared, so what it writes may be another value. */
	uint16_t *tainted;
	uint32_t thread_count;
	bool is_ordered; /* false: nothing is known of segments */
	bool is_changed; /* since it was settled */
};

#define COPIED_RECENT 4096u

/* Words of memory, by address divided by eight, of which one was copied to the other. */
struct copied_pair {
	uint64_t from, to;
};

struct copied_words {
	struct copied_pair *pairs;
	uint32_t count, capacity;
	struct copied_pair recent[COPIED_RECENT]; /* that are in the list */
};

struct walked_thread {
	struct walk_event *events; /* in the walk's memory */
	uint64_t count, capacity;
	uint64_t first;		 /* event that is not before the part */
	uint64_t critical_count; /* from there on: reads, writes and operations */
	uint64_t branch_count;	 /* likewise, with choices */
	struct walk_summary summary;
};

/* Of a run, by positions. */
struct walk_part {
	uint64_t begin, end; /* end: behind it; 0: of the run */
};

/* A branch whose outcome somebody wants to know. */
#define WALK_CALLERS_MOST 32

struct walk_watch {
	uint16_t thread;
	LLVMValueRef instruction;
	uint64_t occurrence;
	bool is_reached;
	uint64_t outcome;			 /* number of the edge; of a select 0 or 1 */
	uint64_t position;			 /* in the run */
	LLVMValueRef callers[WALK_CALLERS_MOST]; /* calls that led there, innermost first */
	uint32_t caller_count;
};

/*
 * Functions that wrote what others access, or copied it, and the walk does not know what; or that were given
 * what others access, or what depends on it, and the walk does not know what comes of that.
 */
struct walk_unknown {
	const char *name; /* LLVM's */
	bool is_read;
	uint64_t count;
};

/* A semaphore that the program made. */
struct walk_semaphore {
	uint64_t address;
	uint32_t value; /* that it began with */
	bool is_known;	/* it was made once */
};

/* A block of shared memory was given back. */
struct walk_release {
	uint64_t address;
	uint32_t index; /* events of the thread before it */
	uint16_t thread;
};

struct walk_room;

struct walk {
	struct code_book *book;
	const struct run_record *record;
	uint64_t instructions_most; /* of each thread, about; 0: as many as there are */
	struct shared_map shared;
	struct segments *segments; /* WALK_SHARING; NULL: there are too many */
	struct copied_words copied;
	uint64_t *shared_lines; /* bit set, by the last bits of words; NULL before they are known */
	uint64_t *shared_words; /* those of `shared` that are: slots of keys; likewise */
	uint64_t shared_capacity;
	uint64_t *chosen; /* bit set over all sites */
	struct term_arena terms;
	struct object_table objects; /* noted by the first walk */
	struct walk_room *room;	     /* for the next thread; NULL: none is kept */
	struct walked_thread *threads;
	struct stretch event_memory; /* of all threads' events; opened with the first one */
	uint64_t event_room;	     /* how many have a place there, or had one */
	struct walk_unknown *unknowns;
	uint32_t unknown_count;
	struct walk_watch *watches;
	uint32_t watch_count;
	struct walk_semaphore *semaphores; /* WALK_EVENTS */
	uint32_t semaphore_count;
	struct walk_release *releases; /* WALK_EVENTS: not of what is before the part */
	uint32_t release_count, release_capacity;
	/* Written by the first thread before there were others: the last values, by address. */
	struct initial_value *initials;
	uint64_t initial_count, initial_capacity;
	uint64_t position_most; /* none is greater: each takes an entry of some thread */
	struct walk_part part;	/* WALK_EVENTS: whose events are wanted; all zero: all */
	uint32_t *weights;	/* by position: about so many events, noted by WALK_CHOOSING */
	uint64_t weight_count;
	struct word_before *before; /* what was written before the part */
	uint64_t before_count, before_capacity;
	/*
	 * Addresses of shared memory that are terms are not pinned: who has the events knows where else the access may
	 * lead (branches/solve/addresses.h). Those of other memory are pinned, and it is noted here.
	 */
	bool has_open_addresses;
	uint64_t *wanted; /* words of memory, by address divided by eight */
	uint32_t wanted_count, wanted_capacity;
};

/* The event's term; NULL: it has none. */
static inline struct term *walk_event_term(const struct walk *walk, const struct walk_event *event)
{
	return term_at(&walk->terms, event->term);
}

/* Of a read or write, of its address; NULL: that is the run's. */
static inline struct term *walk_event_at(const struct walk *walk, const struct walk_event *event)
{
	return event->kind <= EVENT_WRITE ? term_at(&walk->terms, event->access.at) : NULL;
}

/* NULL: it is no write, or one that is made in any case. */
static inline struct term *walk_event_when(const struct walk *walk, const struct walk_event *event)
{
	return event->kind == EVENT_WRITE ? term_at(&walk->terms, event->access.when) : NULL;
}

/* Of a block that was given back: so many bytes from its beginning are the allocator's, who writes there. */
#define RELEASED_BYTES 16u

void walk_open(struct walk *walk, struct code_book *book, const struct run_record *record);
void walk_close(struct walk *walk);
/* Walks every thread. Before WALK_EVENTS there must have been another one. */
void walk_run(struct walk *walk, unsigned mode);

/* After WALK_CHOOSING: parts of about so many events at most, the caller's to free. How many they are. */
uint32_t walk_divide(const struct walk *walk, uint64_t events_most, struct walk_part **parts);
/* Likewise: the part that ends with this position, or with the run, and has about so many events at most. */
struct walk_part walk_part_before(const struct walk *walk, uint64_t position, uint64_t events_most);
/* As it was before WALK_EVENTS, which can be done again then, for another part. */
void walk_forget_events(struct walk *walk);

bool walk_is_shared(const struct walk *walk, uint64_t address, uint32_t bytes);
/* Has a thread accessed the word, or was it there when the second thread was created? By address divided by eight. */
bool walk_is_known(const struct walk *walk, uint64_t word);
/* From the next walks on the word counts as shared. False: it does already. */
bool walk_share(struct walk *walk, uint64_t word);
void walk_want(struct walk *walk, uint64_t word);
/* What stood there when the second thread was created, or when the part began; false: not known. */
bool walk_initial(const struct walk *walk, uint64_t address, uint32_t bytes, uint64_t *value);

#endif
