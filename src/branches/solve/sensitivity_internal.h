/*
 * One analysis searches schedules that flip a branch of the recorded run.
 *
 * Life cycle: parts.c walks the run (or one part of it), builds its order and lists its *locations*:
 * the instructions that are asked about. runs.c first gets answers from other runs. Then workers
 * (search_worker.c) build the constraints of *chunks* of the run (chunks.c) and query a solver
 * about one event after the other. search.c defines the sequence of passes, and settles chunks in
 * their order, which makes results independent of the number of workers.
 *
 * Threads: the walk, the order and the list of locations are read-only while workers run. Each worker
 * has its own solver. The thread that opened the analysis judges the answers, one at a time.
 */
#pragma once

#include <pthread.h>

#include "base/strbuf.h"
#include "branches/constraints/solver.h"
#include "branches/constraints/schedule.h"
#include "branches/solve/sensitivity.h"

/* Unconfirmed solutions after which a location is given up. */
#define TRIES_MOST 3

struct asked {
	LLVMValueRef instruction;
	enum sensitive_kind kind; /* kind of its first event */
	bool is_excluded;	  /* the caller knows or excludes the location */
	/* Has events for passes over failures, and for passes over other branches. */
	bool has_failures, has_others;
	/* Guarded by search.lock. */
	bool is_proven;
	uint32_t tries; /* solutions that their runs did not confirm */
	uint32_t queries;
};

/* Filled when the analysis is opened. */
struct location_slot {
	uint64_t key; /* 16 times the address of the instruction, plus the kind of event */
	uint32_t location;
	/* The first edge was taken in the run; another edge was taken. */
	bool is_edge_noted[2];
};

struct locations {
	struct asked *items;
	uint32_t count;
	struct slots slots; /* struct location_slot */
};

#define LOCATION_NONE UINT32_MAX

/* A branch with another outcome in a run that was as recorded up to there. */
struct observed {
	LLVMValueRef instruction;
	enum sensitive_kind kind;
	bool is_modelled; /* its condition is a term in the record */
	uint32_t count;	  /* number of runs */
};

/* The windows of one set of constraints, and the threads whose branches are asked about. */
struct chunk {
	struct order_window window;
	uint32_t first, last; /* threads */
};

/* Serves as the condition of a loop over the events of the window: for (id = {0}; chunk_has_event(chunk, &id); id.index++).
 * If the thread of *id has no more events in the window, *id moves to the next thread that has some. */
static inline bool chunk_has_event(const struct chunk *chunk, struct event_id *id)
{
	for (; id->thread <= chunk->last; *id = (struct event_id){(uint16_t)(id->thread + 1), 0}) {
		if (id->index < chunk->window.begin[id->thread])
			id->index = chunk->window.begin[id->thread];
		if (id->thread >= chunk->first && id->index < chunk->window.end[id->thread])
			return true;
	}
	return false;
}

/* The passes in their order. */
enum search_pass {
	/* Small windows first: most answers need only near events, and queries there are quick. */
	PASS_FAILURES_NEAR, /* assertions, null pointers, divisors */
	PASS_BRANCHES_NEAR, /* everything else */
	PASS_FAILURES,
	PASS_BRANCHES,
	/* Unanswered locations with open addresses, whose constraints are several times as hard. */
	PASS_FAILURES_OPEN,
	PASS_BRANCHES_OPEN,
	PASS_COUNT,
	PASS_ANY = PASS_COUNT /* not a pass: asks search_is_wanted() about the locations of all */
};

struct chunk_cursor {
	uint16_t thread;
	uint32_t window; /* events of one thread */
	/* Events of the run up to the end of the last window, with global windows. */
	uint64_t global_end;
	uint32_t *ends; /* end of each thread's last window */
};

struct worker {
	struct sensitivity *analysis;
	pthread_t thread;
	struct solver solver;
	struct chunk chunk;
	enum search_pass pass; /* pass of the chunk */
	/* Results of the chunk. They become part of the search when the chunk is settled. */
	uint64_t number;   /* number among the chunks with questions */
	uint32_t *queries; /* queries by location */
	uint64_t timeouts, unasked;
	bool has_turn; /* all chunks before this one are settled */
	/* Earlier chunks used up the queries of this one: it is searched again. */
	bool is_void;
	/* The last answer of the solver, with the goal that it was asked for */
	struct event_id goal;
	uint32_t location;
	struct solution solution;
	/* Guarded by search.lock. */
	bool is_asking;	 /* its chunk is not settled yet */
	bool is_waiting; /* the caller has not judged the answer yet */
	Z3_context z3;	 /* set while it may be interrupted; else NULL */
};

