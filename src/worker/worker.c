#include "worker/worker.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <linux/futex.h>
#include <signal.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/bug.h"
#include "process/children.h"
#include "exchange/contract_exchange.h"
#include "exchange/contract_fault.h"
#include "worker/remote.h"
#include "process/launch.h"
#include "worker/worker_internal.h"
#include "platform/platform.h"

/* Interval of checks without a ring: watchdog, output, interruption. */
#define TICK_NS UINT64_C(50000000)
/* Interval of checks for the end of a process, which rings no doorbell. */
#define ENDING_NS UINT64_C(500000)

void worker_clear_strategy(struct worker *worker, size_t bytes)
{
	BUG_ON(bytes > worker->contract->strategy_bytes);
	contract_block_clear(&worker->block, worker->contract->strategy_offset, bytes);
	worker->is_strategy_fresh = true;
}

/* Opens standard input. Each process reads its input from the beginning. */
static int worker_reopen_input(const struct worker *worker)
{
	return open(
		worker->params.input ? worker->params.input : "/dev/null", O_RDONLY | O_CLOEXEC);
}

/* Returns whether the program prints to the command's own descriptor. This is so for a file; to
 * pipes and terminals, raddle itself prints. A replay prints to a file, and must have the same
 * scheduling points. */
static bool worker_target_prints(const struct worker *worker, int descriptor)
{
	struct stat status;

	return worker->params.is_in_place && worker->params.output == OUTPUT_SHOW &&
	       !worker->params.check && fstat(descriptor, &status) == 0 &&
	       (S_ISREG(status.st_mode) || (S_ISCHR(status.st_mode) && !isatty(descriptor)));
}

static int worker_start_process(struct worker *worker, struct error *err)
{
	struct contract *contract = worker->contract;
	struct contract *shared = worker->block.shared;
	int input = worker_reopen_input(worker);
	int output = worker->capture.file >= 0 ? worker->capture.file : worker->null;
	int error_output = worker->capture_error.file >= 0 ? worker->capture_error.file : output;
	struct launch launch = {
		.path = worker->params.target->path,
		.argv = worker->params.argv,
		.environment = worker->environment,
		.directory = worker->params.directory,
		.network = worker->params.has_network ? &worker->network : NULL,
		.input = worker->params.reads_ours ? STDIN_FILENO
			 : input >= 0		   ? input
						   : worker->input,
		.output = worker_target_prints(worker, STDOUT_FILENO) ? STDOUT_FILENO : output,
		.error_output =
			worker_target_prints(worker, STDERR_FILENO) ? STDERR_FILENO : error_output,
	};
	pid_t pid;

	contract->guest_pid = shared->guest_pid = 0;
	contract->is_live = 0;
	contract->is_waiting_outside = 0;
	contract->daemon = DAEMON_NONE;
	worker->is_left = worker->has_followed = false;
	contract->report = shared->report = REPORT_NONE;
	contract->thread_count = 0;
	/* valid even if the process ends without a report */
	contract->run_number = contract->plan.run_first;
	outcome_set(&contract->outcome, OUTCOME_NONE, THREAD_NONE, 0);
	schedule_clear(contract_schedule(contract));
	schedule_clear(contract_shared_area(&worker->block, contract->schedule_offset));
	contract_publish(&worker->block);
	if (worker->capture.file >= 0)
		capture_clear(&worker->capture);
	if (worker->capture_error.file >= 0)
		capture_clear(&worker->capture_error);
	pid = launch_process(&launch, err);
	if (input >= 0)
		(void)close(input); /* the file was opened for reading */
	if (pid < 0)
		return pid;
	worker->pid = pid;
	worker->restart = contract->plan.restart;
	worker->layout = contract->plan.layout;
	children_add(pid);
	return 0;
}

void worker_reap(struct worker *worker)
{
	/* No other process group can have its id until the process is reaped. */
	(void)kill(-worker->pid, SIGKILL); /* fails if the process has not created its group */
	(void)kill(worker->pid, SIGKILL);  /* fails if the process has left its group */
	while (waitpid(worker->pid, &worker->exit_status, __WALL) < 0 && errno == EINTR)
		;
	children_remove(worker->pid);
	worker->pid = 0;
	worker->state = WORKER_EMPTY;
	if (children_count() == 0)
		children_kill_strays();
}

void worker_kill(struct worker *worker)
{
	const bool is_under_way = worker->state == WORKER_RUNNING;

	if (worker->params.remote) {
		remote_kill(worker);
	} else if (worker->pid) {
		worker_reap(worker);
		if (is_under_way && !worker->damage)
			worker->damage = contract_receive(&worker->block);
	} else if (worker->is_left && children_count() == 0) {
		children_kill_strays();
	}
	worker->is_left = false;
}

void worker_abandon(struct worker *worker)
{
	worker_kill(worker);
	worker->contract->is_live = 0; /* the run would take as long with another restart */
	outcome_set(&worker->contract->outcome, OUTCOME_NONE, THREAD_NONE, 0);
}

