/*
 * Set-up of the runtime in a target, from the loader to the target's main, in the process's only
 * thread. The code uses raw system calls until main is reached, because libc may not be ready.
 *
 * runtime_set_up() runs at the first interposed call or in the library's constructor. It maps the
 * contract, reads the plan, chooses executor and restart, and gives the engine its hooks (struct
 * engine_host). __libc_start_main() is interposed so that startup_run_main() surrounds main. The
 * handler of on_exit() is registered before all others, so it runs last and ends the run.
 */
#include <malloc.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/personality.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/bug.h"
#include "base/hot_state.h"
#include "base/text.h"
#include "engine/sync.h"
#include "runtime/attach.h"
#include "runtime/contexts.h"
#include "runtime/heap.h"
#include "runtime/interpose.h"
#include "runtime/libc/raw_thread.h"
#include "runtime/libc/time_stamp_counter.h"
#include "runtime/record.h"
#include "runtime/returned.h"
#include "runtime/callers.h"
#include "runtime/runtime.h"
#include "runtime/spinning.h"
#include "runtime/libc/world.h"

HOT_STATE struct runtime runtime;
HOT_STATE bool runtime_is_up; /* written by runtime_set_up() and at the begin of a run */

void bug_report(const char *condition, const char *file, int line)
{
	char buffer[256];
	struct text text;

	text_init(&text, buffer, sizeof buffer);
	text_add(&text, "raddle: internal error in the runtime: ");
	text_add(&text, condition);
	text_add(&text, " at ");
	text_add(&text, file);
	text_add(&text, ":");
	text_number(&text, (uint64_t)line);
	text_add(&text, "\n");
	if (runtime.contract) {
		struct text reason;

		text_init(&reason, runtime.contract->outcome.text,
			sizeof runtime.contract->outcome.text);
		/* A wild write of the target may have damaged the runtime's state. */
		text_add(&reason,
			"the target wrote over raddle's memory, or the runtime has a bug (");
		text_add(&reason, condition);
		text_add(&reason, " at ");
		text_add(&reason, file);
		text_add(&reason, ":");
		text_number(&reason, (uint64_t)line);
		text_add(&reason, "); check the target with AddressSanitizer or valgrind first");
		runtime.contract->report = REPORT_REFUSED;
	}
	/* If this write fails, nothing else can report the error. */
	(void)platform_call(SYS_write, 2, buffer, text_length(&text));
	for (;;)
		(void)platform_call(SYS_exit_group, 127);
}

static const struct restart *const startup_restarts[RESTART_COUNT] = {
	[RESTART_REWIND] = &restart_rewind,
	[RESTART_FORK_CREATE] = &restart_fork_create,
	[RESTART_FORK_MAIN] = &restart_fork_main,
	[RESTART_EXEC] = &restart_exec,
};

static void startup_read_plan(struct contract *contract)
{
	const struct contract_plan *plan = &contract->plan;

	if (contract->version != CONTRACT_VERSION)
		runtime_refuse(
			"libraddle.so and raddle are of different versions; install them together");
	if (plan->restart >= RESTART_COUNT || plan->executor >= EXECUTOR_COUNT)
		runtime_refuse("the plan names an unknown restart or executor");
	runtime.has_virtual_time = !plan->without_virtual_time;
	runtime.restart = startup_restarts[plan->restart];
	if (plan->executor == EXECUTOR_KERNEL)
		runtime.executor = &executor_kernel;
}

/* Returns true if personality() is refused and the relocator, which unmaps the vDSO, gave up. */
static bool startup_has_random_addresses(void)
{
	const long persona = platform_call(SYS_personality, 0xffffffff);

	return (platform_failed(persona) || !(persona & ADDR_NO_RANDOMIZE)) &&
	       getauxval(AT_SYSINFO_EHDR);
}

/* An allocator that defines sbrk() itself (tcmalloc) is not initialised yet. */
extern void *__sbrk(intptr_t bytes);

