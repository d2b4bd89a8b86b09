/*
 * The contract between the command and the runtime: the layout of the memory they share.
 *
 * The command (exchange/) makes a memfd, puts its path into the environment variable
 * RADDLE_CONTRACT of the target (/proc/PID/fd/N of the command) and starts the target with
 * libraddle.so preloaded. The runtime maps it, checks magic and version, removes its variables from
 * the environment and answers through the block. Everything the runtime says, it says here: it
 * never prints.
 *
 * Two parties, one mapping: fields are written by one side only, named in the comment as [host] or
 * [guest]. `command` and `doorbell` are the only words both wait on (as shared futexes).
 *
 *   host:  fills the plan, sets command = COMMAND_RUN, wakes `command`, waits on `doorbell`
 *   guest: performs runs until plan.run_limit, a stop, or a run that needs the host's eyes;
 *          then sets `report`, increments `doorbell` and wakes it, and waits on `command`
 *          (restart exec: the process ends instead)
 */
#ifndef RADDLE_ABI_CONTRACT_H
#define RADDLE_ABI_CONTRACT_H

#include <stdbool.h>
#include <stdint.h>

#include "model/event.h"
#include "model/outcome.h"
#include "model/schedule.h"
#include "strategies/strategy.h"

#define CONTRACT_MAGIC UINT32_C(0x6c646472) /* "rddl" */
#define CONTRACT_VERSION 17u
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

enum contract_command {
	COMMAND_NONE,
	COMMAND_RUN,  /* perform the plan */
	COMMAND_LEAVE /* end the process */
};

/* Why the guest rings. */
enum contract_report {
	REPORT_NONE,
	REPORT_READY,	/* attached, waits for a plan (restart servers only) */
	REPORT_BATCH,	/* plan.run_limit runs are done, or `stop` was seen */
	REPORT_FAILURE, /* the last run is a failure: outcome and schedule are of that run */
	REPORT_TAINTED, /* this restart cannot undo what the run did: outcome.text says what */
	REPORT_REFUSED, /* control is impossible: outcome.text says why; outcome.code, with whom */
	REPORT_INSPECT, /* plan.inspect: the run is over and the process stands still to be looked
			   at */
	REPORT_DIED	/* [host sets] the process ended without ringing */
};

/* outcome.code of REPORT_REFUSED. */
enum contract_refusal {
	REFUSAL_PROGRAM, /* nothing helps */
	REFUSAL_RESTART	 /* another restart may do */
};

/* What a run did that the restart may not be able to undo. */
enum contract_taint {
	TAINT_NONE,
	TAINT_REWIND, /* a rewind cannot undo it; a process of its own can */
	TAINT_SHARED  /* nor can a fork at the first creation: it touched what all runs share */
};

/* Frames of the standard library's templates, without optimisation, are fewer. */
#define UNSEEN_SITES 12

/* Concurrency of the program that raddle cannot observe: bits of contract.unseen. */
enum contract_unseen {
	UNSEEN_THREAD = 1, /* a thread runs that raddle does not control */
	UNSEEN_LOCKS = 2,  /* code at unseen_sites builds its own locks from futexes */
	UNSEEN_CALLS = 4   /* a loaded library calls libc directly, past the interposed functions */
};

/* 65,536 bits. */
#define CONTRACT_COVERED_WORDS 1024u

/* What a batch of runs is to be. [host] */
struct contract_plan {
	uint32_t executor; /* enum contract_executor */
	uint32_t restart;  /* enum contract_restart */
	uint32_t strategy; /* index in strategies.def */
	struct strategy_config strategy_config;
	uint64_t seed; /* of the campaign; run i is seeded by hash_pair(seed, i) */
	uint64_t
		random_seed; /* of the target's random numbers: one for all runs, as a schedule means one run */
	uint64_t run_first; /* number of the first run of the batch */
	uint64_t run_limit; /* runs in this batch */
	uint64_t step_limit;
	uint32_t tolerated; /* bit OUTCOME_x: no failure */
	bool has_spurious_wakeups;
	bool has_early_timeouts;
	bool has_forked_children; /* threads of forked children follow schedules, too (child_run.h) */
	bool is_fresh_state;	  /* strategy state is zeroed: call begin_campaign */
	bool stop_at_failure;	  /* ring REPORT_FAILURE and wait; else count and go on */
	bool is_traced;		  /* fill the trace area */
	uint64_t trace_from;	  /* with steps from this on, and all creations of threads */
	bool inspect;		  /* stand still at the end of a failing run */
	uint64_t inspect_step;	  /* with detectors and `inspect`: stand still before the access of
				      step inspect_step - 1, too; 0: before no access */
	uint64_t inspect_site;	  /* code place of that access */
	uint64_t inspect_address;  /* address in the word that the access touches */
	bool stop_for_debugger;	   /* raise SIGTRAP where the run fails */
	bool without_dispatch;	   /* do not use Syscall User Dispatch */
	bool without_virtual_time; /* clocks and sleeps are the real ones */
	uint32_t thread_pool;	   /* stacks made before the snapshot */
	uint32_t layout;	   /* of the process that runs the plan (model/layout.h) */
	int32_t sanitizer_status;  /* exit status that says a sanitizer reported, 0: none does */
	bool is_recorded;	   /* restart exec only: fill the record area */
	bool has_chosen_sites;	   /* recorded runs: accesses at sites of SITE_CHOSEN are points */
	uint32_t detectors;	   /* bit DETECTOR_x: watches the runs */
	bool has_contexts;    /* keep account of the functions that threads are in (contexts.h) */
	uint32_t checkpoints; /* enum contract_checkpoints */
	uint64_t checkpoint_bytes; /* of memory for all checkpoints; 0: none are made */
	bool has_digest;	   /* totals.digest is wanted */
	bool has_operations;	   /* `operations` is */
	/*
	 * The batch is part of a round (strategy.h) of so many runs, 0: each run is one by itself. What the
	 * runs of a round find out becomes effective when the host says so, with the next one.
	 */
	uint32_t round_runs;
	uint64_t round_first; /* number of its first run */
	uint64_t round;	      /* its number, from 1 */
	uint64_t runs_before; /* of the campaign, in the rounds before */
	/*
	 * The strategy's state is a part of another one's work (struct strategy_parts): it is of no use any more when
	 * memory turns out to be shared of which that one does not know.
	 */
	bool is_part;
	uint32_t
		episode; /* another one when the host has changed the state: the last run says nothing */
};

