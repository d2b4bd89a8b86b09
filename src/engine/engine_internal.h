/* The state of the engine, and the functions that its files share. The struct lies in libraddle's
 * data segment, so a rewind restores it with the target's memory. The moving thread alone accesses
 * the struct, except that signal handlers set `attention` and end leases. */
#pragma once

#include <signal.h>

#include "base/bitset.h"
#include "base/rng.h"
#include "engine/engine.h"
#include "engine/futex.h"
#include "model/view.h"

#define ENGINE_BUCKETS 256
#define ENGINE_CHANGED_MOST 4 /* capacity for objects whose waiters are not yet re-evaluated */
#define ENGINE_MODULES_MAX 256
#define ENGINE_WAIT_GROUPS 4
/* Size of the smallest wait group; fewer waiters are evaluated one by one as fast. */
#define ENGINE_WAIT_GROUP_LEAST 8
#define ENGINE_NAME_CACHE 1024 /* direct-mapped; a collision costs a search */

/* enum engine_thread.wake_reason: bits, or'ed; 0 means that the pending op is disabled. */
enum engine_wake { WAKE_READY = 1, WAKE_DEADLINE = 2, WAKE_SIGNAL = 4, WAKE_CANCEL = 8 };

struct engine_module {
	uintptr_t start, end;
	uint64_t hash;
};

/* Threads whose pending ops on one object always have the same readiness (wait_group.c). */
struct engine_wait_group {
	const void *address;
	uint32_t count;
	bool is_ready; /* all members are enabled, or none is */
	uint64_t members[BITSET_WORDS(THREAD_CAPACITY)];
};

struct engine_name_entry {
	const void *address;
	object_name name;
};

/* The state at the last time when no thread was enabled; see watchdog.c. */
struct engine_idle_state {
	uint64_t step;
	uint64_t clock_ns;
	bool has_limit; /* at least one thread was in a timed wait */
};

/* State of the only enabled thread at an operation; see loop.c. */
struct engine_loop {
	bool is_watched;
	uint8_t comparisons; /* + 1; 0: no state is known */
	uint64_t site;
	const void *address;
	uint64_t digest;
	uint64_t outside_count;
};