static bool worker_has_ended(const struct worker *worker)
{
	siginfo_t ended = {.si_pid = 0};

	return waitid(P_PID, (id_t)worker->pid, &ended, WEXITED | WNOHANG | WNOWAIT | __WALL) ==
		       0 &&
	       ended.si_pid == worker->pid;
}

static void worker_command_guest(struct worker *worker, enum contract_command command)
{
	__atomic_store_n(&worker->block.shared->command, command, __ATOMIC_SEQ_CST);
	(void)syscall(SYS_futex, &worker->block.shared->command, FUTEX_WAKE, 1, NULL, NULL, 0);
}

int worker_begin_single_run(struct worker *worker, struct error *err)
{
	struct contract_plan *plan = &worker->contract->plan;

	plan->run_first = worker->batch_next++;
	plan->run_limit = 1;
	/* |=: an earlier process may have ended before it used the fresh state */
	plan->is_fresh_state |= worker->is_strategy_fresh;
	worker->is_strategy_fresh = false;
	worker->block.shared->command = COMMAND_RUN; /* processes do not wait on the word yet */
	worker->state = WORKER_RUNNING;
	return worker_start_process(worker, err);
}

static void worker_command_batch(struct worker *worker)
{
	worker->contract->plan.is_fresh_state |= worker->is_strategy_fresh;
	worker->is_strategy_fresh = false;
	worker->state = WORKER_RUNNING;
	watchdog_reset(&worker->watchdog, worker->params.hang_ns);
	contract_publish(&worker->block);
	__atomic_store_n(&worker->block.shared->report, REPORT_NONE, __ATOMIC_SEQ_CST);
	worker_command_guest(worker, COMMAND_RUN);
}

static void worker_set_stop(struct worker *worker, uint32_t stop)
{
	worker->contract->stop = stop;
	__atomic_store_n(&worker->block.shared->stop, stop, __ATOMIC_SEQ_CST);
}

int worker_begin(struct worker *worker, struct error *err)
{
	struct contract *contract = worker->contract;
	int result;

	worker->was_killed_outside = false;
	worker_set_stop(worker, 0);
	if (worker->params.remote) {
		remote_begin(worker);
		return 0;
	}
	watchdog_reset(&worker->watchdog, worker->params.hang_ns);
	if (contract->plan.restart == RESTART_EXEC) {
		worker_kill(worker); /* the server of an earlier batch, or a run under inspection */
		worker->batch_next = contract->plan.run_first;
		worker->batch_end = worker->batch_next + contract->plan.run_limit;
		return worker_begin_single_run(worker, err);
	}
	if (worker->state == WORKER_IDLE && worker->restart == contract->plan.restart &&
		worker->layout == contract->plan.layout) {
		worker_command_batch(worker);
		return 0;
	}
	worker_kill(worker);
	worker->block.shared->command = COMMAND_NONE; /* processes do not wait on the word yet */
	worker->state = WORKER_STARTING;
	result = worker_start_process(worker, err);
	if (result < 0)
		worker->state = WORKER_EMPTY;
	return result;
}

void worker_stop(struct worker *worker)
{
	if (worker->params.remote)
		remote_stop(worker);
	worker_set_stop(worker, 1);
	worker->batch_end = worker->batch_next;
}

bool worker_is_valid_state(const struct worker *worker, void *state)
{
	const struct contract_plan *plan = &worker->contract->plan;
	const struct strategy *strategy = strategies[plan->strategy];

	return !strategy->search.is_valid ||
	       (strategy_state_bytes(strategy, &plan->strategy_config) <=
			       worker->contract->strategy_bytes &&
		       strategy->search.is_valid(state, &plan->strategy_config));
}

int worker_check(const struct worker *worker, struct error *err)
{
	uint64_t step;

	if (!worker->damage)
		return 0;
	/* A runtime of another version has another layout of the contract, so its reason cannot be read. */
	if (__atomic_load_n(&worker->block.shared->report, __ATOMIC_RELAXED) == REPORT_REFUSED)
		return error_set(err, ERROR_VERSION,
			"the runtime refuses the target, and its reason cannot be read (%s); install "
			"raddle and libraddle.so of one version together",
			worker->damage);
	step = __atomic_load_n(&worker->block.shared->heartbeat, __ATOMIC_RELAXED);
	if (step > worker->contract->plan.step_limit)
		step = worker->contract->heartbeat; /* the last plausible value */
	return error_set(err, ERROR_TARGET,
		"the target wrote over raddle's memory at step %" PRIu64 " of run %" PRIu64
		" (%s); look for a stray write, with AddressSanitizer or under valgrind",
		step, worker->contract->run_number + 1, worker->damage);
}

int worker_receive(struct worker *worker, struct error *err)
{
	worker->damage = contract_receive(&worker->block);
	return worker_check(worker, err);
}

/* Returns the process that makes the run. Signals go to it, so it must descend from the worker's
 * process; any other id is damage. */
uint32_t worker_guest_pid(struct worker *worker)
{
	const pid_t pid =
		(pid_t)__atomic_load_n(&worker->block.shared->guest_pid, __ATOMIC_ACQUIRE);

	if ((uint32_t)pid != worker->contract->guest_pid &&
		(pid == 0 || pid == worker->pid || children_is_descendant(pid)))
		worker->contract->guest_pid = (uint32_t)pid;
	return worker->contract->guest_pid;
}

