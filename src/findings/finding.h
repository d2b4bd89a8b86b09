/*
 * A finding: a failure with its evidence in words and names, ready to be stored and printed.
 *
 * findings/describe/build.h makes a finding from the outcome, schedule and trace of a run and the symbols of
 * its program. investigate/ adds how well the failure repeats, and store/ gives it an id. The JSON
 * form (finding_to_json()) is the stored form; reports read it.
 *
 * A finding is plain data without references to the run: every string and array is owned by the
 * finding and freed by finding_release(). All zero is an empty finding.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/strbuf.h"
#include "model/outcome/outcome.h"
#include "trace/schedule_text.h"

struct finding_frame {
	char *function; /* NULL if unknown */
	char *file;	/* NULL if unknown */
	unsigned line;
	char *module;
	bool is_system;
	bool is_wrapper; /* short function that only passes a call on: reports show its caller */
};

struct finding_stack {
	struct finding_frame *frames;
	uint32_t count;
};

/* A blocked or failing thread and the object it is blocked on. */
struct finding_wait {
	char *thread; /* "main.0" */
	char *verb;   /* "locks" */
	char *object; /* "mutex fork+40", "mutex made at bank.c:12" */
	struct finding_stack at;
	/* thread that holds the object; NULL if there is none or unknown */
	char *holder;
	/* Location where the holder acquired it; function NULL: unknown. */
	struct finding_frame held_since;
	bool is_on_cycle;
	uint32_t lost_signals; /* signals to no thread that were meant for this wait */
};

/* One of the two accesses of a race. */
struct finding_access {
	char *thread; /* "main.0" */
	char *verb;   /* "writes" */
	char *held;   /* locks that the thread held: "mutex m, rwlock r"; NULL if none */
	struct finding_stack at;
};

enum { FINDING_EARLIER, FINDING_LATER, FINDING_ACCESSES };

/* A thread that the failing run stalls until the wait of another thread ends (model/stall.h). */
struct finding_stall {
	char *thread;
	struct finding_frame at; /* its next operation */
	uint64_t duration_ns;
	char *waiter;
	struct finding_frame waiter_at;
	bool is_sleep; /* the waiter slept; else its timed wait ended */
	/* the waiter slept there more than once; only in findings that have just been built */
	bool is_repeated;
};

/* A thread that the program has named (pthread_setname_np, prctl). */
struct finding_thread {
	char *path;  /* "main.0" */
	char *label; /* "logger" */
};

/* One step of the displayed interleaving. */
struct finding_step {
	uint64_t step;
	char *thread;
	char *verb;
	char *object;
	struct finding_frame where;   /* the displayed line, wrappers skipped */
	struct finding_frame inner;   /* the wrapper that `where` calls; function NULL: none */
	struct finding_stack callers; /* known callers of `where` in the program's code */
	/* the library call that makes the access: "jobs.push_back(...)"; NULL if none */
	char *library_call;
	bool is_switch;	    /* the previous step was made by another thread */
	bool is_preemption; /* the previous thread was enabled */
	bool is_failure;    /* the failure itself; it may be no scheduling point */
	/* number of the cause's line, or of the race's access, that names this step; 0 if none */
	uint32_t cause_line;
	/*
	 * Steps of stores that this step concerns under a weak memory model; 0: none or unknown. With c11
	 * a load reads from an older store. With tso a drain makes a buffered store visible, and a load
	 * reads from a drain. An access misses a store that its thread does not see.
	 */
	uint64_t reads_from, makes_visible, misses;
	uint64_t address; /* address of the object; only in findings that have just been built */
};

/* Run numbers of a shard, more than it can make; an unsharded campaign is the first. */
#define FINDING_SHARD_RUNS (UINT64_C(1) << 40)
#define FINDING_SHARDS_MAX (1u << 20)

struct finding {
	char id[32];	    /* "F1"; assigned by the store */
	uint64_t signature; /* equal for equal findings; see finding_signature() */
	enum outcome_kind kind;
	int code;     /* exit status or signal */
	char *title;  /* one line: "deadlock: main.0 and main.1 wait for each other's lock" */
	char *detail; /* further text, may be NULL */
	/* Events that led to the failure, from the trace, one sentence per line. NULL if unknown. */
	char *cause;
	char *remedy; /* one line: the change that prevents the failure; NULL if unknown */
	/* Weak access: the finding of a run under the model that makes the access and fails; "": none */
	char shown_by[32];

	/* Inputs of a replay. */
	char **argv;	 /* ends with NULL */
	char *directory; /* working folder */
	char *input;	 /* standard input file, NULL if none */
	char *settings; /* JSON object of the run settings (executor, restart, seed, tolerated, ...)
			 */
	/* JSON object: which accesses were scheduling points (plan/memory/memory_view.h); NULL if none. */
	char *memory;
	/*
	 * JSON object of environment variables (store/surroundings.h); NULL in findings of an older
	 * version.
	 */
	char *environment;
	/* JSON object with the source lines around the finding's locations (findings/source_lines.h);
	 * NULL if none were kept. */
	char *sources;
	char *strategy; /* strategy that found it: "pct,depth=3" */
	uint64_t seed;
	uint64_t run_number; /* number in its campaign, from FINDING_SHARD_RUNS * (shard - 1) + 1 */
	struct schedule_file schedule;		    /* minimised */
	uint32_t switches_found, preemptions_found; /* counts of the run that found the failure */
	uint32_t switches, preemptions;		    /* counts of the minimised run */
	char *incomplete;	/* why `schedule` may not be minimal; NULL if it is minimal */
	bool depends_on_time;	/* the minimised run has stalls */
	bool needs_weak_memory; /* the minimised run has delayed stores (model/memory_model.h) */
	struct finding_stall *stalls;
	uint32_t stall_count;
	/* Bug depth and radius, see investigate/depth.h; depth 0: not measured. */
	uint32_t depth, radius;
	uint32_t replays, replays_failed_again; /* repeatable if all replays failed again */