struct flip {
	struct event_id goal;
	uint32_t location;
	uint64_t steps;	   /* steps of the thread before the branch */
	uint64_t position; /* position of the branch in its run */
	bool is_first;	   /* earlier branches in its run had the recorded outcome */
	struct solution solution;
};

struct search {
	pthread_mutex_t lock;
	pthread_cond_t changed;
	struct chunk_cursor cursor; /* guarded by lock, as all below */
	enum search_pass pass;
	struct worker *workers;
	uint32_t worker_count, running;
	struct worker *current;	 /* the worker whose answer the caller judges */
	uint64_t given, settled; /* chunks with questions */
	bool is_stopping;
	/* Used only by the caller's thread, before workers exist. */
	struct flip *flips; /* answers that runs have shown */
	bool is_buffered;   /* the search is over; answers are those of runs with store buffers */
	uint32_t flip_count, flip_next;
	uint64_t *holds; /* events at which runs hold a thread: numbers in the order of the run */
	uint32_t hold_count;
	struct worker observer; /* holds the current one of these answers */
};

struct sensitivity {
	struct sensitivity_options options;
	struct image image;
	struct code_book book;
	struct walk walk;
	struct walk_part *parts;
	uint32_t part_count, part; /* the current part, whose events are in memory */
	/* Position of the branch in the run judged last; UINT64_MAX: not known. */
	uint64_t flipped_position;
	/* Calls that led to the branch in that run. */
	LLVMValueRef flipped_callers[WALK_CALLERS_MOST];
	uint32_t flipped_caller_count;
	struct order order;
	struct locations locations;
	struct search search;
	uint64_t begin_ns;
	/* Limit since begin_ns; 0: none. Atomic: the caller may shorten it at any time. */
	uint64_t time_ns;
	/* paths.c: walk with all branches and accesses of the record, made on first use. */
	struct walk path;
	bool has_path;
	uint64_t *accesses; /* bit set over all sites; NULL if not requested yet */
	struct observed *observed;
	uint32_t observed_count;
	bool *is_matched; /* by exclude pattern: the pattern matched something */
	/* Strings of the last candidate. */
	struct strbuf variables;
	char *function, *file, *directory;
	struct sensitivity_figures figures; /* guarded by search.lock once the search has begun */
};

/* Walks the run and opens the search of its first part. */
void parts_open(struct sensitivity *analysis);
/* Moves to the next part once a part is searched. Returns false if the run is complete, or time is
 * up. */
bool parts_next(struct sensitivity *analysis);
void parts_close(struct sensitivity *analysis);

void locations_fill(struct sensitivity *analysis);
void locations_release(struct locations *locations);
/* Returns the locations of an event. LOCATION_NONE: such events are not searched. */
uint32_t locations_of(const struct locations *locations, const struct walk_event *event);
/* Returns whether both lie on one source line: optimisers duplicate branches and inline
 * functions. */
bool locations_are_one(LLVMValueRef a, LLVMValueRef b);
bool locations_is_asked(const struct walk_event *event);
/* Returns the kind of finding that the event would be with its other outcome. */
enum sensitive_kind locations_kind(const struct walk_event *event);
/* Fills `location` with strings of the analysis, valid until the next call. */
void locations_describe(struct sensitivity *analysis, LLVMValueRef instruction,
	struct sensitive_location *location);
/* Returns the source function of the instruction, even when inlined. The caller frees the
 * string. */
char *locations_function(LLVMValueRef instruction);
/* Appends the name of the accessed object, such as "table.next". */
void locations_name_access(
	const struct sensitivity *analysis, const struct walk_event *access, struct strbuf *out);
/* Collects in `variables` what a term depends on: "table.next, is_good". */
void locations_name_variables(struct sensitivity *analysis, const struct term *term);

void chunk_open(struct chunk *chunk, const struct sensitivity *analysis);
void chunk_release(struct chunk *chunk);
/* Moves the cursor to the first chunk of windows of this many events. The cursor may be all zero
 * before. */
void chunk_rewind(struct chunk_cursor *cursor, const struct sensitivity *analysis, uint32_t window);
/* Returns false if no chunk is left. */
bool chunk_next(
	const struct sensitivity *analysis, struct chunk_cursor *cursor, struct chunk *chunk);
/* Returns the estimated number of chunks: heavily written locations need more. */
uint64_t chunk_count(const struct sensitivity *analysis, uint32_t window);
bool chunk_is_all(const struct chunk *chunk, const struct sensitivity *analysis);
/* Returns whether the run is one chunk. Short runs are, unless their constraints would be too
 * large. */
bool chunk_is_whole(const struct sensitivity *analysis, uint32_t window);

const uint64_t *paths_accesses(struct sensitivity *analysis);
/* Adds differences of the run to `observed`. Returns false if a thread could not be followed to its
 * end. */
