/*
 * The state and the functions that the folders of the runtime share: the process-wide state, the phases of a run,
 * and the functions that interposed functions call.
 *
 * Phases of a process that the command drives:
 *   runtime_set_up()            before main: maps the contract and sets the engine up; nothing is controlled yet
 *   restart->at_main()          just before the target's main
 *   restart->at_first_create()  at the first thread creation: returns once per run, after runtime_begin_run()
 *   runtime_finish_run()        ends the run for any reason; never returns
 *
 * A process without a contract still schedules its threads through the engine, but without preemptions and without a
 * record.
 */
#ifndef RADDLE_RUNTIME_RUNTIME_H
#define RADDLE_RUNTIME_RUNTIME_H

#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>

#include "engine/engine.h"
#include "model/layout.h"
#include "abi/contract.h"
#include "runtime/restart.h"

struct history;

/* Written at set-up and at the first thread creation, while the process has one thread; read everywhere. */
struct runtime {
	struct contract *contract; /* NULL: no command drives this process */
	const struct executor *executor;
	const struct restart *restart;
	struct layout layout; /* from the plan that started this process */
	bool is_set_up;
	/* The target's main has been entered; constructors may create threads earlier */
	bool has_reached_main;
	bool has_dispatch; /* Syscall User Dispatch is armed */
	bool has_virtual_time;
	/* A sanitizer's runtime is loaded; it may call interposed functions with its own locks held */
	bool has_sanitizer;
	/* Returns scale and offset of AddressSanitizer's shadow memory. NULL: the program has no AddressSanitizer. */
	void (*sanitizer_shadow)(size_t *scale, size_t *offset);
	bool has_created; /* the first thread creation of this run has happened */
	bool is_run_over; /* runtime_finish_run() has been entered */
	/* The target has read a process or thread id; the value is wrong in a fork of this process */
	bool knows_its_id;
	/* The trace also has events of calls that are no operations (runtime_trace_call()) */
	bool traces_calls;
	bool has_forked;      /* the target has forked, or this process is a forked child */
	bool is_forked_child; /* made by the target's own fork(): the parent handles its end */
	/* Compiled code reports memory accesses through ThreadSanitizer's functions */
	bool has_tsan_calls;
	/* Called before the process ends because control is impossible. Used where no command
	 * reads the reason; else NULL. */
	void (*refused)(const char *why);
	/* Called when the timer with this function's address as its value expires. `context`:
	 * the interrupted code. NULL: no timer. */
	void (*watchdog)(void *context);
	/* Called before longjmp() to a frame at this address; ends the run if the frame is out
	 * of bounds. NULL: no bounds. */
	void (*jumps_to)(uintptr_t stack_pointer);
	uint64_t program_start,
		program_end; /* addresses of the executable, without its libraries */
	/* Where main's code runs on a stack of its own (src/check): the end of that stack, and
	 * the frame that called onto it. */
	uintptr_t main_stack_end, main_frame;
};

extern struct runtime runtime;

/* ---- the run (run.c) ---- */

/* Seeds strategy and engine for run `number`, and begins control. With a history, the caller has
 * already begun the strategy, and the engine asks the strategy through the history. */
void runtime_begin_run(uint64_t number, struct history *history);
/* Continues a run that stands at a decision as run `number`. The caller has begun the strategy for that run. */
void runtime_resume_run(uint64_t number);
/* Called before a run. Begins the strategy's campaign where the plan asks for it; true: the
 * strategy was begun (anew). */
bool runtime_renew_strategy(void);
uint64_t runtime_seed(uint64_t number);
/* Passes the strategy the place of run `number` in its round. */
void runtime_begin_place(uint64_t number);
/* Counts a finished run whose outcome is in contract->outcome. Called in the process that
 * outlives the run. Returns whether the command must look at the run. */
bool runtime_account_run(void);
/* True when the strategy has made all runs that it promises: the batch ends early. */
bool runtime_is_exhausted(void);
/* Fills the contract_thread entries with the threads of the run that ends. runtime_finish_run()
 * does so for failing, traced and recorded runs. */
void runtime_publish_threads(void);
/* Implements plan.inspect: reports where the threads stand, and returns when the command has looked. */
void runtime_stand_still(void);
/* Adds the cause of an exit status to the outcome: the death of a child, or a sanitizer's report. */
void runtime_complete_outcome(struct outcome *outcome);
/* Ends the run. The outcome is already in the contract. */
void runtime_finish_run(void) __attribute__((noreturn));
/* Ends the run because the process would now exit with this status: by _exit, at the end of
 * exit(), or with its last thread. */
void runtime_run_ended(int status) __attribute__((noreturn));
/* Schedules the other threads once more just before the process ends, after all exit handlers.
 * These threads may use objects that are already destroyed. Does nothing in recorded runs, whose
 * events end with the caller's. */
void runtime_let_others_move(void);
/* Sets contract->report, rings the doorbell, and waits for the next command. For restart servers
 * only. Returns the command. */
