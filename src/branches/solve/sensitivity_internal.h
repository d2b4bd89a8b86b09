/*
 * What the files of an analysis share. After it is opened, the walk, the order and the list of places are only
 * read; workers (search.c) build constraints of chunks (chunks.c) and ask, each with a solver of its own;
 * the thread that has opened the analysis takes their answers and judges runs.
 */
#ifndef RADDLE_BRANCHES_SOLVE_SENSITIVITY_INTERNAL_H
#define RADDLE_BRANCHES_SOLVE_SENSITIVITY_INTERNAL_H

#include <pthread.h>

#include "base/strbuf.h"
#include "branches/solve/constraints.h"
#include "branches/solve/schedule.h"
#include "branches/solve/sensitivity.h"

/* How many solutions of one place are tried in vain. */
#define TRIES_MOST 3

/* A place of the program that is asked about. */
struct asked {
	LLVMValueRef instruction;
	enum sensitive_kind kind;      /* of its first event */
	bool is_excluded;	       /* by the caller: known, or not wanted */
	bool has_failures, has_others; /* events that are asked about in passes of either kind */
	/* guarded by search.lock */
	bool is_proven;
	bool is_relaxed; /* has an answer that takes store buffers */
	uint32_t tries;	 /* solutions that did not reproduce */
	uint32_t queries;
};

/* By instruction and kind of event; filled in when the analysis is opened. */
struct place_slot {
	LLVMValueRef instruction; /* NULL: free */
	enum event_kind kind;
	uint32_t place;
	bool has_way[2]; /* the first edge was taken, another one was */
};

struct places {
	struct asked *items;
	uint32_t count, capacity;
	struct place_slot *slots;
	uint64_t slot_count, slot_capacity;
};

#define PLACE_NONE UINT32_MAX

/* A branch that went the other way in a run that was as recorded up to there. */
struct observed {
	LLVMValueRef instruction;
	enum sensitive_kind kind;
	bool is_modelled; /* its condition is a term in the record */
	uint32_t count;	  /* of runs */
};

/* A part of the run, and the threads whose branches are asked about in it. */
struct chunk {
	struct order_window window;
	uint32_t first, last; /* threads */
	uint64_t begin;	      /* first event of the first thread */
};

/* What is asked about, one after the other. */
enum search_pass {
	/* First in small windows: most answers are near, and what is hard there is harder in large ones. */
	PASS_FAILURES_NEAR, /* assertions, null pointers, divisors */
	PASS_BRANCHES_NEAR, /* everything else */
	PASS_FAILURES,
	PASS_BRANCHES,
	/* What has no answer yet, where addresses may be others: such constraints are several times as hard. */
	PASS_FAILURES_OPEN,
	PASS_BRANCHES_OPEN,
	PASS_RELAXED, /* everything that has no answer yet, with store buffers */
	PASS_COUNT
};

/* Where the next chunk begins. */
struct chunk_cursor {
	uint16_t thread;
	uint32_t window;     /* events of a thread */
	uint64_t global_end; /* global windows: events of the run up to the end of the last one */
	uint32_t *ends;	     /* of the last windows, by thread */
};

struct worker {
	struct sensitivity *analysis;
	pthread_t thread;
	struct constraints constraints;
	struct chunk chunk;
	enum search_pass pass; /* of the chunk */
	/* Of the chunk, and part of what the whole search knows when it is settled. */
	uint64_t number;   /* among those that there are questions in */
	uint32_t *queries; /* by place */
	uint64_t timeouts, unasked;
	bool has_turn; /* all chunks before this one are settled */
	bool is_void;  /* they left no room for what was asked ahead of them: asked again */
	/* Its last answer. */
	struct event_id goal;
	uint32_t place;
	struct solution solution;
	/* guarded by search.lock */
	bool is_asking;	   /* its chunk is not settled yet */
	bool is_waiting;   /* for the answer to be judged */
	Z3_context solver; /* while it may be interrupted; NULL */
};

struct search {
	pthread_mutex_t lock;
	pthread_cond_t changed;
	struct chunk_cursor cursor; /* guarded by lock, as all below */
	enum search_pass pass;
	struct worker *workers;
	uint32_t worker_count, running;
	struct worker *current;	 /* whose answer the caller has */
	uint64_t given, settled; /* chunks that there are questions in */
	bool is_stopping;
	/* The caller's alone, before there are workers. */
	struct rehearsals *rehearsals;
	struct worker rehearser; /* has their answers */
	uint64_t told_ns;	 /* when the caller was last told how it goes */
};

