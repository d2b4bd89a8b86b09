#include "runtime/heap.h"
#include "runtime/interpose.h"
#include "runtime/runtime.h"
#include "runtime/libc/signals.h"
#include "runtime/sites.h"

#include <signal.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "investigate/probe/probe.h"
#include "check/check_internal.h"
#include "detectors/detector.h"

/* Stacks made in advance: enough for most tests. More threads get their stacks on demand. */
#define THREAD_POOL 4

static const int fatal_signals[] = {SIGSEGV, SIGABRT, SIGBUS, SIGFPE, SIGILL};
#define FATAL_COUNT (sizeof fatal_signals / sizeof *fatal_signals)

/* Written by room_enter() and room_leave(). */
static struct {
	struct contract_block block;
	struct signal_action before[FATAL_COUNT]; /* handlers of the test framework */
	stack_t stack_before;
	void *stack; /* stack for fatal signals */
	bool is_prepared;
} room;

struct contract *room_contract(void)
{
	return room.block.contract;
}

static int room_lay_out(const struct check_plan *plan, struct error *err)
{
	const size_t simplify_bytes = probe_strategy_bytes();
	struct contract *contract;
	int code;

	contract_block_close(&room.block);
	code = contract_block_open(&room.block,
		&(struct contract_sizes){.strategy_bytes = plan->strategy_bytes > simplify_bytes
								   ? plan->strategy_bytes
								   : simplify_bytes,
			.detector_bytes = plan->are_races_failures ? detectors_bytes() : 0},
		err);
	if (code)
		return code;
	(void)platform_call(SYS_close, room.block.file); /* memory only, and mapped */
	room.block.file = -1;
	contract = room.block.contract;
	contract->plan = (struct contract_plan){
		.executor = EXECUTOR_FIBER,
		.strategy = plan->strategy,
		.strategy_config = plan->config,
		.seed = plan->seed,
		.step_limit = plan->step_limit,
		.has_spurious_wakeups = plan->has_spurious_wakeups,
		.stall_ns = plan->has_stalls ? STALL_ANY : 0,
		.memory_model = plan->memory_model,
		.detectors = plan->are_races_failures ? 1u << DETECTOR_race : 0,
		.is_fresh_state = true,
		.stop_at_failure = true,
		.thread_pool = THREAD_POOL,
	};
	contract->guest_pid = (uint32_t)platform_call(SYS_getpid);
	return 0;
}

/* Replaces the test framework's handlers, which would end the test instead of the schedule. */
static void room_take_signals(void)
{
	(void)platform_call(SYS_sigaltstack, NULL, &room.stack_before); /* cannot fail */
	if (!room.stack)
		room.stack = runtime_crash_stack(NULL);
	else
		(void)runtime_crash_stack(room.stack);
	for (unsigned i = 0; i < FATAL_COUNT; i++) {
		struct signal_action *action = signal_action_of(fatal_signals[i]);

		room.before[i] = *action;
		*action = (struct signal_action){.handler.plain = SIG_DFL};
		signal_catch(fatal_signals[i]);
	}
}

/* Prints the reason by a raw write, because the process ends after it. */
static void room_refused(const char *why)
{
	static const char before[] = "raddle: ", behind[] = "\n";

	(void)platform_call(SYS_write, STDERR_FILENO, before, sizeof before - 1);
	(void)platform_call(SYS_write, STDERR_FILENO, why, strlen(why));
	(void)platform_call(SYS_write, STDERR_FILENO, behind, sizeof behind - 1);
}

static const char *room_obstacle(void)
{
	if (runtime.contract)
		return "raddle_check() was called within a check; check the inner function on its own";
	if (runtime.is_forked_child)
		return "raddle_check() does not work in a child made by fork(); call it in the parent";
	if (engine_current()->id.index != 0 || engine_current()->handle != context_thread_base())
		return "raddle_check() was called in a thread; call it in the main thread";
	if (engine_live_count() > 1)
		return "the program has other threads running; join them before raddle_check()";
	return NULL;
}

int room_enter(const struct check_plan *plan, struct error *err)
{
	ENTER();
	int code;
	const char *obstacle = room_obstacle();

	if (obstacle)
		return error_set(err, ERROR_USAGE, "%s", obstacle);
	code = room_lay_out(plan, err);
	if (code)
		return code;
	if (!function_run_set_up())
		return error_set(
			err, ERROR_NOMEM, "no memory for the function's stack; raise ulimit -v");
	engine_renew();
	engine_set_performed(plan->are_races_failures ? runtime_detect : NULL);
	if (!room.is_prepared) {
		runtime_prepare_threads();
		library_code_set_up(true);
		fiber_pool_grow(&(struct fiber_counts){{THREAD_POOL}});
	}
	room.is_prepared = true;
	runtime.contract = room.block.contract;
	runtime.restart = &restart_check;
	runtime.jumps_to = leave_by_jump;
	runtime.exits = leave_by_exit;
	runtime.refused = room_refused;
	runtime.has_virtual_time = true;
	runtime.has_created = true;
	room_take_signals();
	runtime.has_dispatch = runtime_dispatch_arm();
	if (runtime.has_tsan_calls) {
		heap_start_recording();
		runtime.contract->has_memory_sites = 1;
	}
	sites_report_again();
	watch_begin(plan->hang_ns);
	return 0;
}

void room_leave(void)
{
	watch_end();
	sites_are_live = 0;
	runtime_dispatch_disarm();
	runtime.has_dispatch = false;
	for (unsigned i = 0; i < FATAL_COUNT; i++) {
		*signal_action_of(fatal_signals[i]) = room.before[i];
		signal_catch(fatal_signals[i]);
	}
	(void)platform_call(SYS_sigaltstack, &room.stack_before, NULL);
	runtime.contract = NULL;
	runtime.has_virtual_time = false;
	runtime.jumps_to = NULL;
	runtime.refused = NULL;
	runtime.main_stack_end = runtime.main_frame = 0;
	runtime.has_created = false;
	runtime.is_run_over = false;
	engine_set_performed(NULL);
	engine_renew();
}
