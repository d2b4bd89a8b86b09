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
 *   1. Describe the operation in a `struct engine_op` (op.h) on the stack.
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

#include "engine/host.h"
#include "engine/op.h"
#include "engine/thread.h"
#include "model/feature.h"
#include "model/ids.h"
#include "model/memory_model.h"
#include "model/op.h"
#include "model/outcome/outcome.h"
#include "platform/platform.h"
#include "strategies/strategy.h"

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
/* Returns the number of calls of engine_renew(). */
uint32_t engine_run_number(void);
void engine_begin_run(const struct engine_run *run);
/* Called before the strategy chooses, at a location where a checkpoint may be taken. The call may
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
/* Details of the last op that became known after it was announced, for host.performed. The comparison of
 * an OP_FUTEX_WAIT: the expected value in the upper 32 bits, that of the word in the lower. */
void engine_note_round(uint64_t round, bool is_last);
void engine_note_comparison(uint64_t values);
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
bool engine_static_location(const void *address, uint32_t *module, uint64_t *offset);
const void *engine_static_address(uint32_t module, uint64_t offset);
/* Tells the host that the kernel accesses memory in the next op. The result is that of host.kernel_accesses(). */
uint16_t engine_note_kernel_access(const void *address, bool writes);
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
/* Returns the live or unjoined thread with this pthread_t, or else the last joined thread that had it. A call that names a
 * joined thread is an op on that thread: the call fails only because it comes after the join. */
struct engine_thread *engine_thread_that_had(uintptr_t handle);
/* Stacks of threads other than main end at this address or above; 0: there are none. */
uintptr_t engine_lowest_handle(void);
/* Thread-local blocks of threads other than main begin at this address or below; 0: there are none. */
uintptr_t engine_highest_handle(void);
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
/* Called instead of start() if not NULL; the runtime adds unwinding and destructors. */
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
 * location of acquisition to the evidence. */
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