struct sensitivity {
	struct sensitivity_options options;
	struct image image;
	struct code_book book;
	struct walk walk;
	struct walk_part *parts;
	uint32_t part_count, part; /* the one whose events there are */
	uint64_t
		flipped_position; /* in the run that was judged last, of the branch; UINT64_MAX: not known */
	LLVMValueRef flipped_callers[WALK_CALLERS_MOST]; /* there, of the calls that led to it */
	uint32_t flipped_caller_count;
	struct order order;
	struct places places;
	struct search search;
	uint64_t begin_ns;
	uint64_t
		time_ns; /* since then; 0: no limit. Atomic: the caller may shorten it at any time */
	/* paths.c: all branches and accesses of the record, once they were asked for. */
	struct walk path;
	bool has_path;
	uint64_t *accesses; /* bit set over all sites; NULL: not asked for yet */
	struct observed *observed;
	uint32_t observed_count;
	bool *is_matched; /* by pattern of those that leave code out: it does */
	/* Of the last candidate. */
	struct strbuf variables, delayed;
	char *function, *file, *directory;
	struct sensitivity_figures figures; /* guarded by search.lock once the search has begun */
};

/* ---- parts.c ---- */

/* Walks the run, and opens the search of its first part. */
void parts_open(struct sensitivity *analysis);
/* The search has come to its end. False: so has the run, or the time. */
bool parts_next(struct sensitivity *analysis);
void parts_close(struct sensitivity *analysis);
/* Processor time of the calling thread. */
uint64_t parts_processor_ns(void);

/* ---- places.c ---- */

/* Lists the places of all events. */
void places_fill(struct sensitivity *analysis);
void places_release(struct places *places);
/* That of an event; PLACE_NONE: nothing is asked about such an event. */
uint32_t places_of(const struct places *places, const struct walk_event *event);
/* Do both stand on one line? Optimisers copy branches, and inline functions. */
bool places_are_one(LLVMValueRef a, LLVMValueRef b);
/* What it would be if this event had its other outcome. */
/* May its outcome be asked about? */
bool places_is_asked(const struct walk_event *event);
enum sensitive_kind places_kind(const struct walk_event *event);
/* `place` refers to texts of the analysis, until the next call. */
void places_describe(
	struct sensitivity *analysis, LLVMValueRef instruction, struct sensitive_place *place);
/* The function that the instruction stands in in the source, whatever it was inlined into. To be freed. */
char *places_function(LLVMValueRef instruction);
/* Appends "table.next" of a read or write. */
void places_name_access(
	const struct sensitivity *analysis, const struct walk_event *access, struct strbuf *out);
/* "table.next, is_good": what a term depends on. */
void places_name_variables(struct sensitivity *analysis, const struct term *term);

/* ---- chunks.c ---- */

void chunk_open(struct chunk *chunk, const struct sensitivity *analysis);
void chunk_release(struct chunk *chunk);
/* To the first chunk, of windows of so many events. A cursor that is all zero may be given. */
void chunk_rewind(struct chunk_cursor *cursor, const struct sensitivity *analysis, uint32_t window);
/* Moves the cursor. False: there is none. */
bool chunk_next(
	const struct sensitivity *analysis, struct chunk_cursor *cursor, struct chunk *chunk);
/* About so many: where places are written often there are more. */
uint64_t chunk_count(const struct sensitivity *analysis, uint32_t window);
/* Is it the whole run? */
bool chunk_is_all(const struct chunk *chunk, const struct sensitivity *analysis);
/* Short runs are one chunk, unless constraints would be too large. */
bool chunk_is_whole(const struct sensitivity *analysis, uint32_t window);

/* ---- paths.c ---- */

const uint64_t *paths_accesses(struct sensitivity *analysis);
/* Adds to `observed` what the run shows. False: a thread of it could not be followed to its end. */
bool paths_observe(struct sensitivity *analysis, const struct run_record *run);

/* ---- interleavings.c ---- */

