/*
 * Schedule-sensitive branches of a recorded run: candidates that a solver has a schedule for, and the
 * judgement whether a run under that schedule took the other side. The work is done by
 * libraddle-branches.so, which needs LLVM and Z3 and is only loaded when asked for; what it gives back is
 * plain.
 *
 * Use: sensitivity_open; sensitivity_next until there is none; for each candidate a recorded run,
 * sensitivity_check and sensitivity_settle; sensitivity_close.
 */
#ifndef RADDLE_BRANCHES_SOLVE_SENSITIVITY_H
#define RADDLE_BRANCHES_SOLVE_SENSITIVITY_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "model/schedule.h"
#include "branches/record/run_record.h"

enum sensitive_kind {
	SENSITIVE_BRANCH,
	SENSITIVE_SWITCH,
	SENSITIVE_CHOICE,    /* a value chosen by a condition, without control flow */
	SENSITIVE_ASSERTION, /* a branch whose other side ends the program */
	SENSITIVE_TARGET,    /* a call through a pointer that may lead to another function */
	SENSITIVE_NULL,	     /* a pointer that may be null where it is dereferenced */
	SENSITIVE_DIVISOR,   /* may be zero */
	SENSITIVE_INDEX,     /* an access that may be outside of its array */
	SENSITIVE_KIND_COUNT
};

/* A place in the source. Strings are owned by the analysis. */
struct sensitive_place {
	const char *function;
	const char *file; /* as the compiler was told, relative ones to `directory` */
	const char *directory;
	uint32_t line, column;
};

/* One step on the way to a branch. Everything is owned. */
struct sensitive_step {
	uint16_t thread;  /* index in the record of its run */
	uint16_t other;	  /* thread that it is about: created, joined; UINT16_MAX: none */
	const char *verb; /* "reads", "locks", ...; of the branch itself "finds" */
	char *object;	  /* "table.next", "the condition false"; empty: `other` */
	char *value;	  /* that was read or written; NULL: there is none */
	char *function, *file, *directory; /* as in a place; of an operation empty */
	uint32_t line, column;
	uint64_t address; /* of what is accessed; 0: nothing is */
	uint64_t site;	  /* of an operation: return address of the call; 0: not known */
};

/* Steps up to a branch as a run made them, oldest first; the last one is the branch. */
struct sensitive_interleaving {
	struct sensitive_step *steps;
	uint32_t count;
	uint64_t left_out; /* earlier ones */
	/* SENSITIVE_FLIPPED, of a branch in a header of the system: "shop.cc:12 in sell", whence it was called; else NULL. */
	char *called_from;
};

enum { SENSITIVE_RECORDED, SENSITIVE_FLIPPED, SENSITIVE_RUNS };

void sensitive_interleaving_release(struct sensitive_interleaving *interleaving);

/* A branch that the solver has a schedule for. Everything is owned by the analysis. */
struct sensitive_candidate {
	uint32_t number; /* of the place; each is given once at most when it is proven */
	enum sensitive_kind kind;
	struct sensitive_place place;
	uint16_t thread; /* index in the record */
	uint64_t occurrence;
	bool was_taken;	       /* the condition was true in the record */
	bool is_waiting;       /* the end of a loop that does nothing but look at memory */
	const char *variables; /* "is_good, table.next"; those that the condition depends on */
	const struct schedule_segment *segments; /* thread: its index in the record */
	uint32_t segment_count;
	const uint64_t *chosen; /* sites whose accesses are scheduling points: bit set over all */
	/*
	 * "buffers.c:12 (main.0)": writes that others must see late. Then there is no schedule of steps in one
	 * order, no run can show it, and it is not to be judged but only passed. NULL: there is one.
	 */
	const char *delayed;
};

/* What there was to do. */
struct sensitivity_figures {
	uint32_t threads;
	uint64_t instructions;
	uint64_t
		steps; /* that the run has where all sites of shared memory are scheduling points; about */
	uint64_t events, critical_events, branches;
	uint64_t shared_words;
	uint32_t parts;	 /* that the run was divided into */
	uint64_t points; /* scheduling points that were looked at, and those before them */
	uint64_t path;	 /* equal for runs in which branches on shared memory went the same ways */
	uint64_t constraints;		   /* assertions of the solver */
	uint64_t constraint_terms;	   /* comparisons and connectives in them */
	uint64_t chunks;		   /* that there were constraints of */
	uint64_t chunks_seen, chunk_count; /* of a pass; how many there are */
	uint64_t unasked;		   /* branches that were left out to keep to the limits */
	uint64_t queries, timeouts;
	uint64_t trials;  /* schedules that were tried without a solver and without a run */
	uint64_t load_ns; /* processor time until the program was at hand; so is walk_ns */
	uint64_t walk_ns, solve_ns;
	uint64_t events_ns; /* of walk_ns: of the walks that make events, and of looking at those */
	uint64_t unknown_writes; /* calls that wrote shared memory, nobody knows what */
	char unknown[200];	 /* of which functions: "memcpy 3, read 1" */
	uint64_t unknown_uses;	 /* calls that were given shared memory, or what depends on some */
	char unknown_users[200]; /* of which functions: "strcmp 2" */
	uint32_t unfinished_threads; /* that could not be walked to their end */
	char unfinished[200];	     /* why they could not: "computed goto (2), ..." */
	char unmatched[100]; /* patterns that leave nothing out: "first, second"; empty: none */
	bool is_model_wrong; /* the observed run contradicts the constraints: a defect */
};

