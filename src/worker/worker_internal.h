/* worker_open.c opens a worker. worker.c starts and observes a worker's processes, worker_end.c interprets their ends. */
#pragma once

#include "worker/worker.h"

/* Kills the process and its group if they exist, and reaps the process. */
void worker_reap(struct worker *worker);
/* Restart exec: starts the process for the next run of the batch. */
int worker_begin_single_run(struct worker *worker, struct error *err);

/* Copies the results of runs from the target. Fails if they are damaged. */
int worker_receive(struct worker *worker, struct error *err);
enum contract_report worker_load_report(struct worker *worker);

/* Handles the end of the process. *report as for worker_poll(). */
int worker_process_ended(struct worker *worker, enum contract_report *report, struct error *err);
int worker_pass_output_on(struct worker *worker, struct error *err);

int worker_follow(struct worker *worker, enum contract_report *report, struct error *err);