/* Of the last candidate; `thread`: its thread in the run. */
/*
 * Where the program's own code led into the header of the system that the instruction is from: through inlined code, or
 * the calls, innermost first. "shop.cc:12 in sell", to be freed; NULL: it is the program's own, or nobody knows.
 */
char *places_called_from(
	LLVMValueRef instruction, const LLVMValueRef *callers, uint32_t caller_count);

void interleavings_tell(struct sensitivity *analysis, const struct run_record *run, uint16_t thread,
	struct sensitive_interleaving out[SENSITIVE_RUNS]);

/* ---- search.c ---- */

void search_open(struct sensitivity *analysis);
/* Workers begin with the first call. The worker that has an answer; NULL: none will come. */
struct worker *search_next(struct sensitivity *analysis);
/* The current answer was judged. */
void search_go_on(struct sensitivity *analysis, bool is_proven);
/* False: a worker could not be stopped, and nothing of the analysis may be freed. */
bool search_close(struct sensitivity *analysis);
uint64_t search_now_ns(void);
/* Is the event asked about in this pass? Then *out is its place. */
bool search_is_wanted(const struct sensitivity *analysis, enum search_pass pass,
	const struct walk_event *event, uint32_t *out);
/* Before there are workers: tells the caller now and then how it goes. False: there is no more time. */
bool search_may_go_on(struct sensitivity *analysis);

/* ---- rehearsals.c ---- */

/* Before there are workers. The search's rehearser has an answer; false: there are none. */
bool rehearsals_next(struct sensitivity *analysis);
void rehearsals_close(struct sensitivity *analysis);

/* Is its time over? */
bool search_is_late(const struct sensitivity *analysis);
/* When that is; 0: never. */
uint64_t search_end_ns(const struct sensitivity *analysis);
/* It is over in so long, if not before. */
void search_hurry(struct sensitivity *analysis, uint64_t time_ns);

/* ---- search_worker.c ---- */

/* A thread of a worker (context): until nothing is left to search. */
void *search_work(void *context);
/* The time is over, and workers are not waited for: counts what they leave out. Holds the lock. */
void search_count_left(struct sensitivity *analysis);

/* ---- search_turns.c ---- */

/* May the place still be asked about? Guarded by search.lock, as are the others. */
bool turns_is_open(const struct worker *worker, uint32_t place);
/* So many questions about one place in the chunk's pass. */
uint32_t turns_queries_most(const struct worker *worker);
/* A chunk is about to be searched. */
void turns_begin(struct worker *worker);
/* Waits until all chunks before are settled. False: what was asked cannot stand, or the search is over. */
bool turns_take(struct worker *worker);
/* The chunk was searched. False: it has to be searched again, and nobody is before it. */
bool turns_end(struct worker *worker);

/* ---- search_passes.c ---- */

/* In shorter runs all constraints are easy: addresses are open from the first question on, and nothing is rehearsed. */
#define SEARCH_OPEN_AT_ONCE_MOST 600
/* Events of a thread: a question in such a window takes a fraction of a second. */
#define SEARCH_NEAR_WINDOW 40
/* However long a question may take otherwise; a tenth of that where it may take very long. */
#define SEARCH_NEAR_QUERY_NS UINT64_C(1000000000)
#define SEARCH_NEAR_QUERY_PART 10

bool search_is_near(enum search_pass pass);
/* A pass behind others, in which addresses may be others. */
bool search_is_open(enum search_pass pass);
enum constraints_kind search_kind(const struct sensitivity *analysis, enum search_pass pass);
/* Each event is left out once: in the pass that looks at all of it. */
bool search_counts(enum search_pass pass);
bool search_is_of_failures(enum search_pass pass);
bool search_is_failure(enum sensitive_kind kind);
/* Is what is asked in the chunk another question than in the passes before? */
bool search_is_new(const struct worker *worker);
bool search_has_pass(const struct sensitivity *analysis, enum search_pass pass);
/* Events of one thread that are looked at together. */
uint32_t search_window(const struct sensitivity *analysis, enum search_pass pass);
/* All that is left of the run, not to be asked about but only to be counted. Moves the cursor; false: nothing is. */
bool search_rest(
	const struct sensitivity *analysis, struct chunk_cursor *cursor, struct chunk *chunk);
/* Chunks of all passes, about. */
uint64_t search_chunk_count(const struct sensitivity *analysis);

#endif
