/*
 * Shared declarations of the runtime's folders: the process-wide state, the phases of a run, and
 * the functions that interposed functions call.
 *
 * Phases of a process that the command drives:
 *   runtime_set_up()            before main: maps the contract, sets the engine up
 *   restart->at_main()          just before the target's main
 *   restart->at_first_create()  at the first thread creation: returns once per run
 *   runtime_finish_run()        ends the run for any reason; never returns
 *
 * A process without a contract still schedules its threads through the engine, but without
 * preemptions and without a record.
 */
#pragma once

#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>

#include "engine/engine.h"
#include "model/feature.h"
#include "model/memory/layout.h"
#include "abi/contract.h"
#include "runtime/restart.h"
#include "runtime/thread_stacks.h"

struct history;

/* The runtime's state. Written at set-up and at the first thread creation, while there is one
 * thread. */
struct runtime {
	struct contract *contract;
	const struct executor *executor;
	const struct restart *restart;
	struct layout layout; /* layout of the plan that started this process */
	bool is_set_up;
	/* The target's main has been entered; constructors may create threads earlier */
	bool has_reached_main;
	bool has_dispatch;
	bool has_virtual_time;
	bool has_sanitizer; /* a sanitizer may call interposed functions with its own locks held */
	/* Scale and offset of AddressSanitizer's shadow memory; NULL if not in the program. */
	void (*sanitizer_shadow)(size_t *scale, size_t *offset);
	bool has_created;
	bool is_run_over;			      /* runtime_finish_run() has been entered */
	enum interruption_points interruption_points; /* of the current run */
	/* The target has read a process or thread id, which is wrong in a fork of this process */
	bool knows_its_id;
	bool traces_calls; /* The trace also has events of runtime_trace_call() */
	bool has_forked;   /* the target has forked, or this process is a forked child */
	/* Child of this process that holds the pages of a rewind, and is none of the target's children;
	 * 0: none */
	long holder_pid;
	bool is_forked_child; /* made by the target's own fork(): the parent handles its end */
	/* Compiled code reports accesses through ThreadSanitizer's functions */
	bool has_tsan_calls;
	/* Called before the process ends without control, where no command reads the reason. */
	void (*refused)(const char *why);
	/* Called when the timer with this address as its value expires, with the interrupted code;
	 * NULL if there is no timer. */
	void (*watchdog)(void *context);
	/* Called before longjmp() to a frame; ends the run if the frame is out of bounds. */
	void (*jumps_to)(uintptr_t stack_pointer);
	/* Called at the start of exit(); NULL: nothing to do. */
	void (*exits)(int status);
	/* main's own stack (src/check): its end, and the frame that called onto it. */
	uintptr_t main_stack_end, main_frame;
	/* The frames of main() lie directly below this address, which the layout shifts. 0: not yet called. */
	uintptr_t main_base;
};

extern struct runtime runtime;

/* ---- the run (run.c) ---- */

/* Removes the last run's schedule and outcome, in a process that may end before its run begins. */
void runtime_await_run(void);
/* Seeds strategy and engine, and begins control. If `history` is given, the caller has begun the
 * strategy, and the engine asks the strategy through the history. */
void runtime_begin_run(uint64_t number, struct history *history);
/* Continues a run at a decision, as run `number`, for which the caller has begun the strategy. */
void runtime_resume_run(uint64_t number);
/* Called before a run: begins the strategy's campaign where the plan asks for it. True: it did. */
bool runtime_renew_strategy(void);
uint64_t runtime_seed(uint64_t number);
/* Passes the strategy the run's location in its round. */
void runtime_begin_position(uint64_t number);
/* Counts a finished run with its outcome in contract->outcome, in the process that outlives the
 * run. Returns true if the command must examine the run. */
bool runtime_account_run(void);
/* Returns whether the strategy has made all runs that it promises: the batch then ends early. */
bool runtime_is_exhausted(void);
/* Notes a feature of the run in the contract, if there is one; forked children may call this too. */
void runtime_note_feature(enum feature feature);
/* Fills the thread_record entries. runtime_finish_run() does so for failing, traced and
 * recorded runs. */
