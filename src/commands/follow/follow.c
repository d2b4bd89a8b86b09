/*
 * The tracer. The kernel attaches every descendant of the program before its first instruction
 * (PTRACE_O_TRACE*). Processes run natively and stop only at forks, thread creations and execs.
 *
 * The kernel reports the end of a process to its tracer first. The tracer inspects the process
 * without reaping (WNOWAIT), calls the listener, and reaps it; then the parent sees the end.
 */
#include "commands/follow/follow.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/array.h"
#include "base/strbuf.h"
#include "commands/follow/follow_blocked.h"
#include "commands/follow/follow_program.h"
#include "platform/platform.h"

/* Pause between two looks for a change: doubled from the first to the last while there is none. */
#define FIRST_PAUSE_US 30
#define LAST_PAUSE_US 2000
/* Time between two checks for processes whose threads all wait for each other (follow_blocked.c). */
#define BLOCKED_INTERVAL_NS UINT64_C(1000000000)

#define TRACE_OPTIONS                                                                              \
	(PTRACE_O_TRACEFORK | PTRACE_O_TRACEVFORK | PTRACE_O_TRACECLONE | PTRACE_O_TRACEEXEC |     \
		PTRACE_O_EXITKILL)

struct followed {
	pid_t pid;
	struct followed_program *program; /* NULL if it could not be read */
	bool is_fork;
	bool has_threads;
	bool is_blocked; /* was killed because it waits for ever */
};

struct follow {
	const struct follow_request *request;
	uint64_t until_ns;		/* all are killed then; UINT64_MAX: never */
	uint64_t blocked_look_ns;	/* time of the next look for processes that wait for ever */
	pid_t first;			/* process of the given program */
	struct followed_program *given; /* NULL until it is executed */
	struct followed *processes;
	size_t count;
	struct stat command; /* raddle's own executable: its programs are already under control */
	bool has_started;    /* the given program was executed */
	bool is_first_gone;
	bool is_killing; /* kills all current and new processes */
	struct follow_result *result;
};

static struct followed *follow_find(struct follow *follow, pid_t pid)
{
	for (size_t i = 0; i < follow->count; i++)
		if (follow->processes[i].pid == pid)
			return &follow->processes[i];
	return NULL;
}

/* Adds a process. The pointer is valid until the next call. */
static struct followed *follow_add(struct follow *follow, pid_t pid)
{
	ARRAY_APPEND(follow->processes, follow->count, (struct followed){.pid = pid});
	return &follow->processes[follow->count - 1];
}

static void follow_drop(struct follow *follow, struct followed *process)
{
	followed_program_leave(process->program);
	*process = follow->processes[--follow->count];
}

/* Handles a fork. A new process is a copy of its parent; its first stop may be reported before its
 * parent's. */
static void follow_on_fork(struct follow *follow, pid_t parent, pid_t child)
{
	const struct followed *from = follow_find(follow, followed_task_process(parent));
	struct followed_program *program = from ? from->program : NULL;
	struct followed *process = follow_find(follow, child);

	if (!process && kill(child, 0) != 0)
		return; /* the process no longer exists */
	if (!process)
		process = follow_add(follow, child);
	if (process->program || !program)
		return;
	program->users++;
	process->program = program;
	process->is_fork = true;
}

static void follow_on_clone(struct follow *follow, pid_t parent, pid_t child)
{
	const pid_t owner = followed_task_process(child);
	struct followed *process;

	if (owner == child) {
		follow_on_fork(follow, parent, child);
		return;
	}
	process = follow_find(follow, owner ? owner : followed_task_process(parent));
	if (process)
		process->has_threads = true;
}

static bool follow_is_command(const struct follow *follow, pid_t pid)
{
	char path[64];
	struct stat file;

	(void)snprintf(path, sizeof path, "/proc/%d/exe", (int)pid); /* fits */
	return stat(path, &file) == 0 && file.st_ino == follow->command.st_ino &&
	       file.st_dev == follow->command.st_dev;
}

static void follow_kill_all(struct follow *follow)
{
	for (size_t i = 0; i < follow->count; i++)
		(void)kill(follow->processes[i].pid, SIGKILL); /* may fail: it has just ended */
}

static void follow_describe(
	const struct follow *follow, const struct followed *process, struct follow_process *out)
{
	*out = (struct follow_process){.pid = process->pid,
		.program = &process->program->program,
		.is_given = process->program == follow->given,
		.is_first = process->pid == follow->first,
		.is_fork = process->is_fork,
		.is_blocked = process->is_blocked};
}

