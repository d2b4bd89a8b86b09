#include "support/simulation.h"

#include <sanitizer/asan_interface.h>
#include <stdlib.h>
#include <string.h>

#include "base/bug.h"
#include "engine/engine_internal.h"
#include "engine/sync.h"

#define STACK_BYTES ((size_t)64 * 1024)
#define STACKS_MAX 1100
#define STEP_LIMIT 10000

/* ---- the executor ---- */

/* Written by the one kernel thread of the test. */
static struct {
	char *stacks[STACKS_MAX]; /* made at first use, kept for later runs */
	struct context home;	  /* the test waits here for the end of the run */
	struct context away;	  /* state at the end of the run; never resumed */
	void (*body)(void *);
	void *argument;
	struct engine_run run;
	struct outcome outcome;
	uint64_t strategy_state[1024];
} world;

static char *coroutine_stack_top(uint32_t index)
{
	BUG_ON(index >= STACKS_MAX);
	if (!world.stacks[index])
		world.stacks[index] = malloc(STACK_BYTES);
	BUG_ON(!world.stacks[index]);
	/* Frames of the run before were left without returning; what they forbade is free again. */
	ASAN_UNPOISON_MEMORY_REGION(world.stacks[index], STACK_BYTES);
	return world.stacks[index] + STACK_BYTES;
}

static void coroutine_entry(void *thread)
{
	engine_thread_main(thread);
	abort(); /* a coroutine that has ended is never resumed */
}

static int coroutine_spawn(struct engine_thread *thread, const void *attributes)
{
	(void)attributes; /* coroutines have no stack sizes */
	thread->handle = thread->id.index + 1u;
	thread->kernel_id = thread->id.index + 1000;
	context_make(&thread->context, coroutine_stack_top(thread->id.index), 0, coroutine_entry,
		thread);
	return 0;
}

static void coroutine_transfer(struct engine_thread *from, struct engine_thread *to)
{
	context_switch_plain(&from->context, &to->context);
}

static void coroutine_reap(struct engine_thread *thread)
{
	(void)thread; /* stacks belong to indices */
}

static const struct executor coroutine_executor = {
	.name = "coroutine",
	.spawn = coroutine_spawn,
	.transfer = coroutine_transfer,
	.finish = coroutine_transfer,
	.reap = coroutine_reap,
};

/* ---- one run ---- */

__attribute__((noreturn)) static void simulation_run_over(struct outcome *outcome)
{
	(void)outcome; /* it is world.outcome */
	context_switch_plain(&world.away, &world.home);
	abort(); /* the run is not resumed */
}

__attribute__((noreturn)) static void simulation_last_thread_ended(void)
{
	engine_exited(0);
}

static void simulation_thread_body(struct engine_thread *thread)
{
	thread->result = thread->start(thread->argument);
	engine_mutex_owner_died(thread);
}

static void simulation_main(void *unused)
{
	static const struct engine_host host = {
		.executor = &coroutine_executor,
		.run_over = simulation_run_over,
		.last_thread_ended = simulation_last_thread_ended,
	};

	(void)unused;
	engine_init(&host);
	engine_thread_body = simulation_thread_body;
	engine_set_main(1, 1000);
	engine_begin_run(&world.run);
	engine_go_live();
	world.body(world.argument);
	engine_exited(0);
}

/* Does the work of a target's rewind: the engine's memory gets its old contents, and its tables do
 * not move. */
static void simulation_reset_engine(void)
{
	const struct engine tables = {.pending = engine.pending,
		.names = engine.names,
		.handles = engine.handles,
		.threads = engine.threads};

	if (engine.threads)
		memset(engine.threads, 0, engine.thread_count * sizeof *engine.threads);
	engine = tables;
}

static void simulation_perform(const struct simulation *simulation, const struct strategy *strategy,
	void *state, void (*body)(void *), void *argument)
{
	struct context main_context;

	simulation_reset_engine();
	world.body = body;
	world.argument = argument;
	world.run = (struct engine_run){.strategy = strategy,
		.strategy_state = state,
		.outcome = &world.outcome,
		.seed = simulation->seed,
		.step_limit = simulation->step_limit ? simulation->step_limit : STEP_LIMIT,
		.has_spurious_wakeups = simulation->has_spurious_wakeups,
		.stall_ns = simulation->stall_ns,
		.memory_model = simulation->memory_model,
		.delayed = simulation->delayed,
		.stalls = simulation->stalls,
		.tolerated = simulation->tolerated,
		.defers_changes = simulation->defers_changes};
	strategy->begin_run(state, simulation->seed);
	context_make(&main_context, coroutine_stack_top(0), 0, simulation_main, NULL);
	context_switch_plain(&world.home, &main_context);
}

