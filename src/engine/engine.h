/*
 * The engine: controlled execution of one process. It owns the meaning of every synchronisation
 * object (mutex.h, cond.h, ...), the table of threads, virtual time, and the one place where a
 * scheduling decision is made.
 *
 * Thread context: every function runs in the target's only moving thread. The engine keeps its
 * state in one static struct that a rewind restores together with the target; nothing here
 * allocates.
 *
 * How an operation is done, in every interposed function:
 *   1. describe it in a `struct engine_op` on the stack,
 *   2. engine_perform(&op): the scheduling point. It returns when the strategy has chosen this
 * thread and the op can happen (or its time is out, or it was interrupted or cancelled),
 *   3. change the object, and call engine_changed(address) when others may be waiting on it.
 * Between 2 and the next engine_perform nobody else moves.
 */
#ifndef RADDLE_ENGINE_ENGINE_H
#define RADDLE_ENGINE_ENGINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "engine/executor.h"
#include "model/ids.h"
#include "model/op.h"
#include "model/outcome.h"
#include "model/schedule.h"
#include "platform/platform.h"
#include "strategies/strategy.h"

#define ENGINE_FOREVER UINT64_MAX

struct engine_op;
struct engine_thread;

/* Can the op happen now? Must be pure; is called again after each engine_changed(op->address). */
typedef bool engine_ready(const struct engine_op *op, const struct engine_thread *thread);

/* What may end a wait early, besides the deadline. */
enum engine_interruption {
	INTERRUPT_SIGNAL = 1, /* a signal handler ran: engine_perform returns WAIT_INTERRUPTED */
	INTERRUPT_CANCEL = 2, /* the op is a cancellation point */
	INTERRUPT_NEVER = 4   /* not even asynchronous cancellation: a lock that must be got back */
};

/* An atomic update that writes only if a certain value is there. */
enum engine_exchange {
	EXCHANGE_NONE, /* it writes in any case */
	EXCHANGE_UNKNOWN,
	EXCHANGE_OF_EXPECTED /* if `argument` is there */
};

struct engine_op {
	uint8_t kind;	       /* enum op_kind */
	uint8_t interruptions; /* enum engine_interruption, or'ed */
	bool is_timeout_only;  /* a sleep: becomes ready by time alone */
	bool is_shared;	       /* other processes may make it ready: shared.h */
	bool is_guess; /* ready() is a hint that a retry may succeed: a signal handler interrupts a ready op, too */
	bool is_alike; /* ready() says the same of all such ops on the object, as long as they are pending */
	uint8_t call;	      /* enum call_kind; for reports, as is `number` */
	uint16_t number;      /* as in struct trace_event */
	const void *address;  /* the object, NULL: none. Waiters are found by it */
	uint64_t site;	      /* return address in the target */
	engine_ready *ready;  /* NULL: always ready */
	uint64_t deadline_ns; /* virtual time; ENGINE_FOREVER: none. 0 is in the past */
	uint64_t argument;    /* for ready(): a file descriptor, expected value, ... */
	uint64_t argument2;
	object_name
		object; /* name of the object where the caller knows it, 0: engine_object_name() */
	/* Accesses to memory, where `object` is the first word: the name of the next; 0: not known. */
	object_name next_object;
	uint32_t bytes;		  /* accesses to memory: how many */
	uint8_t order;		  /* enum site_order of atomic accesses and fences */
	uint16_t second;	  /* for struct pending_op; COND_WAIT: filled in */
	uint8_t exchange;	  /* enum engine_exchange, of OP_ATOMIC_UPDATE */
	uint8_t order_of_failure; /* of an exchange that writes nothing */
};

