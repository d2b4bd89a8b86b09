/*
 * Tasks of an exhaustive search. tasks.c splits, executes and joins them; tasks_synchronise.c
 * exchanges results between them. compare.c checks that the program does the same in the processes
 * of all workers.
 */
#pragma once

#include "explore/scheme.h"

/* A subtree of the search (struct strategy_tasks), until joined or discarded. */
struct task {
	uint32_t number;
	bool is_paused; /* the task stopped at a failure that may end the campaign */
	/* copy of the strategy's state, once no worker holds the state */
	void *state;
	struct contract_totals totals; /* valid together with `state` */
	/* sorted by run; investigated when the task is joined */
	struct campaign_failure *failures;
	uint32_t failure_count;
	/* copy at the last synchronisation; NULL if not synchronised yet */
	void *synchronised;
	struct contract_totals synchronised_totals; /* totals of the task's worker at that time */
	uint32_t synchronised_failures;
};

#define TASKS_KEPT 64
/* With N workers the owner spends at most N of this many parts of its time on tasks: trees of dpor may have 10^5
 * branches, which each stop copies and merges. */
#define TASKS_SHARE 16

struct tasks {
	const struct strategy_tasks *strategy;
	uint32_t created;
	uint64_t joined_runs;
	/* totals of discarded tasks, whose runs the owner makes again */
	struct contract_totals discarded;
	/* complete tasks that are not joined yet */
	struct task *kept[TASKS_KEPT];
	uint32_t kept_count;
	/* the owner is interrupted after this time to split off a task for an idle worker */
	uint64_t patience_ns;
	uint32_t epochs; /* last epoch assigned to another worker's state (contract_plan.epoch) */
	bool is_synchronising;	  /* all workers are asked to stop */
	uint64_t synchronised_ns; /* end of the last synchronisation */
	uint64_t handling_ns;	  /* time that the owner has spent on tasks instead of runs */

	/* Fields of compare.c: */
	bool compares; /* workers repeat the owner's first run before their first task */
	bool differ;   /* a repetition and the first run had different digests */
	uint64_t first_run, first_digest;
	uint64_t compared_runs; /* runs made only for this comparison */
};

void *tasks_state_of(const struct campaign_worker *worker);
/* Returns whether the runs themselves, and not only their number, must be the same for every number
 * of workers. */
bool tasks_are_exact(const struct campaign *campaign);
int tasks_start(struct campaign *campaign, struct campaign_worker *worker, struct error *err);

/* Discards tasks; the owner makes their runs again. */
void tasks_discard(struct campaign *campaign, struct campaign_worker *worker);
void tasks_discard_kept(struct campaign *campaign, uint32_t index);
void tasks_discard_all(struct campaign *campaign);
struct contract_totals tasks_totals(const struct campaign_worker *worker);
/* Adds `sign` times `from`, modulo 2^64: UINT64_MAX subtracts. */
void tasks_add_totals(
	struct contract_totals *to, const struct contract_totals *from, uint64_t sign);
/* Keeps the failure of the worker's last run, which is investigated when the task is joined. */
void tasks_take_failure(struct campaign *campaign, struct campaign_worker *worker);
int tasks_investigate(struct campaign *campaign, const struct task *task, struct error *err);
/* Allocates memory for a copy of a strategy state; may return NULL. */
void *tasks_map_state(const struct campaign *campaign);
/* `task` may be NULL. */
void tasks_release_task(struct campaign *campaign, struct task *task);

/* Returns the time in nanoseconds until the next synchronisation. 0: all workers were asked to
 * stop. UINT64_MAX: no synchronisation. */
uint64_t tasks_synchronise_due(struct campaign *campaign);
/* Returns the time until the owner may spend more time on tasks (TASKS_SHARE); 0: it may now. */
uint64_t tasks_rest_ns(const struct campaign *campaign);
/* Synchronises the worker's task with the owner; both must be idle. Returns false if the task was
 * discarded. */
bool tasks_synchronise(struct campaign *campaign, struct campaign_worker *worker);
/*
 * Synchronises stopped workers with the idle owner. Complete tasks leave their worker, except the
 * task that is joined next.
 */
int tasks_settle(struct campaign *campaign, struct error *err);

void compare_begin(struct campaign *campaign);
/* Stores the digest of the owner's first run. */
void compare_note_first(struct campaign *campaign, enum contract_report report);
/* Returns whether the worker must repeat the first run before it receives a task. */
bool compare_is_due(const struct campaign *campaign, const struct campaign_worker *worker);
bool compare_is_running(const struct campaign *campaign);
/* Ends the worker's process, and repeats the first run in a new one. */
int compare_make(struct campaign *campaign, struct campaign_worker *worker, struct error *err);
int compare_take(struct campaign *campaign, struct campaign_worker *worker,
	enum contract_report report, struct error *err);
void compare_discard(struct campaign *campaign);