/* When a rewind keeps the memory of a run at a decision, for later runs that begin like it. */
enum contract_checkpoints {
	CHECKPOINTS_MEASURED, /* where it has been measured to pay */
	CHECKPOINTS_ALWAYS,   /* at every decision that allows it */
	CHECKPOINTS_NEVER
};

/* One step of a traced run. */
#define contract_event trace_event

/* What is known of a thread of the last run. [guest] */
struct contract_thread {
	thread_name name;
	struct thread_id parent;
	uint16_t ordinal;
	uint64_t create_site;
	uint64_t start; /* address of its start function */
	uint64_t steps; /* ops performed */
	/* REPORT_INSPECT, fibers: where the suspended thread stands. 0 for ended threads. */
	uint64_t stack_pointer; /* the frame context_switch_* left: see platform/context.S */
	uint64_t thread_base;
	char label[16]; /* pthread_setname_np, else empty */
};

/* What the host says with a queued SIGSYS: its integer. */
enum contract_signal {
	CONTRACT_SIGNAL_HANG, /* the run makes no progress: end it and say where it stands */
	CONTRACT_SIGNAL_SPIN, /* the thread may be spinning: run other threads, and keep watch */
	CONTRACT_SIGNAL_NATIVE /* the thread may be computing: run natively up to its next operation */
};

/* Loops in which threads of the target were found spinning on memory. [guest] */
struct contract_spin {
	uint32_t is_needed;   /* a thread has been found spinning: runs keep a timer */
	uint32_t is_watched;  /* process whose timer runs */
	uint32_t quiet_ticks; /* in a row, without a step */
	uint64_t last_step;
	uint32_t loop_count;
	uint64_t loops[16]; /* addresses */
};

/* What became of a program that made no thread yet. */
enum contract_daemon {
	DAEMON_NONE,
	DAEMON_MADE, /* a child of it has made itself a daemon */
	DAEMON_LEFT  /* and it has ended well: the daemon is the program */
};

/* What a run of a round was like: contract_run_of(). [guest] */
struct contract_run {
	uint64_t steps;
	uint64_t digest; /* with plan.has_digest */
	uint64_t races_let_pass, blind_runs,
		races_seen; /* in the life of the block, up to this run */
	uint16_t threads;
	uint8_t outcome; /* enum outcome_kind */
	bool is_failure;
};

/* Counters of the whole life of the block; they only grow. [guest] */
struct contract_totals {
	uint64_t runs;
	uint64_t failures;
	uint64_t steps;
	uint64_t switches;
	uint64_t outcome[OUTCOME_KIND_COUNT];
	uint64_t system_calls_trapped;
	uint64_t pages_restored;
	uint64_t checkpoints_taken;
	uint64_t runs_resumed; /* that began at a checkpoint */
	uint64_t
		digest; /* of the schedules and outcomes of all runs: the sum of theirs, in whatever order */
	uint32_t threads_most;
	uint64_t steps_most;
};

#define CONTRACT_STUCK_MOST 8
#define CONTRACT_STUCK_WAITS 8

/* A child that the target has forked, in which no thread can go on. [guest] */
struct contract_stuck {
	uint32_t pid;	     /* 0: not filled yet; written last */
	uint16_t kind;	     /* enum outcome_kind */
	uint16_t wait_count; /* of waits[], those beyond are left out */
	uint64_t site;
	uint64_t address;
	struct wait_edge waits[CONTRACT_STUCK_WAITS];
	/* The child created threads: waits[] then refers to threads[], not to threads of the run. */
	bool has_own_threads;
	struct thread_id forker; /* thread of the run that forked the child */
	struct contract_thread threads[CONTRACT_STUCK_WAITS];
};