/* An op that has been performed, with what came of it; see engine_host.performed. */
struct engine_performed {
	uint64_t step;
	uint64_t site;
	const void *address; /* NULL: none */
	/*
	 * OP_COND_WAIT: the mutex. OP_BARRIER_*: the round. OP_FUTEX_WAIT: engine_note_comparison()'s. Others: the op's
	 * argument.
	 */
	uint64_t argument;
	object_name object;	 /* as the op says, so 0 for most */
	object_name next_object; /* likewise */
	uint32_t bytes;
	struct thread_id thread;
	struct thread_id other; /* created, joined, cancelled or signalled; THREAD_NONE */
	uint8_t kind;		/* enum op_kind */
	uint8_t order;
	uint8_t exchange;
	uint8_t order_of_failure;
	bool has_failed; /* a try that did not succeed, a wait that ended otherwise */
	bool is_last;	 /* OP_BARRIER_ARRIVE: nobody is waited for any more */
	bool is_point;	 /* accesses to memory: at a scheduling point of its own */
};

enum engine_result {
	WAIT_DONE,	  /* the op can happen: do it */
	WAIT_TIMED_OUT,	  /* the deadline passed first */
	WAIT_INTERRUPTED, /* a signal handler ran meanwhile (only with INTERRUPT_SIGNAL) */
	WAIT_CANCELLED /* cancellation is due (only with INTERRUPT_CANCEL): clean up, then act on it
			*/
};

enum engine_thread_state {
	THREAD_UNUSED,
	THREAD_ALIVE,
	THREAD_DONE,  /* ended, not yet joined */
	THREAD_REAPED /* joined or detached and ended; its index is not used again in this run */
};

struct engine_thread {
	struct context context; /* the executor's */
	/* What is looked at of each thread that waits for an object, when that changes: near each other. */
	struct engine_op *op; /* announced and not performed; NULL while moving */
	struct engine_thread *object_next,
		*object_previous; /* others pending on an object of this bucket */
	uint64_t signals_pending; /* bit signal-1 */
	uint64_t signals_blocked;
	uint8_t priority; /* of the real-time scheduling policy; 0: the thread has no such policy */
	uint8_t wake_reason; /* engine internal: why the pending op is enabled; see engine_wake_reason() */
	uint8_t crowd; /* crowd.c's: number of the crowd that it waits in, + 1; 0: alone */
	bool is_cancel_requested;
	bool is_cancel_disabled;
	bool is_cancel_asynchronous;
	bool is_exiting; /* past its last cancellation point */
	const struct engine_op
		*interrupted; /* op that its signal handlers interrupted; NULL: no handler runs */
	struct thread_id id;
	struct engine_thread
		*queue_next;   /* link in an object's own queue of waiters (condition variables) */
	uint64_t queue_ticket; /* free for the object whose queue this is */
	const void *queue_object; /* the object in whose queue the thread stands, NULL: none */
	void *robust_held;     /* mutex.c's: the last robust mutex that it took and still holds */
	const void *spin_held; /* spin.c's: the last spin lock that it took, */
	uint64_t spin_site;    /* and where */
	uint8_t state;	       /* enum engine_thread_state */
	bool is_detached;
	bool has_joiner;	    /* some thread is joining it */
	bool was_unproductive;	    /* the last op was a failed try */
	uint8_t unproductive_count; /* failed tries at failed_address with no success between */
	uint8_t tries_in_row;	    /* failed tries at any object with nothing else between */
	uint8_t free_yields_made;   /* since it was last blocked: engine_run.free_yields */
	const void *last_address;   /* object of the last op */
	const void *failed_address; /* object of the last failed try */
	uint64_t last_moved;	    /* step of the last op, for fairness */
	uint64_t yielded_at;	    /* step + 1 of a yield that still holds it back, 0: none */
	thread_name name;
	uint16_t children;	/* threads created so far: the next child's ordinal */
	uint16_t held_count;	/* locks held, for evidence */
	uint32_t objects_named; /* ordinals given to objects first used by this thread */
	struct thread_id parent;
	uint16_t ordinal; /* which child of its parent */
	uint64_t create_site;
	void *(*start)(void *);
	void *argument;
	void *result;
	void *executor_part; /* owned by the executor */
	uintptr_t handle;    /* pthread_t of the target's world */
	char label[16];	     /* pthread_setname_np, NUL-terminated */
	int kernel_id;	     /* what gettid() answers */
	/* Word that the thread's end clears, waking one futex waiter (CLONE_CHILD_CLEARTID). NULL: no such word. */
	uint32_t *clear_at_end;
};

