/*
 * What the files of a campaign share: its state. campaign.c sets up and adds up, campaign_explore.c drives
 * the workers, campaign_failure.c deals with what they find.
 */
#ifndef RADDLE_EXPLORE_CAMPAIGN_INTERNAL_H
#define RADDLE_EXPLORE_CAMPAIGN_INTERNAL_H

#include <stdio.h>

#include "explore/campaign.h"
#include "plan/chosen.h"
#include "investigate/failure.h"
#include "plan/memory_view.h"
#include "process/target.h"
#include "worker/worker.h"

/* A worker with the batch it was given. */
struct campaign_worker {
	struct worker worker;
	bool is_busy;
	uint64_t run_first; /* of the batch: still to do are [run_first, run_end) */
	uint64_t run_end;
	uint64_t begun_ns;
	uint64_t runs_before; /* that its contract had counted then */
	uint64_t batch;	      /* size of the next batch */
	bool has_groups;      /* its process knows which sites may touch the same variables */
	uint32_t deaths;      /* by a SIGKILL from outside, in a row */
	/* What it reported while nobody could deal with it (campaign_quiet.c); REPORT_NONE: nothing. */
	enum contract_report put_off;
	bool was_sent_away; /* REPORT_DIED: by ourselves */
	/* What the detector of races had counted when its runs were last taken over. */
	uint64_t races_let_pass, blind_runs, races_seen;

	/* campaign_parts.c */
	struct campaign_part *part;    /* that it makes; NULL: none */
	bool has_memory;	       /* it knows what the first worker knows of memory, */
	uint32_t points;	       /* which knew so many points then */
	struct contract_totals before; /* the part */
	bool is_comparing,
		is_compared; /* campaign_compare.c: it makes the first run again, or has */
};

/* A failing run as it was taken from a worker, to be looked into. */
struct campaign_failure {
	uint64_t key;
	struct failure failure;
	struct memory_view memory;
	enum contract_restart restart; /* that it was made with */
	char *strategy;		       /* that made it, as one would write it */
};

/* A race that ended no run, and the first run that showed it. */
struct campaign_race {
	uint64_t run;
	struct race_seen seen;
};

/*
 * Runs are made in rounds (strategies/strategy.h), so that neither the number of workers nor who is faster
 * makes a difference: what is learnt becomes effective between rounds, failures are looked into in
 * the order of their runs, and a campaign that ends with one has made the runs before it and no other. A
 * strategy that makes its runs one after the other has no rounds. campaign_rounds.c.
 */
struct campaign_round {
	uint64_t number; /* from 1 */
	uint64_t first;	 /* number of its first run */
	uint64_t before; /* runs in the rounds before */
	uint32_t runs;
	uint32_t given; /* places below this are handed out */
	uint32_t
		settled; /* runs at places below this are made, counted, and looked into if they failed */
	uint32_t
		hold; /* the first place at which a failure waits for that; no run behind it is begun */
	bool has_news;	 /* runs shared new memory: the next round has one run */
	uint64_t looks;	 /* rounds of one run that has_news caused */
	uint32_t layout; /* memory layout of the round's runs (model/layout.h) */
	uint32_t layout_index;
	uint64_t layout_until; /* the layout changes once `before` reaches this */
	uint8_t is_made[STRATEGY_ROUND_MOST];
	struct contract_run log[STRATEGY_ROUND_MOST];
	uint64_t keys[STRATEGY_ROUND_MOST]; /* of runs that failed */
	struct campaign_failure *failures;  /* new ones that wait, by run */
	uint32_t failure_count;
	struct race_pair *passed; /* races that are let pass from the next round on */
	uint32_t passed_count;
};

/* A part of a strategy's work (struct strategy_parts), from when it is split off until it is joined or dropped. */
struct campaign_part {
	uint32_t number;
	bool rests;		       /* at a failure that may end the campaign */
	void *state;		       /* where its worker has none of it any more */
	struct contract_totals totals; /* likewise */
	struct campaign_failure
		*failures; /* to be looked into when its turn comes, in their order */
	uint32_t failure_count;

	/* campaign_told.c: what it was when it was told last; NULL: it was not. */
	void *told;
	struct contract_totals told_totals; /* of its worker */
	uint32_t told_failures;
};

#define CAMPAIGN_PARTS_KEPT 64

