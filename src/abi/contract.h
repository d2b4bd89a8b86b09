/*
 * The contract between the command and the runtime: the layout of the memory that both map.
 *
 * The command (exchange/) creates a memfd and passes its path (/proc/PID/fd/N of the command) to
 * the target in the environment variable RADDLE_CONTRACT. It starts the target with libraddle.so
 * preloaded. The runtime maps the memfd, checks magic and version, and removes its variables from
 * the environment. The runtime prints nothing: all its reports lie here.
 *
 * Each field has one writer: [host] is the command, [guest] the runtime. `command` and `doorbell`
 * are the only words on which both sides wait (shared futexes).
 *
 *   host:  fills the plan, sets command = COMMAND_RUN, wakes `command`, waits on `doorbell`
 *   guest: performs runs until plan.run_limit, a stop, or a run that the command must examine;
 *          then sets `report`, increments and wakes `doorbell`, and waits on `command`
 *          (restart exec: the process ends instead)
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "model/event.h"
#include "model/memory_model.h"
#include "model/outcome/outcome.h"
#include "model/schedule.h"
#include "model/stall.h"
#include "model/thread_record.h"
#include "strategies/strategy.h"

#define CONTRACT_MAGIC UINT32_C(0x6c646472) /* "rddl" */
#define CONTRACT_VERSION 37u
#define CONTRACT_ENVIRONMENT "RADDLE_CONTRACT"
#define CONTRACT_FILLER "RADDLE_FILLER" /* gives every environment the same size */

enum contract_restart {
	RESTART_REWIND,	     /* memory images inside the process */
	RESTART_FORK_CREATE, /* a raw fork at the first thread creation */
	RESTART_FORK_MAIN,   /* a raw fork before main */
	RESTART_EXEC,	     /* a fresh process for every run */
	RESTART_COUNT
};

enum contract_executor { EXECUTOR_FIBER, EXECUTOR_KERNEL, EXECUTOR_COUNT };

enum contract_command { COMMAND_NONE, COMMAND_RUN, COMMAND_LEAVE };

/* Why the guest rings the doorbell. */
enum contract_report {
	REPORT_NONE,
	REPORT_READY,	/* attached, waits for a plan (restart servers only) */
	REPORT_BATCH,	/* plan.run_limit runs are done, or `stop` was seen */
	REPORT_FAILURE, /* the last run is a failure: outcome and schedule are of that run */
	REPORT_TAINTED, /* this restart cannot revert the run's effects: outcome.text names one */
	/* Control is impossible: reason in outcome.text, enum contract_refusal in outcome.code */
	REPORT_REFUSED,
	/* plan.inspect: the run is over, and the process stands still for inspection */
	REPORT_INSPECT,
	REPORT_DIED /* [host sets] the process ended without ringing */
};

/* outcome.code of REPORT_REFUSED */
enum contract_refusal {
	REFUSAL_PROGRAM, /* another restart would not help either */
	REFUSAL_RESTART	 /* another restart may work */
};

/* An effect of a run that the restart may not be able to revert. */
enum contract_taint {
	TAINT_NONE,
	TAINT_REWIND, /* a rewind cannot revert it; a separate process can */
	/* a forked process cannot revert it either: the effect is on state that all runs share */
	TAINT_SHARED
};

/* Call stacks in templates of the standard library, compiled without optimisation, are shorter. */
#define UNSEEN_SITES 12

/* Concurrency of the program that raddle cannot observe: bits of contract.unseen. */
enum contract_unseen {
	UNSEEN_THREAD = 1, /* a thread runs that raddle does not control */
	UNSEEN_LOCKS = 2,  /* code at unseen_sites builds its own locks from futexes */
	UNSEEN_CALLS = 4   /* a loaded library calls libc directly, past the interposed functions */
};

/* Names of sockets that a run used: bits of contract.names. */
enum contract_name {
	NAME_OF_NETWORK =
		1, /* it bound a port or an abstract name, which no other process of this network can bind */
	NAME_OF_FILE = 2, /* it bound a path, which no other process can bind */
	NAME_TAKEN = NAME_OF_NETWORK | NAME_OF_FILE,
	NAME_MISSING = 4, /* this network does not have the address that it used */
	NAME_ALL = NAME_TAKEN | NAME_MISSING
};

#define CONTRACT_COVERED_WORDS 1024u

/* Number of different failures that runs recognise and count by themselves. */
#define CONTRACT_KNOWN_MAX 256u

