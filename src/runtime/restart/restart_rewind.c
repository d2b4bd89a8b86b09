/*
 * Restart by rewind. With all threads on one kernel thread, the state of a run is memory and a few
 * kernel objects. At the first thread creation a server takes an image of the memory. Each run
 * starts by a jump back into that creation, and ends by a jump into the server, which restores
 * memory and kernel objects.
 *
 * Protocol: the server sets `job` and switches to `start` (or to a checkpoint's context). The run
 * sets `request` and switches to `server`: at its end, to take a checkpoint, or because it must be
 * made again. A run whose effects cannot be reverted (contract->taint) breaks the server, and the
 * command changes to another restart.
 *
 * The server lives on a stack and in a struct of shared memory, outside of the image. It runs in
 * the main kernel thread with main's thread-local base, and uses no libc state.
 */
#include <sys/syscall.h>

#include "runtime/restart/image.h"
#include "runtime/focus.h"
#include "runtime/interpose.h"
#include "runtime/memory.h"
#include "runtime/restart/resume.h"
#include "runtime/runtime.h"
#include "runtime/spinning.h"
#include "runtime/undo.h"

#define SERVER_STACK_BYTES ((size_t)256 * 1024)

/* Task of the starting point when the server resumes it (forked job). */
enum rewind_job {
	FORKED_JOB_RUN,
	FORKED_JOB_CONTINUE, /* continue at a decision, after the checkpoint was taken */
	/* Make more thread blocks; the server then takes a new image, with them */
	FORKED_JOB_GROW_POOL
};

enum rewind_request {
	REQUEST_END,
	REQUEST_CHECKPOINT,
	REQUEST_ABANDON /* the program did not repeat its earlier behaviour: make the run again */
};

/* The state of the rewind. It lies in shared memory; the server and the run write it in turn. */
struct rewind {
	struct context server;
	struct context start;
	enum rewind_job job;
	enum rewind_request request;
	struct checkpoint_position position; /* REQUEST_CHECKPOINT */
	struct fiber_counts pool_wanted;
	uint64_t number;
	uint32_t made_in_run; /* because the pool was empty */
	struct fiber_made made[THREAD_CAPACITY];
	bool is_broken; /* the last run cannot be reverted */
	struct image *image;
	void *stack;
};

/* Constant from the starting point on. */
static struct rewind *rewind_server;

static void restart_rewind_switch(struct context *from, struct context *to)
{
	to->thread_base = to->thread_base ? to->thread_base : context_thread_base();
	if (context_has_fsgsbase())
		context_switch_fsgsbase(from, to);
	else
		context_switch_prctl(from, to);
}

static void restart_rewind_resume(enum rewind_job job)
{
	rewind_server->job = job;
	restart_rewind_switch(&rewind_server->server, &rewind_server->start);
}

static bool restart_rewind_take_image(void)
{
	struct rewind *server = rewind_server;

	if (server->image)
		image_release(server->image);
	server->image = image_take(server->start.stack_pointer);
	if (!server->image)
		return false;
	resume_begin(server->image);
	return true;
}

static void restart_rewind_break(const char *why)
{
	rewind_server->is_broken = true;
	runtime_taint(why, 0);
}

/* Waits for a kernel thread that ends: until then the kernel may write to its thread block. */
static void restart_rewind_await_leaving(int kernel_id)
{
	const long process = platform_call(SYS_getpid);

	while (!platform_failed(platform_call(SYS_tgkill, process, kernel_id, 0)))
		(void)platform_call(SYS_sched_yield); /* always succeeds */
}

/* Grows the pool after a run that needed more: a rewind discards blocks made during a run. Blocks
 * that the pool can hold become permanent, at the same addresses. */
static void restart_rewind_grow_pool(void)
{
	struct rewind *server = rewind_server;
	bool is_growing = false;

	server->pool_wanted = (struct fiber_counts){0};
	for (uint32_t i = 0; i < server->made_in_run; i++) {
		const struct fiber_made *made = &server->made[i];

		restart_rewind_await_leaving(made->kernel_id);
		if (made->start)
			platform_unmap(made->start, made->bytes);
		if (made->size_class == THREAD_STACK_CLASSES)
			continue;
		server->pool_wanted.of_class[made->size_class]++;
		is_growing = true;
	}
	if (!is_growing)
		return;
	restart_rewind_resume(FORKED_JOB_GROW_POOL);
	if (!restart_rewind_take_image())
		restart_rewind_break(
			"made so many threads that memory is too scattered for an image");
}

/* Reverts kernel objects only: the next run's beginning determines the memory to restore. */
static void restart_rewind_undo(void)
{
	struct rewind *server = rewind_server;

	undo_world();
	if (!server->made_in_run)
		return;
	resume_forget();
	if (!resume_restore(server->image, &runtime.contract->totals.pages_restored))
		restart_rewind_break("changed memory that cannot be put back");
	else
		restart_rewind_grow_pool();
}

/* Makes one run, with the checkpoints that it requests. Returns false if abandoned, must be made
 * again. */
static bool restart_rewind_run(const struct checkpoint_position *position)
{
	struct rewind *server = rewind_server;
	struct context from = position ? position->context : server->start;

	server->job = FORKED_JOB_RUN;
	for (;;) {
		restart_rewind_switch(&server->server, &from);
		if (server->request == REQUEST_END)
			return true;
		if (server->request == REQUEST_ABANDON)
			return false;
		resume_take(&server->position);
		server->job = FORKED_JOB_CONTINUE;
		from = server->position.context;
	}
}