struct sensitivity_options {
	uint64_t query_ns;  /* time for one question to the solver */
	bool only_failures; /* assertions, null pointers, divisors */
	bool splits_lines; /* each condition of a line is a place of its own: flipped ones lead to other runs */
	uint32_t window; /* events of one thread that are looked at together */
	uint64_t part;	 /* about so many events are kept at once; 0: what a gigabyte holds */
	/* Only branches from this scheduling point of the run to that one; 0: from its begin, to its end. */
	uint64_t points_from, points_to;
	uint32_t queries_most;	     /* for each place that no answer was found for */
	uint64_t time_ns;	     /* for all of it; 0: no limit */
	bool is_global;		     /* windows of so many events of the run as it was, instead */
	uint32_t workers;	     /* threads that ask; 0: one */
	bool has_store_buffers;	     /* places without an answer are asked about again, with them */
	const char *const *excludes; /* patterns of functions and files that are not asked about */
	uint32_t exclude_count;
	/* Is the place known, so that it need not be asked about? NULL: none is. */
	bool (*is_known)(
		void *context, enum sensitive_kind kind, const struct sensitive_place *place);
	/* Called now and then while sensitivity_next() waits; false: it shall give up. NULL: nobody is. */
	bool (*waiting)(void *context, const struct sensitivity_figures *figures);
	void *context;
};

struct sensitivity;

/* Walks the run. `program` is the path of the executable; the record must outlive the analysis. */
int sensitivity_open(struct sensitivity **out, const struct run_record *record, const char *program,
	const struct sensitivity_options *options, struct error *err);
/* The next branch that can be flipped; false: there is none. Skips places that are proven. */
bool sensitivity_next(struct sensitivity *analysis, struct sensitive_candidate *out);

enum sensitivity_verdict {
	VERDICT_FLIPPED,
	VERDICT_NOT_REACHED, /* the run came somewhere else */
	VERDICT_SAME	     /* it took the same side */
};

/* Did the run take the other side of the last candidate? */
enum sensitivity_verdict sensitivity_check(
	struct sensitivity *analysis, const struct run_record *run);
/*
 * How the record and a run in which the last candidate flipped came to it. To be released.
 */
void sensitivity_interleavings(struct sensitivity *analysis, const struct run_record *run,
	struct sensitive_interleaving out[SENSITIVE_RUNS]);
/*
 * Of the last candidate, before the next is asked for: VERDICT_FLIPPED proves its place. From then on nothing of it may be
 * used any more.
 */
void sensitivity_settle(struct sensitivity *analysis, enum sensitivity_verdict verdict);

/* The sites that access memory, shared or not: bit set over all, owned by the analysis. */
const uint64_t *sensitivity_accesses(struct sensitivity *analysis);
/*
 * Looks at a run of the program that was made without a question, by any schedule: at what branches it first went another way than the
 * record, while everything before was the same. False: the run could not be followed to its end.
 */
bool sensitivity_observe(struct sensitivity *analysis, const struct run_record *run);

/* What such runs have shown. */
struct sensitive_observation {
	enum sensitive_kind kind;
	struct sensitive_place place; /* owned by the analysis, until the next call */
	bool is_modelled; /* its condition depends on shared memory, as far as is known */
	bool is_proven;	  /* the answer of the solver was shown, too */
	uint32_t count;	  /* of runs */
};
/* False: there are not so many. */
bool sensitivity_observed(
	struct sensitivity *analysis, uint32_t number, struct sensitive_observation *out);
/* From now on the time for all of it is no longer than this, of which what has gone by counts; not 0. */
void sensitivity_hurry(struct sensitivity *analysis, uint64_t time_ns);
void sensitivity_figures(struct sensitivity *analysis, struct sensitivity_figures *out);
/* False: a solver is deaf, and its thread still at work. Nothing is freed then, nor may the run be; the process must end by _exit(). */
bool sensitivity_close(struct sensitivity *analysis);

/* ---- what libraddle-branches.so exports ---- */

#define SENSITIVITY_ENTRY "raddle_sensitivity"
typedef void sensitivity_bug(const char *condition, const char *file, int line);

struct sensitivity_library {
	int (*open)(struct sensitivity **, const struct run_record *, const char *,
		const struct sensitivity_options *, struct error *);
	bool (*next)(struct sensitivity *, struct sensitive_candidate *);
	enum sensitivity_verdict (*check)(struct sensitivity *, const struct run_record *);
	void (*interleavings)(
		struct sensitivity *, const struct run_record *, struct sensitive_interleaving *);
	void (*settle)(struct sensitivity *, enum sensitivity_verdict);
	void (*hurry)(struct sensitivity *, uint64_t);
	void (*figures)(struct sensitivity *, struct sensitivity_figures *);
	const uint64_t *(*accesses)(struct sensitivity *);
	bool (*observe)(struct sensitivity *, const struct run_record *);
	bool (*observed)(struct sensitivity *, uint32_t, struct sensitive_observation *);
	bool (*close)(struct sensitivity *);
};
/* `bug` is the command's bug_report(): the library has none of its own. */
typedef const struct sensitivity_library *sensitivity_entry(sensitivity_bug *bug);

#endif
