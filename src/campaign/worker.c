#include "campaign/worker.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <signal.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/bug.h"
#include "campaign/children.h"
#include "campaign/far.h"
#include "campaign/launch.h"
#include "campaign/worker_internal.h"
#include "platform/platform.h"

/* How often a worker is looked at although nothing rings: watchdog, output, interruption. */
#define TICK_NS UINT64_C(50000000)
/* And one that has said how its run ended: its process is about to end, which rings nothing. */
#define ENDING_NS UINT64_C(500000)

/* ---- life cycle ---- */

static int worker_open_files(struct worker *worker, struct error *err)
{
	const char *input = worker->params.input ? worker->params.input : "/dev/null";

	worker->input = open(input, O_RDONLY | O_CLOEXEC);
	if (worker->input < 0)
		return error_set(err, ERROR_IO, "standard input %s cannot be opened (%s)", input,
			strerror(errno));
	worker->null = open("/dev/null", O_WRONLY | O_CLOEXEC);
	if (worker->null < 0)
		return error_set(err, ERROR_IO, "/dev/null cannot be opened (%s)", strerror(errno));
	if (worker->params.output == OUTPUT_DISCARD && !worker->params.check)
		return 0;
	if (capture_open(&worker->capture, err) < 0)
		return ERROR_IO;
	/* A judge that is given zeros for the middle would refuse good runs. */
	worker->capture.keeps_all = worker->params.check != NULL;
	/* Shown output keeps its two streams apart; what is kept is one text in order. */
	if (worker->params.output == OUTPUT_SHOW && capture_open(&worker->capture_error, err) < 0)
		return ERROR_IO;
	return 0;
}

int worker_open(struct worker *worker, const struct worker_params *params, struct error *err)
{
	int result;

	*worker = (struct worker){
		.params = *params,
		.block.file = -1,
		.input = -1,
		.null = -1,
		.capture.file = -1,
		.capture_error.file = -1,
		.judge.output = -1,
	};
	result = contract_block_open(&worker->block, &params->sizes, err);
	if (result == 0) {
		worker->contract = worker->block.contract;
		worker->contract->plan.sanitizer_status =
			launch_sanitizer_status(&params->target->traits);
		children_watch(&worker->contract->doorbell);
		worker->environment = launch_environment(
			&params->target->traits, params->runtime, worker->block.path);
		result = worker_open_files(worker, err);
	}
	if (result == 0)
		result = judge_open(&worker->judge, params->check, err);
	if (result < 0)
		worker_close(worker);
	return result;
}

static void close_file(int *file)
{
	if (*file >= 0)
		(void)close(*file); /* input, or /dev/null: nothing was written that counts */
	*file = -1;
}

void worker_close(struct worker *worker)
{
	worker_kill(worker);
	if (worker->contract)
		children_unwatch(&worker->contract->doorbell);
	contract_block_close(&worker->block);
	worker->contract = NULL;
	launch_environment_free(worker->environment);
	worker->environment = NULL;
	capture_close(&worker->capture);
	capture_close(&worker->capture_error);
	close_file(&worker->input);
	close_file(&worker->null);
	judge_close(&worker->judge);
}

void worker_clear_strategy(struct worker *worker, size_t bytes)
{
	BUG_ON(bytes > worker->contract->strategy_bytes);
	contract_block_clear(&worker->block, worker->contract->strategy_offset, bytes);
	worker->is_strategy_fresh = true;
}

/* ---- processes ---- */

/*
 * Each process reads its input from the beginning: a new opening of the same file has an offset of
 * its own. What cannot be opened again (it was deleted and is not a file) is used as it is.
 */
static int reopen_input(const struct worker *worker)
{
	return open(
		worker->params.input ? worker->params.input : "/dev/null", O_RDONLY | O_CLOEXEC);
}

/*
 * Who redirects raddle to a file where the program would stand redirects the program, which may seek there.
 * To pipes and terminals it prints through us: a replay prints to a file, and must meet the same points.
 */
static bool prints_itself(const struct worker *worker, int descriptor)
{
	struct stat status;

	return worker->params.is_in_place && worker->params.output == OUTPUT_SHOW &&
	       !worker->params.check && fstat(descriptor, &status) == 0 &&
	       (S_ISREG(status.st_mode) || (S_ISCHR(status.st_mode) && !isatty(descriptor)));
}