struct engine {
	bool is_up;
	bool is_live;
	bool watches_uses;
	bool has_woken;
	bool follows_priorities;
	bool is_ending;
	volatile sig_atomic_t attention;
	struct engine_host host;
	struct engine_run run;
	engine_deciding *deciding; /* NULL: none */
	struct engine_thread *current;
	struct engine_thread
		*zombies; /* detached threads that ended; another thread releases them */
	uint32_t thread_count;
	uint32_t live_count;
	uint32_t enabled_count;
	/* threads delayed by a yield, + 1 while priorities are followed, + 1 while slice_count
	 * is not 0; if not 0, some enabled threads may not be offered */
	uint32_t yielder_count;
	uint32_t spin_count; /* spin points since step `spun_at`, with no other step since */
	uint64_t spun_at;
	uint64_t step;
	struct engine_epochs *epochs;
	const void *changed[ENGINE_CHANGED_MOST];
	uint32_t changed_count;
	uint32_t awaiting_count; /* pending ops with awaits_value */
	int64_t lease_given; /* value of epochs->lease when the lease was granted; 0: no lease */
	uint64_t idle_periods;
	uint64_t clock_ns; /* virtual time at clock_step */
	struct engine_idle_state idle;
	uint32_t cycle_idles; /* times in sequence that no thread was enabled and a cycle existed */
	struct engine_loop loop;
	bool has_progressed; /* progress.c */
	uint64_t half_ns; /* progress.c: virtual time at half of the limit of steps; 0: before it */
	uint64_t outside_count; /* engine_note_outside() */
	uint64_t clock_step;	/* step at which clock_ns was brought up to date */
	uint64_t due_step;	/* engine_clock_pass() must run at this step */
	uint64_t period_begin;	/* first and last step of the current busy period */
	uint64_t period_end;
	uint64_t timer_ns; /* next expiry of the host's timers, as known at the last period */
	uint32_t clock_doublings; /* doublings of the time of a step */
	/* part of clock_ns by which doublings and spin points have made time pass faster */
	uint64_t accelerated_ns;
	uint32_t period_count;	/* busy periods since no thread was enabled */
	uint64_t periods_ended; /* busy periods of the run */
	bool has_overdue_wait;	/* a wait is past its deadline, but not yet its wait_end_period */
	uint32_t stall_count;	/* stalls of the run (stall.c) */
	uint64_t stalled_ns;	/* sum of the run's stalls, if it is limited */
	uint32_t run_number;	/* the result of engine_run_number() */
	uint32_t store_buffer_count;
	uint32_t weak_choices; /* made in this run */
	uint32_t slice_count;  /* starved threads whose time slice has not ended (fairness.c) */
	bool clock_was_read;   /* a thread has read the clock in the current period */
	/* Of the threads but main, ended ones included; 0: none. */
	uintptr_t lowest_handle, highest_handle;
	uint32_t handle_found;	    /* index of the last result of engine_thread_by_handle() */
	uint64_t earliest_deadline; /* lower bound of the deadlines of all waiting threads */
	struct engine_performed
		performed;	 /* the last op, not yet reported to the host; kind OP_NONE: none */
	struct rng random;	 /* random numbers for the target */
	struct rng value_random; /* value choices for strategies without choose_value() */
	struct schedule_view view;
	uint32_t module_count;
	uint32_t wait_group_count;
	/* name_cache entries of this run: engine_renew() */
	uint64_t named[BITSET_WORDS(ENGINE_NAME_CACHE)];
	uint64_t enabled[BITSET_WORDS(THREAD_CAPACITY)];
	uint64_t was_enabled[BITSET_WORDS(THREAD_CAPACITY)];
	uint64_t offered[BITSET_WORDS(THREAD_CAPACITY)];
	uint64_t equals_previous[BITSET_WORDS(THREAD_CAPACITY)]; /* schedule_view.equals_previous */
	struct engine_thread *buckets[ENGINE_BUCKETS];
	/* Tables by thread index, in one private mapping. Entries at or above thread_count are
	 * undefined after a rewind: engine_thread_slot() clears an entry before its first use. */
	struct pending_op *pending;
	thread_name *names;
	uintptr_t *handles;
	uint32_t *contexts; /* calling contexts of the pending ops, if the host provides them */
	struct engine_thread *threads;
	/* These large arrays are rarely written. They lie behind the fields that most runs write, because a
	 * rewind restores written pages, and a forked run copies them. */
	struct engine_futex_queue futex_queues[ENGINE_FUTEX_QUEUES];
	uint64_t starved[BITSET_WORDS(THREAD_CAPACITY)]; /* the threads with a time slice */
	uint64_t stallable[BITSET_WORDS(THREAD_CAPACITY)];
	struct engine_module modules[ENGINE_MODULES_MAX];
	struct engine_name_entry name_cache[ENGINE_NAME_CACHE];
	struct engine_wait_group wait_groups[ENGINE_WAIT_GROUPS];
};

extern struct engine engine;

/* Functions of fairness.c. engine_delay() delays the thread until the other enabled threads have
 * moved. */
void engine_delay(struct engine_thread *thread);
void engine_delay_spinner(struct engine_thread *thread);
/* After a step, drops the order among threads that reached spin points before it. */
void engine_forget_spins(void);
void engine_delay_yielder(struct engine_thread *thread);
/* Removes threads from the offered set, while yields, time slices or priorities restrict it. */
void engine_restrict_offer(void);
/* Computes the set of threads offered to the strategy. */
static inline void engine_offer(void)
{
	engine.view.is_delaying = engine.yielder_count;
	engine.view.enabled = engine.enabled;
	engine.view.enabled_count = engine.enabled_count;
	if (__builtin_expect(engine.yielder_count, 0))
		engine_restrict_offer();
}
void engine_note_op(struct engine_thread *self, const struct engine_op *op);
static inline void engine_update_view(void)
{
	engine.view.thread_count = engine.thread_count;
	engine.view.current = engine.current->id;
	engine.view.step = engine.step;
}
void engine_leave_processor(void);
/* symmetry.c: compares a new thread with the previous child of its creator. */
void engine_compare_twin(struct engine_thread *thread, const void *attributes);
/* Implements schedule_view.is_common. */
bool engine_is_common(uint32_t thread);
/* Re-evaluates the waiters of all objects noted by engine_change_deferred(), and waiting loops. */
void engine_evaluate_pending_changes(void);
static inline void engine_evaluate_changed(void)
{
	if (engine.changed_count | engine.awaiting_count)
		engine_evaluate_pending_changes();
}