/* Of a strategy whose runs are made in parts. The first worker leads: its state is the strategy's. */
struct campaign_parts {
	const struct strategy_parts *strategy; /* NULL: they are not */
	uint32_t numbers;		       /* given so far */
	uint64_t joined_runs;
	struct contract_totals dropped;			 /* runs that the leader makes again */
	struct campaign_part *kept[CAMPAIGN_PARTS_KEPT]; /* done, but not joined */
	uint32_t kept_count;
	uint64_t patience_ns; /* before the leader is interrupted for others' sake */
	uint32_t episodes;    /* of other workers' states */
	bool is_telling;      /* all are to stop for that */
	uint64_t told_ns;     /* when that was over */

	/* campaign_compare.c */
	bool compares; /* workers make the leader's first run again */
	bool differ;   /* it was another one then */
	uint64_t first_run, first_digest;
	uint64_t compared_runs; /* that were made for this alone */
};

/* How far it was when: for charts. campaign_course.c. */
#define COURSE_MOMENTS_MAX 240

struct course_moment {
	uint64_t elapsed_ns, runs, failures;
	uint32_t findings;
	uint32_t covered; /* pairs of places: see engine_run.covered */
};

struct campaign_course {
	struct course_moment moments[COURSE_MOMENTS_MAX];
	uint32_t count;
	uint64_t every_ns;
	uint64_t covered[CONTRACT_COVERED_WORDS]; /* by any worker */
};

struct campaign {
	const struct campaign_options *options;
	const struct campaign_listener *listener;
	struct campaign_result *result;
	struct target target;
	struct store *store;
	struct store_campaign row;
	struct chosen chosen;	  /* accesses that are points; empty: none were asked for */
	struct settings settings; /* the options', with what standard input is */
	bool reads_ours;	  /* the only run reads our standard input: a pipe, a socket */
	char *directory;	  /* our working folder: where replays must go */
	struct campaign_worker *workers;
	uint32_t worker_count;
	enum contract_restart restart;
	uint64_t run_next; /* first run that nobody has been given */
	uint64_t run_end;  /* first one that is not the campaign's */
	uint64_t started_ns;
	uint64_t deadline_ns;	   /* UINT64_MAX: none */
	uint64_t investigating_ns; /* spent on failures so far: not part of the rate */
	uint64_t progress_ns;	   /* when progress was last told */
	uint64_t saved_ns;	   /* when the store was last told */
	bool has_started;	   /* a run that reached its first thread has ended */
	bool is_alone; /* processes of the target disturb each other: only the first worker works */
	uint64_t alone_ns; /* when the other processes were gone after that; 0: never */
	bool is_disturbed; /* likewise, and runs have to be made again for that */
	struct campaign_worker *reporting; /* whose report is being dealt with; or NULL */
	bool is_focused;		   /* processes are to know of groups of sites (chosen.h) */
	bool has_told_start;		   /* the listener knows what kind of target it is */
	bool has_told_refusal;		   /* likewise, why accesses to memory are not seen */
	bool has_told_remark;		   /* likewise, what is odd about the strategy's options */
	bool has_told_limit;		   /* likewise, that findings are kept without traces */
	bool has_told_spinning;		   /* likewise, that threads wait by reading memory */
	uint32_t warned_unseen;		   /* bits UNSEEN_x that the user was warned of */
	bool has_told_stop;	  /* likewise, that the program goes on after a signal to end */
	uint64_t asked_to_end_ns; /* when that was passed on; 0: it was not */
	bool is_stopping;	  /* no new batches */
	bool is_over;		  /* runs that are not settled do not count */
	bool has_rounds;
	struct campaign_round *round;
	void *knowledge;		/* the strategy's state, with the lessons of all workers */
	struct contract_totals counted; /* runs that are settled */
	uint64_t races_let_pass, blind_runs; /* likewise, of rounds */
	struct campaign_race *races_seen;    /* by run */
	uint32_t races_seen_count;
	struct symbols *symbols;  /* of the first worker's process, where it is gone */
	uint64_t suppressed_runs; /* that ended with a race which is no failure */
	uint64_t *suppressed;	  /* keys of those */
	uint32_t suppressed_count;
	struct campaign_parts parts;
	int64_t resumed_id;    /* of the campaign that this one continues; 0: none */
	uint64_t state_due_ns; /* campaign_state.c: when it is to be kept again */
	struct campaign_course course;
	/* campaign_spare.c: for findings that the store would not take; NULL: it took all. */
	struct store *spare;
	int64_t spare_campaign;
	char spare_folder[256];
	uint64_t *keys; /* of failures that have been investigated */
	uint32_t key_count;
};