void runtime_publish_threads(void);
/* Implements plan.inspect: returns when the command has examined the process. */
void runtime_stand_still(void);
/* Ends the run, whose outcome is already in the contract. */
void runtime_finish_run(void) __attribute__((noreturn));
/* Called when the process would now exit: by _exit, after exit(), or with its last thread. */
void runtime_run_ended(int status) __attribute__((noreturn));
/* Schedules the other threads once more after all exit handlers; they may use objects that are
 * already destroyed. Recorded runs leave this out, because their events end with the caller's. */
void runtime_let_others_move(void);
/* Rings the doorbell, waits for the next command and returns it. Only restart servers call this
 * function. */
uint32_t runtime_report_and_wait(enum contract_report report);
/* Wakes the command. */
void runtime_ring(void);
/* Leaves the report for the command, without a ring. */
void runtime_report(enum contract_report report);
/* Refuses control and ends the process. `why`: the reason in one sentence. */
void runtime_refuse(const char *why) __attribute__((noreturn));
/* Same as runtime_refuse(), but another restart may work. */
void runtime_refuse_restart(const char *why) __attribute__((noreturn));

/* Adds an event between operations to the trace. */
void runtime_trace_call(enum call_kind call, uint64_t site);
/* If this run has unloaded the library that contained the address, returns the code address of the dlclose() call.
 * Returns 0 otherwise. */
uint64_t runtime_unload_site(uintptr_t address);
/* Does the same for a store that enters the moving thread's store buffer. */
void runtime_trace_buffered(const struct engine_op *store);
/* Called before the first handler runs at a scheduling point. The trace then shows that the thread's
 * pending op is interrupted, or that this step is no op but the handler. */
void runtime_trace_signal(const struct engine_thread *thread, int signal);

/* ---- detectors (detect.c) ---- */

/* Implements engine_host.performed where plan.detectors is not empty. */
void runtime_detect(const struct engine_performed *performed);
struct memory_access;
/* A plain load or store that is no scheduling point. The code uses general registers only. Returns
 * false if the caller must pass the access to engine_note_access() instead. */
bool runtime_detect_quickly(
	const struct memory_access *access, enum op_kind kind, object_name name);
bool runtime_looks_for_races(void);
void runtime_note_races(struct contract_run *run);
/* Returns the state of the race detector, if no other detector or observer needs an access; else
 * NULL. */
void *runtime_detects_quickly(void);
/* Called before each run. */
void runtime_detect_begin(void);

/* ---- thread creation (thread.c) ---- */

/* Looks up modules and functions of libc, before the first thread exists. */
void runtime_prepare_threads(void);

/* Called before each thread creation. The first is the starting point of runs: every restart except
 * fork_main returns here once per run. */
void runtime_first_create(void);
/* Implement the POSIX functions for a call at `site`; they return POSIX error codes. */
int runtime_thread_create(pthread_t *handle, const pthread_attr_t *attributes,
	void *(*start)(void *), void *argument, uint64_t site);
int runtime_thread_join(pthread_t handle, void **result, uint64_t deadline_ns, uint64_t site);
int runtime_thread_detach(pthread_t handle, uint64_t site);
/* Creates a thread for a notification. Attributes NULL: none. Returns a POSIX error code. */
int runtime_start_detached(
	const pthread_attr_t *attributes, void *(*start)(void *), void *argument);
/* Runs for engine_thread_main(): the start function, its result or unwinding, and destructors. */
void runtime_thread_body(struct engine_thread *thread);
/* Destructors and robust mutexes, before engine_thread_finish(). */
void runtime_leave_thread(void);
/* Runs in rounds, as POSIX requires (key.c). */
void runtime_run_key_destructors(void);

/* ---- Syscall User Dispatch (dispatch.c) ---- */

/* Arms this kernel thread. Returns false if the kernel does not support it. */
bool runtime_dispatch_arm(void);
/* Called when this kernel thread is about to end. */
void runtime_dispatch_disarm(void);
/* Installs the SIGSYS handler only. */
void runtime_dispatch_set_up(void);
/* Enclose calls into glibc that must not be trapped (thread creation, fork). Pairs nest. */
void runtime_dispatch_pause(void);
void runtime_dispatch_resume(void);

/* ---- crashes (crash.c) ---- */

/* The runtime's own stack for fatal signals of this kernel thread; allocates one if `stack` is
 * NULL. Returns NULL without memory. */