/* Adds the thread to the waiters in the bucket of its op's address, and removes it. */
static inline struct engine_thread **engine_bucket(const void *address)
{
	uintptr_t key = (uintptr_t)address;

	return &engine.buckets[(key >> 3 ^ key >> 11) % ENGINE_BUCKETS];
}

static inline void engine_link(struct engine_thread *thread)
{
	struct engine_thread **bucket = engine_bucket(thread->op->address);

	thread->object_next = *bucket;
	thread->object_previous = NULL;
	if (*bucket)
		(*bucket)->object_previous = thread;
	*bucket = thread;
}

static inline void engine_unlink(struct engine_thread *thread)
{
	if (thread->object_previous)
		thread->object_previous->object_next = thread->object_next;
	else
		*engine_bucket(thread->op->address) = thread->object_next;
	if (thread->object_next)
		thread->object_next->object_previous = thread->object_previous;
}

/* Adds the thread to the wait group of its object (wait_group.c). Returns false if the thread must wait
 * alone. */
bool engine_wait_group_join(struct engine_thread *thread);
/* Moves all eligible waiters for the object from this bucket into a new wait group. */
void engine_wait_group_form(struct engine_thread *bucket, const void *address);
void engine_wait_group_leave(struct engine_thread *thread);
void engine_wait_group_changed(const void *address);
static inline uint8_t engine_wake_reason(const struct engine_thread *thread)
{
	if (__builtin_expect(!thread->wait_group, 1))
		return thread->wake_reason;
	return engine.wait_groups[thread->wait_group - 1].is_ready ? WAKE_READY : 0;
}
/* Removes the pending op of the thread; engine_announce() sets one. */
void engine_withdraw(struct engine_thread *thread);
void engine_announce(struct engine_thread *thread, struct engine_op *op);
/* observed.c. Call only if host.performed is set. */
void engine_report_performed(
	const struct engine_thread *self, const struct engine_op *op, enum engine_result result);
void engine_add_operation(const struct engine_thread *thread, const struct engine_op *op);
static inline void engine_note_step(const struct engine_thread *thread, const struct engine_op *op)
{
	if (__builtin_expect(engine.run.operations != NULL, 0))
		engine_add_operation(thread, op);
	if (engine.host.observe)
		engine.host.observe(thread, op, engine.step);
}
void engine_report_use(const struct engine_op *op);
/* Begins a new epoch: an event other than a plain access has happened. */
static inline void engine_begin_epoch(void)
{
	if (engine.epochs)
		*engine.epochs->latest = engine.epochs->epoch += ENGINE_EPOCH;
}
static inline void engine_begin_slice(void)
{
	engine_begin_epoch();
	if (engine.epochs) {
		engine.epochs->slice_key = 0;
		engine.epochs->slice_tag = ENGINE_NO_TAG;
	}
}
/* lease.c: asks the strategy for a lease after a memory access of the moving thread. */
void engine_take_lease(void);
/* Steps of the lease that are not yet accounted for. */
static inline uint64_t engine_lease_used(void)
{
	if (!engine.lease_given)
		return 0;
	return (uint64_t)(engine.lease_given -
			  (engine.epochs->lease > 0 ? engine.epochs->lease : 0));
}
/* Adds the accesses made under the lease to the engine's steps. */
void engine_settle_lease(void);
static inline void engine_settle(void)
{
	if (__builtin_expect(engine.lease_given != 0, 0))
		engine_settle_lease();
}
/* Called when no thread can ever move again: classifies the failure and ends the run. */
void engine_stuck(void) __attribute__((noreturn));
/* Sets kind and location of an outcome with permanently blocked threads, from the collected waits. */
void engine_set_stuck(struct outcome *outcome);
/* Called when no thread is enabled (watchdog.c), with the earliest deadline. */
void engine_note_idle(uint64_t deadline_ns);
/* The op that blocks the thread, including an op that a running signal handler interrupted; returns
 * NULL if the thread is not blocked. */
