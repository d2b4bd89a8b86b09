/*
 * The engine: controlled execution of one process. The engine implements the meaning of every
 * synchronisation object (mutex.h, cond.h, ...). It owns the table of threads and virtual time, and
 * it makes every scheduling decision.
 *
 * Thread context: every function runs in the target's only moving thread, except where a comment
 * says "from a signal handler". The engine keeps its state in one static struct that a rewind
 * restores together with the target. The engine does not allocate.
 *
 * Protocol of an operation in every interposed function:
 *   1. Describe the operation in a `struct engine_op` on the stack.
 *   2. Call engine_perform(&op), the scheduling point. It returns when the strategy has chosen this
 *      thread and the op is ready, timed out, was interrupted or was cancelled.
 *   3. Change the object, and call engine_changed(address) if other threads may wait for it.
 * Between step 2 and the next engine_perform() no other thread moves.
 *
 * Life cycle: engine_init() once per process; engine_begin_run() for each run; engine_go_live() at
 * the first pthread_create. Before engine_go_live(), ops are no scheduling points.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "engine/executor.h"
#include "model/feature.h"
#include "model/ids.h"
#include "model/memory_model.h"
#include "model/op.h"
#include "model/outcome.h"
#include "model/schedule.h"
#include "model/stall.h"
#include "platform/platform.h"
#include "strategies/strategy.h"

#define ENGINE_FOREVER UINT64_MAX

struct engine_op;
struct engine_thread;

/* Returns whether the op is ready. A pure function; called again after each
 * engine_changed(op->address). */
typedef bool engine_ready(const struct engine_op *op, const struct engine_thread *thread);

/* Events, besides the deadline, that may end a wait early. */
enum engine_interruption {
	INTERRUPT_SIGNAL = 1, /* a signal handler ran: engine_perform returns WAIT_INTERRUPTED */
	INTERRUPT_CANCEL = 2, /* the op is a cancellation point */
	/* neither synchronous nor asynchronous cancellation: the lock must be reacquired */
	INTERRUPT_NEVER = 4
};

/* The condition under which an atomic update writes. */
enum engine_exchange {
	EXCHANGE_NONE,
	EXCHANGE_UNKNOWN,
	EXCHANGE_OF_EXPECTED /* the update writes if the old value equals `argument` */
};

struct engine_op {
	uint8_t kind; /* enum op_kind */
	uint8_t interruptions;
	bool is_timeout_only; /* a sleep: only the deadline makes the op ready */
	bool is_shared;	      /* other processes may make the op ready: shared.h */
	bool awaits_value; /* the read of a waiting loop: memory that may change without a notice */
	bool awaits_either; /* awaits_value, and another location may end the loop, too */
	/* readiness means only that a retry may succeed; a signal interrupts even a ready op */
	bool is_guess;
	/* ready() gives one result for all pending ops of this kind on the object (wait_group.c) */
	bool has_common_result;
	uint8_t call;	      /* enum call_kind; like `number`, only for reports */
	uint16_t number;      /* same as in struct trace_event */
	const void *address;  /* how the engine finds its waiters; NULL if none */
	uint64_t site;	      /* return address in the target */
	engine_ready *ready;  /* NULL if always ready */
	uint64_t deadline_ns; /* virtual time; ENGINE_FOREVER: none; 0 has already passed */
	uint64_t argument;    /* argument of ready(): a file descriptor, an expected value, ... */
	uint64_t argument2;
	object_name object; /* name of the object; 0: engine_object_name() */
	/* the next eight-byte word's name; 0: not known */
	object_name next_object;
	uint32_t bytes;
	uint8_t order; /* enum site_order of atomic accesses and fences */
	/* same as in struct pending_op; the engine sets this field for COND_WAIT */
	uint16_t second;
	uint8_t exchange;	  /* enum engine_exchange, of OP_ATOMIC_UPDATE */
	uint8_t order_of_failure; /* memory order of an exchange that writes nothing */
	/* engine_perform() leaves the report to host.performed to engine_note_point() */
	bool is_reported_later;
};