static void follow_announce(struct follow *follow, const struct followed *process)
{
	const struct follow_listener *listener = &follow->request->listener;
	struct follow_process known;

	if (listener->started)
		listener->started(listener->context, follow->result->programs);
	if (!process->program)
		return;
	if (listener->without_rights && process->program->has_lost_rights)
		listener->without_rights(listener->context, &process->program->program);
	follow_describe(follow, process, &known);
	if (listener->executed && !follow->is_killing &&
		listener->executed(listener->context, &known)) {
		follow->is_killing = true;
		follow_kill_all(follow);
	}
}

/* Handles an exec. Returns false if the process is raddle itself and was detached. */
static bool follow_on_exec(struct follow *follow, pid_t pid)
{
	struct followed *process = follow_find(follow, pid);

	if (!process)
		process = follow_add(follow, pid);
	if (follow_is_command(follow, pid) && pid != follow->first) {
		follow_drop(follow, process);
		(void)ptrace(PTRACE_DETACH, pid, NULL, NULL); /* may fail: killed */
		return false;
	}
	followed_program_leave(process->program);
	process->program = followed_program_read(pid);
	if (pid == follow->first && !follow->given && process->program) {
		follow->given = process->program;
		follow->given->users++;
	}
	process->is_fork = process->has_threads = false;
	follow->result->programs += follow->has_started;
	follow->has_started = true;
	follow_announce(follow, process);
	return true;
}

static bool follow_is_stop_signal(int number)
{
	return number == SIGSTOP || number == SIGTSTP || number == SIGTTIN || number == SIGTTOU;
}

/* Handles a stop, and resumes the task in every case. If the task was killed meanwhile, its end is
 * reported separately. */
static void follow_on_stop(struct follow *follow, pid_t task, int status)
{
	const int event = status >> 16;
	const int number = WSTOPSIG(status);
	unsigned long message = 0;

	if (event == PTRACE_EVENT_STOP && follow_is_stop_signal(number)) {
		/* stays stopped by a job-control signal */
		(void)ptrace(PTRACE_LISTEN, task, NULL, NULL);
		return;
	}
	if (event == PTRACE_EVENT_STOP) {
		if (!follow_find(follow, task) && followed_task_process(task) == task)
			(void)follow_add(follow, task);
	} else if (event) {
		(void)ptrace(PTRACE_GETEVENTMSG, task, NULL, &message);
	}
	if (event == PTRACE_EVENT_FORK || event == PTRACE_EVENT_VFORK)
		follow_on_fork(follow, task, (pid_t)message);
	else if (event == PTRACE_EVENT_CLONE)
		follow_on_clone(follow, task, (pid_t)message);
	else if (event == PTRACE_EVENT_EXEC && !follow_on_exec(follow, task))
		return;
	if (follow->is_killing)
		(void)kill(task, SIGKILL);
	(void)ptrace(PTRACE_CONT, task, NULL, (void *)(long)(event ? 0 : number));
}

static int follow_status_of(const siginfo_t *ended)
{
	if (ended->si_code == CLD_EXITED)
		return (ended->si_status & 0xff) << 8;
	return (ended->si_status & 0x7f) | (ended->si_code == CLD_DUMPED ? 0x80 : 0);
}

/* Handles the end of a process, which can still be reaped; its parent waits for the tracer. */
static void follow_on_end(struct follow *follow, const siginfo_t *ended)
{
	struct followed *process = follow_find(follow, ended->si_pid);
	const int status = follow_status_of(ended);
	const struct follow_listener *listener = &follow->request->listener;
	struct follow_process known;

	if (process && process->has_threads && process->program && listener->ended) {
		follow_describe(follow, process, &known);
		known.wait_status = status;
		listener->ended(listener->context, &known);
	}
	(void)waitpid(ended->si_pid, NULL, __WALL); /* it has ended: cannot fail */
	if (ended->si_pid == follow->first) {
		follow->is_first_gone = true;
		follow->result->wait_status = status;
		follow->result->is_blocked = process && process->is_blocked;
	}
	if (process)
		follow_drop(follow, process);
}

static void follow_kill_when_over(struct follow *follow)
{
	const bool is_late = platform_monotonic_ns() >= follow->until_ns;
	const bool is_interrupted = *follow->request->is_interrupted != 0;

	if (follow->is_killing || !(follow->is_first_gone || is_interrupted || is_late))
		return;
	follow->is_killing = true;
	follow->result->is_interrupted = is_interrupted;
	follow->result->is_late = is_late;
	follow_kill_all(follow);
}

/* Kills processes that wait for ever: a test that deadlocks natively must not stop the runner. */
static void follow_kill_blocked(struct follow *follow)
{
	const struct follow_listener *listener = &follow->request->listener;
	struct follow_process known;

	for (size_t i = 0; i < follow->count; i++) {
		struct followed *process = &follow->processes[i];

		if (process->is_blocked || !process->has_threads || !process->program ||
			!follow_is_blocked_for_ever(process->pid))
			continue;
		process->is_blocked = true;
		follow_describe(follow, process, &known);
		if (listener->blocked)
			listener->blocked(listener->context, &known);
		(void)kill(process->pid, SIGKILL); /* may fail: killed meanwhile */
	}
}