const struct engine_op *engine_blocked_op(const struct engine_thread *thread);
/* Resets the cost of a step to its first value: no thread was enabled, or the run begins. */
void engine_clock_restart(void);
/* Called when no thread is enabled: waits for an outside event, advances virtual time, or ends the
 * run. */
void engine_clock_idle(void);
/* Runs at engine.due_step: deadlines expire, and busy periods end. */
void engine_clock_pass(void);
/* stall.c, in runs with stalls. engine_offer_stalls() adds the threads whose timed wait may end to
 * the offered threads; engine_stall() ends the wait of the chosen one. */
void engine_offer_stalls(void);
void engine_stall(struct engine_thread *waiter);
/* store_buffer.c. engine_must_drain(): the op is disabled until the thread's buffer is empty. */
uint32_t engine_store_count(const struct engine_thread *thread);
bool engine_must_drain_for(const struct engine_thread *thread, const struct engine_op *op);
static inline bool engine_must_drain(const struct engine_thread *thread, const struct engine_op *op)
{
	return __builtin_expect(thread->store_buffer != 0, 0) && engine_must_drain_for(thread, op);
}
/* Performs the pending drain of the drainer. */
void engine_drain(struct engine_thread *drainer);
void engine_exchange_buffers(const struct engine_thread *from, const struct engine_thread *to);
/* Called at a context switch: memory shows the view of `to` instead of that of `from`. */
static inline void engine_exchange_views(
	const struct engine_thread *from, const struct engine_thread *to)
{
	if (__builtin_expect(engine.store_buffer_count, 0))
		engine_exchange_buffers(from, to);
}
/* A free entry of the table of threads; NULL: none (threads.c). */
struct engine_thread *engine_thread_slot(void);
/* The pending op whose deadline is the first; NULL: no thread waits for time. */
const struct engine_op *engine_next_wait(void);
/* progress.c. Notes an op of the moving thread; accesses under a lease; a failed try; that the
 * thread declares to wait. */
void engine_note_progress(struct engine_thread *self, const struct engine_op *op);
void engine_note_accesses(struct engine_thread *self, uint64_t count);
void engine_note_failed_try(struct engine_thread *self);
void engine_note_waiting(struct engine_thread *self);
/* Ends the run at the limit of steps: a livelock, or an unfinished run. */
void engine_end_at_limit(uint64_t site);
/* loop.c. Called at the end of a busy period: may watch the operations of the next one. */
void engine_loop_watch(void);
/* engine_perform() while operations are watched: ends the run if the loop is endless. */
enum engine_result engine_perform_watched(struct engine_op *op);
/* engine_perform() without this. */
enum engine_result engine_perform_now(struct engine_op *op);
/* Notes that the moving thread is at a spin point. */
void engine_clock_note_spin(void);
/* fairness.c: gives time slices to the threads that did not run during the busy period. */
void engine_favour_starved(void);
void engine_drop_slices(void);
/* Ends the time slice of the thread, if it has one. */
void engine_end_slice(struct engine_thread *thread);
/* Counts a step of the thread against its time slice. */
void engine_use_slice(struct engine_thread *thread);
/* Details of the last op that became known after it was announced, for host.performed. */
void engine_note_other(struct thread_id other);
/* Notes that a thread waits at most until `deadline_ns`. */
void engine_clock_note_deadline(uint64_t deadline_ns);
/* Computes, for a timed wait that begins, when it may time out by the steps of other threads (see clock.c). */
void engine_clock_begin_wait(struct engine_thread *thread, const struct engine_op *op);
/* Returns whether the thread's wait has reached its time limit. */
bool engine_clock_has_expired(const struct engine_thread *thread, const struct engine_op *op);
/* Does what engine_fail() does, with one line of explanation instead of an address. */
void engine_fail_because(enum outcome_kind kind, uint64_t site, const char *why);
void engine_collect_waits(struct outcome *outcome);