static int worker_start_process(struct worker *worker, struct error *err)
{
	struct contract *contract = worker->contract;
	int input = reopen_input(worker);
	int output = worker->capture.file >= 0 ? worker->capture.file : worker->null;
	int error_output = worker->capture_error.file >= 0 ? worker->capture_error.file : output;
	struct launch launch = {
		.path = worker->params.target->path,
		.argv = worker->params.argv,
		.environment = worker->environment,
		.directory = worker->params.directory,
		.input = worker->params.reads_ours ? STDIN_FILENO
			 : input >= 0		   ? input
						   : worker->input,
		.output = prints_itself(worker, STDOUT_FILENO) ? STDOUT_FILENO : output,
		.error_output = prints_itself(worker, STDERR_FILENO) ? STDERR_FILENO : error_output,
	};
	pid_t pid;

	contract->guest_pid = 0;
	contract->is_live = 0;
	contract->is_waiting_outside = 0;
	contract->daemon = DAEMON_NONE;
	worker->is_left = worker->has_followed = false;
	contract->report = REPORT_NONE;
	contract->thread_count = 0;
	contract->run_number = contract->plan.run_first; /* also where it ends before it says so */
	outcome_set(&contract->outcome, OUTCOME_NONE, THREAD_NONE, 0);
	schedule_clear(contract_schedule(contract));
	if (worker->capture.file >= 0)
		capture_clear(&worker->capture);
	if (worker->capture_error.file >= 0)
		capture_clear(&worker->capture_error);
	pid = launch_process(&launch, err);
	if (input >= 0)
		(void)close(input); /* only read from */
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
	/* Before it is reaped its process group cannot be anybody else's. */
	(void)kill(-worker->pid, SIGKILL); /* no group: it never got to set one up */
	(void)kill(worker->pid, SIGKILL);  /* likewise, it may have left the group */
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
	if (worker->params.far)
		far_kill(worker);
	else if (worker->pid)
		worker_reap(worker);
	else if (worker->is_left && children_count() == 0)
		children_kill_strays();
	worker->is_left = false;
}

static bool worker_has_ended(const struct worker *worker)
{
	siginfo_t ended = {.si_pid = 0};

	return waitid(P_PID, (id_t)worker->pid, &ended, WEXITED | WNOHANG | WNOWAIT | __WALL) ==
		       0 &&
	       ended.si_pid == worker->pid;
}

/* ---- setting out ---- */

static void command_guest(struct worker *worker, enum contract_command command)
{
	__atomic_store_n(&worker->contract->command, command, __ATOMIC_SEQ_CST);
	(void)syscall(SYS_futex, &worker->contract->command, FUTEX_WAKE, 1, NULL, NULL, 0);
}

int worker_begin_single_run(struct worker *worker, struct error *err)
{
	struct contract_plan *plan = &worker->contract->plan;

	plan->run_first = worker->batch_next++;
	plan->run_limit = 1;
	plan->is_fresh_state |= worker->is_strategy_fresh; /* or nobody has taken it */
	worker->is_strategy_fresh = false;
	worker->contract->command = COMMAND_RUN; /* nobody waits on it yet */
	worker->state = WORKER_RUNNING;
	return worker_start_process(worker, err);
}

static void command_batch(struct worker *worker)
{
	worker->contract->plan.is_fresh_state |= worker->is_strategy_fresh;
	worker->is_strategy_fresh = false;
	worker->state = WORKER_RUNNING;
	watchdog_reset(&worker->watchdog, worker->params.hang_ns);
	__atomic_store_n(&worker->contract->report, REPORT_NONE, __ATOMIC_SEQ_CST);
	command_guest(worker, COMMAND_RUN);
}

int worker_begin(struct worker *worker, struct error *err)
{
	struct contract *contract = worker->contract;
	int result;

	worker->was_killed_outside = false;
	__atomic_store_n(&contract->stop, 0, __ATOMIC_SEQ_CST);
	if (worker->params.far) {
		far_begin(worker);
		return 0;
	}
	watchdog_reset(&worker->watchdog, worker->params.hang_ns);
	if (contract->plan.restart == RESTART_EXEC) {
		worker_kill(worker); /* a server of an earlier batch, or a run that stands still */
		worker->batch_next = contract->plan.run_first;
		worker->batch_end = worker->batch_next + contract->plan.run_limit;
		return worker_begin_single_run(worker, err);
	}
	if (worker->state == WORKER_IDLE && worker->restart == contract->plan.restart &&
		worker->layout == contract->plan.layout) {
		command_batch(worker);
		return 0;
	}
	worker_kill(worker);
	contract->command = COMMAND_NONE; /* nobody waits on it yet */
	worker->state = WORKER_STARTING;
	result = worker_start_process(worker, err);
	if (result < 0)
		worker->state = WORKER_EMPTY;
	return result;
}