const struct outcome *simulate(
	const struct simulation *simulation, void (*body)(void *), void *argument)
{
	const struct strategy *strategy =
		simulation->strategy ? simulation->strategy : &strategy_random;
	struct strategy_config config = {.thread_capacity = THREAD_CAPACITY};

	BUG_ON(strategy_state_bytes(strategy, &config) > sizeof world.strategy_state);
	memset(world.strategy_state, 0, sizeof world.strategy_state);
	strategy_begin_campaign(strategy, world.strategy_state, &config);
	simulation_perform(simulation, strategy, world.strategy_state, body, argument);
	return &world.outcome;
}

/* ---- all runs ---- */

#define DEPTH_MAX 4096

/* The path of the current run: at each choice, which of how many. */
struct enumeration {
	uint32_t at;
	uint32_t depth;
	uint32_t chosen[DEPTH_MAX];
	uint32_t count[DEPTH_MAX];
};

static uint32_t enumeration_take(void *state, uint32_t count)
{
	struct enumeration *enumeration = state;

	BUG_ON(enumeration->at == DEPTH_MAX);
	if (enumeration->at == enumeration->depth) {
		enumeration->chosen[enumeration->depth] = 0;
		enumeration->count[enumeration->depth++] = count;
	}
	BUG_ON(enumeration->count[enumeration->at] != count); /* the program is not deterministic */
	return enumeration->chosen[enumeration->at++];
}

/* Moves on to the next path; false when there is none. */
static bool enumeration_next(struct enumeration *enumeration)
{
	enumeration->at = 0;
	while (enumeration->depth) {
		uint32_t last = enumeration->depth - 1;

		if (++enumeration->chosen[last] < enumeration->count[last])
			return true;
		enumeration->depth--;
	}
	return false;
}

static void enumeration_begin_run(void *state, uint64_t seed)
{
	(void)state; /* enumeration_next() has prepared it */
	(void)seed;
}

static struct thread_id enumeration_choose(void *state, const struct schedule_view *view)
{
	uint32_t rank = 0;

	if (view->enabled_count > 1)
		rank = enumeration_take(state, view->enabled_count);
	return (struct thread_id){(uint16_t)bitset_select(view->enabled, rank)};
}

static const struct strategy strategy_enumeration = {
	.name = "enumeration",
	.begin_run = enumeration_begin_run,
	.choose = enumeration_choose,
	.choose_value = enumeration_take,
};

uint64_t simulate_every_schedule(const struct simulation *simulation, void (*body)(void *),
	void *argument, void (*before)(void *argument),
	void (*after)(void *argument, const struct outcome *outcome))
{
	static struct enumeration enumeration;
	uint64_t runs = 0;

	enumeration.at = enumeration.depth = 0;
	do {
		before(argument);
		simulation_perform(simulation, &strategy_enumeration, &enumeration, body, argument);
		after(argument, &world.outcome);
		runs++;
	} while (enumeration_next(&enumeration));
	return runs;
}

/* ---- functions for the threads ---- */

struct engine_thread *simulation_create(void *(*start)(void *), void *argument)
{
	struct engine_thread *thread = NULL;

	engine_point(OP_THREAD_CREATE, NULL, 0);
	BUG_ON(engine_thread_create(&thread, start, argument, NULL, 0) != 0);
	return thread;
}

static bool simulation_has_ended(const struct engine_op *op, const struct engine_thread *thread)
{
	const struct engine_thread *joined = op->address;

	(void)thread;
	return joined->state == THREAD_DONE;
}

void *simulation_join(struct engine_thread *thread)
{
	struct engine_op op = {.kind = OP_THREAD_JOIN,
		.address = thread,
		.ready = simulation_has_ended,
		.deadline_ns = ENGINE_FOREVER};

	(void)engine_perform(&op); /* WAIT_DONE: no deadline, never interrupted */
	return thread->result;
}

void simulation_step(void)
{
	engine_point(OP_CHOOSE, NULL, 0);
}

void simulation_cancel(struct engine_thread *thread)
{
	engine_point(OP_THREAD_CANCEL, thread, 0);
	thread->is_cancel_requested = true;
	engine_evaluate(thread);
}
