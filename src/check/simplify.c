/*
 * Simplifies the failing schedule: searches for one with as few preemptions and context switches as
 * possible. The runs are made in a child of this process, made by a raw fork. Changes of memory and
 * of the test framework's counts are lost with the child, and its output is discarded. The child
 * sends a description of the simplest schedule, which the parent reads. If no answer arrives in
 * time, the parent describes the schedule as found.
 *
 * The contract is shared with the child and holds the child's last run afterwards.
 */
#include "runtime/interpose.h"
#include "runtime/runtime.h"

#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <time.h>

#include "investigate/minimise/minimise.h"
#include "investigate/probe/probe.h"
#include "check/check_internal.h"

/* Time budget of the search, short because a user waits. It suffices for some hundred thousand runs
 * of a short function. */
#define SIMPLIFY_NS UINT64_C(500000000)
#define SIMPLIFY_RUNS 20000
/* The child may hang on a resource that the failing run never released. */
#define PATIENCE_MS 3000
#define READ_BYTES 4096

#ifndef PR_GET_TID_ADDRESS
#define PR_GET_TID_ADDRESS 40
#endif

/* Restores state that fork does not copy: the timer, and the dispatch of system calls. */
static void simplify_child_set_up(uint64_t hang_ns)
{
	const long nowhere =
		platform_call(SYS_openat, AT_FDCWD, "/dev/null", O_RDWR | O_CLOEXEC, 0);

	(void)platform_call(SYS_prctl, PR_SET_PDEATHSIG, SIGKILL);
	if (!platform_failed(nowhere)) {
		(void)platform_call(SYS_dup3, nowhere, 1, 0);
		(void)platform_call(SYS_dup3, nowhere, 2, 0);
	}
	runtime.contract->guest_pid = (uint32_t)platform_call(SYS_getpid);
	engine_current()->kernel_id = (int)platform_call(SYS_gettid);
	if (runtime.has_dispatch)
		runtime.has_dispatch = runtime_dispatch_arm();
	watch_begin(hang_ns);
}

static void simplify_send_text(int pipe, const char *text, size_t length)
{
	while (length) {
		const long sent = platform_call(SYS_write, pipe, text, length);

		if (sent <= 0)
			return; /* the parent has ended or stopped reading */
		text += sent;
		length -= (size_t)sent;
	}
}

/* Runs the schedule once more and logs every step. Returns false if the run does not show the
 * failure. */
static bool simplify_look_at(struct probe *probe, const struct failure *best)
{
	const struct probe_plan plan = probe_plan_exact(best);
	struct error err;
	bool shows;

	steps_begin();
	shows = probe_run(probe, &plan, &err) == 0 && probe_shows(probe, best);
	steps_end();
	return shows;
}

/* Sends message, run and token, each zero-terminated; nothing if the failure does not repeat. */
static void simplify_send(
	int pipe, const char *name, const struct failure *found, const struct failure *best)
{
	struct strbuf message = STRBUF_EMPTY, run = STRBUF_EMPTY, token = STRBUF_EMPTY;

	describe_failure(&message, &run);
	if (best->preemptions != found->preemptions || best->switches != found->switches)
		strbuf_addf(&run,
			"  simplified to %u context switches, %u of them preemptions (as found: %u, %u)\n",
			best->switches, best->preemptions, found->switches, found->preemptions);
	token_write(&token, name);
	simplify_send_text(pipe, message.text, message.length + 1);
	simplify_send_text(pipe, run.text, run.length + 1);
	simplify_send_text(pipe, token.text, token.length + 1);
}

static void simplify_child_work(const struct simplify *simplify, int pipe)
{
	struct minimise_params params = {.budget = {.runs = SIMPLIFY_RUNS, .time_ns = SIMPLIFY_NS}};
	struct failure found = {0}, best = {0};
	struct probe probe;
	struct error err;
	const char *incomplete;

	simplify_child_set_up(simplify->hang_ns);
	probe_set_function(&simplify->function);
	failure_take(&found, room_contract());
	failure_copy(&best, &found);
	token_freeze_points();
	if (minimise(&best, &params, &incomplete, &err) == 0 &&
		probe_open(&probe, &params.probe, &err) == 0 && simplify_look_at(&probe, &best)) {
		room_leave();
		simplify_send(pipe, simplify->name, &found, &best);
	}
	(void)platform_call(SYS_exit_group, 0);
}

static bool simplify_receive(int pipe, struct strbuf *out)
{
	const uint64_t end_ns = platform_monotonic_ns() + PATIENCE_MS * UINT64_C(1000000);
	char bytes[READ_BYTES];

	for (;;) {
		struct pollfd input = {.fd = pipe, .events = POLLIN};
		const uint64_t now_ns = platform_monotonic_ns();
		struct timespec rest = {.tv_sec = (time_t)((end_ns - now_ns) / 1000000000),
			.tv_nsec = (long)((end_ns - now_ns) % 1000000000)};
		long got;

		if (now_ns >= end_ns)
			return false;
		got = platform_call(SYS_ppoll, &input, 1, &rest, NULL, 0);
		if (got == -EINTR || got == 0)
			continue;
		got = platform_call(SYS_read, pipe, bytes, sizeof bytes);
		if (got == -EINTR)
			continue;
		if (got <= 0)
			return true;
		strbuf_add(out, bytes, (size_t)got);
	}
}

static bool simplify_take(const struct strbuf *all, struct simplified *out)
{
	struct strbuf *const parts[] = {&out->message, &out->run, &out->token};
	const char *at = all->text, *const end = all->text + all->length;

	for (unsigned i = 0; i < sizeof parts / sizeof *parts; i++) {
		const char *zero = memchr(at, '\0', (size_t)(end - at));

		if (!zero)
			return false;
		strbuf_clear(parts[i]);
		strbuf_adds(parts[i], at);
		at = zero + 1;
	}
	return true;
}

bool simplify_failure(const struct simplify *simplify, struct simplified *out)
{
	struct contract *contract = room_contract();
	const struct outcome outcome = contract->outcome;
	const struct contract_totals totals = contract->totals;
	STRBUF_SCOPED all = STRBUF_EMPTY;
	int pipe[2], status;
	bool is_reported = false;
	long child;

	if (platform_failed(platform_call(SYS_pipe2, pipe, O_CLOEXEC)))
		return false;
	child = platform_fork();
	if (child == 0)
		simplify_child_work(simplify, pipe[1]);
	(void)platform_call(SYS_close, pipe[1]);
	if (!platform_failed(child)) {
		is_reported =
			simplify_receive(pipe[0], &all) && all.length && simplify_take(&all, out);
		(void)platform_call(
			SYS_kill, child, SIGKILL); /* the id is valid until the wait below */
		while (platform_call(SYS_wait4, child, &status, __WALL) == -EINTR)
			continue;
	}
	(void)platform_call(SYS_close, pipe[0]);
	contract->outcome = outcome;
	contract->totals = totals;
	return is_reported;
}