/* Settings that the command chooses for a batch of runs. [host] */
struct contract_plan {
	uint32_t executor; /* enum contract_executor */
	uint32_t restart;  /* enum contract_restart */
	uint32_t strategy; /* index in strategies.def */
	struct strategy_config strategy_config;
	uint64_t seed; /* seed of the campaign; run i is seeded by hash_pair(seed, i) */
	/* Seed of the target's random numbers, the same for all runs: a schedule determines a run */
	uint64_t random_seed;
	uint64_t run_first; /* number of the first run of the batch */
	uint64_t run_limit;
	uint64_t step_limit;
	uint64_t stall_ns;	      /* limit of the stalls of a run: run_stall_ns() */
	uint32_t interruption_points; /* enum interruption_points */
	uint32_t memory_model;	      /* enum memory_model */
	uint32_t judged_model;	      /* as in engine_run */
	uint32_t weak_limit;	      /* as in engine_run */
	uint32_t strengthened_count;
	struct strengthened strengthened[STRENGTHENED_MOST];
	uint32_t tolerated; /* bit OUTCOME_x: this outcome is no failure */
	/* exit status of a run that does not apply, which is no failure; 0: none */
	uint32_t skip_status;
	bool has_spurious_wakeups;
	bool has_forked_children; /* forked children follow schedules, too (child_run.h) */
	bool is_fresh_state;	  /* strategy state is zeroed: call begin_campaign */
	/* Ring REPORT_FAILURE and wait; else count the failure and continue */
	bool stop_at_failure;
	bool is_traced;
	uint64_t trace_from; /* traces steps from this number on, and all thread creations */
	bool inspect;	     /* stand still at the end of a failing run */
	/* If `inspect` is set: also stop before the access of step inspect_step - 1; 0: do not */
	uint64_t inspect_step;
	uint64_t inspect_site;	   /* site of that access */
	uint64_t inspect_address;  /* address in the word that the access touches */
	bool stop_for_debugger;	   /* raise SIGTRAP where the run fails */
	bool without_dispatch;	   /* do not use Syscall User Dispatch */
	bool without_virtual_time; /* clocks and sleeps are the real ones */
	bool repeats_waits;	   /* waiting loops repeat their reads instead of blocking */
	/* A run of the campaign has ended without a signal of another process */
	bool ends_alone;
	uint32_t thread_pool; /* stacks to make before the snapshot */
	uint32_t layout;      /* layout of the process that runs the plan (model/memory/layout.h) */
	int32_t sanitizer_status; /* exit status by which a sanitizer reports; 0: none */
	bool is_recorded;	  /* restart exec only: fill the record area */
	/* Recorded runs: accesses at SITE_CHOSEN sites are scheduling points */
	bool has_chosen_sites;
	uint32_t detectors;	   /* bit DETECTOR_x: this detector watches the runs */
	bool watches_races;	   /* races end no run: the detector watches some runs only */
	bool has_contexts;	   /* track the active functions of threads (contexts.h) */
	uint32_t checkpoints;	   /* enum contract_checkpoints */
	uint64_t checkpoint_bytes; /* memory for all checkpoints; 0: none */
	bool has_digest;	   /* compute totals.digest */
	bool has_operations;	   /* compute `operations` */
	/* Rounds (strategy.h): runs in the batch's round; 0: no rounds. The lessons of a round's
	 * runs take effect in the next round. */
	uint32_t round_runs;
	uint64_t round_first; /* number of the round's first run */
	uint64_t round;	      /* number of the round, from 1 */
	uint64_t runs_before; /* runs of the campaign in earlier rounds */
	/* The strategy's state is a task (struct strategy_tasks) of another worker's strategy.
	 * The task becomes useless when this worker finds shared memory that the other does not
	 * know. */
	bool is_task;
	/* Grows when the command has changed the strategy's state: the last run no longer fits. */
	uint32_t epoch;
	/* failure_run_key() of each failure that has a finding; 0: none. A run that fails in this
	 * way is counted like a passing run, and the batch continues. */
	uint32_t known_count;
	uint64_t known_keys[CONTRACT_KNOWN_MAX];
};

/* When a rewind keeps a run's memory at a decision, for later runs with the same prefix. */
enum contract_checkpoints {
	CHECKPOINTS_MEASURED, /* if measurements show that a checkpoint saves time */
	CHECKPOINTS_ALWAYS,   /* a checkpoint at every decision that allows it */
	CHECKPOINTS_NEVER
};

/* One step of a traced run. */
#define contract_event trace_event

/* The integer of a queued SIGSYS by which the command interrupts the guest. */
enum contract_signal {
	CONTRACT_SIGNAL_HANG, /* the run makes no progress: end it and report where it stands */
	/* The thread may be spinning: run other threads and start the spin timer */
	CONTRACT_SIGNAL_SPIN,
	/* The thread may be computing: run natively up to its next operation */
	CONTRACT_SIGNAL_NATIVE
};

/* Loops in which threads of the target have been found spinning on memory. [guest] */
struct contract_spin {
	uint32_t is_needed;  /* a thread has been found spinning: runs keep a timer */
	uint32_t is_watched; /* process whose timer runs */
	uint32_t idle_ticks; /* consecutive ticks without a step */
	uint64_t last_step;
	uint32_t is_unseen; /* a loop lies in code without sites, which a waiting thread may run */
	uint32_t loop_count;
	uint64_t loops[16];
};