struct engine_performed {
	uint64_t step;
	uint64_t site;
	const void *address; /* NULL if none */
	/* OP_COND_WAIT: the mutex. OP_BARRIER_*: the round. OP_FUTEX_WAIT: the values of
	 * engine_note_comparison(). Others: the op's argument. */
	uint64_t argument;
	object_name object; /* same as in the op, therefore 0 for most ops */
	object_name next_object;
	uint32_t bytes;
	struct thread_id thread;
	/* the created, joined, cancelled or signalled thread; THREAD_NONE: none */
	struct thread_id other;
	uint8_t kind; /* enum op_kind */
	uint8_t order;
	uint8_t exchange;
	uint8_t order_of_failure;
	bool has_failed; /* a try that failed, or a wait that did not end with WAIT_DONE */
	bool is_last;	 /* OP_BARRIER_ARRIVE: the last thread of the round has arrived */
	bool is_point;	 /* memory accesses: the access was a scheduling point */
	struct store_messages messages;
};

enum engine_result {
	WAIT_DONE,	  /* the op is ready: perform it */
	WAIT_TIMED_OUT,	  /* the deadline passed first */
	WAIT_INTERRUPTED, /* a signal handler ran during the wait (only with INTERRUPT_SIGNAL) */
	/* cancellation is due (only with INTERRUPT_CANCEL): undo, then act on the cancellation */
	WAIT_CANCELLED
};

enum engine_thread_state {
	THREAD_UNUSED,
	THREAD_ALIVE,
	THREAD_DONE, /* ended, not yet joined */
	/* joined, or detached and ended; the index is reused only when all indices are used up */
	THREAD_REAPED,
	THREAD_DRAINER /* no thread: its steps drain the store buffer of its parent */
};

struct engine_thread {
	struct context context;
	/* The fields that follow are read for all waiters at each change of an object, so they lie
	 * close together. */
	struct engine_op *op; /* the pending op; NULL while the thread moves */
	struct engine_thread *object_next,
		*object_previous; /* threads with a pending op in the same bucket of objects */
	uint64_t signals_pending; /* bit (signal - 1) */
	uint64_t signals_blocked;
	/* priority under a real-time scheduling policy; 0: the thread has no such policy */
	uint8_t priority;
	/* private to the engine: why the pending op is enabled; see engine_wake_reason() */
	uint8_t wake_reason;
	/* wait_group.c: number of the group of waiters to which the thread belongs, plus 1; 0: none */
	uint8_t wait_group;
	bool is_cancel_requested;
	bool is_cancel_disabled;
	bool is_cancel_asynchronous;
	bool is_exiting; /* past its last cancellation point */
	/* the op that the running signal handlers interrupted; NULL if none */
	const struct engine_op *interrupted;
	struct thread_id id;
	/* link in an object's own queue of waiters (condition variables, futexes) */
	struct engine_thread *queue_next;
	uint64_t queue_ticket; /* ticket for the object in whose queue the thread waits */
	const void *queue_object;
	/* mutex.c: the most recently acquired robust mutex that the thread still holds */
	void *robust_held;
	const void *spin_held; /* spin.c: the most recently acquired spin lock */
	uint64_t spin_site;    /* spin.c: return address of that acquisition */
	uint8_t state;	       /* enum engine_thread_state */
	bool is_detached;
	bool has_joiner;
	bool was_unproductive;	    /* the last op was a failed try */
	uint8_t unproductive_count; /* consecutive failed tries at failed_address */
	/* consecutive failed tries at any objects, with no other op in between */
	uint8_t tries_in_row;
	/* since the thread was last blocked; see engine_run.free_yields */
	uint8_t free_yields_made;
	/* progress.c: ops since the thread last waited; a try has failed in the critical section */
	uint8_t ops_since_wait;
	bool has_failed_try;
	uint8_t slice;	      /* steps of a starved thread before others run (fairness.c) */
	uint8_t store_buffer; /* number of its store buffer, from 1; 0: none */
	uint16_t steps;	      /* ops performed, modulo 2^16 */
	const void *last_address;
	uint64_t last_site; /* of its last op */
	const void *failed_address;
	uint64_t last_moved; /* step of the last op, for fairness */
	uint64_t wait_ns;    /* length of the pending timed wait at its beginning */
	uint64_t yielded_at; /* step + 1 of a yield that still delays the thread; 0: none */
	thread_name name;
	/* ordinal of its next child */
	uint16_t children;
	uint16_t held_count;
	uint32_t objects_named; /* names derived from first uses by this thread */
	/* the last child has attributes with this hash; 0: none */
	uint64_t child_attributes;
	struct thread_id child; /* the last child */
	bool has_twin;		/* equals a thread created just before or after but for its name */
	struct thread_id parent;
	uint16_t ordinal;
	uint64_t create_site;
	void *(*start)(void *);
	void *argument;
	void *result;
	void *executor_part;
	uintptr_t handle;
	char label[16];
	int kernel_id;
	/* Cleared, with a wake-up of one futex waiter, when the thread ends
	 * (CLONE_CHILD_CLEARTID); or NULL */
	uint32_t *clear_at_end;
};