/* What the engine needs of its surroundings; the runtime fills it, and so do unit tests. */
struct engine_host {
	const struct executor *executor;
	/* Ends the run; must not return. `outcome` lies in memory that survives. */
	void (*run_over)(struct outcome *outcome) __attribute__((noreturn));
	/*
	 * engine_raise_attention() was called: gives process-directed signals to a thread (sets its
	 * signals_pending) and calls engine_interrupt() for it. NULL: there are no signals.
	 */
	void (*route_signals)(void);
	/* The last thread has ended without exit(): the process ends with status 0. */
	void (*last_thread_ended)(void) __attribute__((noreturn));
	/* Asynchronous cancellation of the calling thread is due. */
	void (*cancel_now)(void) __attribute__((noreturn));
	/* Signals wait for this thread: runs the handlers. Returns whether any ran. May nest points. */
	bool (*deliver_signals)(struct engine_thread *thread);
	/*
	 * No thread is enabled. Waits in the real world (file descriptors, children, signals) at
	 * most until virtual `deadline_ns`; false when there is nothing in the real world to wait
	 * for.
	 */
	bool (*wait_outside)(uint64_t deadline_ns);
	/*
	 * Fires the timers that are due by the engine's clock. Returns the next expiry, or ENGINE_FOREVER without a timer.
	 * NULL: the host has no timers.
	 */
	uint64_t (*fire_timers)(void);
	/* Called with every step when tracing; NULL otherwise. */
	void (*observe)(
		const struct engine_thread *thread, const struct engine_op *op, uint64_t step);
	/* Called when the op last passed to observe() ends with another result than WAIT_DONE; NULL: not called. */
	void (*observe_result)(const struct engine_thread *thread, const struct engine_op *op,
		enum engine_result result);
	/*
	 * Called in a live run with every op that was performed, in their order; NULL: nobody wants it.
	 * Accesses to memory come before they happen, with their thread standing there; every other op
	 * comes when the next one is performed, as only then it is known what came of it.
	 */
	void (*performed)(const struct engine_performed *performed);
	/*
	 * After engine_watch_uses(): a lock, a condition variable or the like is about to be used. Not called of
	 * a thread that only comes out of a wait that is over: its object may be gone by right.
	 */
	void (*used)(const struct engine_op *op);
	bool (*place)(object_name object, struct object_place *out); /* for the view; NULL: none */
	/* Of an object that is neither static nor a thread, the same in every run; 0: not known. NULL: none. */
	object_name (*name)(const void *address);
	/* Hash of the calls that the thread is in, as it announces an op; NULL: nobody wants it. */
	uint32_t (*context)(struct thread_id thread);
};

/* What the run is to follow; copied. */
struct engine_run {
	const struct strategy *strategy;
	void *strategy_state;	      /* in memory that survives the run */
	struct schedule *recording;   /* likewise */
	struct outcome *outcome;      /* likewise */
	volatile uint64_t *heartbeat; /* receives the step number at every step */
	/*
	 * Bits of pairs of places, by hash: one thread was about to do the first, and another did the second
	 * before. NULL: nobody wants to know.
	 */
	uint64_t *covered;
	uint32_t covered_words; /* a power of two */
	uint32_t *met;		/* receives bits MET_x (model/op.h); NULL: nobody wants to know */
	uint64_t *operations;	/* digest of the steps so far; NULL: nobody wants to know */
	uint64_t seed;		/* for value choices */
	uint64_t random_seed;	/* for the target's random numbers */
	/*
	 * So many yields of a thread are mere scheduling points, until it has been blocked: who yields a few
	 * times before it blocks can come to block while the others stand still.
	 */
	uint8_t free_yields;
	uint64_t step_limit;	   /* then the run ends as a livelock */
	bool has_spurious_wakeups; /* condition waits may end without a signal */
	bool has_early_timeouts;   /* a timed wait may time out whenever the strategy says so */
	uint32_t tolerated;	   /* bit OUTCOME_x: such misuse is let through as glibc would */
	bool looks_late; /* engine_changed_late() may wait; nobody asks engine_has_woken() */
};

