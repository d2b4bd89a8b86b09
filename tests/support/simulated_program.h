/*
 * Programs without threads, for tests of strategies. A program consists of lists of ops. A run is a
 * loop that asks a strategy for the next thread, and applies its op to a model of locks, condition
 * variables, semaphores and variables. A run of a small program takes a microsecond: a test can
 * count results of a hundred thousand runs.
 *
 * A *code* is a repeated list of ops of a thread. A program starts with one thread per code below
 * `initial_count`. The first is main, the others have names of its children, and none has a
 * THREAD_BEGIN. SIMULATED_CREATE makes further threads, which begin with a THREAD_BEGIN like in the
 * engine.
 *
 *	static const struct simulated_op writer[] = {SET(0, 1)};
 *	static const struct simulated_op reader[] = {EXPECT(0, 0)};
 *	static const struct simulated_code codes[] = {CODE(writer), CODE(reader)};
 *	static const struct simulated_program race = {.codes = codes, .code_count = 2,
 *		.initial_count = 2};
 *
 *	simulated_campaign_init(&campaign, &race, &strategy_pct, 2, seed);
 *	for (...)
 *		failures += simulated_campaign_run(&campaign) == OUTCOME_ABORT;
 *	simulated_campaign_release(&campaign);
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/rng.h"
#include "model/outcome/outcome.h"
#include "model/schedule.h"
#include "strategies/strategy.h"

enum simulated_kind {
	SIMULATED_CREATE, /* object: the code of the new thread */
	SIMULATED_JOIN,	  /* object: which child of this thread, in order of creation */
	SIMULATED_LOCK,	  /* waits while a thread holds it */
	SIMULATED_UNLOCK,
	SIMULATED_WAIT,	  /* condition variable; argument: its mutex */
	SIMULATED_SIGNAL, /* wakes one waiter, chosen by the strategy; nobody: lost */
	SIMULATED_BROADCAST,
	SIMULATED_POST, /* semaphores start at 0 */
	SIMULATED_TAKE,
	SIMULATED_READ,	    /* reads a variable with any value */
	SIMULATED_SET,	    /* variable = argument; variables start at 0 */
	SIMULATED_SET_BOTH, /* variable and the other one of its object (has_halves) = argument */
	SIMULATED_ADD,	    /* variable += argument, at once */
	SIMULATED_ADVANCE,  /* if variable == argument then variable = argument + 1, at once */
	SIMULATED_EXPECT,   /* reads a variable: not argument is OUTCOME_ABORT */
	SIMULATED_REFUSE,   /* reads a variable: argument is OUTCOME_ABORT */
	SIMULATED_LEAVE,    /* reads a variable: if it holds the argument, the thread ends */
	SIMULATED_AWAIT, /* a waiting loop: waits until the variable holds at least the argument */
	/* a waiting loop that reads two variables: waits until one of them is positive */
	SIMULATED_AWAIT_EITHER,
	SIMULATED_GRAB /* the loop of a spin lock: waits until the variable is 0 and sets it to 1 */
};

#define SIMULATED_OBJECTS 32 /* number of objects of each class */

struct simulated_op {
	uint8_t kind; /* enum simulated_kind */
	uint16_t object;
	int32_t argument;
};

/* Short forms for lists of ops. */
#define CREATE(code)                                                                               \
	{                                                                                          \
		SIMULATED_CREATE, code, 0                                                          \
	}
#define JOIN(child)                                                                                \
	{                                                                                          \
		SIMULATED_JOIN, child, 0                                                           \
	}
#define LOCK(mutex)                                                                                \
	{                                                                                          \
		SIMULATED_LOCK, mutex, 0                                                           \
	}
#define UNLOCK(mutex)                                                                              \
	{                                                                                          \
		SIMULATED_UNLOCK, mutex, 0                                                         \
	}
#define WAIT(cond, mutex)                                                                          \
	{                                                                                          \
		SIMULATED_WAIT, cond, mutex                                                        \
	}
#define SIGNAL(cond)                                                                               \
	{                                                                                          \
		SIMULATED_SIGNAL, cond, 0                                                          \
	}
#define BROADCAST(cond)                                                                            \
	{                                                                                          \
		SIMULATED_BROADCAST, cond, 0                                                       \
	}
#define POST(semaphore)                                                                            \
	{                                                                                          \
		SIMULATED_POST, semaphore, 0                                                       \
	}
#define TAKE(semaphore)                                                                            \
	{                                                                                          \
		SIMULATED_TAKE, semaphore, 0                                                       \
	}
#define READ(variable)                                                                             \
	{                                                                                          \
		SIMULATED_READ, variable, 0                                                        \
	}
#define SET(variable, value)                                                                       \
	{                                                                                          \
		SIMULATED_SET, variable, value                                                     \
	}
