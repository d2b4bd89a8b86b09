/*
 * One run of the function under test. The function runs on a stack of its own, so that the run
 * can be abandoned at any location. It uses the thread-local block of raddle_check()'s caller. Its
 * other threads are fibers of the runtime's pool, which the engine takes back before the next
 * run.
 */
#include "runtime/heap.h"
#include "runtime/interpose.h"
#include "runtime/memory.h"
#include "runtime/returned.h"
#include "runtime/runtime.h"
#include "runtime/spinning.h"

#include <pthread.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#include "check/check_internal.h"
#include "model/memory/fixed_addresses.h"

/* Size of the function's stack, as main's default. Untouched pages cost nothing. */
#define STACK_BYTES ((size_t)8 << 20)
#define GUARD_BYTES ((size_t)1 << 16)
/* Address of the stack, away from the program's mappings. It is fixed, so stack memory has the same
 * name in every process. */
#define STACK_ADDRESS ((void *)FIXED_TABLES_END)

/* State of libstdc++: the exceptions that the calling thread is handling. */
struct cxx_handled {
	void *caught;
	unsigned uncaught;
};
extern struct cxx_handled *__cxa_get_globals(void) __attribute__((weak));

/* Written by the kernel thread that makes the check. */
static struct {
	char *stack;
	struct context driver; /* saved in function_run() */
	int (*function)(void *);
	void *argument;
	uintptr_t caller_frame; /* see function_run() */
} running;

bool function_run_set_up(void)
{
	long stack;

	if (running.stack)
		return true;
	stack = platform_call(SYS_mmap, STACK_ADDRESS, STACK_BYTES, PROT_READ | PROT_WRITE,
		MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1, 0);
	if (platform_failed(stack))
		stack = platform_call(SYS_mmap, NULL, STACK_BYTES, PROT_READ | PROT_WRITE,
			MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (platform_failed(stack))
		return false;
	/* The guard area keeps an overrun of the stack from the memory below. */
	(void)platform_call(SYS_mprotect, stack, GUARD_BYTES, PROT_NONE);
	running.stack = (char *)stack;
	return true;
}

bool function_run_has_stack(uintptr_t address)
{
	return address - (uintptr_t)running.stack < STACK_BYTES;
}

static void function_run_switch_to(struct context *from, const struct context *to)
{
	if (context_has_fsgsbase())
		context_switch_fsgsbase(from, to);
	else
		context_switch_prctl(from, to);
}

static bool function_run_has_ended(const struct engine_op *op, const struct engine_thread *self)
{
	(void)self;
	return ((const struct engine_thread *)op->address)->state != THREAD_ALIVE;
}

/* Waits for all threads of the function: the run ends with the last one, joined or not. */
static void function_run_await_threads(void)
{
	for (uint32_t i = 1; engine_live_count() > 1 && i < engine_thread_count(); i++) {
		struct engine_op op = {.kind = OP_THREAD_JOIN,
			.address = engine_thread(i),
			.ready = function_run_has_ended,
			.deadline_ns = ENGINE_FOREVER};

		if (engine_thread(i)->state == THREAD_ALIVE)
			(void)engine_perform(&op); /* always WAIT_DONE */
	}
}

static void function_run_function(void *unused) __attribute__((noreturn));
static void function_run_function(void *unused)
{
	__pthread_unwind_buf_t buffer;
	volatile int status = 0;

	(void)unused;
	/* pthread_exit() in the function unwinds to here. */
	if (!__sigsetjmp_cancel(buffer.__cancel_jmp_buf, 0)) {
		__pthread_register_cancel(&buffer);
		status = running.function(running.argument);
		__pthread_unregister_cancel(&buffer);
	}
	function_run_await_threads();
	engine_exited(status);
}

/* Switches all sites on, for all runs: scheduling points then depend only on the set that a token
 * can name. */
static void function_run_prepare_memory(void)
{
	struct contract_memory *memory = contract_memory(runtime.contract);

	runtime.main_stack_end = (uintptr_t)running.stack + STACK_BYTES;
	runtime.main_frame = running.caller_frame;
	heap_begin_run();
	returned_begin_run();
	memory_begin_run();
	if (memory->is_frozen || memory->newly_shared || !memory->profile_runs) {
		memory_prepare_run(0); /* 0 selects a profiling run */
		memory_switch_sites();
	} else {
		memory_next_epoch(memory);
	}
}

void function_run(int (*function)(void *), void *argument, uintptr_t frame, uint64_t number)
{
	struct context start;
	struct cxx_handled *handled = __cxa_get_globals ? __cxa_get_globals() : NULL;
	struct cxx_handled before = handled ? *handled : (struct cxx_handled){NULL, 0};

	running.caller_frame = frame;
	running.function = function;
	running.argument = argument;
	running.driver.thread_base = context_thread_base();
	context_make(&start, running.stack + STACK_BYTES, context_thread_base(),
		function_run_function, NULL);
	if (runtime.contract->has_memory_sites)
		spinning_begin_run(engine_thread_count());
	engine_renew();
	runtime.is_run_over = false;
	function_run_prepare_memory();
	runtime_begin_run(number, NULL);
	function_run_switch_to(&running.driver, &start);
	if (handled)
		*handled = before;
}

static void function_run_check_finish(int status) __attribute__((noreturn));
static void function_run_check_finish(int status)
{
	struct context unused;

	(void)status; /* the outcome has the status */
	/* The caller gives the limit for one function, so it is a part of the test. */
	if (runtime.contract->outcome.kind == OUTCOME_STEP_LIMIT)
		runtime.contract->outcome.kind = OUTCOME_LIVELOCK;
	function_run_switch_to(&unused, &running.driver);
	__builtin_trap();
}

static void function_run_check_nothing(void)
{
}

const struct restart restart_check = {
	.name = "check",
	.at_main = function_run_check_nothing,
	.at_first_create = function_run_check_nothing,
	.finish = function_run_check_finish,
};