/* ---- life cycle ---- */

/* Once per process, in the main thread, before anything else. Makes the caller thread `main`. */
void engine_init(const struct engine_host *host);
/*
 * The engine's tables are too large to be saved whole with every image of the memory: these are the
 * parts in use. engine_owns_mapping() says which mapping of the process holds them.
 */
typedef void engine_save(void *argument, void *start, size_t bytes);
void engine_each_saved(engine_save *save, void *argument);
bool engine_owns_mapping(const void *start, const void *end);
/* What the target's world calls the main thread. */
void engine_set_main(uintptr_t handle, int kernel_id);
/*
 * Everything but the settings of engine_init() as at the start: for hosts that make runs without an image of
 * the memory. The caller is `main`; all other threads are gone, wherever they stood.
 */
void engine_renew(void);
/* Start of a run; before it, and before the first thread, ops pass without scheduling points. */
void engine_begin_run(const struct engine_run *run);
/*
 * Called before the strategy is asked. May come back in another run, with all memory of the process as it
 * was at the call; it says so by engine_renew_run().
 */
typedef void engine_deciding(const struct schedule_view *view);
void engine_set_deciding(engine_deciding *deciding);
/*
 * Only the enabled threads of the highest priority are scheduled. Real-time policies guarantee this order when all
 * threads share one processor.
 */
void engine_follow_priorities(bool are_followed);
/* The run goes on as one of another seed. */
void engine_renew_run(uint64_t seed);
/* Has the run made use of its seed? Then it cannot go on as one of another. */
bool engine_has_used_seed(void);
/* From here on every op is a scheduling point (called at the first thread creation). */
void engine_go_live(void);
/* The run ends here: tells the strategy which ops are pending. At most once per run. */
void engine_tell_ending(void);
bool engine_is_live(void);
/* Is the caller's next yield one of engine_run.free_yields? */
bool engine_yields_freely(void);
/* Child side of the target's fork(): the caller is the only thread, outside any run. Seeds the child's random numbers. */
void engine_begin_child(uint64_t random_seed);
/* From the next run on, for who is only sometimes interested: engine_host.performed. */
void engine_set_performed(void (*performed)(const struct engine_performed *performed));
/* Until the end of the run the host wants to know what is used: engine_host.used. */
void engine_watch_uses(void);
/* Settings of the run that objects ask for. */
bool engine_has_spurious_wakeups(void);
uint64_t engine_step(void);
/* The number of times that no thread was enabled. */
uint64_t engine_idle_period(void);

/* ---- operations ---- */

/* The scheduling point; see the top of this file. op stays the caller's. */
enum engine_result engine_perform(struct engine_op *op);

/* A point for an op that is always ready. */
static inline void engine_point(enum op_kind kind, const void *address, uint64_t site)
{
	struct engine_op op = {.kind = (uint8_t)kind,
		.address = address,
		.site = site,
		.deadline_ns = ENGINE_FOREVER};

	(void)engine_perform(&op); /* always WAIT_DONE */
}

/*
 * From a timer's signal handler, outside of our own code: the moving thread has long not reached a
 * point, so it may be spinning on memory that another thread must write. Lets the others move first.
 * Such a point is no step: schedules neither record nor count it, so a replay needs no clock to follow
 * them. Returns at once when nobody else can move.
 */
void engine_spin_point(uint64_t site);
/* Does the strategy say that the moving thread makes the next step, too (strategy.h: insists)? */
bool engine_is_to_go_on(void);
/* The object at this address changed: re-evaluates every thread whose pending op is about it. */
void engine_changed(const void *address);
/* As engine_changed, when it is next asked who can move: for what changes often while one thread goes on. */
void engine_changed_late(const void *address);
/* As engine_changed for all pending ops of one kind, whatever their object (file descriptors). */
void engine_changed_kind(enum op_kind kind);
/* As engine_changed for all pending ops that other processes may have made ready. */
void engine_changed_shared(void);
/*
 * The pending op of another thread becomes `replacement` (copied): a signalled waiter of a condition
 * variable from now on waits for its mutex.
 */
