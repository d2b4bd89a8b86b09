#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "process/children.h"
#include "worker/worker_internal.h"
#include "strategies/strategy.h"

bool worker_is_failure(const struct worker *worker)
{
	const struct contract *contract = worker->contract;

	return contract_has_failed(contract) && !contract->is_elsewhere;
}

/* Derives the outcome from the exit status if the guest has published none. */
static void worker_end_take_exit_status(struct worker *worker)
{
	struct outcome *outcome = &worker->contract->outcome;
	int status = worker->exit_status;

	if (worker->watchdog.state == WATCHDOG_KILLED)
		outcome_set(outcome, OUTCOME_HANG, THREAD_NONE, 0);
	else if (WIFSIGNALED(status))
		outcome_set(outcome, WTERMSIG(status) == SIGABRT ? OUTCOME_ABORT : OUTCOME_CRASH,
			THREAD_NONE, WTERMSIG(status));
	else
		outcome_set(outcome, WEXITSTATUS(status) ? OUTCOME_EXIT : OUTCOME_PASSED,
			THREAD_NONE, WEXITSTATUS(status));
}

/* Updates the totals for a guest that was killed, or whose end the runtime did not see. */
static void worker_end_account_silent_end(struct worker *worker)
{
	struct contract *contract = worker->contract;
	const struct strategy *strategy = strategies[contract->plan.strategy];
	struct contract_run *run;
	struct run_summary summary;

	worker_end_take_exit_status(worker);
	contract->known_failure = 0;
	contract->outcome.step = contract->heartbeat;
	contract->is_elsewhere = contract->is_live && strategy->search.is_elsewhere &&
				 strategy->search.is_elsewhere(contract_strategy(contract));
	if (!contract->is_elsewhere) {
		contract->totals.runs++;
		contract->totals.steps += contract->heartbeat;
		contract->totals.outcome[contract->outcome.kind]++;
		contract->totals.failures += worker_is_failure(worker);
	}
	summary = (struct run_summary){
		.thread_count = contract->thread_count,
		.step_count = contract->heartbeat,
		.outcome = (enum outcome_kind)contract->outcome.kind,
	};
	run = contract_run_of(contract, contract->run_number);
	if (run)
		*run = (struct contract_run){.steps = contract->heartbeat,
			.threads = (uint16_t)contract->thread_count,
			.outcome = (uint8_t)contract->outcome.kind,
			.is_failure = worker_is_failure(worker)};
	if (contract->is_live && !run)
		strategy_end_single_run(strategy, contract_strategy(contract), &summary);
	else if (contract->is_live && strategy->end_run)
		strategy->end_run(contract_strategy(contract), &summary);
}

int worker_pass_output_on(struct worker *worker, struct error *err)
{
	if (worker->params.output == OUTPUT_SHOW) {
		/* If the reader of the output has ended, the command ends by SIGPIPE, like any
		 * program. */
		if (!capture_pass_on(&worker->capture, STDOUT_FILENO) ||
			!capture_pass_on(&worker->capture_error, STDERR_FILENO))
			return error_set(err, ERROR_IO,
				"what the program prints cannot be passed on (%s); is the disk full?",
				strerror(errno));
	} else if (worker->capture.file >= 0) {
		capture_trim(&worker->capture);
	}
	return 0;
}

/* Returns whether a SIGKILL of another origin (the user, or lack of memory) ended the process. */
static bool worker_end_is_killed_outside(const struct worker *worker)
{
	return WIFSIGNALED(worker->exit_status) && WTERMSIG(worker->exit_status) == SIGKILL &&
	       worker->watchdog.state != WATCHDOG_KILLED;
}

/* Returns whether no further run may be made before the campaign has seen this one. See
 * runtime_is_exhausted(). */
static bool worker_end_is_exhausted(const struct worker *worker)
{
	struct contract *contract = worker->contract;
	const struct strategy *strategy = strategies[contract->plan.strategy];
	const struct contract_memory *memory = contract_memory(contract);
	const bool has_news =
		contract->has_memory_sites && !memory->is_frozen && memory->newly_shared;

	if (strategy->search.tasks && strategy->search.tasks->awaited(contract_strategy(contract)))
		return true;
	if (has_news)
		return contract->plan.is_task;
	return strategy->search.is_exhausted &&
	       strategy->search.is_exhausted(contract_strategy(contract));
}

/* Replaces the outcome by the judge's. A failure that the guest recognised is another one then. */
static int worker_judge_run(struct worker *worker, struct error *err)
{
	struct contract *contract = worker->contract;
	struct contract_run *run = contract_run_of(contract, contract->run_number);
	int result;

	contract->totals.failures -= worker_is_failure(worker);
	if (contract->known_failure)
		contract->totals.known[contract->known_failure - 1]--;
	contract->known_failure = 0;
	result = judge_run(&worker->judge, worker->capture.file, &contract->outcome, err);
	if (result < 0)
		return result;
	contract->totals.failures += worker_is_failure(worker);
	if (run) {
		run->is_failure = worker_is_failure(worker);
		run->known = 0;
	}
	return 0;
}