enum contract_report worker_load_report(struct worker *worker)
{
	const uint32_t report = __atomic_load_n(&worker->block.shared->report, __ATOMIC_SEQ_CST);

	if (report >= REPORT_DIED)
		worker->damage = "report";
	else
		worker->contract->report = report;
	return worker->damage ? REPORT_NONE : (enum contract_report)report;
}

/* Handles a guest that waits, or ends (restart exec). *report: REPORT_NONE while the batch
 * continues. */
static int worker_take_ring(struct worker *worker, enum contract_report *report, struct error *err)
{
	struct contract *contract = worker->contract;
	const enum contract_report rung = worker_load_report(worker);
	int result;

	if (rung == REPORT_NONE || (rung == REPORT_READY && worker->state != WORKER_STARTING))
		return worker_check(worker, err);
	/* Without a server or a thread creation, the command waits for the end of the process. */
	if ((contract->plan.restart == RESTART_EXEC || worker->state == WORKER_STARTING) &&
		rung != REPORT_INSPECT && rung != REPORT_READY)
		return 0;
	(void)worker_guest_pid(worker); /* a fork server may have started another process */
	result = worker_receive(worker, err);
	if (result < 0)
		return result;
	if (rung == REPORT_READY) {
		worker_command_batch(worker);
		return 0;
	}
	worker->state = WORKER_IDLE;
	*report = rung;
	return 0;
}

/* Checks that a reported failure belongs to a run of this batch. */
static int worker_check_failure(
	struct worker *worker, enum contract_report report, struct error *err)
{
	const struct contract *contract = worker->contract;

	if (report == REPORT_FAILURE && contract->run_number - contract->plan.run_first >=
						contract_runs_most(&contract->plan))
		worker->damage = "run number";
	return worker_check(worker, err);
}

static int worker_observe(struct worker *worker, enum contract_report *report, struct error *err)
{
	int result;

	worker->damage = contract_refresh(&worker->block);
	(void)worker_guest_pid(worker);
	result = worker_check(worker, err);
	if (result == 0)
		result = worker_take_ring(worker, report, err);
	if (result < 0 || *report != REPORT_NONE)
		return result;
	if (worker_has_ended(worker))
		return worker_process_ended(worker, report, err);
	watchdog_look(&worker->watchdog, worker->contract, platform_monotonic_ns());
	return 0;
}

int worker_poll(struct worker *worker, enum contract_report *report, struct error *err)
{
	int result = worker_check(worker, err);

	*report = REPORT_NONE;
	if (result < 0)
		return result;
	if (worker->params.remote)
		return remote_poll(worker, report, err);
	worker->seen = __atomic_load_n(&worker->block.shared->doorbell, __ATOMIC_SEQ_CST);
	if (worker->is_left)
		return worker_follow(worker, report, err);
	if (!worker->pid)
		return 0;
	result = worker_observe(worker, report, err);
	if (result == 0)
		result = worker_check_failure(worker, *report, err);
	return result < 0 ? result : worker_pass_output_on(worker, err);
}

void worker_sleep(struct worker *const *workers, unsigned count, uint64_t timeout_ns)
{
	struct doorbell bells[CHILDREN_WORKERS_MAX];

	BUG_ON(count > CHILDREN_WORKERS_MAX);
	for (unsigned i = 0; i < count; i++)
		bells[i] = (struct doorbell){
			.word = &workers[i]->block.shared->doorbell, .seen = workers[i]->seen};
	doorbell_wait(bells, count, timeout_ns < TICK_NS ? timeout_ns : TICK_NS);
}

static bool worker_is_ending(const struct worker *worker)
{
	return worker->contract->plan.restart == RESTART_EXEC &&
	       worker->contract->report != REPORT_NONE;
}

static bool worker_serve_guest(struct worker *worker)
{
	const enum worker_care care =
		worker->params.care ? worker->params.care(worker->params.care_context) : CARE_NONE;

	/* The guest waited for the command. */
	if (care == CARE_TAKEN)
		watchdog_reset(&worker->watchdog, worker->params.hang_ns);
	return care != CARE_ENOUGH;
}

int worker_run(struct worker *worker, const volatile int *is_interrupted,
	enum contract_report *report, struct error *err)
{
	uint64_t limit_ns = worker->params.run_limit_ns;
	uint64_t started_ns = platform_monotonic_ns();
	int result = worker_begin(worker, err);

	*report = REPORT_NONE;
	while (result == 0) {
		result = worker_poll(worker, report, err);
		if (result < 0 || *report != REPORT_NONE)
			break;
		if (!worker_serve_guest(worker) || *is_interrupted) {
			worker_kill(worker);
			return error_set(err, ERROR_INTERRUPTED, "interrupted");
		}
		if (limit_ns && platform_monotonic_ns() - started_ns >= limit_ns) {
			worker_abandon(worker);
			*report = REPORT_DIED;
			break;
		}
		worker_sleep(&worker, 1, worker_is_ending(worker) ? ENDING_NS : TICK_NS);
	}
	return result;
}
