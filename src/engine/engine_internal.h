/*
 * What the files of the engine share: the one struct that holds its whole state. It lies in
 * libraddle's data segment, so a rewind restores it with the target's memory. Only the moving
 * thread touches it; the one exception is `attention`, which signal handlers set.
 */
#ifndef RADDLE_ENGINE_ENGINE_INTERNAL_H
#define RADDLE_ENGINE_ENGINE_INTERNAL_H

#include <signal.h>

#include "base/bitset.h"
#include "base/rng.h"
#include "engine/engine.h"
#include "model/view.h"

#define ENGINE_BUCKETS 256
#define ENGINE_CHANGED_MOST 4 /* objects, whose waiters are not yet looked at */
#define ENGINE_MODULES_MAX 256
#define ENGINE_FUTEX_QUEUES 64
#define ENGINE_CROWDS 4
#define ENGINE_CROWD_LEAST 8   /* of fewer threads it is as fast to look at each */
#define ENGINE_NAME_CACHE 1024 /* direct-mapped; a miss costs a search, never a wrong name */

/* enum engine_thread.wake_reason: bits, or'ed; 0 means the pending op is disabled. */
enum engine_wake { WAKE_READY = 1, WAKE_DEADLINE = 2, WAKE_SIGNAL = 4, WAKE_CANCEL = 8 };

struct engine_module {
	uintptr_t start, end;
	uint64_t hash;
};

/* Futex waiters of one hash bucket in order of arrival, as sync_mark()s. */
struct engine_futex_queue {
	uint16_t first;
	uint16_t last;
};

/* Threads that wait for one object alike (crowd.c). */
struct engine_crowd {
	const void *address;
	uint32_t count; /* 0: free */
	bool is_ready;	/* all of them are enabled, or none is */
	uint64_t members[BITSET_WORDS(THREAD_CAPACITY)];
};

struct engine_name_entry {
	const void *address;
	object_name name;
};

/* The last time that no thread was enabled; see watchdog.c. */
struct engine_idle_state {
	uint64_t step;
	uint64_t clock_ns;
	bool has_limit; /* some thread was in a timed wait */
};

struct engine {
	bool is_up;
	bool is_live;
	bool watches_uses; /* engine_watch_uses() */
	bool has_woken;	   /* somebody else can move who could not at the last decision */
	bool follows_priorities;
	bool is_ending; /* a failure is being reported; later failures are ignored */
	volatile sig_atomic_t attention;
	struct engine_host host;
	struct engine_run run;
	engine_deciding *deciding; /* NULL: nobody wants to know */
	struct engine_thread *current;
	struct engine_thread *zombies; /* detached and ended, to be reaped by somebody else */
	uint32_t thread_count;
	uint32_t live_count;
	uint32_t enabled_count;
	uint32_t
		yielder_count; /* plus 1 while priorities are followed; not 0: some enabled threads may not be offered */
	uint32_t spin_count; /* since the step `spun_at`, with no other step since */
	uint64_t spun_at;
	uint64_t step;
	struct engine_episodes *episodes;	  /* engine_count_episodes() */
	const void *changed[ENGINE_CHANGED_MOST]; /* engine_changed_late() */
	uint32_t changed_count;
	int64_t lease_given;   /* value of episodes->lease when the lease was given; 0: no lease */
	uint64_t idle_periods; /* the number of times that no thread was enabled */
	uint64_t clock_ns;
	struct engine_idle_state idle;
	uint64_t clock_reads;	    /* since the last step */
	uint64_t clock_step;	    /* of the last reading */
	uint64_t clock_polls;	    /* readings since nobody could move */
	uint64_t clock_waits;	    /* waits for no time since then */
	uint64_t sleep_passes;	    /* doublings of CLOCK_SLEEP_NS; reset when a sleep ends */
	uint64_t limit_passes;	    /* doublings of CLOCK_LIMIT_NS */
	uint64_t sleep_step;	    /* step of the next advance of time for sleeps */
	uint64_t limit_step;	    /* earliest step of the next advance of time for timed waits */
	uint64_t fairness_step;	    /* step of the next check for starved threads */
	uint64_t patience_step;	    /* the earlier of sleep_step and fairness_step */
	uint64_t patience_steps;    /* steps between two checks for starved threads */
	uint64_t patience_looks;    /* consecutive steps at which the current check found none */
	uint64_t earliest_deadline; /* not later than the earliest one of any waiting thread */
	struct engine_performed
		performed;	 /* the last op, not yet told to the host; kind OP_NONE: none */
	struct rng random;	 /* the target's random numbers */
	struct rng value_random; /* value choices of strategies that leave them to us */
	struct schedule_view view;
	engine_holder *holders[OBJECT_CLASS_COUNT];
	engine_signal_history *signal_history;
	struct engine_thread *buckets[ENGINE_BUCKETS];
	uint32_t module_count;
	uint64_t named[BITSET_WORDS(ENGINE_NAME_CACHE)]; /* entries of this run: engine_renew() */
	struct engine_futex_queue futex_queues[ENGINE_FUTEX_QUEUES]; /* futex.c's */
	uint32_t crowd_count;					     /* in use */
	uint64_t enabled[BITSET_WORDS(THREAD_CAPACITY)];
	uint64_t offered[BITSET_WORDS(THREAD_CAPACITY)];
	/*
	 * Tables by thread index, in one private mapping of their own. Entries at or above thread_count are
	 * garbage after a rewind: engine_thread_slot() clears an entry before it is used.
	 */
	struct pending_op *pending;
	thread_name *names;
	uintptr_t *handles;
	uint32_t *contexts; /* of the pending ops, where the host says them */
	struct engine_thread *threads;
	/* Large, and written to now and then: behind what most runs write, as the pages of that are put back. */
	struct engine_module modules[ENGINE_MODULES_MAX];
	struct engine_name_entry name_cache[ENGINE_NAME_CACHE];
	struct engine_crowd crowds[ENGINE_CROWDS];
};