/* Handles the end of a run's process, with restart exec. */
static int worker_end_single_run(
	struct worker *worker, enum contract_report *report, struct error *err)
{
	struct contract *contract = worker->contract;
	int result;

	if (contract->report == REPORT_REFUSED) {
		*report = REPORT_REFUSED;
		return 0;
	}
	if (contract->outcome.kind == OUTCOME_NONE) {
		if (worker_end_is_killed_outside(worker)) {
			worker->was_killed_outside = true;
			*report = REPORT_DIED;
			return 0;
		}
		worker_end_account_silent_end(worker);
	}
	if (worker->judge.command) {
		result = worker_judge_run(worker, err);
		if (result < 0)
			return result;
	}
	if (worker_is_failure(worker) && contract->plan.stop_at_failure &&
		!contract->known_failure) {
		*report = REPORT_FAILURE;
		return 0;
	}
	/* A run without a thread creation is reported before it is repeated. */
	if (worker->batch_next >= worker->batch_end || !contract->is_live ||
		worker_end_is_exhausted(worker)) {
		*report = REPORT_BATCH;
		return 0;
	}
	watchdog_reset(&worker->watchdog, worker->params.hang_ns);
	return worker_begin_single_run(worker, err);
}

/* Handles the end of all processes of a run. `state` is the worker's state before that. */
static int worker_end_account_end(struct worker *worker, enum worker_state state,
	enum contract_report *report, struct error *err)
{
	struct contract *contract = worker->contract;
	int result = worker_pass_output_on(worker, err);

	if (result == 0)
		(void)worker_load_report(worker);
	if (result == 0)
		result = worker_check(worker, err);
	if (result == 0)
		result = worker_receive(worker, err);
	if (result < 0)
		return result;
	if (contract->plan.restart == RESTART_EXEC)
		return worker_end_single_run(worker, report, err);
	if (contract->report != REPORT_NONE && contract->report != REPORT_READY) {
		*report = (enum contract_report)contract->report;
		if (contract->outcome.kind == OUTCOME_NONE)
			worker_end_take_exit_status(worker);
		return 0;
	}
	if (worker->watchdog.state == WATCHDOG_KILLED) {
		worker_end_account_silent_end(worker);
		*report = REPORT_FAILURE;
		return 0;
	}
	worker->was_killed_outside = worker_end_is_killed_outside(worker);
	/* A program without threads never becomes a server: its process was a plain run. */
	if (state == WORKER_STARTING && contract->outcome.kind == OUTCOME_NONE &&
		!worker->was_killed_outside)
		worker_end_account_silent_end(worker);
	*report = REPORT_DIED;
	return 0;
}

/* Reaps a program that left its work to a daemon. worker_follow() finds the daemon then. */
static void worker_reap_leaver(struct worker *worker)
{
	const enum worker_state state = worker->state;

	worker->has_followed = true;
	worker->is_left = true;
	/* The daemon leads a session of its own: kills only processes that it left behind. */
	(void)kill(-worker->pid, SIGKILL);
	while (waitpid(worker->pid, &worker->exit_status, __WALL) < 0 && errno == EINTR)
		;
	children_remove(worker->pid);
	worker->pid = 0;
	worker->state = state;
}

int worker_process_ended(struct worker *worker, enum contract_report *report, struct error *err)
{
	enum worker_state state = worker->state;

	if (__atomic_load_n(&worker->block.shared->daemon, __ATOMIC_ACQUIRE) == DAEMON_LEFT &&
		!worker->has_followed) {
		worker_reap_leaver(worker);
		return 0;
	}
	worker_reap(worker);
	return worker_end_account_end(worker, state, report, err);
}

int worker_follow(struct worker *worker, enum contract_report *report, struct error *err)
{
	const pid_t guest =
		(pid_t)__atomic_load_n(&worker->block.shared->guest_pid, __ATOMIC_ACQUIRE);
	const enum worker_state state = worker->state;
	const pid_t process = children_adopt(guest);

	if (process) {
		worker->is_left = false;
		worker->pid = process;
		worker->contract->guest_pid = (uint32_t)guest;
		return 0;
	}
	if (children_reap_strays(guest) > 0)
		return worker_pass_output_on(worker, err);
	/* The daemon has ended without creating a thread. */
	worker->is_left = false;
	worker->state = WORKER_EMPTY;
	return worker_end_account_end(worker, state, report, err);
}