void engine_redirect(struct engine_thread *thread, const struct engine_op *replacement);
/* The moving thread waits for somebody else: from the next point on it stands back as one that yields. */
void engine_give_way(void);
/* Can somebody else move by now who could not when the last op was chosen? */
bool engine_has_woken(void);
/* The last op changed nothing for this thread (a failed try): repeated, it counts as a yield. */
void engine_unproductive(void);
/*
 * For engine_host.performed: the last op came to nothing. engine_unproductive() implies it, as does
 * an engine_result other than WAIT_DONE.
 */
void engine_failed(void);
/* For engine_host.performed: what happened without a scheduling point of its own, as if it had one. */
void engine_note(enum op_kind kind, const void *address, uint64_t site);
/* As engine_note, of an access to memory that is no scheduling point: it comes before the next step. */
void engine_note_access(const struct engine_op *op);
/* engine_host.performed knows of everything up to here: an access may be told past the engine. */
bool engine_has_told_all(void);
/*
 * `episode` grows with every op that is performed and whenever another thread moves, by a unit: while it
 * stays the same, what happens are accesses to memory of one thread, with nothing that orders them. `turn` is what
 * the host has written there in this turn of the moving thread, or 0. `latest` is given the episode each time.
 */
#define ENGINE_EPISODE (UINT64_C(1) << 32)
struct engine_episodes {
	uint64_t episode;
	uint64_t turn;
	uint64_t *latest;
	uint64_t own; /* as turn */
	/*
	 * A *lease*: so many plain accesses that the moving thread makes next, each of them a scheduling point, need
	 * not come to the engine; the host counts them down here. Below 0: likewise none.
	 */
	int64_t lease;
	bool wants_lease; /* the host's: it makes use of it */
	bool is_focused;  /* and all those accesses are to what the strategy's focus() has named */
};
void engine_count_episodes(struct engine_episodes *episodes); /* NULL: nobody asks */
/* From a signal handler: the next access comes to the engine. */
void engine_end_lease(void);
/* For engine_host.performed: details of the last op that were not known when it was announced. */
/* The run is over: the last op is told of now, although no other follows. */
void engine_tell_rest(void);
void engine_note_other(struct thread_id other);
void engine_note_round(uint64_t round, bool is_last);
/* OP_FUTEX_WAIT: the expected value in the upper 32 bits, and in the lower ones what was there. */
void engine_note_comparison(uint64_t values);
/* From a signal handler: the host's route_signals() is called at the next scheduling point. */
void engine_raise_attention(void);
/* A signal or a cancellation has come for `thread`: a wait of it is looked at again. */
void engine_interrupt(struct engine_thread *thread, enum engine_interruption interruption);

/* A choice below `count` that is not about threads (which waiter wakes); recorded in the schedule.
 */
uint32_t engine_choose_value(uint32_t count);

/* ---- objects ---- */

/* Stable name of the object at this address; see decisions/0002. */
object_name engine_object_name(const void *address);
/* The name of static data of a known module; 0: it is not there. */
variable_name engine_static_name(const void *address);
/* Its module's number, and the distance from there; false: likewise. Where that is; NULL: there is no such module. */
bool engine_static_place(const void *address, uint32_t *module, uint64_t *offset);
const void *engine_static_address(uint32_t module, uint64_t offset);
/* The object was initialised or destroyed: its memory may become another object. */
void engine_object_renew(const void *address);
/* Tells the engine where static objects live (one call per loaded module, before the first run). */
void engine_add_module(uintptr_t start, uintptr_t end, uint64_t module_hash);

/* ---- threads ---- */

