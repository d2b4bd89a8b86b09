/*
 * What the files of the runtime share among themselves: the process-wide state, the path of a run from
 * its start to its end, and the hooks that the interposing families call.
 *
 * Life of a process under control:
 *   runtime_set_up()        before main: contract mapped, engine up, nothing controlled yet
 *   restart->at_main()      before the target's main
 *   restart->at_first_create()   at the first thread creation: returns once per run, with the run begun
 *   runtime_finish_run()    the run is over, for whatever reason: never returns
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

/* Written at set-up and at the first creation, by the only thread there is; read everywhere. */
struct runtime {
	struct contract *contract; /* NULL: nobody drives this process */
	const struct executor *executor;
	const struct restart *restart;
	struct layout layout; /* from the plan that started this process */
	bool is_set_up;
	bool has_reached_main; /* the target's main; constructors may create threads before */
	bool has_dispatch;     /* Syscall User Dispatch is armed */
	bool has_virtual_time;
	bool has_sanitizer; /* its runtime calls us while holding its own locks */
	/*
	 * Returns the place of AddressSanitizer's shadow memory. NULL: the program is not built with
	 * AddressSanitizer.
	 */
	void (*sanitizer_shadow)(size_t *scale, size_t *offset);
	bool has_created;  /* the first thread creation of this run has been passed */
	bool is_run_over;  /* runtime_finish_run() was entered */
	bool knows_its_id; /* the target has read an id, which is wrong in a fork of this process */
	bool traces_calls; /* the trace has calls that are not operations (runtime_trace_call()) */
	bool has_forked;   /* the target has forked, or this process is a forked child */
	bool is_forked_child; /* made by the target's own fork(): the parent handles its end */
	bool has_tsan_calls; /* code tells of its accesses to memory by ThreadSanitizer's functions */
	/* Control is impossible, for this reason, and the process ends: says so where no command does. NULL. */
	void (*refused)(const char *why);
	/* A timer of its own rang, with its address as value; `context` was interrupted. NULL: there is none. */
	void (*watchdog)(void *context);
	/* longjmp() to a frame at this address: ends the run where that is out of bounds. NULL: nothing is. */
	void (*jumps_to)(uintptr_t stack_pointer);
	uint64_t program_start,
		program_end; /* addresses of the program itself, without its libraries */
	/* Where main's part of a run is on a stack of its own: the end of that, and of the frame that it left. */
	uintptr_t main_stack_end, main_frame;
};

extern struct runtime runtime;

/* ---- the run (run.c) ---- */

/*
 * Seeds strategy and engine for run `number` and goes live. With a history the strategy has already been
 * begun, and is asked through it.
 */
void runtime_begin_run(uint64_t number, struct history *history);
/* A run that stands at one of its decisions goes on as run `number`, whose strategy has been begun. */
void runtime_resume_run(uint64_t number);
/* Before a run: does the strategy begin its campaign (anew)? */
bool runtime_renew_strategy(void);
uint64_t runtime_seed(uint64_t number);
/* Tells the strategy which run of its round comes next. */
void runtime_take_place(uint64_t number);
/*
 * The outcome stands in contract->outcome: counts the run. Called by whoever outlives it. Returns
 * whether the host must look at it.
 */
bool runtime_account_run(void);
/* The strategy has made every run it knows of: a batch ends early. */
bool runtime_is_exhausted(void);
/* What is known of the threads of the run that ends: contract_thread. Of failing runs it is told anyway. */
void runtime_publish_threads(void);
/* plan.inspect: tells the host where the threads stand, and goes on when it has looked. */
void runtime_stand_still(void);
/* Adds the cause of an exit status: a child's death, a sanitizer. */
void runtime_complete_outcome(struct outcome *outcome);
/* The run is over; the outcome is in place. */
void runtime_finish_run(void) __attribute__((noreturn));
/* The process would end now with this status: by _exit, by the end of exit(), by the last thread. */
void runtime_run_ended(int status) __attribute__((noreturn));
/*
 * The process is about to end, behind all handlers: threads that are still there move on meanwhile, and what they use may be
 * gone. Not in recorded runs, whose events end with the caller's.
 */
void runtime_let_others_move(void);
/* Sets contract->report, rings, and waits for the next command. Servers only. Returns the command. */
uint32_t runtime_report_and_wait(enum contract_report report);
/* Sets contract->report and rings without waiting. */
void runtime_report(enum contract_report report);
/* Control is impossible: tells the host in one sentence and ends the process. */
void runtime_refuse(const char *why) __attribute__((noreturn));
/* Likewise, but by this restart only. */
void runtime_refuse_restart(const char *why) __attribute__((noreturn));

