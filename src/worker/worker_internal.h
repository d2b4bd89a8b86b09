/* What the files of a worker share. worker.c starts and watches its processes, worker_end.c says what their ends mean. */
#ifndef RADDLE_WORKER_WORKER_INTERNAL_H
#define RADDLE_WORKER_WORKER_INTERNAL_H

#include "worker/worker.h"

/* The process has ended, or is to end now: it and its group are gone afterwards. */
void worker_reap(struct worker *worker);
/* Restart exec: a process for the next run of the batch. */
int worker_begin_single_run(struct worker *worker, struct error *err);

/* Copies the results of runs from the target; fails where they are damaged. */
int worker_receive(struct worker *worker, struct error *err);
/* Loads contract->report from the target. */
enum contract_report worker_load_report(struct worker *worker);

/* The process has ended. *report as of worker_poll. */
int worker_process_ended(struct worker *worker, enum contract_report *report, struct error *err);
/* What has been printed since the last call. */
int worker_pass_output_on(struct worker *worker, struct error *err);

/*
 * The program has ended and left its work to a daemon, which comes to the command as the reaper of its
 * descendants (is_left). When it is known which of them it is, it is the worker's process.
 */
void worker_reap_leaver(struct worker *worker);
int worker_follow(struct worker *worker, enum contract_report *report, struct error *err);

#endif