/* Functions that the engine needs from its environment: the runtime, or a unit test. */
struct engine_host {
	const struct executor *executor;
	/* Ends the run and does not return. `outcome` lies in memory that survives the run. */
	void (*run_over)(struct outcome *outcome) __attribute__((noreturn));
	/* Runs at a scheduling point after engine_raise_attention(): assigns each
	 * process-directed signal to a thread (signals_pending) and calls engine_evaluate() for
	 * it. NULL: no signals. */
	void (*route_signals)(void);
	/* Runs when the last thread ends without exit(): the process ends with status 0. */
	void (*last_thread_ended)(void) __attribute__((noreturn));
	void (*cancel_now)(void) __attribute__((noreturn));
	/* Runs handlers of pending signals; they may contain scheduling points. Returns true if one
	 * ran. */
	bool (*deliver_signals)(struct engine_thread *thread);
	/* Runs when no thread is enabled: waits for real events (descriptors, children, signals) at
	 * most until virtual `deadline_ns`. Returns false if the host has no event to wait for. */
	bool (*wait_outside)(uint64_t deadline_ns);
	/* Runs now and then while some thread is always enabled: looks for real events. NULL: there
	 * are none. */
	void (*look_outside)(void);
	/* Fires due timers. Returns the next expiry, or ENGINE_FOREVER. NULL: no timers. */
	uint64_t (*fire_timers)(void);
	/* Digest of the program's memory, with the moving thread's stack from here upwards. Returns
	 * false if another process may change the memory, or it is too large. NULL: not known. */
	bool (*digest)(const void *stack_pointer, uint64_t *digest);
	/* Receives every step while tracing; NULL otherwise. */
	void (*observe)(
		const struct engine_thread *thread, const struct engine_op *op, uint64_t step);
	/* Called when the op passed to observe() does not end with WAIT_DONE; or NULL. */
	void (*observe_result)(const struct engine_thread *thread, const struct engine_op *op,
		enum engine_result result);
	/* Receives every op of a live run in order; NULL if not needed. A memory access is reported
	 * before it is made. Any other op is reported when the next one is performed, because only
	 * then its result is known. */
	void (*performed)(const struct engine_performed *performed);
	/* Called after engine_watch_uses(): a lock, condition variable or similar object is about
	 * to be used. The return from a finished wait makes no call, because the program may have
	 * freed the object. */
	void (*used)(const struct engine_op *op);
	/* The op has destroyed an object of this size, which only this process uses; or NULL. */
	void (*destroyed)(const struct engine_op *op, size_t bytes);
	/* Implements schedule_view.place; NULL if none */
	bool (*place)(object_name object, struct object_place *out);
	/* Returns whether main has allocated the object, or the object is static; NULL if not known. */
	bool (*is_common)(const void *address);
	/* Stable name of an object that is neither static nor a thread; 0: not known; or NULL. */
	object_name (*name)(const void *address);
	/* Hash of the thread's call stack when it announces an op; NULL if not needed. */
	uint32_t (*context)(struct thread_id thread);
};

