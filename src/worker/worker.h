/*
 * A worker: one contract block and the processes that run the target under it, one after the other.
 * It speaks the protocol of contract.h, keeps the watchdog, and hides how runs are restarted: a
 * batch of runs looks the same whether a server process does all of them or each gets a process.
 *
 * Use: worker_open; then worker_begin and worker_poll until it reports, again and again;
 * worker_close. Several workers are driven side by side by polling all of them and sleeping in
 * worker_sleep. Thread context: the command's only thread.
 */
#ifndef RADDLE_WORKER_WORKER_H
#define RADDLE_WORKER_WORKER_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/error.h"
#include "process/capture.h"
#include "exchange/contract_block.h"
#include "process/doorbell.h"
#include "worker/judge.h"
#include "process/target.h"
#include "worker/watchdog.h"

enum worker_output {
	OUTPUT_DISCARD, /* /dev/null */
	OUTPUT_KEEP,	/* into worker->capture, read with capture_read() */
	OUTPUT_SHOW	/* likewise, and passed on to our own descriptors 1 and 2 as it comes */
};

struct remote_link;

enum worker_care { CARE_NONE, CARE_TAKEN, CARE_ENOUGH };

/* What does not change in a worker's life. Pointers are the caller's and must outlive it. */
struct worker_params {
	const struct target *target;
	char *const *argv;
	const char *directory; /* working folder, NULL: ours */
	const char *input;     /* file for descriptor 0, NULL: /dev/null */
	bool reads_ours;       /* but our own standard input; input is NULL */
	const char *runtime;   /* libraddle.so, NULL: nothing is preloaded */
	enum worker_output output;
	bool is_in_place;  /* one run, in the place of the program: see prints_itself() */
	const char *check; /* the user's own judge (judge.h), NULL: none; restart exec only */
	uint64_t hang_ns;
	uint64_t run_limit_ns; /* worker_run: a run that takes longer is killed; 0: none is */
	struct contract_sizes sizes;
	/*
	 * worker_run: called whenever the guest has rung, and may keep it waiting. CARE_TAKEN: it did; CARE_ENOUGH: the
	 * run is killed, as if it were interrupted. NULL: the guest needs no such care.
	 */
	enum worker_care (*care)(void *context);
	void *care_context;
	const struct remote_link
		*remote; /* who makes its batches elsewhere (remote.h); NULL: a process here */
	uint32_t remote_number; /* which of them does */
};

enum worker_state {
	WORKER_EMPTY,	 /* no process */
	WORKER_STARTING, /* a server that has not rung REPORT_READY */
	WORKER_IDLE,	 /* a server that waits for a plan */
	WORKER_RUNNING
};

struct worker {
	struct worker_params params;
	struct contract_block block;
	struct contract *contract; /* block.contract: the command's copy, see contract_exchange.h */
	const char *damage;	   /* what the target wrote over; NULL: nothing */
	char **environment;
	int input, null;
	struct capture capture, capture_error; /* files -1 unless kept or shown */
	enum worker_state state;
	pid_t pid;	     /* 0: no process */
	uint32_t restart;    /* enum contract_restart of the process */
	uint32_t layout;     /* memory layout of the process (model/layout.h) */
	int exit_status;     /* of the last process that ended, as waitpid gives it */
	uint64_t batch_next; /* restart exec: number of the next run, and of the first not to do */
	uint64_t batch_end;
	uint32_t seen; /* doorbell when last polled */
	struct watchdog watchdog;
	struct judge judge;
	bool is_left;		 /* that one has ended, and a daemon is to be found that it made */
	bool has_followed;	 /* such a daemon, in the life of this process */
	bool is_strategy_fresh;	 /* its state was zeroed and no run has begun since */
	bool was_killed_outside; /* REPORT_DIED: by a SIGKILL that is not ours */

	/* One that is elsewhere. */
	bool is_lost;		/* and is not heard of: REPORT_DIED */
	bool remote_is_away;	/* a batch is being made there */
	bool remote_has_memory; /* it knows what the block says of memory */
	uint32_t remote_serial; /* of the last batch */
};

int worker_open(struct worker *worker, const struct worker_params *params, struct error *err);
/* Kills what runs. */
void worker_close(struct worker *worker);

/* Zeroes the strategy's state: the next run starts a campaign of its own. */
void worker_clear_strategy(struct worker *worker, size_t bytes);

/*
 * Sets out on a batch: contract->plan says which. The worker fills plan.is_fresh_state itself.
 * The process of the last batch is used again if it is a server.
 */
int worker_begin(struct worker *worker, struct error *err);
/*
 * Never blocks. *report: REPORT_NONE while the batch is under way; else REPORT_BATCH, _FAILURE,
 * _TAINTED, _REFUSED, _INSPECT or _DIED, once per batch. With _FAILURE and _BATCH outcome and
 * schedule are those of the last run, also where the guest could not say it any more.
 */
int worker_poll(struct worker *worker, enum contract_report *report, struct error *err);
/*
 * worker_begin, then worker_poll until it reports. When *is_interrupted (or with CARE_ENOUGH) the guest is killed and the
 * result is ERROR_INTERRUPTED; past run_limit_ns it is killed and the report is REPORT_DIED.
 */
int worker_run(struct worker *worker, const volatile int *is_interrupted,
	enum contract_report *report, struct error *err);

/* Sleeps until one of them may have something to report, at most timeout_ns. */
void worker_sleep(struct worker *const *workers, unsigned count, uint64_t timeout_ns);

/* Asks for the end of the batch after the current run. */
void worker_stop(struct worker *worker);
/* Ends the process and everything it started. The batch is forgotten. */
void worker_kill(struct worker *worker);

/* The process that makes the current run, as the target says now; 0: none has begun. */
uint32_t worker_guest_pid(struct worker *worker);
/* Fails where the target wrote over the memory that it shares with the command. */
int worker_check(const struct worker *worker, struct error *err);

/* Is this outcome a failure under the plan's tolerance? */
bool worker_is_failure(const struct worker *worker);

#endif
