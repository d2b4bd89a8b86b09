/* What the engine needs from its environment: the functions of its host, and the parameters of a run. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "engine/executor.h"
#include "engine/op.h"
#include "engine/thread.h"
#include "model/ids.h"
#include "model/memory_model.h"
#include "model/outcome/outcome.h"
#include "model/schedule.h"
#include "model/stall.h"
#include "strategies/strategy.h"

/* Functions that the engine needs from its environment: the runtime, or a unit test. */
struct engine_host {
	const struct executor *executor;
	/* Ends the run and does not return. `outcome` lies in memory that survives the run. */
	void (*run_over)(struct outcome *outcome) __attribute__((noreturn));
	/* Runs at a scheduling point after engine_raise_attention(): assigns each
	 * process-directed signal to a thread (signals_pending) and calls engine_evaluate() for
	 * it. NULL: no signals. */
	void (*route_signals)(void);
	/* Ends the process with status 0. The engine calls it when the last thread has ended by pthread_exit(),
	 * so that no thread is left to call exit(). */
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
	/* The engine calls this function at every step of a traced run, and the function adds the step to the
	 * trace. NULL if the run is not traced. */
	void (*observe)(
		const struct engine_thread *thread, const struct engine_op *op, uint64_t step);
	/* The engine calls this function if an op that it passed to observe() ends otherwise than with
	 * WAIT_DONE. NULL if the run is not traced. */
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
	/* Implements schedule_view.heap_position; NULL if none */
	bool (*heap_position)(object_name object, struct heap_position *out);
	/* Returns whether main has allocated the object, or the object is static; NULL if not known. */
	bool (*is_common)(const void *address);
	/* Stable name of an object that is neither static nor a thread; 0: not known; or NULL. */
	object_name (*name)(const void *address);
	/* Called when the kernel reads memory, or may change it if `writes` is set, as part of the moving thread's next
	 * op. Returns op_second() of the variable, or 0 if accesses to memory are no steps in this run. The function is
	 * NULL if they never are. */
	uint16_t (*kernel_accesses)(const void *address, bool writes);
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