extern struct engine engine;

/* fairness.c: holds the thread back until the others have moved; computes the set on offer. */
void engine_hold_back(struct engine_thread *thread);
void engine_hold_back_spinner(struct engine_thread *thread);
/* Behind a step the order of those who spun before it means nothing any more. */
void engine_forget_spins(void);
/* It yields. */
void engine_hold_back_yielder(struct engine_thread *thread);
void engine_offer(void);
/* The thread announces an op: was its last one a failed try? */
void engine_note_op(struct engine_thread *self, const struct engine_op *op);
/* Gives the processor to another thread for good: the caller has ended. */
void engine_hand_over_for_good(void);
/* Recomputes whether the pending op of `thread` is enabled. */
void engine_evaluate(struct engine_thread *thread);
/* Looks at all who wait for what has changed. */
void engine_look(void);
/* Puts the thread, which has announced an op, among those that wait for its object, or takes it out. */
void engine_link(struct engine_thread *thread);
void engine_unlink(struct engine_thread *thread);
/* crowd.c: the thread may wait in a crowd for its object; false: it has to wait alone. */
bool engine_crowd_join(struct engine_thread *thread);
/* Of the threads in this bucket those that wait alike for the object become a crowd. */
void engine_crowd_form(struct engine_thread *bucket, const void *address);
/* The thread waits alone from now on, or no more. */
void engine_crowd_leave(struct engine_thread *thread);
/* The object has changed. */
void engine_crowd_changed(const void *address);
/* Why the pending op is enabled. */
uint8_t engine_wake_reason(const struct engine_thread *thread);
/* Takes back the announcement of an op. */
void engine_withdraw(struct engine_thread *thread);
void engine_announce(struct engine_thread *thread, struct engine_op *op);
/* observed.c: `self` has performed the op with this result. Only where somebody wants to know. */
void engine_tell_performed(
	const struct engine_thread *self, const struct engine_op *op, enum engine_result result);
/* observed.c: into the run's digest. */
void engine_add_operation(const struct engine_thread *thread, const struct engine_op *op);
/* The thread makes a step. */
static inline void engine_note_step(const struct engine_thread *thread, const struct engine_op *op)
{
	if (__builtin_expect(engine.run.operations != NULL, 0))
		engine_add_operation(thread, op);
	if (engine.host.observe)
		engine.host.observe(thread, op, engine.step);
}
/* observed.c: the op is about to take effect. */
void engine_tell_use(const struct engine_op *op);
/* Something other than a plain access has happened. */
static inline void engine_next_episode(void)
{
	if (engine.episodes)
		*engine.episodes->latest = engine.episodes->episode += ENGINE_EPISODE;
}
/* Another thread moves. */
static inline void engine_next_turn(void)
{
	engine_next_episode();
	if (engine.episodes)
		engine.episodes->turn = engine.episodes->own = 0;
}
/* lease.c: `self` has made an access to memory: the strategy says what it may do without being asked. */
void engine_take_lease(void);
/* Steps of the lease that are not accounted for. */
static inline uint64_t engine_lease_used(void)
{
	if (!engine.lease_given)
		return 0;
	return (uint64_t)(engine.lease_given -
			  (engine.episodes->lease > 0 ? engine.episodes->lease : 0));
}
/* There is a lease, and it is over: accounts for the steps that were made. */
void engine_settle_lease(void);
/* On the path of every op, most of which follow no lease. */
static inline void engine_settle(void)
{
	if (__builtin_expect(engine.lease_given != 0, 0))
		engine_settle_lease();
}
/* Nothing can move any more: classifies and ends the run. */
void engine_stuck(void) __attribute__((noreturn));
/* Fills in the kind and place of a run in which threads are blocked for good, from the collected waits. */
void engine_set_stuck(struct outcome *outcome);
/* Called when no thread is enabled (watchdog.c). */
void engine_note_idle(void);
/* The op that blocks the thread, even while a signal handler interrupts this op; NULL: the thread is not blocked. */
const struct engine_op *engine_blocked_op(const struct engine_thread *thread);
/* Finds threads whose deadline has come. */
void engine_expire(void);
/* Nobody could move, and time passes. */
void engine_clock_begin_patience(void);
/* No thread is enabled: waits for an outside event, advances virtual time, or ends the run. */
void engine_clock_idle(void);
/* Runs at engine.patience_step, when some thread was enabled at every step. Advances time and runs starved threads. */
void engine_clock_lose_patience(void);
/* The thread at hand has computed for a long time: where nobody else can move, that is as long as sleepers sleep. */
void engine_clock_wait_for_sleepers(void);

#endif