/* Parameters of a run; engine_begin_run() copies them. */
struct engine_run {
	const struct strategy *strategy;
	void *strategy_state; /* lies in memory that survives the run */
	struct schedule *recording;
	struct outcome *outcome;
	volatile uint64_t *heartbeat;
	/* Orders of conflicting pairs, two neighbouring bits for each pair, indexed by hash. A pair
	 * is two sites with dependent ops that were enabled together. A bit says that the op at one
	 * site came first. NULL if there is no coverage. */
	uint64_t *covered;
	uint32_t covered_words; /* a power of two */
	uint32_t *features;	/* receives bits FEATURE_x (model/feature.h); NULL if not needed */
	uint64_t *operations;	/* receives a digest of the steps made; NULL if not needed */
	uint64_t seed;		/* seed of value choices */
	uint64_t random_seed;	/* seed of the target's random numbers */
	/* A thread's first yields and repeated reads after it was blocked are mere scheduling points: this many.
	 * Otherwise a thread that yields a few times before it blocks would never block while the
	 * others do not move. */
	uint8_t free_yields;
	uint64_t step_limit;	   /* the run ends at this step count; see progress.c */
	bool has_spurious_wakeups; /* condition waits may end without a signal */
	/* limit of all stalls together (model/stall.h); 0: none, STALL_ANY: no limit */
	uint64_t stall_ns;
	struct stalls *stalls; /* receives the stalls of the run; NULL: not needed */
	enum memory_model memory_model, judged_model; /* judged: by c11/robustness.h, under c11 */
	struct delayed_stores *delayed;		      /* receives them; NULL: not needed */
	uint32_t weak_limit; /* the most weak choices (weak_choices.c), plus 1; 0: no limit */
	/* bit OUTCOME_x: such misuse does not end the run; the call continues as in glibc */
	uint32_t tolerated;
	/* engine_change_deferred() may defer its work; the host must not call engine_has_woken() */
	bool defers_changes;
};

/* Call once per process, in the main thread, before all other functions. */
void engine_init(const struct engine_host *host);
/* engine_each_saved() passes the used parts of the engine's tables to `save`: whole tables are
 * too large for every memory image. engine_owns_mapping(): a mapping of the process holds these
 * tables. */
typedef void engine_save(void *argument, void *start, size_t bytes);
void engine_each_saved(engine_save *save, void *argument);
bool engine_owns_mapping(const void *start, const void *end);
/* Sets the pthread_t and the gettid() result of the main thread. */
void engine_set_main(uintptr_t handle, int kernel_id);
/* Resets all but the settings of engine_init(), for hosts that make runs without a memory image.
 * The caller is `main`; all other threads are discarded. */
void engine_renew(void);
void engine_begin_run(const struct engine_run *run);
/* Called before the strategy chooses, at a place where a checkpoint may be taken. The call may
 * return again in a later run, with the memory restored. That run then calls engine_renew_run(). */
typedef void engine_deciding(const struct schedule_view *view);
void engine_set_deciding(engine_deciding *deciding);
/* If true, only enabled threads of the highest priority are scheduled, as real-time policies
 * guarantee on one processor. */
void engine_follow_priorities(bool are_followed);
/* Continues the run with another seed; not after engine_has_used_seed() is true. */
void engine_renew_run(uint64_t seed);
bool engine_has_used_seed(void);
/* Makes every op from here on a scheduling point. Called at the first thread creation. */
void engine_go_live(void);
/* Passes the pending ops at the end of a run to the strategy. Called at most once per run. */
void engine_report_ending(void);
bool engine_is_live(void);
/* MEMORY_MODEL_SC while no thread has been created. */
enum memory_model engine_memory_model(void);
/* Returns whether the caller's next yield is one of engine_run.free_yields. */
bool engine_yields_freely(void);
/* Called in the child of the target's fork(): the caller is the only thread, outside of any run. */
void engine_begin_child(uint64_t random_seed);
/* Replaces engine_host.performed for the runs that follow; NULL means none. */
void engine_set_performed(void (*performed)(const struct engine_performed *performed));
/* Enables engine_host.used until the end of the run. */
void engine_watch_uses(void);
/* Returns the setting of the run; true only in a live run. */
bool engine_has_spurious_wakeups(void);
uint64_t engine_step(void);
uint64_t engine_idle_period(void);
/* Returns whether threads wait without a limit for each other's locks or ends. */
bool engine_has_cycle(void);

/* The scheduling point; see the protocol above. The caller keeps ownership of `op`. */
enum engine_result engine_perform(struct engine_op *op);

static inline void engine_point(enum op_kind kind, const void *address, uint64_t site)
{
	struct engine_op op = {.kind = (uint8_t)kind,
		.address = address,
		.site = site,
		.deadline_ns = ENGINE_FOREVER};

	(void)engine_perform(&op); /* always WAIT_DONE */
}

/* Called from a timer's signal handler outside the runtime's own code. The moving thread has not
 * reached a scheduling point for long, and may spin on memory that another thread must write. Lets
 * other enabled threads move first. The call is no step: schedules do not record it, and a replay
 * needs no timer. */