void worker_stop(struct worker *worker)
{
	if (worker->params.far)
		far_stop(worker);
	__atomic_store_n(&worker->contract->stop, 1, __ATOMIC_SEQ_CST);
	worker->batch_end = worker->batch_next;
}

/* ---- looking ---- */

/*
 * A wild write of the target may have hit the contract: what the command indexes with is brought
 * back into range. Called before a report is passed on.
 */
static void distrust(struct contract *contract)
{
	struct schedule *schedule = contract_schedule(contract);
	struct outcome *outcome = &contract->outcome;

	if (outcome->kind >= OUTCOME_KIND_COUNT)
		outcome->kind = OUTCOME_CRASH;
	if (outcome->wait_count > OUTCOME_WAITS_MAX)
		outcome->wait_count = OUTCOME_WAITS_MAX;
	outcome->text[sizeof outcome->text - 1] = '\0';
	contract->taint_text[sizeof contract->taint_text - 1] = '\0';
	if (contract->thread_count > THREAD_CAPACITY)
		contract->thread_count = THREAD_CAPACITY;
	if (schedule->count > CONTRACT_SEGMENTS_MAX)
		schedule->count = CONTRACT_SEGMENTS_MAX;
}

/* What the guest rang for; it lives and waits (but in restart exec, where it is about to end). */
static enum contract_report take_ring(struct worker *worker)
{
	struct contract *contract = worker->contract;
	enum contract_report report =
		(enum contract_report)__atomic_load_n(&contract->report, __ATOMIC_SEQ_CST);

	if (report == REPORT_NONE)
		return REPORT_NONE;
	if (report == REPORT_READY) {
		if (worker->state == WORKER_STARTING)
			command_batch(worker);
		return REPORT_NONE;
	}
	/*
	 * The end of the process is what we wait for, unless it stands still for us. Also of a
	 * server that ends before it has become one: the program made no thread.
	 */
	if ((contract->plan.restart == RESTART_EXEC || worker->state == WORKER_STARTING) &&
		report != REPORT_INSPECT)
		return REPORT_NONE;
	worker->state = WORKER_IDLE;
	/* A fork server whose run we killed can only say that it was killed. */
	if (worker->watchdog.state == WATCHDOG_KILLED && report == REPORT_FAILURE)
		contract->outcome.kind = OUTCOME_HANG;
	return report;
}

int worker_poll(struct worker *worker, enum contract_report *report, struct error *err)
{
	*report = REPORT_NONE;
	if (worker->params.far) {
		*report = far_poll(worker);
		return 0;
	}
	worker->seen = __atomic_load_n(&worker->contract->doorbell, __ATOMIC_SEQ_CST);
	if (worker->is_left)
		return worker_follow(worker, report, err);
	if (!worker->pid)
		return 0;
	*report = take_ring(worker);
	if (*report != REPORT_NONE) {
		distrust(worker->contract);
		return worker_pass_output_on(worker, err);
	}
	if (worker_has_ended(worker)) {
		distrust(worker->contract);
		return worker_process_ended(worker, report, err);
	}
	watchdog_look(&worker->watchdog, worker->contract, platform_monotonic_ns());
	return worker_pass_output_on(worker, err);
}

void worker_sleep(struct worker *const *workers, unsigned count, uint64_t timeout_ns)
{
	struct doorbell bells[CHILDREN_WORKERS_MAX];

	BUG_ON(count > CHILDREN_WORKERS_MAX);
	for (unsigned i = 0; i < count; i++)
		bells[i] = (struct doorbell){
			.word = &workers[i]->contract->doorbell, .seen = workers[i]->seen};
	doorbell_wait(bells, count, timeout_ns < TICK_NS ? timeout_ns : TICK_NS);
}

static bool is_ending(const struct worker *worker)
{
	return worker->contract->plan.restart == RESTART_EXEC &&
	       __atomic_load_n(&worker->contract->report, __ATOMIC_SEQ_CST) != REPORT_NONE;
}

/* False: the run need not go on. */
static bool take_care(struct worker *worker)
{
	const enum worker_care care =
		worker->params.care ? worker->params.care(worker->params.care_context) : CARE_NONE;

	/* It has stood still for us. */
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
		if (!take_care(worker) || *is_interrupted) {
			worker_kill(worker);
			return error_set(err, ERROR_INTERRUPTED, "interrupted");
		}
		if (limit_ns && platform_monotonic_ns() - started_ns >= limit_ns) {
			worker_kill(worker);
			outcome_set(&worker->contract->outcome, OUTCOME_NONE, THREAD_NONE, 0);
			*report = REPORT_DIED;
			break;
		}
		worker_sleep(&worker, 1, is_ending(worker) ? ENDING_NS : TICK_NS);
	}
	return result;
}
