/*
 * Schedule-sensitive branches of a recorded run. A *candidate* is a branch for which a random run
 * or the solver found a schedule that should take the other side. The command runs that schedule,
 * and check() judges whether the run did so. The method is TAME (Huang and Rauchwerger, ESEC/FSE
 * 2015); docs/branches.md lists the deviations.
 *
 * The analysis is libraddle-branches.so, which needs LLVM and Z3 and is loaded only on demand.
 * Results are plain data.
 *
 * Life cycle: sensitivity_load(); open(); then next() until it returns false; for each candidate a
 * recorded run, check() and settle(); at last close(). One thread makes all calls. The analysis has
 * worker threads of its own.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "model/schedule.h"
#include "branches/record/run_record.h"

enum sensitive_kind {
	SENSITIVE_BRANCH,
	SENSITIVE_SWITCH,
	SENSITIVE_CHOICE,    /* a value chosen by a condition without control flow (select) */
	SENSITIVE_ASSERTION, /* a branch whose other side ends the program */
	SENSITIVE_TARGET,    /* a call through a pointer whose target may be another function */
	SENSITIVE_NULL,	     /* a pointer that may be null where it is dereferenced */
	SENSITIVE_DIVISOR,   /* a divisor that may be zero */
	SENSITIVE_INDEX,     /* an access that may be outside of its array */
	SENSITIVE_KIND_COUNT
};

static inline bool sensitive_is_failure(enum sensitive_kind kind)
{
	return kind == SENSITIVE_ASSERTION || kind == SENSITIVE_NULL || kind == SENSITIVE_DIVISOR ||
	       kind == SENSITIVE_INDEX;
}

static inline bool sensitive_is_condition(enum sensitive_kind kind)
{
	return kind != SENSITIVE_TARGET && kind != SENSITIVE_NULL && kind != SENSITIVE_DIVISOR &&
	       kind != SENSITIVE_INDEX;
}

/* The analysis owns the strings. */
struct sensitive_location {
	const char *function;
	/* Path as the compiler received it; a relative path is relative to `directory`. */
	const char *file;
	const char *directory;
	uint32_t line, column;
};

/* One step of a run that leads to a branch. Owns its strings. */
struct sensitive_step {
	uint16_t thread;  /* index in the record of the run */
	uint16_t other;	  /* thread that was created or joined; UINT16_MAX: none */
	const char *verb; /* "reads", "locks", ...; of the final branch "finds" */
	char *object;	  /* "table.next", "the condition false"; empty: `other` is the object */
	char *value;	  /* value read or written; NULL if none */
	char *function, *file, *directory; /* same as in sensitive_location; empty for operations */
	uint32_t line, column;
	uint64_t address; /* address of the access; 0: not an access */
	uint64_t site;	  /* return address of an operation's call; 0: not known */
};

/* Steps of one run up to a branch, oldest first; the last step is the branch. */
struct sensitive_interleaving {
	struct sensitive_step *steps;
	uint32_t count;
	uint64_t left_out; /* number of earlier steps that are not listed */
	/* The program's own caller if the branch lies in a system header, "shop.cc:12 in sell";
	 * else NULL. */
	char *called_from;
};

enum { SENSITIVE_RECORDED, SENSITIVE_FLIPPED, SENSITIVE_RUNS };

void sensitive_interleaving_release(struct sensitive_interleaving *interleaving);

/* A branch with a schedule that should flip it. The analysis owns everything in it. */
struct sensitive_candidate {
	uint32_t
		number; /* number of the location; a location is not returned again when it is proven */
	enum sensitive_kind kind;
	struct sensitive_location location;
	uint16_t thread; /* index in the record */
	uint64_t occurrence;
	bool was_taken;	       /* the condition was true in the record */
	bool is_waiting;       /* the branch ends a loop that waits for another thread (loops.h) */
	const char *variables; /* variables that the condition depends on: "is_good, table.next" */
	const struct schedule_segment *segments; /* schedule; threads are indices in the record */
	uint32_t segment_count;
	const uint64_t *chosen; /* bit set over all sites: accesses that are scheduling points */
};

