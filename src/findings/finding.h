/*
 * A finding: a failure with its evidence, in words and names, ready to be stored and printed. Made
 * from an outcome, the run's schedule and trace, and the symbols of the target. Plain data; every
 * string is owned by the finding.
 */
#ifndef RADDLE_FINDINGS_FINDING_H
#define RADDLE_FINDINGS_FINDING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/strbuf.h"
#include "model/outcome.h"
#include "trace/schedule_text.h"

/* A line of a call stack. */
struct finding_frame {
	char *function; /* NULL where not known */
	char *file;	/* NULL where not known */
	unsigned line;
	char *module;
	bool is_system;
	bool is_wrapper; /* a short function with several call sites: reports show its caller */
};

struct finding_stack {
	struct finding_frame *frames;
	uint32_t count;
};

/* A thread that waits (or that failed), and for what. */
struct finding_wait {
	char *thread; /* "main.0" */
	char *verb;   /* "locks" */
	char *object; /* "mutex fork+40", "mutex made at bank.c:12" */
	struct finding_stack at;
	char *holder;			 /* thread, NULL: nobody in particular */
	struct finding_frame held_since; /* where the holder took it; function NULL: not known */
	bool is_on_cycle;
	uint32_t lost_signals;
};

/* One of the two accesses of a race. */
struct finding_access {
	char *thread; /* "main.0" */
	char *verb;   /* "writes" */
	char *held;   /* locks that it held: "mutex m, rwlock r"; NULL: none */
	struct finding_stack at;
};

enum { FINDING_EARLIER, FINDING_LATER, FINDING_ACCESSES };

/* A thread that the program has named (pthread_setname_np, prctl). */
struct finding_thread {
	char *path;  /* "main.0" */
	char *label; /* "logger" */
};

/* One step of the interleaving that is shown. */
struct finding_step {
	uint64_t step;
	char *thread;
	char *verb;
	char *object;
	struct finding_frame where;   /* the shown line, wrappers skipped */
	struct finding_frame inner;   /* the wrapper that `where` calls; function NULL: none */
	struct finding_stack callers; /* known callers of `where` in the program's code */
	char *library_call; /* the library call that makes the access: "jobs.push_back(...)"; NULL: none */
	bool is_switch;	    /* another thread moved before */
	bool is_preemption; /* ... and could have gone on */
};

/*
 * Runs are numbered through all shards of a campaign (raddle run --shard): so many numbers belong to each, more
 * than are ever made. Without shards all is the first one.
 */
#define FINDING_SHARD_RUNS (UINT64_C(1) << 40)
#define FINDING_SHARDS_MAX (1u << 20)

struct finding {
	char id[32];	    /* "F1"; given by the store */
	uint64_t signature; /* equal findings have equal signatures; see finding_signature() */
	enum outcome_kind kind;
	int code;     /* exit status or signal */
	char *title;  /* one line: "deadlock: main.0 and main.1 wait for each other's lock" */
	char *detail; /* further lines in words, may be NULL */
	/* What led to the failure according to the run's trace, one sentence per line. NULL: not known. */
	char *cause;
	char *remedy; /* one line: the change that prevents the failure; NULL: not known */

	/* How to see it again. */
	char **argv;	 /* NULL-terminated */
	char *directory; /* working folder */
	char *input;	 /* file given as standard input, NULL: none */
	char *settings; /* JSON object of the run settings (executor, restart, seed, tolerated, ...)
			 */
	/* JSON object: which accesses to memory were scheduling points (plan/memory_view.h); NULL:
	 * none. */
	char *memory;
	/* JSON object of the environment variables (store/surroundings.h); NULL: an older raddle kept none. */
	char *environment;
	/* JSON object with the source lines around the finding's places (findings/source_lines.h); NULL: none were kept. */
	char *sources;
	char *strategy; /* that found it: "pct,depth=3" */
	uint64_t seed;
	uint64_t run_number; /* in its campaign, from FINDING_SHARD_RUNS * (shard - 1) + 1 */
	struct schedule_file schedule;		    /* minimised */
	uint32_t switches_found, preemptions_found; /* in the run that found it */
	uint32_t switches, preemptions;		    /* minimised */
	/* What the strategies with a bound would have needed; depth 0: not measured. */
	uint32_t depth, radius;
	uint32_t replays, replays_failed_again; /* 3 of 3 is repeatable */

	/* Evidence. */
	struct finding_thread *threads; /* only threads that the program has named */
	uint32_t thread_count;
	struct finding_stack at; /* where the failing thread stands */
	char *failing_thread;
	struct finding_wait *waits;
	uint32_t wait_count;
	char *variable; /* a race: what is accessed, "counter"; NULL: this is no race */
	struct finding_access
		race[FINDING_ACCESSES]; /* or of a use after free; threads NULL: neither */
	struct finding_step *steps;	/* the end of the interleaving, oldest first */
	uint32_t step_count;
	uint64_t steps_left_out; /* earlier ones */
	/* Behind them: of a thread that goes on alone for longer than is kept, as an endless loop does. */
	uint64_t later_steps_left_out;
	/* A run that passed though it began likewise, to be shown beside it; the end of it. None: count 0. */
	struct finding_step *passing_steps;
	uint32_t passing_step_count;
	uint64_t passing_steps_left_out;
	char *output; /* end of what the failing run printed, may be NULL */

	/* This user made the finding on this machine (store/store_seal.h). The store fills this; the JSON does not hold it. */
	bool is_own;

	/* The bytes of a trace file (see trace/trace_reader.h), NULL: none. Stored beside the JSON. */
	char *trace;
	size_t trace_size;
};

void finding_release(struct finding *finding);

/*
 * The innermost frame of the user's code with a line, else the innermost of the user's code, else
 * the innermost; NULL: the stack is empty.
 */
const struct finding_frame *finding_user_frame(const struct finding_stack *stack);

/*
 * Length of an object's short name: "mutex #3" of "mutex #3 first used at pool.c:12 by main.0", all
 * of every other name. For places that name the same object again and again.
 */
int finding_short_name(const char *object);

/* The name that the program gave the thread; NULL: none. */
const char *finding_thread_label(const struct finding *finding, const char *path);
/* Adds the thread as titles and tables name it: `main.0 "logger"`. */
void finding_add_thread(const struct finding *finding, const char *path, struct strbuf *out);

/* Adds the verb's gerund: "locks" gives "locking", "tries to lock" gives "trying to lock". */
void finding_add_gerund(const char *verb, struct strbuf *out);
/* Adds what the thread is blocked on: "mutex m", "joining thread main.0", "reading from pipe 3". */
void finding_add_blocked_on(const struct finding_wait *wait, struct strbuf *out);

/*
 * Under this number equal findings are counted once: outcome kind and code, and the set (not the
 * order) of a deadlock's waits, the object of a lost wake-up, the variable and the unordered pair of places of a race, or
 * the failing stack, by function, file and line; never thread numbers or addresses.
 */
uint64_t finding_signature(const struct finding *finding);

/*
 * Takes the title from the program's output where the output names the failure: the type and what() of an uncaught
 * exception, or a failed expectation of GoogleTest or Catch2. Requires that `output` is filled.
 */
void finding_title_from_output(struct finding *finding);

/* As JSON, the stored form. The reader checks everything and is fuzzed. */
char *finding_to_json(const struct finding *finding);
/* The same without the environment, for reports: its names and hashes concern replays only. */
char *finding_to_published_json(const struct finding *finding);
int finding_from_json(const char *text, size_t size, struct finding *out, struct error *err);

#endif