static void follow_pause(struct follow *follow, useconds_t *pause_us)
{
	if (platform_monotonic_ns() >= follow->blocked_look_ns) {
		follow_kill_blocked(follow);
		follow->blocked_look_ns = platform_monotonic_ns() + BLOCKED_INTERVAL_NS;
	}
	(void)usleep(*pause_us); /* a shorter sleep does no harm */
	if (*pause_us < LAST_PAUSE_US)
		*pause_us *= 2;
}

static void follow_watch(struct follow *follow)
{
	const int flags = WEXITED | WSTOPPED | WNOWAIT | WNOHANG | __WALL;
	useconds_t pause_us = FIRST_PAUSE_US;
	siginfo_t what;
	int status;

	for (;;) {
		follow_kill_when_over(follow);
		if (!follow->count)
			return;
		what.si_pid = 0;
		if (waitid(P_ALL, 0, &what, flags) != 0)
			return; /* no child is left */
		if (!what.si_pid) {
			follow_pause(follow, &pause_us);
			continue;
		}
		pause_us = FIRST_PAUSE_US;
		if (what.si_code == CLD_EXITED || what.si_code == CLD_KILLED ||
			what.si_code == CLD_DUMPED)
			follow_on_end(follow, &what);
		else if (waitpid(what.si_pid, &status, __WALL) == what.si_pid)
			follow_on_stop(follow, what.si_pid, status);
	}
}

/* AddressSanitizer's leak checker traces its own process and fails if that is traced. */
static void follow_switch_off_leak_checker(void)
{
	const char *options = getenv("ASAN_OPTIONS");
	STRBUF_SCOPED text = STRBUF_EMPTY;

	strbuf_addf(&text, "%s%sdetect_leaks=0", options ? options : "",
		options && *options ? ":" : "");
	(void)setenv("ASAN_OPTIONS", text.text, 1);
}

static void follow_become_program(const struct follow_request *request, int go)
{
	char byte;

	follow_switch_off_leak_checker();
	if (request->output >= 0 && (dup2(request->output, 1) < 0 || dup2(request->output, 2) < 0))
		_exit(127);
	if (request->input && dup2(request->input, 0) < 0)
		_exit(127);
	if (read(go, &byte, 1) == 1)
		(void)execvp(request->argv[0], request->argv);
	_exit(127);
}

static int follow_start(struct follow *follow, struct error *err)
{
	int go[2], number = 0;
	pid_t child;

	if (pipe2(go, O_CLOEXEC) != 0)
		return error_set(err, ERROR_IO, "no pipe (%s); raise ulimit -n", strerror(errno));
	child = fork();
	if (child == 0) {
		(void)close(go[1]);
		follow_become_program(follow->request, go[0]);
	}
	(void)close(go[0]);
	follow->first = child;
	if (child < 0 || ptrace(PTRACE_SEIZE, child, NULL, (void *)(long)TRACE_OPTIONS) != 0)
		number = errno;
	else if (write(go[1], "", 1) != 1)
		number = errno;
	(void)close(go[1]); /* a child that reads end of file exits */
	if (number == 0) {
		(void)follow_add(follow, child);
		return 0;
	}
	if (child > 0)
		(void)waitpid(child, NULL, __WALL);
	return error_set(err, ERROR_TARGET,
		"%s cannot be followed (%s); allow tracing (in a container: --cap-add=SYS_PTRACE), or "
		"give each program that it starts to raddle run",
		follow->request->argv[0], strerror(number));
}

static void follow_release(struct follow *follow)
{
	while (follow->count)
		follow_drop(follow, follow->processes);
	followed_program_leave(follow->given);
	free(follow->processes);
}

int follow_run(
	const struct follow_request *request, struct follow_result *result, struct error *err)
{
	struct follow follow = {.request = request,
		.result = result,
		.until_ns = UINT64_MAX,
		.blocked_look_ns = platform_monotonic_ns() + BLOCKED_INTERVAL_NS};

	*result = (struct follow_result){0};
	if (request->limit_ns)
		follow.until_ns = platform_monotonic_ns() + request->limit_ns;
	if (stat("/proc/self/exe", &follow.command) != 0)
		return error_set(err, ERROR_MISSING, "/proc cannot be read; mount it");
	if (follow_start(&follow, err) < 0)
		return err->code;
	follow_watch(&follow);
	follow_release(&follow);
	if (!follow.has_started && !result->is_interrupted && !result->is_late)
		return error_set(err, ERROR_NOTFOUND,
			"%s cannot be started; check its path, and that it is executable",
			request->argv[0]);
	return 0;
}