struct sensitivity_figures {
	uint32_t threads;
	uint64_t instructions;
	/* Estimate: as if all sites of shared memory were scheduling points. */
	uint64_t steps;
	uint64_t events, critical_events, branches;
	uint64_t shared_words;
	uint32_t parts;	 /* parts that the run was divided into */
	uint64_t points; /* scheduling points examined, including those before them */
	/* Hash: equal for runs whose branches on shared memory all had the same outcome. */
	uint64_t path;
	uint64_t constraints;		   /* assertions given to the solver */
	uint64_t constraint_terms;	   /* comparisons and connectives in them */
	uint64_t chunks;		   /* chunks with constraints */
	uint64_t chunks_seen, chunk_count; /* chunks of the current pass: done, in total */
	uint64_t unasked;		   /* branches left out because of a limit */
	uint64_t queries, timeouts;
	uint64_t trials;  /* random runs before the first query */
	uint64_t load_ns; /* processor time to load the program; walk_ns is processor time, too */
	uint64_t walk_ns, solve_ns;
	/* Share of walk_ns: walks that produce events, and the evaluation of these. */
	uint64_t events_ns;
	uint64_t unknown_writes; /* calls that wrote shared memory with unknown contents */
	char unknown[200];	 /* the functions called: "memcpy 3, read 1" */
	/* Calls that received shared memory, or a value that depends on it. */
	uint64_t unknown_uses;
	char unknown_users[200];     /* the functions called: "strcmp 2" */
	uint32_t unfinished_threads; /* threads that could not be walked to their end */
	char unfinished[200];	     /* the reasons: "computed goto (2), ..." */
	/* Exclude patterns that matched nothing: "first, second"; empty: none. */
	char unmatched[100];
	bool is_model_wrong; /* defect: the recorded run itself contradicts the constraints */
};

struct sensitivity_options {
	uint64_t query_ns;  /* time limit of one solver query */
	bool only_failures; /* ask only about assertions, null pointers and divisors */
	/* Each condition of a line is a location: flipped conditions lead to further runs. */
	bool splits_lines;
	uint32_t window; /* events of one thread per chunk */
	uint64_t part;	 /* events kept in memory at once, about; 0: as many as a gigabyte holds */
	/* Scheduling points whose branches are asked about; 0: no limit on that side. */
	uint64_t points_from, points_to;
	uint32_t queries_most; /* unanswered queries per location */
	uint64_t time_ns;      /* time for the whole analysis; 0: no limit */
	/* Nonzero: walks of runs end early, and the analysis with them. May be NULL. */
	const volatile int *is_interrupted;
	/* Windows of this many events of the whole run, instead of per thread. */
	bool is_global;
	uint32_t workers;      /* threads that query a solver; 0: one */
	const char **excludes; /* patterns of functions and files that are not asked about */
	uint32_t exclude_count;
	/* Locations that the caller knows are not asked about. May be NULL. */
	bool (*is_known)(
		void *context, enum sensitive_kind kind, const struct sensitive_location *location);
	/* The search for the next candidate calls this function regularly, so that the caller can show
	 * progress. The function returns false to end the search. NULL: there is no such function. */
	bool (*waiting)(void *context, const struct sensitivity_figures *figures);
	void *context;
};

struct sensitivity;

/* A run of the program under another schedule. */
struct sensitive_run {
	const struct run_record *record;
	const struct schedule_segment *segments; /* threads: indices in `record` */
	uint32_t segment_count;
};

struct sensitive_trial {
	/* seed of a random run; 0: the run follows the schedule, as far as possible */
	uint64_t seed;
	bool is_sampled; /* a random run of strategy `pos`, not of `random` */
	const struct schedule_segment *segments; /* threads are indices in the record */
	uint32_t segment_count;
	const uint64_t *chosen; /* same as in struct sensitive_candidate */
};

