/*
 * A worker: one contract block and the processes that run the target under it, one after the other.
 *
 * The worker speaks the protocol of abi/contract.h and runs the watchdog. It hides the restart: a
 * batch of runs looks the same whether one server process makes all runs or each run has a process
 * of its own.
 *
 * Life cycle: worker_open(); then, repeatedly, worker_begin() and worker_poll() until it returns a
 * report; worker_close(). To drive several workers, poll all of them and sleep in worker_sleep().
 * worker_run() and worker_sleep() block; no other function blocks for long.
 *
 * Thread context: the command's only thread.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/error.h"
#include "process/capture.h"
#include "exchange/contract_block.h"
#include "process/doorbell.h"
#include "process/private_network.h"
#include "worker/judge.h"
#include "process/target.h"
#include "worker/watchdog.h"

enum worker_output {
	OUTPUT_DISCARD, /* output goes to /dev/null */
	OUTPUT_KEEP,	/* output goes to worker->capture, read with capture_read() */
	OUTPUT_SHOW	/* output is captured, and printed to descriptors 1 and 2 as it arrives */
};

struct remote_link;

enum worker_care { CARE_NONE, CARE_TAKEN, CARE_ENOUGH };

/* The constant parameters of a worker. Pointers belong to the caller and must outlive the
 * worker. */
struct worker_params {
	const struct target *target;
	char *const *argv;
	const char *directory; /* working folder, NULL means the command's */
	const char *input;     /* file for descriptor 0, NULL means /dev/null */
	/* the target reads the command's standard input; `input` is NULL then */
	bool reads_ours;
	const char *runtime; /* path of libraddle.so, NULL if nothing is preloaded */
	enum worker_output output;
	bool has_network;  /* its processes have a network of their own (private_network.h) */
	bool is_in_place;  /* one run instead of the program: see prints_itself() */
	const char *check; /* the user's judge (judge.h), NULL if none; restart exec only */
	uint64_t hang_ns;
	uint64_t run_limit_ns; /* worker_run: a longer run is killed; 0: no limit */
	struct contract_sizes sizes;
	/* Called after each ring of worker_run(). CARE_TAKEN: the call delayed the guest.
	 * CARE_ENOUGH: worker_run() kills the guest. */
	enum worker_care (*care)(void *context);
	void *care_context;
	/* link to the process that makes the batches elsewhere (remote.h); NULL means a local
	 * worker */
	const struct remote_link *remote;
	uint32_t remote_number; /* number of that process */
};

enum worker_state {
	WORKER_EMPTY,	 /* the worker has no process */
	WORKER_STARTING, /* a server that has not yet rung REPORT_READY */
	WORKER_IDLE,	 /* a server that waits for a plan */
	WORKER_RUNNING
};

struct worker {
	struct worker_params params;
	struct contract_block block;
	struct contract *contract; /* block.contract: the command's copy, see contract_exchange.h */
	/* name of the part that the target has overwritten; NULL if none */
	const char *damage;
	char **environment;
	int input, null;
	struct private_network network;	       /* used if params.has_network */
	struct capture capture, capture_error; /* file is -1 unless output is kept or shown */
	enum worker_state state;
	pid_t pid;	  /* 0: no process */
	uint32_t restart; /* enum contract_restart of the process */
	uint32_t layout;  /* memory layout of the process (model/memory/layout.h) */
	int exit_status;  /* status of the last process that ended, as returned by waitpid */
	/* restart exec: the next run of the batch, and the first run after it */
	uint64_t batch_next;
	uint64_t batch_end;
	uint32_t seen; /* value of the doorbell at the last poll */
	struct watchdog watchdog;
	struct judge judge;
	bool is_left;	   /* the process has ended and left a daemon, which is searched for */
	bool has_followed; /* such a daemon has been searched for in the life of this process */
	bool is_strategy_fresh;	 /* the strategy's state is zeroed, and no run has begun since */
	bool was_killed_outside; /* REPORT_DIED: a SIGKILL that raddle did not send */

	/* The following fields are used for remote workers only. */
	bool is_lost;		/* the remote process is lost: REPORT_DIED */
	bool remote_is_away;	/* the remote process has a batch under way */
	bool remote_has_memory; /* the remote process has the current view of memory */
	uint32_t remote_serial; /* serial number of the last batch */
};

/* Creates the contract block and the files; starts no process. Releases everything on failure. */
int worker_open(struct worker *worker, const struct worker_params *params, struct error *err);
void worker_close(struct worker *worker);

/* Zeroes the strategy's state: the next run begins a new campaign of the strategy. */
void worker_clear_strategy(struct worker *worker, size_t bytes);

/* Starts the batch of contract->plan, if possible in the process of the last one. */
int worker_begin(struct worker *worker, struct error *err);
/* Looks for a report, without blocking. *report is REPORT_NONE while the batch is under way. Then
 * it is once _BATCH, _FAILURE, _TAINTED, _REFUSED, _INSPECT or _DIED. After _FAILURE and _BATCH,
 * outcome and schedule are those of the last run. */
int worker_poll(struct worker *worker, enum contract_report *report, struct error *err);
/* Polls until a report. Returns ERROR_INTERRUPTED if *is_interrupted or after CARE_ENOUGH. The
 * report is REPORT_DIED after run_limit_ns. The guest is killed in these cases. */
int worker_run(struct worker *worker, const volatile int *is_interrupted,
	enum contract_report *report, struct error *err);

/* Sleeps until a worker may have a report, at most timeout_ns and at most 50 ms. */
void worker_sleep(struct worker *const *workers, unsigned count, uint64_t timeout_ns);

/* Asks for the end of the batch after the current run. Does not wait. */
void worker_stop(struct worker *worker);
/* Kills the process and its descendants, and abandons the batch. */
void worker_kill(struct worker *worker);
/* Does the same with a run that takes too long, which then has no outcome. */
void worker_abandon(struct worker *worker);

/* Returns the id of the process that makes the current run, as published by the target; 0: none
 * yet. */
uint32_t worker_guest_pid(struct worker *worker);
/* Fails if the target has overwritten memory shared with the command. */
int worker_check(const struct worker *worker, struct error *err);

/* Returns true if the last outcome is a failure under the plan's tolerance. */
bool worker_is_failure(const struct worker *worker);
/* Returns whether the plan's strategy can continue from a state that a file or another process
 * holds. */
bool worker_is_valid_state(const struct worker *worker, void *state);
