/*
 * Schedule-sensitive branches of a program: a run is recorded and analysed (branches/solve/sensitivity.h), and
 * each schedule that the solver gives is run. Only what a run has shown is reported.
 */
#ifndef RADDLE_COMMANDS_BRANCHES_BRANCHES_H
#define RADDLE_COMMANDS_BRANCHES_BRANCHES_H

#include "explore/campaign.h"
#include "branches/solve/sensitivity.h"

struct branches_progress {
	uint32_t found;
	uint32_t round, rounds; /* the trace that is analysed, from 1 on; those that are known */
	uint64_t chunks, chunk_count;
	uint64_t queries;
};

struct branches_options {
	struct campaign_options campaign; /* program, settings, runtime; the rest is not used */
	struct sensitivity_options sensitivity;
	const char *save_record; /* file that the record of the first run is kept in; NULL: none */
	const char *from_record; /* file that it is taken from, without a run; NULL: none */
	uint64_t record_bytes;	 /* the record may have; 0: the standard limit */
	uint32_t continuations;	 /* random runs from a flipped branch on, to see what comes of it */
	uint32_t rounds;  /* runs that are analysed: flipped branches lead to others; 0: one */
	uint32_t samples; /* random runs, to see whether they show a branch that was not found */
	/* Called now and then. NULL: nobody looks. */
	void (*progress)(void *context, const struct branches_progress *progress);
	void *context;
};

/* What its going either way means. */
enum branch_class {
	CLASS_BUG,    /* a run from there on fails */
	CLASS_AD_HOC, /* a loop waits for another thread */
	CLASS_BENIGN, /* so far: all runs from there on passed */
	BRANCH_CLASS_COUNT
};

/* What became of a failure behind a branch. */
enum branch_kept {
	KEPT_NOT,	   /* it did not repeat in fresh processes */
	KEPT_MINIMAL,	   /* or as near to that as it is worth */
	KEPT_AS_IT_WAS,	   /* there was no time to minimise it, or not enough */
	KEPT_NOT_LOOKED_AT /* there was no time */
};

extern const char *const branch_class_words[BRANCH_CLASS_COUNT];

/* One step of a run on the way to a branch. Everything is owned. */
struct branch_step {
	char *thread;	/* "main.0" */
	char *verb;	/* "reads", "locks", ...; the last one "finds" */
	char *object;	/* "table.next", "mutex m", "main.0", "the condition true" */
	char *value;	/* that was read or written; NULL: there is none */
	char *function; /* NULL where not known, as file */
	char *file;	/* to open it */
	uint32_t line;
	bool is_switch; /* another thread moved before */
};

struct branch_interleaving {
	struct branch_step *steps; /* oldest first */
	uint32_t count;
	uint64_t left_out; /* earlier ones */
};

/* A branch that was seen to go either way. Everything is owned. */
struct sensitive_branch {
	enum sensitive_kind kind;
	char *function, *file;
	char *path; /* of the file, to open it */
	uint32_t line, column;
	char *thread; /* "main.0" */
	char *variables;
	uint64_t occurrence;
	bool was_taken; /* in the recorded run; in the other one the opposite */
	char *schedule; /* "main:12 main.0:3": who makes how many steps until the branch */
	enum branch_class class;
	uint32_t continuations; /* runs that were made from there on */
	struct outcome outcome; /* CLASS_BUG: of the run that failed */
	uint64_t failing_seed;	/* CLASS_BUG: how that run went on; 0: without preemptions */
	char finding[32];	/* CLASS_BUG: its id; empty: there is none */
	uint64_t failure;	/* CLASS_BUG: failure_key() of the run that failed */
	enum branch_kept kept;	/* CLASS_BUG: what was made of it */
	uint32_t round;		/* branches that were flipped before it, each in a run of its own */
	/* How the runs came to it; of none where no run could. */
	struct branch_interleaving interleavings[SENSITIVE_RUNS];
	char *called_from; /* "shop.cc:12 in sell": of one in a header of the system; NULL: it is in none */
	char *delayed; /* writes that others must see late, so that no run can show it; NULL: one did */
};

/* A branch that went the other way in a run of --sample. Everything is owned. */
struct observed_branch {
	enum sensitive_kind kind;
	char *file, *path, *function;
	uint32_t line;
	bool is_modelled; /* its condition depends on shared memory, as far as is known */
	bool is_found;	  /* by solving, too */
	uint32_t runs;
};

struct branches_result {
	struct sensitive_branch *items;
	uint32_t count;
	char **unproven; /* solutions that no run has shown, one line each: defects of the model */
	uint32_t unproven_count;
	struct sensitive_branch *
		early; /* runs that failed before they came to their branch: of CLASS_BUG, and not proven */
	uint32_t early_count;
	uint32_t
		cut_count; /* solutions whose runs had not ended in their time, and so show nothing */
	uint32_t relaxed_count; /* of the items: those with `delayed` */
	struct observed_branch *observed;
	uint32_t observed_count;
	uint32_t samples;		    /* runs that were made for them */
	uint32_t samples_lost;		    /* of which so many could not be followed: a defect */
	uint32_t traces;		    /* runs that were analysed */
	struct sensitivity_figures figures; /* of the first one; counts of all */
	uint64_t record_bytes;
	uint64_t run_ns; /* of the recorded run */
	uint64_t run_processor_ns;
	bool is_partial;		 /* the record is a beginning only, as there was no room */
	uint64_t points_from, points_to; /* of the options */
	bool is_made_again; /* it was too long to be kept: the run was made again for each walk */
	bool is_failing;    /* the recorded run failed, in this way */
	struct outcome outcome;
	bool is_interrupted;
	bool has_left_thread;	 /* of a solver that is deaf: the process must end by _exit() */
	uint64_t runs, failures; /* that were made, and of which so many failed */
	double seconds;
	int64_t campaign; /* its row in the store; 0: none yet */
};

int branches_search(
	const struct branches_options *options, struct branches_result *out, struct error *err);
/* Keeps what is told, as JSON, in the store, for reports. */
int branches_store(const struct branches_options *options, struct branches_result *result,
	const char *json, struct error *err);
void branches_result_release(struct branches_result *result);

#endif