	/* Evidence. */
	struct finding_thread *threads; /* threads that the program has named */
	uint32_t thread_count;
	struct finding_stack at; /* stack of the failing thread */
	char *failing_thread;
	struct finding_wait *waits;
	uint32_t wait_count;
	char *variable; /* Race: the accessed memory, "counter"; NULL if there is no race. */
	/* The accesses of a race or a use after free; threads NULL: neither. */
	struct finding_access race[FINDING_ACCESSES];
	struct finding_step *steps; /* the end of the interleaving, oldest first */
	uint32_t step_count;
	/* The number of the first steps that the cause names although the steps behind them are left out. */
	uint32_t early_step_count;
	uint64_t steps_left_out; /* number of steps left out behind these, or before all steps */
	/* later steps of one thread alone beyond what is kept, as in an endless loop */
	uint64_t later_steps_left_out;
	/* End of a run that begins like the failing one and passes. count 0: none. */
	struct finding_step *passing_steps;
	uint32_t passing_step_count;
	uint64_t passing_steps_left_out;
	/* Number of schedules of other orders, all of which failed in the same way. 0: not tried, or
	 * one of them passed. */
	uint32_t other_schedules_failed;
	char *output; /* end of the failing run's output, may be NULL */

	/*
	 * made by this user on this machine (store/store_seal.h); set by the store, not in the JSON
	 */
	bool is_own;

	/* Bytes of a trace file (trace/trace_reader.h), NULL if none. Stored beside the JSON. */
	char *trace;
	size_t trace_size;
};

void finding_release(struct finding *finding);

/* Leaves out earlier steps of both runs, except those that the cause names, so that the JSON takes less than a megabyte. */
void finding_shorten(struct finding *finding);
/* Frees the steps for which is_kept[] is false. */
void finding_keep_steps(struct finding *finding, const bool *is_kept);

/* Frees the texts of the frame. */
void finding_frame_release(struct finding_frame *frame);
/* The innermost frame of the user's code, preferably with a line, else the innermost. */
const struct finding_frame *finding_user_frame(const struct finding_stack *stack);
/* Returns whether the function is a lambda whose name, "lambda at pool.cpp:14", already tells the frame's line. */
bool finding_frame_is_its_line(const struct finding_frame *frame);

/* Length of the short name: "mutex #3" of "mutex #3 first used at pool.c:12 by main.0". */
int finding_short_name(const char *object);

/* The name that the program gave the thread; returns NULL if there is none. */
const char *finding_thread_label(const struct finding *finding, const char *path);
/* Adds the thread as titles and tables name it: `main.0 "logger"`. */
void finding_add_thread(const struct finding *finding, const char *path, struct strbuf *out);

/* Adds the verb's gerund: "locks" gives "locking", "tries to lock" gives "trying to lock". */
void finding_add_gerund(const char *verb, struct strbuf *out);
/* Returns the wait of a thread, which may be NULL; NULL if it does not wait. */
const struct finding_wait *finding_wait_of(const struct finding *finding, const char *thread);
/* Adds what the thread is blocked on: "mutex m", "joining thread main.0", "reading from pipe 3". */
void finding_add_blocked_on(const struct finding_wait *wait, struct strbuf *out);
/* Adds "blocked on mutex m" or "blocked joining thread main.0". */
void finding_add_blocked(const struct finding_wait *wait, struct strbuf *out);

/*
 * Equal findings have equal signatures: outcome kind and code, and the evidence of that kind (a
 * deadlock's waits, a lost wake-up's object, a race's variable and locations, the failing stack).
 * Locations enter by function, file and line; thread numbers and addresses never enter.
 */
uint64_t finding_signature(const struct finding *finding);

/* Title from an uncaught exception or a failed expectation of a test framework in `output`. */
void finding_title_from_output(struct finding *finding);

/* Adds to the signature of an exit, which has no evidence of its own: the location of the failed
 * expectation in the title, or else the command line. */
void finding_sign_exit(struct finding *finding);

/* Adds "(depends on time)" and "(needs weak memory)" to the title of such findings. */
void finding_title_add_needs(struct finding *finding);

/* JSON, the stored form; the caller frees the text. The reader checks every field and is fuzzed. */
char *finding_to_json(const struct finding *finding);
/* Same as finding_to_json(), without the environment, which only replays need. Reports use this
 * form. */
char *finding_to_published_json(const struct finding *finding);
int finding_from_json(const char *text, size_t size, struct finding *out, struct error *err);