void *runtime_crash_stack(void *stack);
void runtime_crash_stack_free(void *stack); /* after its kernel thread has ended */
/* Installs the handlers of fatal signals, which run on the runtime's own stack. */
void runtime_crash_set_up(void);
/* Stores the return address of the call that is about to abort (abort.c). */
void runtime_note_abort(uint64_t site);
/* Ends the run at a fatal signal that the target does not handle. `context`: the ucontext_t. */
void runtime_crash(int signal, const siginfo_t *info, void *context);
/* Ends the run as a hang, at the command's request. `context`: the interrupted code. */
void runtime_hang(void *context);
/* Ends the run, explained by a text only. Returns if no command drives the process. */
void runtime_fail_run(const char *why);
/* Uses a raw system call, with the runtime's own return trampoline. */
void runtime_install_handler(int signal, void (*handler)(int, siginfo_t *, void *), int flags);

/* ---- daemons (daemon.c) ---- */

/* Called in the child of a fork, before it leaves control. */
void daemon_forked(long parent_pid);
/* Called when a process without threads ends, after `children` forks. Returns true if a child has
 * become a daemon and is the program from now on. */
bool daemon_is_left(int status, uint32_t children);
/* Called at the first thread creation of a process without control. Returns true if it becomes the
 * program. Asked once. */
bool daemon_becomes_program(void);
/* Returns true in a daemon until daemon_becomes_program(), and always where the restart cannot
 * follow the daemon. */
bool daemon_is_current(void);
/* Called at the first thread creation under control. Returns true if the daemon is already the
 * program. */
bool daemon_has_replaced_us(void);
/* Turn a process without threads into a forked child, or into the process that the command drives.
 * process.c. */
void process_become_child(void);
void process_become_program(void);
/* Returns true if the process must end without a report because a daemon continues the program. */
bool process_leaves_daemon(int status);

/* Duplicates a descriptor to a number far above the target's; 0 if that fails. */
long runtime_high_descriptor(long descriptor);
/* Marks waits in the real world, during which the command's watchdog must not report a hang. */
void runtime_mark_outside(bool is_outside);

/* Takes over masks and dispositions; after runtime_crash_set_up(). */
void runtime_signals_set_up(void);
bool runtime_patch_vdso(void); /* vdso.c: false if the vDSO still reads the real clocks */
/* Called before any thread needs the unwinder of pthread_exit. */
void runtime_load_unwinder(void);
void runtime_add_modules(void);

extern const struct executor executor_fiber;
extern const struct executor executor_kernel;
/* Numbers of stacks of each class of sizes (thread_stacks.h). */
struct fiber_counts {
	uint32_t of_class[THREAD_STACK_CLASSES];
};
/* Makes thread-local blocks and stacks ready before the snapshot. */
void fiber_pool_grow(const struct fiber_counts *counts);
/* A stack and thread-local block that a run made because the pool was empty. */
struct fiber_made {
	char *start; /* start of the block's mapping; NULL if the block has no mapping of its own */
	size_t bytes;
	int kernel_id;	     /* the kernel thread that left the block behind, or is about to */
	uint32_t size_class; /* THREAD_STACK_CLASSES: made for one thread's stack size */
};
/* Blocks made since fiber_pool_grow(), which a rewind discards. Stores the first `capacity`. */
uint32_t fiber_made_since_snapshot(struct fiber_made *made, uint32_t capacity);
/* Returns true for a kernel thread that made one of these blocks, and may still be ending. */
bool fiber_is_donor(int kernel_id);
/* Numbers of blocks among them that the pool can hold. */
struct fiber_counts fiber_pool_lacked(void);
/* An address in the thread's own stack; returns NULL if not a stack of the runtime, such as
 * main's. */
const char *fiber_stack_of(const struct engine_thread *thread);
/* Visits the stacks of the pool. Memory below `kept` contains only the frames of threads, and no thread writes behind
 * `end`. `end` NULL means the mapping's end. */
typedef void fiber_visit_pooled(void *kept, char *end, uint32_t pool_index, void *argument);
void fiber_each_pooled(fiber_visit_pooled *visit, void *argument);
#define FIBER_NOT_POOLED UINT32_MAX
uint32_t fiber_index_of(const struct engine_thread *thread);
/* fiber_time() when a thread last got the pooled block, in shared memory; returns NULL if
 * unknown. */
uint64_t *fiber_used_at(uint32_t pool_index);
/* Returns a clock that grows with each step of a run, and is never 0. */
uint64_t fiber_time(void);
