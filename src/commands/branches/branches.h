/*
 * Search for schedule-sensitive branches: branches whose direction depends on the interleaving.
 *
 * The search records a run and analyses the record (branches/solve/sensitivity.h). The solver
 * yields schedules that should flip a branch, and each of them is run. Flipped runs are recorded
 * and analysed in turn, up to `rounds`. Failures behind a branch become findings at the end, as far
 * as time allows.
 *
 * Invariant: a branch is reported as sensitive only if a run has shown it.
 */
#pragma once

#include "explore/campaign.h"
#include "store/store_fallback.h"
#include "branches/solve/sensitivity.h"

struct branches_progress {
	uint32_t found;
	/* number of the trace being analysed, from 1, and of those known so far */
	uint32_t round, rounds;
	uint64_t chunks, chunk_count;
	uint64_t queries;
};

struct branches_options {
	/* program, settings, runtime; other fields are unused */
	struct campaign_options campaign;
	struct sensitivity_options sensitivity;
	const char *save_record; /* file to save the record of the first run in; NULL if none */
	/* file to read the record from instead of making a run; NULL if none */
	const char *from_record;
	uint32_t continuations; /* random runs from each flipped branch on, to classify it */
	uint32_t rounds;	/* runs to analyse, including those that flip a branch; 0: one */
	bool has_store_buffers; /* also make runs under TSO */
	uint32_t samples;	/* random runs that may reveal branches that the search missed */
	void (*progress)(void *context, const struct branches_progress *progress);
	void *context;
};

enum branch_class {
	CLASS_BUG,    /* a run from the branch on fails */
	CLASS_AD_HOC, /* a loop waits for another thread */
	CLASS_BENIGN, /* all runs from the branch on have passed so far */
	BRANCH_CLASS_COUNT
};

enum branch_kept {
	KEPT_NOT,	   /* the failure did not repeat in fresh processes */
	KEPT_MINIMAL,	   /* minimised, as far as the budget allows */
	KEPT_AS_IT_WAS,	   /* not minimised, because time was short */
	KEPT_NOT_LOOKED_AT /* not investigated, because time was short */
};

extern const char *const branch_class_words[BRANCH_CLASS_COUNT];

/* One step of a run that leads to a branch. Owns everything. */
struct branch_step {
	char *thread;	/* "main.0" */
	char *verb;	/* "reads", "locks", ...; "finds" for the last step */
	char *object;	/* "table.next", "mutex m", "main.0", "the condition true" */
	char *value;	/* value read or written; NULL if none */
	char *function; /* NULL if unknown; also for `file` */
	char *file;	/* path by which the file can be opened */
	uint32_t line;
	bool is_switch; /* the previous step was made by another thread */
};

struct branch_interleaving {
	struct branch_step *steps; /* oldest first */
	uint32_t count;
	uint64_t left_out; /* number of earlier steps */
};

/* A branch that was observed in both directions. Owns everything. */
struct sensitive_branch {
	enum sensitive_kind kind;
	char *function, *file;
	char *path; /* path by which the file can be opened */
	uint32_t line, column;
	char *thread; /* "main.0" */
	char *variables;
	uint64_t occurrence;
	/* direction in the recorded run; the other run took the opposite direction */
	bool was_taken;
	char *schedule; /* "main:12 main.0:3": the steps of each thread up to the branch */
	enum branch_class class;
	uint32_t continuations; /* runs made from the branch on */
	struct outcome outcome; /* CLASS_BUG: of the failing run */
	/*
	 * CLASS_BUG: seed of the failing run behind the branch; 0: it continued without preemptions
	 */
	uint64_t failing_seed;
	char finding[32];      /* CLASS_BUG: id of the finding; empty: none */
	bool is_in_fallback;   /* the fallback store has the finding */
	uint64_t failure;      /* CLASS_BUG: failure_key() of the failing run */
	enum branch_kept kept; /* CLASS_BUG: result of the investigation */
	/* number of branches flipped before this one, each in a run of its own */
	uint32_t round;
	/* Steps of the runs up to the branch; empty where no run reached it. */
	struct branch_interleaving interleavings[SENSITIVE_RUNS];
	/*
	 * "shop.cc:12 in sell": the caller, for a branch in a system header; NULL if not in a
	 * header
	 */
	char *called_from;
	/* Stores that other threads saw late in the run that flipped the branch, which was a run
	 * with store buffers; NULL for other runs. */
	char *delayed;
};

/* A branch that changed its direction in a run of --sample. Owns everything. */
struct observed_branch {
	enum sensitive_kind kind;
	char *file, *path, *function;
	uint32_t line;
	bool is_modelled; /* the analysis knows its condition to depend on shared memory */
	bool is_found;	  /* the search found it as well */
	uint32_t runs;
};

struct branches_result {
	struct sensitive_branch *items;
	uint32_t count;
	char **unproven; /* solutions that no run showed, one line each: defects of the model */
	uint32_t unproven_count;
	struct sensitive_branch *
		early; /* runs that failed before they reached their branch: CLASS_BUG, the branch is unproven */
	uint32_t early_count;
	uint32_t
		cut_count; /* solutions whose runs exceeded their time limit and therefore prove nothing */
	uint32_t buffered_count;   /* number of items with `delayed` */
	bool has_no_buffered_runs; /* the run is analysed in parts */
	struct observed_branch *observed;
	uint32_t observed_count;
	uint32_t samples; /* number of runs of --sample */
	/* samples whose path could not be followed: a defect of the analysis */
	uint32_t samples_lost;
	uint32_t traces;		    /* number of runs analysed */
	struct sensitivity_figures figures; /* figures of the first trace; counts are totals */
	uint64_t record_bytes;
	uint64_t run_ns; /* time of the recorded run */
	uint64_t run_processor_ns;
	/* the record has only the beginning of the run, for lack of room */
	bool is_partial;
	uint64_t points_from, points_to; /* copied from the options */
	bool is_failing;		 /* the recorded run failed, with `outcome` */
	struct outcome outcome;
	bool is_interrupted;
	/* The solver ignores its interrupt: the process must end by _exit(). */
	bool has_left_thread;
	uint64_t runs, failures; /* runs made, and how many of them failed */
	double seconds;
	int64_t campaign; /* id in the store; 0: none yet */
	/* folder of the fallback store; empty: the command's store accepts results */
	char fallback[STORE_FALLBACK_FOLDER];
};

int branches_search(
	const struct branches_options *options, struct branches_result *out, struct error *err);
/* Stores a finding, or the JSON document of the result if `finding` is NULL; what the command's store
 * refuses, and everything after that, in the fallback store. */
int branches_store(const struct campaign_options *options, struct branches_result *result,
	struct finding *finding, const char *json, struct error *err);
void branches_result_release(struct branches_result *result);