void engine_spin_point(uint64_t site);
/* Returns whether the moving thread must make the next step, too
 * (strategy_fast_path.must_continue). */
bool engine_must_continue(void);
/* Re-evaluates all threads whose pending op concerns the object at `address`. */
void engine_changed(const void *address);
/* Does what engine_changed() does, deferred until the next decision, for objects that change
 * often. */
void engine_change_deferred(const void *address);
/* Does what engine_changed() does, for all pending ops of one kind on any object (file
 * descriptors). */
void engine_changed_kind(enum op_kind kind);
/* Does what engine_changed() does, for all ops that other processes may have made ready. */
void engine_changed_shared(void);
/* Replaces another thread's pending op by a copy: a signalled waiter of a condition variable
 * then waits for its mutex. */
void engine_redirect(struct engine_thread *thread, const struct engine_op *replacement);
/* Makes fairness treat the moving thread, which waits for another, as one that yielded. */
void engine_delay_current(void);
/* The same for a thread that repeats its reads, but perhaps not for ever: see engine_run.free_yields. */
void engine_delay_repeating(void);
/* Returns whether another thread has become enabled since the last decision. */
bool engine_has_woken(void);
/* Marks the last op as a failed try. Repeated failed tries count as yields. */
void engine_unproductive(void);
/* Marks the last op as failed for host.performed, as engine_unproductive() and any other result
 * than WAIT_DONE do. */
void engine_failed(void);
/* Reports an event without a scheduling point of its own to host.performed. */
void engine_note(enum op_kind kind, const void *address, uint64_t site);
/* Does what engine_note() does, for an access that is no scheduling point; it precedes the next
 * step. */
void engine_note_access(const struct engine_op *op);
/* Reports the moving thread's last op, whose is_reported_later is set. */
void engine_note_point(const struct engine_op *op);
/* Returns true when host.performed has received every op: the host may then report an access
 * itself. */
bool engine_has_reported_all(void);
/* `epoch` grows by ENGINE_EPOCH with every performed op and context switch; while it is
 * constant, one thread makes plain accesses without synchronisation. The engine copies it to
 * `*latest`. Each context switch clears the two values that the host stored for the time slice. */
#define ENGINE_EPOCH (UINT64_C(1) << 32)
#define ENGINE_NO_TAG UINT64_MAX /* for slice_tag, and unlike any tag of the host */
struct engine_epochs {
	uint64_t epoch;
	uint64_t slice_key;
	uint64_t *latest;
	uint64_t slice_tag;
	/* A *lease*: number of plain accesses that the moving thread may make without a call of the
	 * engine. The strategy would choose the thread at each. The host decrements the number;
	 * below 1: no lease. */
	int64_t lease;
	bool wants_lease; /* the host supports leases */
	bool is_focused;  /* all its accesses are to objects named by the strategy's focus() */
};
void engine_count_epochs(struct engine_epochs *epochs); /* NULL turns epochs off */
/* Called from a signal handler: the next access enters the engine. */
void engine_end_lease(void);
/* Reports the last op at the end of a run to host.performed. */
void engine_report_rest(void);
/* Called from a signal handler: requests host.route_signals() at the next scheduling point. */
void engine_raise_attention(void);
/* Recomputes whether the pending op is enabled: a signal or a cancellation has arrived. */
void engine_evaluate(struct engine_thread *thread);

/* Returns a recorded choice below `count` that does not concern threads, such as the waiter to
 * wake. */
uint32_t engine_choose_value(uint32_t count);

/* Returns the stable name of the object at this address; see docs/decisions/0002. */
object_name engine_object_name(const void *address);
/* Returns the name of static data in a known module; 0: the address is not in such a module. */
variable_name engine_static_name(const void *address);
/* Converts an address of static data to its module's number and an offset, and back; false or
 * NULL: no such module. */
bool engine_static_place(const void *address, uint32_t *module, uint64_t *offset);
const void *engine_static_address(uint32_t module, uint64_t offset);
/* Gives pending ops of this kind on the object a second object, by its op_second(). */
void engine_set_second(enum op_kind kind, const void *address, uint16_t second);
/* Called when an object is initialised or destroyed: the memory may hold another object. */
void engine_object_renew(const void *address);
/* Called when an op has destroyed its object: a later use by another thread is a failure. Calls
 * engine_object_renew(). */