bool paths_observe(struct sensitivity *analysis, const struct run_record *run);

/*
 * Finds the innermost caller in the program's own code, for an instruction in a system header,
 * through inlining or through `callers`: "shop.cc:12 in sell". The caller frees the string. Returns
 * NULL for own code, or if not known.
 */
char *locations_called_from(
	LLVMValueRef instruction, const LLVMValueRef *callers, uint32_t caller_count);

/* Describes both interleavings of the last candidate. `thread`: the candidate's thread in the
 * run. */
void interleavings_describe(struct sensitivity *analysis, const struct run_record *run,
	uint16_t thread, struct sensitive_interleaving out[SENSITIVE_RUNS]);

void search_open(struct sensitivity *analysis);
/* Returns the worker with the next answer; NULL if the search is over. The first call starts the
 * workers. */
struct worker *search_next(struct sensitivity *analysis);
/* Ends the judgement of the current answer. */
void search_continue(struct sensitivity *analysis, enum sensitivity_verdict verdict);
/* Returns false if a worker could not be stopped, and nothing of the analysis may be freed. */
bool search_close(struct sensitivity *analysis);
uint64_t search_now_ns(void);
/* Returns whether the current pass asks the solver about this event. If so, *out is the event's source location. */
bool search_is_wanted(const struct sensitivity *analysis, enum search_pass pass,
	const struct walk_event *event, uint32_t *out);

/* Plans the next run before workers exist. Returns false if further runs are not worth their
 * time. */
bool runs_plan(struct sensitivity *analysis, struct sensitive_trial *out);
/* Notes the branches that the run flipped. */
void runs_observe(struct sensitivity *analysis, const struct sensitive_run *run);
/* Called before workers exist. Returns true if search.observer holds the next answer that a run has
 * shown. */
bool runs_next(struct sensitivity *analysis);
/* From now on answers are those of runs with store buffers. Called after the search. */
void runs_begin_buffered(struct sensitivity *analysis);
void runs_close(struct sensitivity *analysis);
/* Returns the index of the thread in the record; UINT16_MAX: there is none of this name. */
uint16_t runs_thread_named(const struct run_record *run, thread_name name);

bool search_is_late(const struct sensitivity *analysis);
uint64_t search_end_ns(const struct sensitivity *analysis);
/* Shortens the total time limit of the analysis. */
void search_hurry(struct sensitivity *analysis, uint64_t time_ns);

/* Thread function of a worker (context): runs until nothing is left to search. */
void *search_work(void *context);
/* Counts what running workers leave out when time is up. Caller holds search.lock. */
void search_count_left(struct sensitivity *analysis);

/* Settlement of chunks in order (search.c). These functions need search.lock held. */

bool turns_is_open(const struct worker *worker, uint32_t location);
/* Returns how many queries to the solver each source location may cause in the worker's current pass. */
uint32_t turns_queries_most(const struct worker *worker);
void turns_begin(struct worker *worker);
/* Waits until earlier chunks are settled. Returns false if the results are void, or the search is
 * over. */
bool turns_take(struct worker *worker);
/* Ends the search of a chunk, once all earlier chunks are settled. Returns false if it must be
 * searched again. */
bool turns_end(struct worker *worker);

/* Shorter runs have open addresses from the first query, and no random runs. */
#define SEARCH_OPEN_AT_ONCE_MOST 600
/* Events of one thread per near window: a query takes a fraction of a second there. */
#define SEARCH_NEAR_WINDOW 40
/* Time limit of a near query: this, or one tenth of --query-time if that is longer. */
#define SEARCH_NEAR_QUERY_NS UINT64_C(1000000000)
#define SEARCH_NEAR_QUERY_PART 10

bool search_is_near(enum search_pass pass);
bool search_has_open_addresses(const struct sensitivity *analysis, enum search_pass pass);
/* Returns whether the pass counts the events that it leaves out. False if another pass covers
 * them. */
bool search_counts(enum search_pass pass);
bool search_is_of_failures(enum search_pass pass);
/* Returns whether the chunk's questions differ from those of earlier passes. */
bool search_is_new(const struct worker *worker);
bool search_has_pass(const struct sensitivity *analysis, enum search_pass pass);
uint32_t search_window(const struct sensitivity *analysis, enum search_pass pass);
/* Makes the rest of the run a chunk whose events only count as not asked. Returns false if nothing
 * is left. */
bool search_rest(
	const struct sensitivity *analysis, struct chunk_cursor *cursor, struct chunk *chunk);
/* Returns the estimated number of chunks of all passes. */
uint64_t search_chunk_count(const struct sensitivity *analysis);
