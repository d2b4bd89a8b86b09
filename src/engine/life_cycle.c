/* Sets up the engine's tables, begins runs, sets up a forked child. CMakeLists.txt compiles this
 * file for general registers only, because it also holds functions on the path of accesses. */
#include "engine/engine.h"

#include <string.h>

#include "base/bug.h"
#include "engine/c11.h"
#include "engine/engine_internal.h"

/* The engine's tables. Each begins on a page, because a rewind saves the used part of each
 * table. */
struct engine_tables {
	_Alignas(4096) struct pending_op pending[THREAD_CAPACITY];
	_Alignas(4096) thread_name names[THREAD_CAPACITY];
	_Alignas(4096) uintptr_t handles[THREAD_CAPACITY];
	_Alignas(4096) uint32_t contexts[THREAD_CAPACITY];
	_Alignas(4096) struct engine_thread threads[THREAD_CAPACITY];
};

static void life_cycle_make_tables(void)
{
	struct engine_tables *tables = platform_map(sizeof *tables, false);

	BUG_ON(!tables);
	engine.pending = tables->pending;
	engine.names = tables->names;
	engine.handles = tables->handles;
	engine.contexts = tables->contexts;
	engine.threads = tables->threads;
}

void engine_each_saved(engine_save *save, void *argument)
{
	uint32_t count = engine.thread_count;

	save(argument, engine.pending, count * sizeof *engine.pending);
	save(argument, engine.names, count * sizeof *engine.names);
	save(argument, engine.handles, count * sizeof *engine.handles);
	save(argument, engine.contexts, count * sizeof *engine.contexts);
	save(argument, engine.threads, count * sizeof *engine.threads);
}

bool engine_owns_mapping(const void *start, const void *end)
{
	const char *tables = (const char *)engine.pending;

	return tables >= (const char *)start && tables < (const char *)end;
}

void engine_init(const struct engine_host *host)
{
	struct engine_thread *main_thread;

	if (!engine.threads) /* unit tests call engine_init() again; the tables stay */
		life_cycle_make_tables();
	main_thread = &engine.threads[0];
	engine.host = *host;
	engine.thread_count = engine.live_count = 1;
	engine.earliest_deadline = ENGINE_FOREVER;
	engine_clock_restart();
	engine.current = main_thread;
	engine.names[0] = main_thread->name = 1;
	main_thread->state = THREAD_ALIVE;
	main_thread->parent = THREAD_NONE;
	rng_seed(&engine.random, 0);
	rng_seed(&engine.value_random, 0);
	engine.view.enabled = engine.enabled;
	engine.view.pending = engine.pending;
	engine.view.names = engine.names;
	engine.view.heap_position = host->heap_position;
	engine.view.equals_previous = engine.equals_previous;
	engine.view.is_common = engine_is_common;
	engine.view.contexts = host->context ? engine.contexts : NULL;
	engine.is_up = true;
}

void engine_begin_run(const struct engine_run *run)
{
	engine.lease_given = 0;
	engine.watches_uses = false;
	engine.run = *run;
	engine.view.stallable = NULL;
	engine.view.features = run->features;
	engine.stall_count = 0;
	engine.stalled_ns = 0;
	engine.store_buffer_count = 0;
	engine.weak_choices = 0;
	c11_begin_run(run);
	rng_seed(&engine.random, run->random_seed);
	rng_seed(&engine.value_random, ~run->seed);
}

static void life_cycle_reset_main(void)
{
	struct engine_thread *thread = &engine.threads[0];

	*thread = (struct engine_thread){
		.context.thread_base = thread->context.thread_base,
		.state = THREAD_ALIVE,
		.id = thread->id,
		.name = thread->name,
		.parent = THREAD_NONE,
		.signals_pending = thread->signals_pending,
		.signals_blocked = thread->signals_blocked,
		.executor_part = thread->executor_part,
		.handle = thread->handle,
		.kernel_id = thread->kernel_id,
	};
	engine.current = thread;
}