void engine_object_destroyed(const struct engine_op *op, size_t bytes);
/* Adds a module, whose static objects get names from their offset. Called once per module, before
 * the first run. */
void engine_add_module(uintptr_t start, uintptr_t end, uint64_t module_hash);

struct engine_thread *engine_current(void);
uint32_t engine_thread_count(void);
/* Number of entries of the table of threads that are drainers (store_buffer.h). */
uint32_t engine_drainer_count(void);
uint32_t engine_enabled_count(void);
struct engine_thread *engine_thread(uint32_t index);
/* The live or unjoined thread with this pthread_t; returns NULL if there is none. */
struct engine_thread *engine_thread_by_handle(uintptr_t handle);
/* Stacks of threads other than main end at this address or above; 0: there are none. */
uintptr_t engine_lowest_handle(void);
/* Creates a thread in state THREAD_ALIVE with a pending THREAD_BEGIN. Returns 0, EAGAIN, or the
 * error of executor.spawn(). */
int engine_thread_create(struct engine_thread **out, void *(*start)(void *), void *argument,
	const void *attributes, uint64_t site);
/* Called for a thread that has not run yet; the address becomes the thread's handle. */
void engine_thread_set_base(struct engine_thread *thread, uintptr_t thread_base);
/* The body of every created thread, in the new context. */
void engine_thread_main(struct engine_thread *thread);
/* Ends the calling thread after its destructors. Does not return on a fiber. */
void engine_thread_finish(void);
void engine_thread_reap(struct engine_thread *thread);
/* The moving thread reads its own id, or the result of a thread that it joined: features of runs with
 * threads that are otherwise equal (symmetry.c). */
void engine_note_id_read(void);
void engine_note_result_read(const struct engine_thread *thread);
uint32_t engine_live_count(void);
/* Makes a full fence in all threads, as part of the moving thread's step. */
void engine_fence_all(void);
/* Called in place of start() if not NULL; the runtime adds unwinding and destructors. */
extern void (*engine_thread_body)(struct engine_thread *thread);

/* Returns the virtual nanoseconds since the start of the process. */
uint64_t engine_clock_ns(void);
/*
 * Returns the part of engine_clock_ns() that comes from acceleration: while threads wait for time, a
 * step costs more and more of it. This part does not show that the program is slow, so it must not let
 * an alarm end the program.
 */
uint64_t engine_clock_accelerated_ns(void);
/* Does what engine_clock_ns() does, for the target: a read takes as long as a step, so polling
 * loops end. */
uint64_t engine_clock_read_ns(void);
/* The program may have received a value that does not follow from its memory (loop.c). */
void engine_note_outside(void);
uint64_t engine_outside_count(void);
/* Is one thread enabled, and no thread in a timed wait? */
bool engine_is_closed(void);
/* Moves virtual time, only forwards; also for a host that has really waited. */
void engine_clock_advance_to(uint64_t clock_ns);
/* Called after a wait that had expired at its start, or a failed try: time passes as for several
 * steps. */
void engine_clock_note_poll(void);
/* Lets time pass as `count` steps would. */
void engine_clock_note_calls(uint32_t count);
void engine_note_feature(enum feature feature);
/* Weak choices: old reads, early stores, and reads that pass buffered stores. Returns whether the
 * run may make another one. */
bool engine_may_choose_weakly(void);
void engine_note_weak_choice(void);

void engine_random_bytes(void *buffer, size_t bytes);

/* Ends the run with evidence. Returns only if the run tolerates this outcome. */
void engine_fail(enum outcome_kind kind, const void *address, uint64_t site);
/* Does what engine_fail() does, for a lock that op `acquire` acquires: adds the holder and its
 * place of acquisition to the evidence. */
void engine_fail_at_lock(
	enum outcome_kind kind, enum op_kind acquire, const void *address, uint64_t site);
/* Does what engine_fail() does, with the evidence of a detector, for host.performed. */
void engine_fail_by_verdict(const struct outcome *verdict);
/* Ends the run with the exit status of the process. */
void engine_exited(int status) __attribute__((noreturn));
/* The process ends in failure. If a watchdog of the target ended it because threads are
 * permanently blocked, the outcome becomes their deadlock, and its text names the watchdog. */
void engine_blame_blocked(struct outcome *outcome);
const struct outcome *engine_private_outcome(void);