/* Daemon state of a program that has not created a thread yet. */
enum contract_daemon {
	DAEMON_NONE,
	DAEMON_MADE, /* a child has become a daemon */
	DAEMON_LEFT  /* the parent has also exited with status 0: the daemon is the program */
};

/* Summary of a run in a round: contract_run_of(). [guest] */
struct contract_run {
	uint64_t steps;
	uint64_t digest; /* digest of the run if plan.has_digest is set */
	uint64_t races_suppressed, blind_runs,
		/* Counters since the block was created: suppressed races, runs that the race
		 * detector could not follow to the end, and races seen. */
		races_seen;
	uint16_t threads;
	/* number of its failure in plan.known_keys[], from 1; 0: none. [host] sets the number of a
	 * failure that was reported. */
	uint16_t known;
	uint8_t outcome; /* enum outcome_kind */
	bool is_failure;
};

/* Counters since the block was created; they only grow. [guest] */
struct contract_totals {
	uint64_t runs;
	uint64_t failures;
	uint64_t steps;
	uint64_t switches;
	uint64_t outcome[OUTCOME_KIND_COUNT];
	uint64_t known[CONTRACT_KNOWN_MAX]; /* failing runs by contract_run.known - 1 */
	uint64_t system_calls_trapped;
	uint64_t pages_restored;
	uint64_t checkpoints_taken;
	uint64_t runs_resumed; /* runs that began at a checkpoint */
	/* Sum of one digest per run of its schedule and outcome, independent of order */
	uint64_t digest;
	uint32_t threads_most;
	uint64_t steps_most;
};

#define CONTRACT_STUCK_MOST 8
#define CONTRACT_STUCK_WAITS 8

/* A forked child that can never run a thread again. [guest] */
struct contract_stuck {
	uint32_t pid;	     /* 0: not filled yet; written last */
	uint16_t kind;	     /* enum outcome_kind */
	uint16_t wait_count; /* entries of waits[]; more waits are omitted */
	uint64_t site;
	uint64_t address;
	struct wait_edge waits[CONTRACT_STUCK_WAITS];
	/* The child has created threads: waits[] refers to threads[], not to threads of the run. */
	bool has_own_threads;
	struct thread_id forker;
	struct thread_record threads[CONTRACT_STUCK_WAITS];
};

/* The first child of the run that a signal killed. [guest] */
struct contract_child_death {
	uint32_t is_taken;
	uint32_t kind; /* enum outcome_kind; 0: not filled yet; written last */
	int32_t signal;
	struct thread_id forker;
	struct thread_record thread; /* the thread that received the signal */
	uint64_t site;
	uint64_t address;
};

/* Bits of contract_modules.facts. */
enum contract_fact {
	FACT_FUNCTIONS = 1, /* functions[], function_count and functions_hash are valid */
	FACT_LIBRARY = 2,   /* library[] and library_count are valid */
	FACT_UNWINDER = 4   /* wants_unwinder is valid */
};

#define CONTRACT_FUNCTIONS_MOST 192u
#define CONTRACT_LIBRARY_MOST 8u

/* What a process found in the tables of its modules, for later processes with the same modules (known_modules.h).
 * [guest] */
struct contract_modules {
	uint64_t key; /* of the modules */
	uint32_t facts;
	bool wants_unwinder;
	uint32_t library_count;
	struct {
		uint64_t start, end;
	} library[CONTRACT_LIBRARY_MOST]; /* code of modules that belong to the C++ library */
	uint32_t function_count;
	uint64_t functions_hash; /* of functions[]: a stray write must not lead to a wild jump */
	void *functions
		[CONTRACT_FUNCTIONS_MOST]; /* behind the interposed ones, in the order of the slots */
};

struct contract {
	uint32_t magic;
	uint32_t version;
	uint64_t bytes;	    /* size of the whole mapping */
	uint32_t host_pid;  /* [host] */
	uint32_t guest_pid; /* [guest] */

	uint32_t command; /* [host] enum contract_command, a shared futex */
	/* [guest] incremented per ring, a shared futex; also by the host's SIGCHLD handler */
	uint32_t doorbell;
	uint32_t report; /* [guest] enum contract_report */
	uint32_t stop;	 /* [host] not 0: end the batch after the current run */

	struct contract_modules modules;
	uint64_t range[3];    /* [guest] struct platform_range of the process */
	uint32_t shared_lock; /* [guest] shared_set_lock(): of the run's processes */