void engine_renew(void)
{
	bool has_pending = engine.threads[0].op;

	engine_drop_slices();
	engine_withdraw(&engine.threads[0]);
	for (uint32_t i = 1; i < engine.thread_count; i++) {
		struct engine_thread *thread = &engine.threads[i];

		has_pending |= thread->op != NULL;
		engine_withdraw(thread);
		if (thread->state == THREAD_ALIVE || thread->state == THREAD_DONE)
			engine_thread_reap(thread);
	}
	/* Does not read pending ops: a failed run may have corrupted the stacks that hold them. */
	if (has_pending)
		memset(engine.buckets, 0, sizeof engine.buckets);
	life_cycle_reset_main();
	bitset_each (slot, engine.named, ENGINE_NAME_CACHE)
		engine.name_cache[slot].address = NULL;
	for (unsigned word = 0; word < BITSET_WORDS(ENGINE_NAME_CACHE); word++)
		engine.named[word] = 0;
	for (unsigned queue = 0; queue < ENGINE_FUTEX_QUEUES; queue++)
		engine.futex_queues[queue] = (struct engine_futex_queue){0};
	engine.run = (struct engine_run){.step_limit = UINT64_MAX};
	engine.zombies = NULL;
	engine.is_live = engine.is_ending = false;
	engine.thread_count = engine.live_count = 1;
	engine.yielder_count = 0;
	engine.spin_count = 0;
	engine.has_progressed = false;
	engine.half_ns = 0;
	engine.cycle_idles = 0;
	engine.store_buffer_count = 0;
	engine.weak_choices = 0;
	engine.step = 0;
	engine.lease_given = 0;
	engine.changed_count = 0;
	engine.clock_ns = engine.clock_step = engine.accelerated_ns = 0;
	engine.periods_ended = 0;
	engine.has_overdue_wait = false;
	engine.earliest_deadline = ENGINE_FOREVER;
	engine_clock_restart();
	engine.performed.kind = OP_NONE;
	engine.run_number++;
}

uint32_t engine_run_number(void)
{
	return engine.run_number;
}

void engine_set_deciding(engine_deciding *deciding)
{
	engine.deciding = deciding;
}

void engine_renew_run(uint64_t seed)
{
	engine.run.seed = seed;
	rng_seed(&engine.value_random, ~seed);
}

bool engine_has_used_seed(void)
{
	struct rng unused;

	rng_seed(&unused, ~engine.run.seed);
	return unused.word[0] != engine.value_random.word[0];
}

void engine_go_live(void)
{
	engine.is_live = true;
}

bool engine_is_live(void)
{
	return engine.is_live;
}

enum memory_model engine_memory_model(void)
{
	return engine.is_live ? engine.run.memory_model : MEMORY_MODEL_SC;
}

uint64_t engine_idle_period(void)
{
	return engine.idle_periods;
}

bool engine_has_spurious_wakeups(void)
{
	return engine.run.has_spurious_wakeups && engine.is_live;
}

uint64_t engine_step(void)
{
	return engine.step + engine_lease_used();
}

void engine_begin_child(uint64_t random_seed)
{
	struct engine_thread *self = engine.current;

	engine_drop_slices();
	for (uint32_t i = 0; i < engine.thread_count; i++) {
		struct engine_thread *thread = &engine.threads[i];

		if (thread == self)
			continue;
		engine_withdraw(thread);
		thread->store_buffer = 0;
		thread->state = THREAD_REAPED;
		engine.handles[i] = 0;
	}
	engine.lease_given = 0; /* the strategy belongs to the parent */
	if (engine.epochs) {
		engine.epochs->lease = 0;
		engine.epochs->wants_lease = false;
	}
	self->store_buffer = 0;
	engine.store_buffer_count = 0;
	engine.weak_choices = 0;
	c11_end();
	engine.zombies = NULL;
	engine.yielder_count = (self->yielded_at != 0) + engine.follows_priorities;
	engine.live_count = 1;
	engine.is_live = false;
	engine.attention = 0;
	rng_seed(&engine.random, random_seed);
	engine.host.performed = NULL; /* its buffers belong to the parent's run */
	engine.run = (struct engine_run){.step_limit = UINT64_MAX};
	if (engine.host.executor->after_fork)
		engine.host.executor->after_fork(self);
}

void engine_follow_priorities(bool are_followed)
{
	engine_settle();
	engine.yielder_count += (uint32_t)are_followed - engine.follows_priorities;
	engine.follows_priorities = are_followed;
}

void engine_raise_attention(void)
{
	engine.attention = 1;
	engine_end_lease();
}

void engine_note_feature(enum feature feature)
{
	if (engine.run.features)
		*engine.run.features |= feature;
}

void engine_watch_uses(void)
{
	engine.watches_uses = engine.host.used != NULL;
}

void engine_set_performed(void (*performed)(const struct engine_performed *performed))
{
	engine.host.performed = performed;
	engine.performed.kind = OP_NONE;
}

void engine_report_ending(void)
{
	const struct strategy *strategy = engine.run.strategy;

	if (!strategy || !strategy->ending)
		return;
	engine_update_view();
	strategy->ending(engine.run.strategy_state, &engine.view);
}

struct engine_futex_queue *engine_futex_queues(void)
{
	return engine.futex_queues;
}