void campaign_notice(const struct campaign *campaign, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
/*
 * Warns of behaviour that the campaign does not explore or see. Unlike a notice, a warning is also
 * shown where the user asked for findings only.
 */
void campaign_warn(const struct campaign *campaign, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
/* Has the strategy made every run it knows of, of the program as it is known now? campaign_runs.c. */
bool campaign_is_exhausted(const struct campaign *campaign, struct contract *contract);
/* Sets row.run_first, run_next and run_end; the rest of the row is known. campaign_runs.c. */
int campaign_find_runs(struct campaign *campaign, struct error *err);
/* After the first run: do the strategy and the program want few sites on? campaign_focus.c. */
bool campaign_wants_focus(const struct campaign *campaign, struct contract *contract);
/* Tells a worker which sites may touch which variables. */
void campaign_tell_groups(struct campaign *campaign, struct campaign_worker *worker);

/* That nobody has been given yet. */
uint64_t campaign_runs_left(const struct campaign *campaign);
/* Where they are handed out and none is left: for more. */
void campaign_ask_for_runs(struct campaign *campaign);
/* All below this number have been made; where they are handed out nothing is said. */
uint64_t campaign_runs_made(const struct campaign *campaign);

/* campaign_notices.c. A run has reached its first thread: what raddle sees of this target. */
void campaign_tell_start(struct campaign *campaign, const struct campaign_worker *worker);
/*
 * Warns once of each kind of operation that raddle does not see in the runs. Called repeatedly, and
 * when the campaign ends.
 */
void campaign_warn_unseen(struct campaign *campaign);

/* ---- campaign_state.c: strategies that go through all runs go on later ---- */

/* The first worker stands still: keeps what is needed, if that is due or the last. Of a campaign that is done: nothing. */
void state_save(struct campaign *campaign, bool is_last);
/* Has that campaign left one? */
bool state_is_kept(const struct campaign *campaign, int64_t id);
/* Where the campaign that this one continues has stopped. */
int state_find(const struct campaign *campaign, uint64_t *run, struct error *err);
/* Into the first worker, before its first run. */
int state_load(struct campaign *campaign, struct error *err);

/* ---- campaign_state_parts.c ---- */

/* The parts that there are, into the file and back. */
bool state_write_parts(struct campaign *campaign, FILE *file, bool is_last);
bool state_read_parts(struct campaign *campaign, FILE *file);

/* campaign_signals.c. What raddle was sent is the program's, where there is only one run. */
void campaign_pass_signals_on(struct campaign *campaign);
bool campaign_is_interrupted(const struct campaign *campaign);
/*
 * Grace period at the end of a campaign: unfinished runs may complete within this time, then their
 * processes are killed.
 */
uint64_t campaign_end_grace_ns(const struct campaign *campaign);

/* ---- campaign_parts.c: strategies that go through all runs, by several workers ---- */

void parts_begin(struct campaign *campaign);
/* Do the very runs matter that are made, not only how many there are? */
bool parts_are_exact(const struct campaign *campaign);
void parts_release(struct campaign *campaign);
/* One that is kept: its runs are made again. */
void parts_forget_kept(struct campaign *campaign, uint32_t index);
/* Nobody is at a part any more. */
void parts_drop_all(struct campaign *campaign);
/*
 * The leader has reported and is to go on. *may_go_on: else it has to wait for a part.
 */
int parts_lead_on(struct campaign *campaign, bool *may_go_on, struct error *err);
/* Sets out on the worker's part, or goes on with it. */
int parts_make(struct campaign *campaign, struct campaign_worker *worker, struct error *err);
/* Another worker has reported. */
int parts_take_report(struct campaign *campaign, struct campaign_worker *worker,
	enum contract_report report, struct error *err);
/* Its worker has made all of it, and has it still. */
bool parts_is_done(const struct campaign *campaign, const struct campaign_worker *worker);
/* Of the part that the worker has. */
struct contract_totals parts_totals(const struct campaign_worker *worker);
/* What the leader has learnt of memory. Processes that have begun with something else are of no use. */
void parts_teach_memory(struct campaign *campaign, struct campaign_worker *worker);
/*
 * The leader stands still, and those who were told to: whoever was stopped to be told goes on, and what is done makes
 * room, unless it is the next to be joined.
 */
int parts_settle(struct campaign *campaign, struct error *err);

/* campaign_told.c: the leader and those who make parts tell each other what they have found (struct strategy_parts). */
bool parts_tell_each_other(const struct campaign *campaign);
/* When that is due, in nanoseconds from now; 0: all are told to stop for it. UINT64_MAX: nothing is to be told. */
uint64_t parts_due(struct campaign *campaign);
/* The leader and the worker stand still. False: the part was of no use, and is dropped. */
bool parts_tell(struct campaign *campaign, struct campaign_worker *worker);
void parts_drop(struct campaign *campaign, struct campaign_worker *worker);
void parts_add_totals(
	struct contract_totals *to, const struct contract_totals *from, uint64_t sign);

/* Runs in the order of one worker that are made. */
uint64_t parts_runs_done(const struct campaign *campaign);
/* campaign_compare.c: is the program the same for all workers that make parts? Before the first run. */
void compare_begin(struct campaign *campaign);
/* The leader has reported. */
void compare_note_first(struct campaign *campaign, enum contract_report report);
/* Has the worker to make the first run again before it may have a part? */
bool compare_is_due(const struct campaign *campaign, const struct campaign_worker *worker);
bool compare_is_under_way(const struct campaign *campaign);
int compare_make(struct campaign *campaign, struct campaign_worker *worker, struct error *err);
/*
 * It has reported. Where it was another run, all that is under way may be stopped (campaign_clear_way), and is forgotten
 * if processes turn out to be in each other's way: is_disturbed, is_alone.
 */
int compare_take(struct campaign *campaign, struct campaign_worker *worker,
	enum contract_report report, struct error *err);
/* Nobody compares any more. */
void compare_forget(struct campaign *campaign);
/* What is known of memory before any run. campaign_part_memory.c. */
void campaign_tell_memory(const struct campaign *campaign, struct campaign_worker *worker);

/* Adds what the others have made of parts that are not dropped. */
void parts_add_up(const struct campaign *campaign, struct contract_totals *totals);
/* Interrupts the leader where others have nothing to do, now or in so many nanoseconds. */
uint64_t parts_wake(struct campaign *campaign);
/* The campaign ends. `is_cut`: before its work was done; then what is not joined counts all the same. */
int parts_end(struct campaign *campaign, bool is_cut, struct error *err);

/* Notes how far it is, when that is due, or in any case. */
void course_note(struct campaign *campaign, bool is_due);
/* What was noted, as the store keeps it: a JSON array; to be freed. */
char *course_text(const struct campaign_course *course);

/* ---- campaign_spare.c ---- */

/* The store would not take the finding, as `err` says: keeps it elsewhere. Negative: cannot, and `err` stands. */
int spare_keep(struct campaign *campaign, struct finding *finding, bool *is_new, struct error *err);
/* At the end, where there are such findings: prints where they are. */
void spare_notify(struct campaign *campaign);

/* ---- campaign_verdict.c ---- */

/* Into the result, of what the first worker's strategy has made. */
void verdict_take(struct campaign *campaign, struct contract *contract);
/* Into the store: at the beginning which shard it is, and when `is_over` the verdict. */
int verdict_keep(struct campaign *campaign, bool is_over, struct error *err);

/* A campaign with one worker and no store, whose batches come from elsewhere (serve.h). */
int campaign_open_alone(struct campaign *campaign, struct error *err);
void campaign_close_alone(struct campaign *campaign);

/* Makes runs until the budget ends, a finding ends it, or the user does. campaign_explore.c. */
int campaign_explore(struct campaign *campaign, struct error *err);
/* Tells the listener and the store how far it is, when that is due. */
int campaign_tell_progress(struct campaign *campaign, struct error *err);

/*
 * The last run of a worker failed. False: that is known already, or does not matter; `out` is empty then. Else it
 * is to be released.
 */
bool campaign_catch_failure(struct campaign *campaign, const struct campaign_worker *from,
	struct campaign_failure *out);
void campaign_failure_release(struct campaign_failure *failure);
/*
 * Investigates it unless it has become known, and stores the finding. Sets campaign->is_stopping where the
 * campaign is to end with it.
 */
int campaign_look_into(
	struct campaign *campaign, const struct campaign_failure *failure, struct error *err);

/* ---- rounds ---- */

void rounds_open(struct campaign *campaign);
void rounds_close(struct campaign *campaign);
/* The next runs for the worker, in run_first and run_end; false: none now. Fills the plan's round. */
bool rounds_give(struct campaign *campaign, struct campaign_worker *worker);
/* The worker has made its runs below this one. */
void rounds_take(struct campaign *campaign, struct campaign_worker *worker, uint64_t end);
/* Its last run, which is still its own, failed. */
void rounds_take_failure(struct campaign *campaign, struct campaign_worker *worker);
/*
 * Counts what is complete, looks into failures, ends the round and begins the next. With `is_last` nothing more
 * will be made: whatever was counts.
 */
int rounds_advance(struct campaign *campaign, bool is_last, struct error *err);
/* Counts what was made behind the settled runs: for progress. */
void rounds_add_unsettled(const struct campaign *campaign, struct contract_totals *totals);

/*
 * The last run of a worker died of a signal that raddle was sent and has passed on: no failure of the
 * program. It is not counted, and the campaign ends as if raddle itself had been interrupted.
 */
bool campaign_was_ended(struct campaign *campaign, struct campaign_worker *worker);

/* The server of a worker's runs has ended: it may be started again, otherwise if need be; or an error. */
int campaign_worker_died(
	struct campaign *campaign, struct campaign_worker *worker, struct error *err);
/*
 * `restart` cannot be used for this target, for the reason given: the next one is, from now on, and
 * it is said once. `is_shared`: nor can forks that share what was open before the first thread.
 * Fails where the restart was forced or is the last one.
 */
int campaign_fall_back(struct campaign *campaign, enum contract_restart restart, const char *reason,
	bool is_shared, struct error *err);

/* Opens a worker that has made no run yet. campaign.c. */
int campaign_open_worker(
	struct campaign *campaign, struct campaign_worker *worker, struct error *err);
/* True when the first run of the campaign shows that its forked children make threads, and children are to be explored. */
bool campaign_must_include_children(
	const struct campaign *campaign, const struct campaign_worker *worker);
/* Begins the campaign again, with the setting has_forked_children. */
int campaign_include_children(
	struct campaign *campaign, struct campaign_worker *worker, struct error *err);

/*
 * The process of a worker that is not the first one has ended before its first thread, which the first worker's does
 * not: it wants what that one has (a port, a file, a name). From now on there is one worker; the run is made again.
 */
int campaign_go_on_alone(
	struct campaign *campaign, struct campaign_worker *worker, struct error *err);

/* ---- campaign_quiet.c ---- */

/* The first run that is not made of a batch that has ended, also of one that was stopped before it began. */
uint64_t campaign_end_of_batch(const struct campaign_worker *worker);
/* As worker_poll(); what was put off comes first. Who is told of each run is told in their order. */
int campaign_poll(struct campaign *campaign, struct campaign_worker *worker,
	enum contract_report *report, struct error *err);
/* No process of the target is there any more. What workers report meanwhile is put off. */
int campaign_clear_way(struct campaign *campaign, struct error *err);
/* After is_alone was set: ends the target's processes of other workers. Batches that began before may be doubted. */
int campaign_end_others(struct campaign *campaign, struct error *err);
/*
 * A failure does not repeat while no other process is there: was it one of them? Then it does not count, is_disturbed
 * says that its run is to be made again, and there is one worker from now on.
 */
bool campaign_doubt_others(struct campaign *campaign, const struct confirmation *confirmation);
/*
 * Does a process of the target bind a name that others of it would bind, too? Then there is one worker from now on, and
 * runs that are under way are made again: whose name has been taken waits for good, unlike one that fails.
 */
int campaign_share_no_names(struct campaign *campaign, struct error *err);
/* Forgets what workers but the reporting one were about. */
void campaign_forget_others(struct campaign *campaign);
/* A strategy that goes through all runs does so from the beginning. */
void campaign_begin_again(struct campaign *campaign);

#endif