	uint64_t heartbeat;  /* [guest] step of the current run, written at every step */
	uint64_t run_number; /* [guest] of the current or last run */
	uint64_t run_seed;
	uint32_t is_waiting_outside; /* [guest] the run waits for the real world; not a hang */
	/* [guest] incremented: restarts the command's time limit for a step */
	uint32_t hang_extensions;
	uint32_t is_live;      /* [guest] the run has reached its first thread creation */
	uint32_t has_dispatch; /* [guest] Syscall User Dispatch is armed */
	uint32_t taint;	       /* [guest] enum contract_taint, of the last run */
	uint32_t daemon;       /* [guest] enum contract_daemon; [host] resets it */
	/* [guest] The last run belongs to another shard and is not counted */
	uint32_t is_elsewhere;
	uint32_t known_failure; /* [guest] contract_run.known of the last run */
	/* [guest] enum interruption_points, of the last run; FILES only if it used a file there */
	uint32_t interruption_points;
	uint32_t has_memory_sites; /* [guest] the target reports memory accesses (raddle-cc) */
	uint32_t names;		   /* [guest] bits NAME_x of all runs; never reset */
	/* [guest] the target tried to write over the runtime's memory; the run ended there */
	uint32_t is_overwritten;
	uint32_t unseen; /* [guest] bits UNSEEN_x of all runs; never reset */
	/* [guest] call stack of the first such futex call, then 0; written before the bit */
	uint64_t unseen_sites[UNSEEN_SITES];
	/* [guest] location of the last step of the first run with FEATURE_STEPS_CUT; written first */
	uint64_t limit_site;

	/* [guest] the kernel refuses to fix the addresses of modules, heap and main's stack */
	bool has_random_addresses;

	struct contract_plan plan;
	struct contract_spin spin;
	struct contract_totals totals;
	struct outcome outcome;
	struct stalls stalls;	       /* [guest] of the last run */
	struct delayed_stores delayed; /* [guest] of the last run */
	/* [guest] Children that asked for an entry of stuck[], with or without success */
	uint32_t stuck_count;
	struct contract_stuck stuck[CONTRACT_STUCK_MOST];
	struct contract_child_death child_death;
	uint32_t features;   /* [guest] bits FEATURE_x (model/feature.h) of all runs */
	uint64_t operations; /* [guest] Digest of the last run's steps, with plan.has_operations */
	/* Guarantee of the strategy so far; probability 0: none */
	struct strategy_guarantee guarantee;

	/* [guest] the result of the program's __tsan_default_suppressions(), cut off */
	char default_suppressions[4096];
	char taint_text[128]; /* [guest] the effect that tainted the run, in words */
	char checkpoint_text
		[128]; /* [guest] the effect after which a run allows no checkpoints, in words */
	uint32_t thread_count;
	/* [guest] Coverage of all runs, as in engine_run.covered */
	uint64_t covered[CONTRACT_COVERED_WORDS];

	/* Areas behind the struct, as byte offsets from its start. [host lays out] */
	uint64_t
		threads_offset; /* struct thread_record[THREAD_CAPACITY], of the last run [guest] */
	uint64_t strategy_offset; /* the strategy's state block */
	uint64_t strategy_bytes;
	uint64_t schedule_offset; /* struct schedule of the last run */
	uint64_t schedule_bytes;
	uint64_t trace_offset; /* struct contract_event[] */
	uint64_t trace_bytes;
	uint64_t memory_offset; /* struct contract_memory (contract_memory.h) */
	uint64_t memory_bytes;
	uint64_t detectors_offset; /* the state blocks of all detectors, one after the other */
	uint64_t detectors_bytes;
	uint64_t
		runs_offset; /* struct contract_run[STRATEGY_ROUND_MOST], by location in the round */
	uint64_t record_offset; /* struct record_area (branches/record/record.h) */
	uint64_t record_bytes;	/* 0: no record */
	/* [guest] Events of the last run, including those beyond the capacity */
	uint64_t trace_count;
};

static inline void *contract_area(struct contract *contract, uint64_t offset)
{
	return (char *)contract + offset;
}

/* Returns whether the outcome of the last run counts as a failure under the plan. */
static inline bool contract_has_failed(const struct contract *contract)
{
	const struct outcome *outcome = &contract->outcome;
	const struct contract_plan *plan = &contract->plan;

	return outcome_is_failure(outcome) && !(plan->tolerated >> outcome->kind & 1) &&
	       !(outcome->kind == OUTCOME_EXIT && plan->skip_status &&
		       outcome->code == (int32_t)plan->skip_status);
}

/* Returns the summary of a run of the current round; NULL if `number` is not in the round. */
static inline struct contract_run *contract_run_of(struct contract *contract, uint64_t number)
{
	const struct contract_plan *plan = &contract->plan;
	struct contract_run *runs = contract_area(contract, contract->runs_offset);

	return number - plan->round_first < plan->round_runs ? &runs[number - plan->round_first]
							     : NULL;
}