/* Adds the call to the trace as an event beside the operations. */
void runtime_trace_call(enum call_kind call, uint64_t site);

/* ---- detectors (detect.c) ---- */

/* engine_host.performed, where plan.detectors names any. */
void runtime_detect(const struct engine_performed *performed);
struct memory_access;
/*
 * A plain load or store of a variable with that name, which is no scheduling point: general registers only.
 * False: it is to come by engine_note_access().
 */
bool runtime_detect_quickly(
	const struct memory_access *access, enum op_kind kind, object_name name);
/* In this run. */
bool runtime_looks_for_races(void);
/* How many there were. */
void runtime_note_races(struct contract_run *run);
/* State of the race detector where that is all that is asked for, and nobody waits for an access; else NULL. */
void *runtime_detects_quickly(void);
/* Before each run. */
void runtime_detect_begin(void);

/* ---- thread creation (thread.c) ---- */

/* What is looked up before the first thread is made: modules, functions of libc. */
void runtime_prepare_threads(void);

/*
 * Called before each thread creation. The first creation is the starting point of runs: every restart but
 * fork_main returns here once per run.
 */
void runtime_first_create(void);
/* pthread_create, pthread_join and pthread_detach on behalf of a call at `site`; POSIX error codes. */
int runtime_thread_create(pthread_t *handle, const pthread_attr_t *attributes,
	void *(*start)(void *), void *argument, uint64_t site);
int runtime_thread_join(pthread_t handle, void **result, uint64_t deadline_ns, uint64_t site);
int runtime_thread_detach(pthread_t handle, uint64_t site);
/* A thread with these attributes (NULL: none) that is detached, for notifications. POSIX error codes. */
int runtime_start_detached(
	const pthread_attr_t *attributes, void *(*start)(void *), void *argument);
/* The body that engine_thread_main() runs: unwinding, result, destructors. */
void runtime_thread_body(struct engine_thread *thread);
/* The calling thread leaves for good: destructors, robust mutexes. Before engine_thread_finish(). */
void runtime_leave_thread(void);
/* Runs the destructors of thread-specific keys, in rounds. key.c. */
void runtime_run_key_destructors(void);

/* ---- Syscall User Dispatch (dispatch.c) ---- */

/* Arms it for this kernel thread; false where the kernel has none. */
bool runtime_dispatch_arm(void);
/* Disarms it for this kernel thread, which is about to leave. */
void runtime_dispatch_disarm(void);
/* Installs the SIGSYS handler only. */
void runtime_dispatch_set_up(void);
/* Around calls into glibc that must not be trapped (thread creation, fork). They nest. */
void runtime_dispatch_pause(void);
void runtime_dispatch_resume(void);

/* ---- spinning (spin.c) ---- */

/* The host finds that the run stands still; the code at `site` runs. */
void runtime_spin_look(uint64_t site);
/* Starts the timer that looks for spinning threads, where any has been found; for each process. */
void runtime_spin_watch(void);
/* No more of that. */
void runtime_spin_stop(void);
/* The timer rang while the code at `site` ran. */
void runtime_spin_tick(uint64_t site);
/*
 * Turns the sites off until the next operation, so that a thread which computes runs at native speed. Called
 * after the run has made no step for long.
 */
void runtime_run_natively(void);
/* Called before each operation: turns the sites on again. */
void runtime_run_controlled(void);
/*
 * Before a hang is reported, every thread that may be computing gets the full time limit. True: another thread
 * gets it now.
 */
bool runtime_hang_is_doubtful(void);
/* Called when the moving thread enters an interposed function after a request by runtime_spin_tick(). */
void runtime_spin_enter(uint64_t site);

/* ---- crashes (crash.c) ---- */

/* Gives this kernel thread a stack of our own for fatal signals, made if `stack` is NULL. NULL: no memory. */
void *runtime_crash_stack(void *stack);
void runtime_crash_stack_free(void *stack); /* its kernel thread is gone */
/* Installs handlers for fatal signals on a stack of our own. */
void runtime_crash_set_up(void);
/* The call that is about to abort (return address). abort.c. */
void runtime_note_abort(uint64_t site);
/* A fatal signal that the target does not handle itself; `context` is the ucontext_t. */
void runtime_crash(int signal, const siginfo_t *info, void *context);
/* The host says that the run makes no progress; `context` is where it stands. */
void runtime_hang(void *context);
/* Ends the run with an outcome that only words explain. Returns where nobody drives the process. */
void runtime_fail_run(enum outcome_kind kind, const char *why);
/* Installs a handler by a raw system call, with our trampoline. */
void runtime_install_handler(int signal, void (*handler)(int, siginfo_t *, void *), int flags);
/* The next return from this signal frame continues in `entry` as if called from where it interrupted. */
void runtime_divert(void *context, void (*entry)(void));