/* Must run before the program's first allocation. */
static void startup_apply_layout(uint32_t number)
{
	const struct layout *layout = &runtime.layout;

	runtime.layout = layout_of(number);
	/* A failure only leaves the heap unchanged. */
	if (layout->heap_bytes)
		(void)__sbrk((intptr_t)layout->heap_bytes);
	/* The kernel places mappings downwards: later ones lie below this one. */
	if (layout->map_bytes)
		(void)platform_call(SYS_mmap, NULL, layout->map_bytes, PROT_NONE,
			MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
}

static void startup_run_over(struct outcome *outcome) __attribute__((noreturn));
static void startup_run_over(struct outcome *outcome)
{
	if (runtime.contract && !runtime.is_forked_child)
		stuck_children_add_waits(outcome);
	/* Before the first thread creation there is no run: the engine has a private outcome. */
	if (runtime.contract && !runtime.is_forked_child && outcome != &runtime.contract->outcome)
		runtime.contract->outcome = *outcome;
	runtime_finish_run();
}

static void startup_last_thread_ended(void) __attribute__((noreturn));
static void startup_last_thread_ended(void)
{
	exit(0); /* POSIX: as if the process called exit(0) */
}

/* Returns the index + 1 of the thread that is the operation's object; 0: none. */
static uint16_t startup_other(const struct engine_op *op)
{
	if (op_descriptions[op->kind].object != OBJECT_THREAD || !op->address)
		return 0;
	return (uint16_t)(((const struct engine_thread *)op->address)->id.index + 1);
}

static void startup_observe(
	const struct engine_thread *thread, const struct engine_op *op, uint64_t step)
{
	struct contract *contract = runtime.contract;
	uint64_t capacity = contract->trace_bytes / sizeof(struct contract_event);
	struct contract_event *events = contract_area(contract, contract->trace_offset);

	if (runtime.is_forked_child) /* the trace belongs to the parent */
		return;
	if (step < contract->plan.trace_from && op->kind != OP_THREAD_CREATE)
		return;
	contexts_report(thread->id, step);
	if (contract->trace_count < capacity) {
		struct contract_event *event = &events[contract->trace_count];

		*event = (struct contract_event){
			.step = step,
			.site = op->site,
			.address = (uint64_t)(uintptr_t)op->address,
			.object = op->object	? op->object
				  : op->address ? engine_object_name(op->address)
						: 0,
			.bytes = op->bytes,
			.order = op->order,
			.thread = thread->id.index,
			.kind = op->kind,
			.call = op->call,
			.number = op->number,
			.other = startup_other(op),
		};
		if (!contexts_callers(thread->id, event->callers, TRACE_CALLERS))
			runtime_note_calls(thread,
				op_descriptions[op->kind].object == OBJECT_MEMORY &&
					!runtime.has_tsan_calls,
				event);
	}
	contract->trace_count++;
}

/* Returns the event of the operation: the newest one, because only its thread has moved since.
 * NULL: the trace does not have it. */
static struct contract_event *startup_find_event(
	const struct engine_thread *thread, const struct engine_op *op)
{
	struct contract *contract = runtime.contract;
	struct contract_event *events = contract_area(contract, contract->trace_offset);
	const uint64_t count = contract->trace_count;
	struct contract_event *event;

	if (runtime.is_forked_child || !count || count > contract->trace_bytes / sizeof *events)
		return NULL;
	event = &events[count - 1];
	return event->thread == thread->id.index && event->kind == op->kind ? event : NULL;
}

static void startup_observe_result(
	const struct engine_thread *thread, const struct engine_op *op, enum engine_result result)
{
	struct contract_event *event = op->is_timeout_only ? NULL : startup_find_event(thread, op);

	if (event)
		event->result = result == WAIT_TIMED_OUT     ? RESULT_TIMED_OUT
				: result == WAIT_INTERRUPTED ? RESULT_INTERRUPTED
							     : RESULT_CANCELLED;
}

void runtime_trace_signal(const struct engine_thread *thread, int signal)
{
	const struct engine_op *op = thread->interrupted;
	struct contract_event *event;

	if (!op || !runtime.contract || !runtime.contract->plan.is_traced)
		return;
	event = startup_find_event(thread, op);
	if (event && op->interruptions & INTERRUPT_SIGNAL) {
		event->result = RESULT_INTERRUPTED;
	} else if (event) {
		event->kind = OP_SIGNAL_HANDLE;
		event->number = (uint16_t)signal;
		event->address = event->object = 0;
		event->other = event->call = 0;
	}
}

/* Returns the step for an event that is no op: the step of the newest op, or the last event's step if that is
 * greater. The steps of a trace never decrease, and a return of a function (contexts.h) has the next step. */
static uint64_t startup_newest_step(void)
{
	struct contract *contract = runtime.contract;
	const struct contract_event *events = contract_area(contract, contract->trace_offset);
	const uint64_t count = contract->trace_count, step = engine_step() - 1;

	if (!count || count > contract->trace_bytes / sizeof *events)
		return step;
	return events[count - 1].step > step ? events[count - 1].step : step;
}

void runtime_trace_call(enum call_kind call, uint64_t site)
{
	if (runtime.traces_calls && engine_is_live() && engine_step())
		startup_observe(engine_current(),
			&(struct engine_op){.kind = OP_NONE, .call = (uint8_t)call, .site = site},
			startup_newest_step());
}

void runtime_trace_buffered(const struct engine_op *store)
{
	struct engine_op op = *store;

	op.kind = OP_BUFFER;
	if (runtime.traces_calls && engine_step())
		startup_observe(engine_current(), &op, startup_newest_step());
}

void runtime_set_up(void)
{
	struct engine_host host = {
		.run_over = startup_run_over,
		.route_signals = runtime_route_signals,
		.last_thread_ended = startup_last_thread_ended,
		.deliver_signals = runtime_deliver_signals,
		.wait_outside = runtime_wait_outside,
		.look_outside = runtime_look_outside,
		.fire_timers = timer_fire_and_next_ns,
		.cancel_now = runtime_act_on_cancel,
		.digest = repetition_digest,
		.heap_position = memory_heap_position,
		.is_common = memory_is_common,
		.name = memory_object_name,
		.kernel_accesses = memory_note_kernel_access,
		.used = returned_check_use,
		.destroyed = returned_note_destroyed,
	};

	if (runtime.is_set_up)
		return;
	runtime.is_set_up = runtime_is_up = true;
	runtime.contract = attach_contract();
	runtime.has_sanitizer = runtime_symbol("__asan_init") || runtime_symbol("__hwasan_init");
	*(void **)&runtime.sanitizer_shadow = runtime_symbol("__asan_get_shadow_mapping");
	runtime_find_symbols();
	runtime.executor = &executor_fiber;
	runtime.restart = &restart_exec;
	runtime.has_virtual_time = false;
	if (runtime.contract) {
		startup_read_plan(runtime.contract);
		library_code_set_up(
			runtime.contract->plan.is_traced || runtime.restart != &restart_exec);
		runtime.contract->has_random_addresses = startup_has_random_addresses();
		startup_apply_layout(runtime.contract->plan.layout);
		runtime.contract->shared_lock = 0; /* an earlier process may have been killed */
		shared_set_lock(&runtime.contract->shared_lock);
	}
	if (runtime.contract && runtime.contract->plan.is_traced) {
		host.observe = startup_observe;
		host.observe_result = startup_observe_result;
	}
	if (runtime.contract && runtime.contract->plan.detectors)
		host.performed = runtime_detect;
	if (runtime.contract && runtime.contract->plan.has_contexts && contexts_set_up())
		host.context = contexts_of;
	if (runtime.contract && runtime.contract->plan.is_recorded) {
		record_begin();
		host.observe = record_step;
		host.observe_result = NULL;
		host.performed = record_performed;
	}
	host.executor = record_is_on() ? record_executor(runtime.executor) : runtime.executor;
	engine_thread_body = runtime_thread_body;
	engine_init(&host);
	engine_set_main(context_thread_base(), (int)platform_call(SYS_gettid));
	engine_current()->context.thread_base = context_thread_base();
	if (runtime.contract)
		runtime_crash_set_up();
	runtime_signals_set_up();
	runtime.traces_calls = host.observe == startup_observe;
	/* The step to inspect may be a free. */
	if (host.observe || (runtime.contract && runtime.contract->plan.inspect_step))
		heap_start_recording();
}

void runtime_enter(uint64_t site)
{
	if (runtime.is_set_up) {
		raw_thread_check_caller();
		runtime_spin_enter(site);
	} else {
		runtime_set_up();
	}
}

extern FILE *_IO_list_all;

/* Returns true if libc has output to write, or must reset the offset of a file that it read
 * ahead. */
static bool startup_has_open_streams(void)
{
	for (const FILE *stream = _IO_list_all; stream; stream = stream->_chain)
		if (stream->_IO_write_ptr != stream->_IO_write_base ||
			stream->_IO_read_ptr != stream->_IO_read_end || stream->_mode > 0)
			return true;
	return false;
}

/* Returns true in the last exit handler, when libc would only call the kernel next. Dispatch would
 * end the run there. */
static bool startup_ends_here(const struct contract *contract)
{
	return contract && runtime.has_dispatch && runtime.restart == &restart_rewind &&
	       !runtime.is_forked_child && contract->is_live && !contract->outcome.kind &&
	       !startup_has_open_streams();
}

void runtime_let_others_move(void)
{
	const struct contract *contract = runtime.contract;

	if (contract && contract->is_live && !contract->plan.is_recorded &&
		!contract->outcome.kind && !runtime.is_forked_child && !runtime.is_run_over &&
		engine_is_live() && engine_live_count() > 1)
		engine_point(OP_PROCESS_EXIT, NULL, 0);
}

/* Flushes the streams, like exit() does next. The function takes no lock, because a thread that no
 * longer runs may hold one. */
static void startup_flush_streams(void)
{
	for (FILE *stream = _IO_list_all; stream; stream = stream->_chain)
		(void)fflush_unlocked(
			stream); /* also resets the offset of a file that was read ahead */
}

static void startup_at_exit(int status, void *unused)
{
	const struct contract *contract = runtime.contract;

	(void)unused;
	runtime_let_others_move();
	if (startup_ends_here(contract))
		runtime_run_ended(status);
	/* If dispatch is armed, the end of the process is trapped after stdio's flush. */
	if (!contract || runtime.has_dispatch || runtime.is_forked_child ||
		contract->outcome.kind || process_leaves_daemon(status))
		return;
	startup_flush_streams();
	runtime_run_ended(status & 0xff);
}

/* A sanitizer ends the process by its own system call, trapped only with dispatch armed. If the
 * target replaces this callback, the run has only the sanitizer's exit status. */
static void startup_sanitizer_ends(void)
{
	if (runtime.contract && runtime.contract->plan.sanitizer_status && !runtime.has_dispatch &&
		!runtime.is_forked_child)
		runtime_run_ended(runtime.contract->plan.sanitizer_status);
}

static void startup_watch_sanitizer(void)
{
	void (*set_death_callback)(void (*callback)(void));

	*(void **)&set_death_callback = runtime_symbol("__sanitizer_set_death_callback");
	if (set_death_callback)
		set_death_callback(startup_sanitizer_ends);
}

__attribute__((constructor)) static void startup_constructor(void)
{
	if (!attach_is_first())
		return;
	runtime_set_up();
	startup_watch_sanitizer();
	/* Registered first of all handlers, so it runs last. */
	(void)on_exit(startup_at_exit, NULL);
}

typedef int startup_main(int, char **, char **);
static HOT_STATE startup_main *startup_target_main;

/* The loader and the constructors leave values below the frames of main that differ between
 * processes, such as process ids and the times of descriptors. A target that reads an uninitialised
 * local would read them, and its failures would not repeat. They reach 7 KB down in a C++ program. */
#define REMAINS_BYTES (16 << 10)

static __attribute__((noinline)) void startup_clear_remains(void)
{
	char remains[REMAINS_BYTES];

	explicit_bzero(remains, sizeof remains);
}

static int startup_run_main(int argument_count, char **arguments, char **environment)
{
	__pthread_unwind_buf_t buffer;
	char *room;
	int status;

	attach_clean_environment(environment);
	/* If the process has several arenas, a thread's arena depends on earlier address choices. */
	(void)mallopt(M_ARENA_MAX, 1);
	/* If patching fails, direct callers of the vDSO see real time, and so does rdtsc. */
	if (runtime.has_virtual_time && runtime_patch_vdso())
		time_stamp_counter_set_up();
	if (runtime.contract) {
		runtime_load_unwinder();
		runtime_bind_calls();
		runtime.has_reached_main = true;
		if (runtime.restart == &restart_fork_main)
			raw_thread_check_start();
		if (!runtime.has_created)
			runtime.restart->at_main();
	}
	if (__sigsetjmp_cancel(buffer.__cancel_jmp_buf, 0)) {
		/* One arena: the choice among several arenas would differ between runs. */
		runtime_leave_thread();
		engine_thread_finish();
		__builtin_trap();
	}
	__pthread_register_cancel(&buffer);
	/* All frames of the program lie below this address. */
	room = __builtin_alloca(runtime.layout.main_stack_bytes + 1);
	__asm__ volatile("" : : "r"(room) : "memory");
	runtime.main_base = (uintptr_t)room;
	startup_clear_remains();
	status = startup_target_main(argument_count, arguments, environment);
	__pthread_unregister_cancel(&buffer);
	runtime_trace_call(CALL_LEAVE_MAIN, 0);
	return status;
}

typedef int startup_libc(
	startup_main *, int, char **, void (*)(void), void (*)(void), void (*)(void), void *);

EXPORT int __libc_start_main(startup_main *target_main, int argument_count, char **arguments,
	void (*init)(void), void (*fini)(void), void (*loader_fini)(void), void *stack_end);

EXPORT int __libc_start_main(startup_main *target_main, int argument_count, char **arguments,
	void (*init)(void), void (*fini)(void), void (*loader_fini)(void), void *stack_end)
{
	startup_libc *real = (startup_libc *)runtime_next_symbol("__libc_start_main");

	ENTER();
	startup_target_main = target_main;
	return real(
		startup_run_main, argument_count, arguments, init, fini, loader_fini, stack_end);
}