struct engine_thread *engine_current(void);
uint32_t engine_thread_count(void);
/* The number of enabled threads without the moving one. */
uint32_t engine_enabled_count(void);
struct engine_thread *engine_thread(uint32_t index);
/* The live or unjoined thread with this pthread_t, NULL: none. */
struct engine_thread *engine_thread_by_handle(uintptr_t handle);
/* Makes a thread in state ALIVE with a pending THREAD_BEGIN. 0 or EAGAIN. Spawned by the executor.
 */
int engine_thread_create(struct engine_thread **out, void *(*start)(void *), void *argument,
	const void *attributes, uint64_t site);
/* Gives a thread that has not run yet another thread-local block; the block's address becomes its handle. */
void engine_thread_set_base(struct engine_thread *thread, uintptr_t thread_base);
/* The body of every created thread; the executor calls it in the new context. */
void engine_thread_main(struct engine_thread *thread);
/* The caller has ended (destructors are done): wakes joiners and moves on; does not return to a
 * fiber. */
void engine_thread_finish(void);
/* The thread is DONE and nobody will join it any more. */
void engine_thread_reap(struct engine_thread *thread);
/* Threads that have not ended. */
uint32_t engine_live_count(void);
/* Run by engine_thread_main around start(); the runtime sets it to add unwinding and destructors.
 */
extern void (*engine_thread_body)(struct engine_thread *thread);

/* ---- time ---- */

/* Virtual nanoseconds since the process began. Moves only when no thread is enabled, and by reads.
 */
uint64_t engine_clock_ns(void);
/* A read of the clock: moves it a little, so that loops that wait by reading it end. */
uint64_t engine_clock_read_ns(void);
/* Only for a host that has really waited. */
void engine_clock_advance_to(uint64_t clock_ns);
/* Something was done in vain: it takes a little time, and more when that is all that happens. */
void engine_clock_wait_for_nothing(void);
/* `count` calls were made that are not steps. Virtual time passes for these calls as for steps. */
void engine_clock_note_calls(uint32_t count);
/* For engine_run.met. */
void engine_note_met(enum op_met met);
/* A thread waits until then, at most. */
void engine_clock_note_deadline(uint64_t deadline_ns);

/* ---- randomness of the target's world (getrandom) ---- */
void engine_random_bytes(void *buffer, size_t bytes);

/* ---- misuse and failures ---- */

/* Ends the run with evidence, unless the run tolerates this outcome: then it returns. */
void engine_fail(enum outcome_kind kind, const void *address, uint64_t site);
/* As engine_fail, for a lock that `acquire` locks: adds the holder and its place of locking to the evidence. */
void engine_fail_at_lock(
	enum outcome_kind kind, enum op_kind acquire, const void *address, uint64_t site);
/*
 * As engine_fail, with the evidence of a detector: kind, site, address, op and the other access are
 * taken from the verdict. For engine_host.performed.
 */
void engine_fail_by_verdict(const struct outcome *verdict);
/* Ends the run as the process does: exit status. */
void engine_exited(int status) __attribute__((noreturn));
/*
 * The process ends in failure. If a watchdog of the target ended the process because threads are blocked for good, the
 * outcome becomes the deadlock of these threads, and its text names the watchdog.
 */
void engine_blame_blocked(struct outcome *outcome);
/* The outcome of a process that nobody drives. */
const struct outcome *engine_private_outcome(void);
/* Fills outcome->waits from the threads as they stand. */
void engine_collect_waits(struct outcome *outcome);

/*
 * For evidence: engine objects that can be held say by whom. Registered per object class, filled by
 * mutex.c, rwlock.c, ...: returns THREAD_NONE when nobody in particular holds it.
 */
typedef struct thread_id engine_holder(const void *address, uint64_t *site);
void engine_set_holder(enum object_class class, engine_holder *holder);
/* The signals sent to a condition variable so far. */
struct engine_signals {
	uint16_t lost; /* signals sent while no thread waited */
	bool was_sent; /* at least one signal or broadcast was sent */
};
typedef struct engine_signals engine_signal_history(const void *address);
void engine_set_signal_history(engine_signal_history *history);

#endif