/* ---- daemons (daemon.c) ---- */

/* In the child of a fork, before control is left. */
void daemon_forked(long parent_pid);
/* This process, which has made so many children before any thread, ends: has it left its work to a daemon? */
bool daemon_is_left(int status, uint32_t children);
/* The first thread of a process without control: is it the program from now on? Asked once. */
bool daemon_becomes_program(void);
/* True in a daemon until daemon_becomes_program(), and where a restart cannot follow the daemon. */
bool daemon_is_current(void);
/* The first thread of a process under control: a daemon that it made is the program already. */
bool daemon_has_replaced_us(void);
/* A process without threads becomes a child, or what the command drives. process.c. */
void process_become_child(void);
void process_become_program(void);
/* Does the process end now without a word, as a daemon goes on? */
bool process_leaves_daemon(int status);

/* ---- hooks for the families ---- */

/* A duplicate of a descriptor far above those the target knows; 0: none can be had. */
long runtime_high_descriptor(long descriptor);
/* Around waits in the real world: the host's watchdog leaves us alone. */
void runtime_mark_outside(bool is_outside);

/* ---- what a rewind must undo in the kernel (undo.c) ---- */

/* A system call of the target was made with this result: remembered, or taints the run. */
void runtime_note_call(long number, const long arguments[6], long result);

/* ---- set-up parts ---- */

/* signal_delivery.c: takes over masks and dispositions; after runtime_crash_set_up(). */
void runtime_signals_set_up(void);
bool runtime_patch_vdso(void);	  /* vdso.c: false when the kernel does not let us */
void runtime_load_unwinder(void); /* unwinder.c: where threads may end by pthread_exit */
void runtime_add_modules(void);	  /* modules.c: tells the engine where static objects live */

extern const struct executor executor_fiber;
extern const struct executor executor_kernel;
/* Fibers: makes `count` thread-local blocks and stacks ready. */
void fiber_pool_grow(uint32_t count);
/* A block that a run made beyond the pool. */
struct fiber_made {
	char *start; /* start of its mapping; NULL: it has no mapping of its own */
	size_t bytes;
	int kernel_id;	 /* the kernel thread that leaves it, or has left it */
	bool is_special; /* made for one thread's stack size */
};
/*
 * How many blocks were made since the last fiber_pool_grow(): under rewind they are lost with the run.
 * Says which, as far as there is room.
 */
uint32_t fiber_made_since_snapshot(struct fiber_made *made, uint32_t capacity);
/* Did this kernel thread make one of these? It may still be ending. */
bool fiber_is_donor(int kernel_id);
/* Number of blocks of standard size among these. */
uint32_t fiber_pool_lacked(void);
/* A place in the thread's own stack; NULL: it has none of ours, as main. */
const char *fiber_stack_of(const struct engine_thread *thread);
/* Visits the stack tops of the pooled blocks. No thread writes memory behind `end`; NULL: the end of the mapping. */
typedef void fiber_visit_pooled(void *stack_top, char *end, uint32_t pool_index, void *argument);
void fiber_each_pooled(fiber_visit_pooled *visit, void *argument);
#define FIBER_NOT_POOLED UINT32_MAX
uint32_t fiber_index_of(const struct engine_thread *thread);
/* When that block was given to a thread last, in shared memory; NULL: not known. */
uint64_t *fiber_used_at(uint32_t pool_index);
/* Grows with each step of a run, and is never 0. */
uint64_t fiber_time(void);

/*
 * Return addresses of the calls around `site`, innermost first, into callers[0..count), which is
 * zero before; fewer where they are not to be had. `is_access`: the site is a point of raddle-cc, and no call.
 * callers.c.
 */
void runtime_note_callers(const struct engine_thread *thread, uint64_t site, bool is_access,
	uint64_t *callers, unsigned count);
/* Likewise of an event, and which of these calls holds the event's object in its frame. */
void runtime_note_calls(
	const struct engine_thread *thread, bool is_access, struct trace_event *event);
/* Is this code of the runtime, whose frames belong to no function of the program? */
bool runtime_is_own_code(uint64_t address);

#endif