/* The first child of the run that a signal killed. [guest] */
struct contract_child_death {
	uint32_t is_taken;
	uint32_t kind; /* enum outcome_kind; 0: not filled yet; written last */
	int32_t signal;
	struct thread_id forker;       /* thread of the run that forked the child */
	struct contract_thread thread; /* the thread that received the signal */
	uint64_t site;
	uint64_t address;
};

struct contract {
	uint32_t magic;
	uint32_t version;
	uint64_t bytes;	    /* of the whole mapping */
	uint32_t host_pid;  /* [host] */
	uint32_t guest_pid; /* [guest] */

	uint32_t command;  /* [host] enum contract_command, a shared futex */
	uint32_t doorbell; /* [guest] incremented per ring, a shared futex; the host's SIGCHLD
			      handler increments it too, so a death is never missed */
	uint32_t report;   /* [guest] enum contract_report */
	uint32_t stop;	   /* [host] not 0: end the batch after the current run */

	uint64_t heartbeat;	     /* [guest] step of the current run, written at every step */
	uint64_t run_number;	     /* [guest] of the current or last run */
	uint64_t run_seed;	     /* [guest] of the current or last run */
	uint32_t is_waiting_outside; /* [guest] the run waits for the real world: no hang */
	uint32_t
		hang_extensions; /* [guest] incremented: the time without a step counts from here on */
	uint32_t is_live;	 /* [guest] the run has reached its first thread creation */
	uint32_t has_dispatch;	     /* [guest] Syscall User Dispatch is armed */
	uint32_t has_dirty_tracking; /* [guest] the kernel tracks dirty pages for large images */
	uint32_t taint;		     /* [guest] enum contract_taint, of the last run */
	uint32_t daemon;	     /* [guest] enum contract_daemon; [host] resets it */
	uint32_t is_elsewhere;	   /* [guest] the last run is another shard's: it is not counted */
	uint32_t has_memory_sites; /* [guest] the target shows memory accesses (raddle-cc) */
	uint32_t takes_name; /* [guest] a run bound a socket to a name that all processes of the
				      target share: a path, a port; stays */
	uint32_t unseen;     /* [guest] by any run: bits UNSEEN_x; stays */
	/* [guest] where the first such futex call came from: return addresses, innermost first, 0 behind; before the bit */
	uint64_t unseen_sites[UNSEEN_SITES];

	/* [guest] Modules, heap and main's stack lie at random addresses: the kernel refuses all that fixes them. */
	bool has_random_addresses;

	struct contract_plan plan;
	struct contract_spin spin;
	struct contract_totals totals;
	struct outcome outcome; /* of the last run */
	uint32_t stuck_count;	/* [guest] children that took a place in stuck[], or found none */
	struct contract_stuck stuck[CONTRACT_STUCK_MOST];
	struct contract_child_death child_death;
	uint32_t met;	     /* [guest] by all runs: bits MET_x (model/op.h) */
	uint64_t operations; /* [guest] digest of its steps, with plan.has_operations */
	struct strategy_guarantee guarantee; /* of the strategy so far; probability 0: none */

	char taint_text[128]; /* [guest] what tainted it, in words */
	char checkpoint_text
		[128];	       /* [guest] what a run did behind which there are no checkpoints */
	uint32_t thread_count; /* of the last run */
	uint64_t covered[CONTRACT_COVERED_WORDS]; /* [guest] by all runs: see engine_run.covered */

	/* Areas behind the struct, bytes from its start. [host lays out] */
	uint64_t threads_offset;  /* struct contract_thread[THREAD_CAPACITY] */
	uint64_t strategy_offset; /* the strategy's state block */
	uint64_t strategy_bytes;
	uint64_t schedule_offset; /* struct schedule: what the last run did */
	uint64_t schedule_bytes;
	uint64_t trace_offset; /* struct contract_event[] */
	uint64_t trace_bytes;
	uint64_t memory_offset; /* struct contract_memory (contract_memory.h) */
	uint64_t memory_bytes;
	uint64_t detectors_offset; /* the state blocks of all detectors, one behind the other */
	uint64_t detectors_bytes;
	uint64_t noise_offset; /* struct contract_noise (contract_noise.h) */
	uint64_t noise_bytes;  /* 0: runs are controlled */
	uint64_t runs_offset;  /* struct contract_run[STRATEGY_ROUND_MOST], by place in the round */
	uint64_t record_offset; /* struct record_area (branches/record/record.h) */
	uint64_t record_bytes;	/* 0: there is none */
	uint64_t trace_count;	/* [guest] events of the last run, also those beyond the capacity */
};

static inline void *contract_area(struct contract *contract, uint64_t offset)
{
	return (char *)contract + offset;
}

/* What is noted of a run of the round at hand; NULL: it is none. */
static inline struct contract_run *contract_run_of(struct contract *contract, uint64_t number)
{
	const struct contract_plan *plan = &contract->plan;
	struct contract_run *runs = contract_area(contract, contract->runs_offset);

	return number - plan->round_first < plan->round_runs ? &runs[number - plan->round_first]
							     : NULL;
}

#endif