enum sensitivity_verdict {
	VERDICT_FLIPPED,
	VERDICT_NOT_REACHED, /* the run did not reach the branch */
	VERDICT_SAME	     /* the branch took the recorded side */
};

/* A branch that observe() found flipped. */
struct sensitive_observation {
	enum sensitive_kind kind;
	struct sensitive_location location; /* owned by the analysis, valid until the next call */
	bool is_modelled; /* the walk found that its condition depends on shared memory */
	bool is_proven;	  /* a run has confirmed an answer for this branch, too */
	uint32_t count;	  /* number of such runs */
};

/* The functions of the library. */
struct sensitivity_library {
	/* Walks the run. `program` is the path of the executable; the record must outlive the analysis. */
	int (*open)(struct sensitivity **out, const struct run_record *record, const char *program,
		const struct sensitivity_options *options, struct error *err);
	/* Before the first call of next(), runs of the program may show the other outcome of branches without the
	 * solver. Writes the plan of such a run, or returns false if more runs are not worth their time. */
	bool (*plan_run)(struct sensitivity *analysis, struct sensitive_trial *out);
	/* Adds the branches that a run planned by plan_run() has shown with another outcome to the candidates. */
	void (*take_run)(struct sensitivity *analysis, const struct sensitive_run *run);
	/* Returns the next candidate; false: the search is over. Skips proven locations. */
	bool (*next)(struct sensitivity *analysis, struct sensitive_candidate *out);
	/*
	 * Called after the search. From now on take_run() takes runs with store buffers, whose
	 * candidates (without schedules) next() returns. Returns the sites whose accesses are
	 * scheduling points, as in struct sensitive_candidate; NULL if the run is analysed in parts.
	 */
	const uint64_t *(*begin_buffered)(struct sensitivity *analysis);
	/* Decides from the record of `run` whether the branch of the last candidate had the other outcome. */
	enum sensitivity_verdict (*check)(
		struct sensitivity *analysis, const struct run_record *run);
	/* Gives the interleavings up to the last candidate in both runs. The caller releases both. */
	void (*interleavings)(struct sensitivity *analysis, const struct run_record *run,
		struct sensitive_interleaving out[SENSITIVE_RUNS]);
	/* Ends the last candidate, whose data becomes invalid. VERDICT_FLIPPED proves its location. */
	void (*settle)(struct sensitivity *analysis, enum sensitivity_verdict verdict);
	/* Returns the sites that access memory, shared or not: a bit set over all sites, owned by the
	 * analysis. */
	const uint64_t *(*accesses)(struct sensitivity *analysis);
	/*
	 * Compares the path of any run of the program with the record. Notes the branches that took another
	 * side while all branches before them had the same outcome. Returns false if a thread could not be
	 * followed to its end.
	 */
	bool (*observe)(struct sensitivity *analysis, const struct run_record *run);
	/* Returns false if `number` is out of range. */
	bool (*observed)(
		struct sensitivity *analysis, uint32_t number, struct sensitive_observation *out);
	/* Reduces the time limit of the analysis to `time_ns`, which counts from its beginning and is not 0. */
	void (*hurry)(struct sensitivity *analysis, uint64_t time_ns);
	void (*figures)(struct sensitivity *analysis, struct sensitivity_figures *out);
	/* Returns false if a solver's thread still runs. Nothing was freed, and the process must end by
	 * _exit(). */
	bool (*close)(struct sensitivity *analysis);
};

/* The loaded library; NULL before sensitivity_load(). */
extern const struct sensitivity_library *sensitivity;
/* Loads the library, once. */
int sensitivity_load(struct error *err);

#define SENSITIVITY_ENTRY "raddle_sensitivity"
typedef void sensitivity_bug(const char *condition, const char *file, int line);

/* `bug` is the command's bug_report(), as the library has none of its own. */
typedef const struct sensitivity_library *sensitivity_entry(sensitivity_bug *bug);