uint32_t runtime_report_and_wait(enum contract_report report);
/* Sets contract->report and rings the doorbell without waiting. */
void runtime_report(enum contract_report report);
/* Reports in one sentence why control is impossible, and ends the process. */
void runtime_refuse(const char *why) __attribute__((noreturn));
/* As runtime_refuse(), but another restart may work. */
void runtime_refuse_restart(const char *why) __attribute__((noreturn));

/* Adds the call to the trace as an event between operations. */
void runtime_trace_call(enum call_kind call, uint64_t site);

/* ---- detectors (detect.c) ---- */

/* Implements engine_host.performed where plan.detectors is not empty. */
void runtime_detect(const struct engine_performed *performed);
struct memory_access;
/* Passes a plain load or store of the named variable, which is no scheduling point, to the
 * detector. Uses general registers only. False: the caller must pass the access to
 * engine_note_access() instead. */
bool runtime_detect_quickly(
	const struct memory_access *access, enum op_kind kind, object_name name);
/* True when the race detector watches this run. */
bool runtime_looks_for_races(void);
/* Stores the race counters of the run. */
void runtime_note_races(struct contract_run *run);
/* State of the race detector, if it is the only detector and no observer waits for an access; else NULL. */
void *runtime_detects_quickly(void);
/* Resets the detectors. Called before each run. */
void runtime_detect_begin(void);

/* ---- thread creation (thread.c) ---- */

/* Looks up what thread creation needs (modules, functions of libc), before the first thread exists. */
void runtime_prepare_threads(void);

/* Called before each thread creation. The first creation is the starting point of runs: every
 * restart except fork_main returns here once per run. */
void runtime_first_create(void);
/* Implement pthread_create, pthread_join and pthread_detach for a call at `site`. Return POSIX error codes. */
int runtime_thread_create(pthread_t *handle, const pthread_attr_t *attributes,
	void *(*start)(void *), void *argument, uint64_t site);
int runtime_thread_join(pthread_t handle, void **result, uint64_t deadline_ns, uint64_t site);
int runtime_thread_detach(pthread_t handle, uint64_t site);
/* Creates a detached thread with these attributes (NULL: none) for a notification. Returns a POSIX error code. */
int runtime_start_detached(
	const pthread_attr_t *attributes, void *(*start)(void *), void *argument);
/* The body that engine_thread_main() runs: the start function, its result or unwinding, and destructors. */
void runtime_thread_body(struct engine_thread *thread);
/* Runs the calling thread's destructors and releases its robust mutexes. Called before engine_thread_finish(). */
void runtime_leave_thread(void);
/* Runs the destructors of thread-specific keys, in rounds as POSIX requires. key.c. */
void runtime_run_key_destructors(void);

/* ---- Syscall User Dispatch (dispatch.c) ---- */

/* Arms dispatch for this kernel thread. False: the kernel does not support it. */
bool runtime_dispatch_arm(void);
/* Disarms dispatch for this kernel thread, which is about to end. */
void runtime_dispatch_disarm(void);
/* Installs the SIGSYS handler only. */
void runtime_dispatch_set_up(void);
/* Enclose calls into glibc that must not be trapped (thread creation, fork). Pairs nest. */
void runtime_dispatch_pause(void);
void runtime_dispatch_resume(void);

/* ---- spinning (spin.c) ---- */

/* Called when the command has seen no step for a while. `site`: the code that runs now. */
void runtime_spin_look(uint64_t site);
/* Starts the timer that looks for spinning threads, if a run has found one. Called once in each process. */
void runtime_spin_watch(void);
/* Stops that timer. */
void runtime_spin_stop(void);
/* Called when the timer expires. `site`: the interrupted code. */
void runtime_spin_tick(uint64_t site);
/* Turns the sites off until the next operation, and so lets a computing thread run at native
 * speed. Called after a long time without a step. */
void runtime_run_natively(void);
/* Turns the sites on again. Called before each operation. */
void runtime_run_controlled(void);
/* Gives every thread that may be computing the full time limit before a hang is reported. True:
 * another thread runs with a new limit now. */
bool runtime_hang_is_doubtful(void);
/* Called when the moving thread enters an interposed function after a request by runtime_spin_tick(). */
void runtime_spin_enter(uint64_t site);

/* ---- crashes (crash.c) ---- */

/* Gives this kernel thread the runtime's own stack for fatal signals; allocates one if `stack`
 * is NULL. Returns NULL without memory. */