#define ADD(variable, value)                                                                       \
	{                                                                                          \
		SIMULATED_ADD, variable, value                                                     \
	}
#define SET_BOTH(variable, value)                                                                  \
	{                                                                                          \
		SIMULATED_SET_BOTH, variable, value                                                \
	}
#define ADVANCE(variable, value)                                                                   \
	{                                                                                          \
		SIMULATED_ADVANCE, variable, value                                                 \
	}
#define EXPECT(variable, value)                                                                    \
	{                                                                                          \
		SIMULATED_EXPECT, variable, value                                                  \
	}
#define LEAVE(variable, value)                                                                     \
	{                                                                                          \
		SIMULATED_LEAVE, variable, value                                                   \
	}
#define AWAIT(variable, value)                                                                     \
	{                                                                                          \
		SIMULATED_AWAIT, variable, value                                                   \
	}
#define AWAIT_EITHER(variable, other)                                                              \
	{                                                                                          \
		SIMULATED_AWAIT_EITHER, variable, other                                            \
	}
#define GRAB(variable)                                                                             \
	{                                                                                          \
		SIMULATED_GRAB, variable, 0                                                        \
	}
#define REFUSE(variable, value)                                                                    \
	{                                                                                          \
		SIMULATED_REFUSE, variable, value                                                  \
	}

struct simulated_code {
	const struct simulated_op *ops;
	uint32_t op_count;
	uint32_t repeat; /* how often the whole list, 0 as 1 */
};

#define CODE(list)                                                                                 \
	{                                                                                          \
		list, sizeof(list) / sizeof *(list), 1                                             \
	}
#define CODE_REPEATED(list, times)                                                                 \
	{                                                                                          \
		list, sizeof(list) / sizeof *(list), times                                         \
	}

struct simulated_program {
	const struct simulated_code *codes;
	uint32_t code_count;
	uint32_t initial_count; /* >= 1 */
	bool has_exits;	 /* created threads end with a THREAD_EXIT, which enables their join */
	bool has_halves; /* variables 2 * n and 2 * n + 1 are halves of one object */
};

/* Stable name of an object as pending ops carry it. */
object_name simulated_object_name(enum simulated_kind kind, uint32_t object);

/* One run: fill the first part, the rest is the result. */
struct simulated_run {
	const struct simulated_program *program;
	const struct strategy *strategy;
	void *state;
	uint64_t seed;
	uint64_t
		crash_after; /* the run ends as OUTCOME_CRASH after this number of steps; 0: never */
	uint64_t step_limit; /* the run ends as OUTCOME_STEP_LIMIT at this step; 0: none */
	/* Number of initial steps that follow the schedule without preemptions and do not ask the
	 * strategy. */
	uint64_t prefix_steps;
	struct schedule *recording; /* NULL if none */
	/* Called after every choice, before its op happens; NULL: not. */
	void (*observe)(void *context, const struct schedule_view *view, struct thread_id chosen);
	void *context;

	enum outcome_kind outcome; /* PASSED, ABORT, DEADLOCK, UNLOCK_NOT_OWNED or CRASH */
	uint32_t thread_count;
	uint64_t step_count;
	uint64_t contested_count; /* points with two or more enabled threads */
	/* points whose current thread could have continued and did not */
	uint64_t preemption_count;
	uint64_t order_hash; /* equal when the same threads moved in the same order */
	/* A choice of a thread that was not enabled: the run ends as OUTCOME_REFUSED. */
	bool has_false_choice;
};

/* Begins the run in the strategy and carries it through; does not call end_run. */
void simulated_run(struct simulated_run *run);

/* The strategy's summary of that run. */
struct run_summary simulated_summary(const struct simulated_run *run);

/* A strategy at work on a program, run after run. */
struct simulated_campaign {
	struct simulated_run run; /* options may be changed between runs; results of the last one */
	struct strategy_config config;
	void *state;
	size_t state_bytes;
	uint64_t seed;
	uint64_t run_number;
};

/* `option` is the first option's value, 0: all options at their standard. */
void simulated_campaign_init(struct simulated_campaign *campaign,
	const struct simulated_program *program, const struct strategy *strategy, int64_t option,
	uint64_t seed);
void simulated_campaign_release(struct simulated_campaign *campaign);

/* One more run, seeded as the product does it, with end_run. */
enum outcome_kind simulated_campaign_run(struct simulated_campaign *campaign);

/* Makes this many runs; returns the number that ended with `outcome`. */
uint64_t simulated_campaign_count(
	struct simulated_campaign *campaign, uint64_t runs, enum outcome_kind outcome);

/* Moves the strategy's state to another address and spoils the old copy. */
void simulated_campaign_relocate(struct simulated_campaign *campaign);