/* Makes the run. Returns false if abandoned, or its memory cannot be restored. */
static bool restart_rewind_make_run(uint64_t number)
{
	const struct checkpoint_position *position;

	rewind_server->number = number;
	memory_prepare_run(number);
	if (focus_prepare_run(number))
		resume_forget();
	runtime.contract->taint = TAINT_NONE;
	position = resume_choose(number);
	if (!resume_restore(rewind_server->image, &runtime.contract->totals.pages_restored)) {
		restart_rewind_break("changed memory that cannot be put back");
		return false;
	}
	memory_switch_sites();
	if (restart_rewind_run(position))
		return true;
	resume_give_up();
	restart_rewind_undo();
	return false;
}

static enum contract_report restart_rewind_batch(void)
{
	struct contract *contract = runtime.contract;
	const struct contract_plan *plan = &contract->plan;

	for (uint64_t i = 0; i < plan->run_limit && !contract->stop; i++) {
		bool is_failure;

		while (!rewind_server->is_broken && !restart_rewind_make_run(plan->run_first + i))
			continue;
		if (rewind_server->is_broken)
			return REPORT_TAINTED;
		is_failure = runtime_account_run();
		if (contract->taint != TAINT_NONE)
			rewind_server->is_broken = true;
		else
			restart_rewind_undo();
		resume_run_ended();
		if (is_failure)
			return REPORT_FAILURE;
		if (runtime_is_exhausted())
			break;
	}
	return rewind_server->is_broken ? REPORT_TAINTED : REPORT_BATCH;
}

static void restart_rewind_serve(void *unused)
{
	enum contract_report report = REPORT_READY;

	(void)unused;
	if (!restart_rewind_take_image()) /* the command tries the next restart */
		runtime_refuse_restart(
			"the program's memory is too large or too scattered for an image");
	while (runtime_report_and_wait(report) != COMMAND_LEAVE)
		report = restart_rewind_batch();
	for (;;)
		(void)platform_call(SYS_exit_group, 0);
}

/* Called at main. Without dispatch the other restart takes over at the first thread. */
static void restart_rewind_at_main(void)
{
	restart_fork_create.at_main();
}

static bool restart_rewind_is_possible(void)
{
	return runtime.executor->can_rewind && !runtime.contract->plan.without_dispatch &&
	       runtime_dispatch_arm();
}

/* Called at each decision (engine_set_deciding()): takes a checkpoint if one is due. */
static void restart_rewind_deciding(const struct schedule_view *view)
{
	struct rewind *server = rewind_server;
	const enum resume_wish wish = resume_at_decision(view, &server->position);

	if (wish == RESUME_CONTINUE)
		return;
	server->request = wish == RESUME_TAKE ? REQUEST_CHECKPOINT : REQUEST_ABANDON;
	if (server->request == REQUEST_ABANDON)
		server->made_in_run = fiber_made_since_snapshot(server->made, THREAD_CAPACITY);
	server->position.context.thread_base = context_thread_base();
	restart_rewind_switch(&server->position.context, &server->server);
	if (server->job == FORKED_JOB_RUN) {
		undo_begin_run();
		runtime_resume_run(server->number);
	}
	resume_continue();
}

static void restart_rewind_at_first_create(void)
{
	struct rewind *server;

	if (!restart_rewind_is_possible()) {
		/* The runtime without dispatch does not see a run's changes in the kernel. */
		runtime.contract->taint = TAINT_REWIND;
		runtime.restart = &restart_fork_create;
		runtime.restart->at_first_create();
		return;
	}
	runtime.has_dispatch = true;
	runtime.contract->has_dispatch = 1;
	runtime_dispatch_pause();
	fiber_pool_grow(&(struct fiber_counts){{runtime.contract->plan.thread_pool}});
	undo_save_offsets(true);
	runtime_spin_watch();
	rewind_server = server = platform_map(sizeof *server, true);
	if (server)
		server->stack = platform_map(SERVER_STACK_BYTES, true);
	if (!server || !server->stack)
		runtime_refuse_restart("out of memory for the rewind server");
	resume_set_up();
	context_make(&server->server, (char *)server->stack + SERVER_STACK_BYTES,
		context_thread_base(), restart_rewind_serve, NULL);
	server->start.thread_base = context_thread_base();
	restart_rewind_switch(&server->start, &server->server);
	/* Reached once per forked job, with memory as at this switch. */
	while (server->job == FORKED_JOB_GROW_POOL) {
		fiber_pool_grow(&server->pool_wanted);
		restart_rewind_switch(&server->start, &server->server);
	}
	runtime_dispatch_resume();
	undo_begin_run();
	engine_set_deciding(resume_history() ? restart_rewind_deciding : NULL);
	runtime_begin_run(server->number, resume_history());
	resume_continue();
}

static void restart_rewind_finish(int status) __attribute__((noreturn));
static void restart_rewind_finish(int status)
{
	struct context unused;

	(void)status;
	if (!rewind_server)
		restart_exec.finish(status);
	rewind_server->made_in_run =
		fiber_made_since_snapshot(rewind_server->made, THREAD_CAPACITY);
	runtime_dispatch_pause();
	rewind_server->request = REQUEST_END;
	restart_rewind_switch(&unused, &rewind_server->server);
	__builtin_trap();
}

const struct restart restart_rewind = {
	.name = "rewind",
	.at_main = restart_rewind_at_main,
	.at_first_create = restart_rewind_at_first_create,
	.finish = restart_rewind_finish,
};