void *runtime_crash_stack(void *stack);
void runtime_crash_stack_free(void *stack); /* called after its kernel thread has ended */
/* Installs the handlers of fatal signals, which run on the runtime's own stack. */
void runtime_crash_set_up(void);
/* Stores the return address of the call that is about to abort. abort.c. */
void runtime_note_abort(uint64_t site);
/* Ends the run at a fatal signal that the target does not handle. `context`: the ucontext_t. */
void runtime_crash(int signal, const siginfo_t *info, void *context);
/* Ends the run as a hang, at the command's request. `context`: the interrupted code. */
void runtime_hang(void *context);
/* Ends the run with an outcome that only its text explains. Returns if no command drives the process. */
void runtime_fail_run(enum outcome_kind kind, const char *why);
/* Installs a handler by a raw system call, with the runtime's own return trampoline. */
void runtime_install_handler(int signal, void (*handler)(int, siginfo_t *, void *), int flags);
/* Makes the next return from this signal frame call `entry` at the interrupted instruction. */
void runtime_divert(void *context, void (*entry)(void));

/* ---- daemons (daemon.c) ---- */

/* Called in the child of a fork, before the child leaves control. */
void daemon_forked(long parent_pid);
/* Called when a process without threads ends, after `children` forks. True: a child has become a
 * daemon and is the program from now on. */
bool daemon_is_left(int status, uint32_t children);
/* Called at the first thread creation of a process without control. True: the process becomes
 * the program. Asked once. */
bool daemon_becomes_program(void);
/* True in a daemon until daemon_becomes_program(), and always where the restart cannot follow the daemon. */
bool daemon_is_current(void);
/* Called at the first thread creation of a controlled process. True: its daemon is already the program. */
bool daemon_has_replaced_us(void);
/* Turn a process without threads into a forked child, or into the process that the command drives. process.c. */
void process_become_child(void);
void process_become_program(void);
/* True when the process must end without a report because a daemon continues the program. */
bool process_leaves_daemon(int status);

/* Duplicates a descriptor to a number far above the target's. Returns 0 if that fails. */
long runtime_high_descriptor(long descriptor);
/* Marks waits in the real world, during which the command's watchdog must not report a hang. */
void runtime_mark_outside(bool is_outside);

/* ---- what a rewind must undo in the kernel (undo.c) ---- */

/* Logs a system call of the target for a later rewind, or taints the run. `result`: the raw result. */
void runtime_note_call(long number, const long arguments[6], long result);

/* signal_delivery.c: takes over signal masks and dispositions; after runtime_crash_set_up(). */
void runtime_signals_set_up(void);
bool runtime_patch_vdso(void); /* vdso.c: false when the kernel refuses the change */
/* unwinder.c: loads the unwinder of pthread_exit before any thread needs it */
void runtime_load_unwinder(void);
/* modules.c: gives the engine the addresses of static objects */
void runtime_add_modules(void);

extern const struct executor executor_fiber;
extern const struct executor executor_kernel;
/* Fibers: makes `count` thread-local blocks and stacks ready before the snapshot. */
void fiber_pool_grow(uint32_t count);
/* A thread-local block and stack that a run made because the pool was empty. */
struct fiber_made {
	char *start; /* start of its mapping; NULL: the block has no mapping of its own */
	size_t bytes;
	int kernel_id;	 /* the kernel thread that left the block behind, or is about to */
	bool is_special; /* made for one thread's stack size */
};
/* Number of blocks made since the last fiber_pool_grow(); a rewind discards these blocks. Stores
 * the first `capacity` of them. */
uint32_t fiber_made_since_snapshot(struct fiber_made *made, uint32_t capacity);
/* True when this kernel thread made one of these blocks. The kernel thread may still be ending. */
bool fiber_is_donor(int kernel_id);
/* Number of blocks of standard size among them. */
uint32_t fiber_pool_lacked(void);
/* An address in the thread's own stack; NULL: the thread does not run on a stack of the runtime, such as main. */
const char *fiber_stack_of(const struct engine_thread *thread);
/* Visits the stack tops of the pooled blocks. No thread writes memory behind `end`; NULL: the end of the mapping. */
typedef void fiber_visit_pooled(void *stack_top, char *end, uint32_t pool_index, void *argument);
void fiber_each_pooled(fiber_visit_pooled *visit, void *argument);
#define FIBER_NOT_POOLED UINT32_MAX
uint32_t fiber_index_of(const struct engine_thread *thread);
/* fiber_time() when the pooled block was last given to a thread, in shared memory; NULL: unknown. */
uint64_t *fiber_used_at(uint32_t pool_index);
/* A clock that grows with each step of a run, and is never 0. */
uint64_t fiber_time(void);

/* Stores the return addresses of the calls around `site`, innermost first, in callers[0..count).
 * The caller has zeroed the array; unknown entries stay 0. `is_access`: the site is a point of
 * raddle-cc, and no call. callers.c. */
void runtime_note_callers(const struct engine_thread *thread, uint64_t site, bool is_access,
	uint64_t *callers, unsigned count);
/* Fills the call stack of an event, and notes which call's frame holds the event's object. */
void runtime_note_calls(
	const struct engine_thread *thread, bool is_access, struct trace_event *event);
/* True for code of the runtime, whose frames belong to no function of the program. */
bool runtime_is_own_code(uint64_t address);

#endif
