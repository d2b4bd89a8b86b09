#include "support/simulated_program.h"

#include <stdlib.h>
#include <string.h>

#include "base/bug.h"
#include "base/hash.h"
#include "model/thread_name.h"
#include "model/view.h"
#include "support/strategy_state.h"

#define NOBODY UINT16_MAX

struct machine_thread {
	const struct simulated_code *code;
	uint32_t at;	/* index of the pending op */
	uint32_t round; /* repetitions of the code that are done */
	uint16_t parent;
	uint16_t children;
	bool is_begun;	 /* its THREAD_BEGIN is done */
	bool is_waiting; /* the thread waits on its condition variable, before the wake-up */
	bool is_signalled;
	bool is_ending; /* its THREAD_EXIT is next */
	bool is_done;
};

/* The state of one run; static, because a run begins with it as zero and tests run one at a time. */
struct machine {
	struct simulated_run *run;
	struct rng values;
	struct schedule_view view;
	uint16_t owner[SIMULATED_OBJECTS]; /* owners of mutexes */
	uint32_t semaphore[SIMULATED_OBJECTS];
	int32_t variable[SIMULATED_OBJECTS];
	uint64_t enabled[BITSET_WORDS(THREAD_CAPACITY)];
	uint64_t equals_previous[BITSET_WORDS(THREAD_CAPACITY)];
	struct pending_op pending[THREAD_CAPACITY];
	thread_name names[THREAD_CAPACITY];
	struct machine_thread threads[THREAD_CAPACITY];
};

static struct machine machine;

static const struct {
	uint8_t kind;
	uint8_t class; /* objects of one class share their numbers */
} op_forms[] = {
	[SIMULATED_CREATE] = {OP_THREAD_CREATE, OBJECT_THREAD},
	[SIMULATED_JOIN] = {OP_THREAD_JOIN, OBJECT_THREAD},
	[SIMULATED_LOCK] = {OP_MUTEX_LOCK, OBJECT_MUTEX},
	[SIMULATED_UNLOCK] = {OP_MUTEX_UNLOCK, OBJECT_MUTEX},
	[SIMULATED_WAIT] = {OP_COND_WAIT, OBJECT_COND},
	[SIMULATED_SIGNAL] = {OP_COND_SIGNAL, OBJECT_COND},
	[SIMULATED_BROADCAST] = {OP_COND_BROADCAST, OBJECT_COND},
	[SIMULATED_POST] = {OP_SEM_POST, OBJECT_SEM},
	[SIMULATED_TAKE] = {OP_SEM_WAIT, OBJECT_SEM},
	[SIMULATED_READ] = {OP_LOAD, OBJECT_MEMORY},
	[SIMULATED_SET] = {OP_STORE, OBJECT_MEMORY},
	[SIMULATED_SET_BOTH] = {OP_STORE, OBJECT_MEMORY},
	[SIMULATED_ADD] = {OP_ATOMIC_UPDATE, OBJECT_MEMORY},
	[SIMULATED_ADVANCE] = {OP_ATOMIC_UPDATE, OBJECT_MEMORY},
	[SIMULATED_EXPECT] = {OP_LOAD, OBJECT_MEMORY},
	[SIMULATED_REFUSE] = {OP_LOAD, OBJECT_MEMORY},
	[SIMULATED_LEAVE] = {OP_LOAD, OBJECT_MEMORY},
	[SIMULATED_AWAIT] = {OP_ATOMIC_LOAD, OBJECT_MEMORY},
	[SIMULATED_AWAIT_EITHER] = {OP_ATOMIC_LOAD, OBJECT_MEMORY},
	[SIMULATED_GRAB] = {OP_ATOMIC_UPDATE, OBJECT_MEMORY},
};

object_name simulated_object_name(enum simulated_kind kind, uint32_t object)
{
	return (object_name)hash_pair(op_forms[kind].class, object) | 1;
}

static const struct simulated_op *machine_op(const struct machine_thread *thread)
{
	return &thread->code->ops[thread->at];
}

/* The index of a thread's child, NOBODY when it was not created. */
static uint32_t machine_child(uint32_t parent, uint32_t ordinal)
{
	for (uint32_t i = parent + 1; i < machine.view.thread_count; i++)
		if (machine.threads[i].parent == parent && ordinal-- == 0)
			return i;
	return NOBODY;
}

static bool machine_is_access(const struct pending_op *op)
{
	return op_descriptions[op->kind].object == OBJECT_MEMORY;
}

static void machine_announce(uint32_t index)
{
	const struct machine_thread *thread = &machine.threads[index];
	struct pending_op *pending = &machine.pending[index];
	const struct simulated_op *op;

	*pending = (struct pending_op){0};
	if (thread->is_done)
		return;
	op = machine_op(thread);
	pending->site = (uint64_t)(uintptr_t)op;
	if (!thread->is_begun || thread->is_ending) {
		pending->kind = thread->is_ending ? OP_THREAD_EXIT : OP_THREAD_BEGIN;
		pending->object = (object_name)hash_mix(machine.names[index]) | 1;
	} else {
		pending->kind = thread->is_waiting ? OP_COND_WAKE : op_forms[op->kind].kind;
		pending->object = simulated_object_name(op->kind, op->object);
		if (op->kind == SIMULATED_CREATE || op->kind == SIMULATED_JOIN)
			pending->object =
				(object_name)hash_mix(thread_name_child(machine.names[index],
					op->kind == SIMULATED_JOIN ? op->object
								   : thread->children)) |
				1;
	}
	if (machine.run->program->has_halves && machine_is_access(pending)) {
		pending->object = simulated_object_name(op->kind, op->object & ~1u);
		if (op->kind != SIMULATED_SET_BOTH)
			pending->untouched = op_untouched(op->object % 2 * 4, 4);
	}
	if (pending->kind == OP_COND_WAIT || pending->kind == OP_COND_WAKE)
		pending->second =
			op_second(simulated_object_name(SIMULATED_LOCK, (uint32_t)op->argument));
	pending->flags = op_descriptions[pending->kind].flags;
	if (op->kind == SIMULATED_AWAIT || op->kind == SIMULATED_GRAB)
		pending->flags |= OP_MAYBLOCK;
	if (op->kind == SIMULATED_AWAIT_EITHER)
		pending->flags |= OP_MAYBLOCK | OP_WIDE;
}

static uint32_t machine_add_thread(uint32_t code, uint32_t parent, thread_name name)
{
	const uint32_t index = machine.view.thread_count++;

	BUG_ON(index >= THREAD_CAPACITY || code >= machine.run->program->code_count);
	machine.names[index] = name;
	machine.threads[index] = (struct machine_thread){
		.code = &machine.run->program->codes[code], .parent = (uint16_t)parent};
	machine.threads[index].is_done = !machine.threads[index].code->op_count;
	return index;
}

static bool machine_is_enabled(const struct machine_thread *thread, uint32_t index)
{
	const struct simulated_op *op;
	uint32_t child;

	if (thread->is_done)
		return false;
	if (!thread->is_begun || thread->is_ending)
		return true;
	op = machine_op(thread);
	if (thread->is_waiting)
		return thread->is_signalled && machine.owner[op->argument] == NOBODY;
	switch (op->kind) {
	case SIMULATED_LOCK:
		return machine.owner[op->object] == NOBODY;
	case SIMULATED_TAKE:
		return machine.semaphore[op->object] > 0;
	case SIMULATED_AWAIT:
		return machine.variable[op->object] >= op->argument;
	case SIMULATED_AWAIT_EITHER:
		return machine.variable[op->object] > 0 || machine.variable[op->argument] > 0;
	case SIMULATED_GRAB:
		return machine.variable[op->object] == 0;
	case SIMULATED_JOIN:
		child = machine_child(index, op->object);
		return child != NOBODY && machine.threads[child].is_done;
	default:
		return true;
	}
}

/* All objects of a simulated program are static. */
static bool machine_is_common(uint32_t index)
{
	(void)index;
	return true;
}

/* Computes which threads may move; false when no thread can. */
static bool machine_look(void)
{
	machine.view.enabled_count = 0;
	memset(machine.enabled, 0,
		BITSET_WORDS(machine.view.thread_count) * sizeof *machine.enabled);
	for (uint32_t i = 0; i < machine.view.thread_count; i++) {
		if (!machine_is_enabled(&machine.threads[i], i))
			continue;
		bitset_add(machine.enabled, i);
		machine.view.enabled_count++;
	}
	return machine.view.enabled_count > 0;
}

static uint32_t machine_choose_value(uint32_t count)
{
	struct simulated_run *run = machine.run;
	uint32_t value;

	if (count < 2)
		return 0;
	value = run->strategy->choose_value ? run->strategy->choose_value(run->state, count)
					    : rng_below(&machine.values, count);
	if (run->recording)
		schedule_add_value(run->recording, (uint16_t)value, count);
	return value;
}

static bool machine_waits_on(uint32_t index, uint16_t cond)
{
	const struct machine_thread *thread = &machine.threads[index];

	return thread->is_waiting && !thread->is_signalled && machine_op(thread)->object == cond;
}

static void machine_wake(uint16_t cond, bool all)
{
	uint32_t waiting = 0;
	uint32_t chosen;

	for (uint32_t i = 0; i < machine.view.thread_count; i++)
		waiting += machine_waits_on(i, cond);
	chosen = all ? 0 : machine_choose_value(waiting);
	for (uint32_t i = 0; i < machine.view.thread_count; i++) {
		if (!machine_waits_on(i, cond))
			continue;
		if (all || chosen-- == 0)
			machine.threads[i].is_signalled = true;
	}
}

/* Applies the op of `index` to the model. Returns how the run ends by it, OUTCOME_NONE: the run
 * continues. */
static enum outcome_kind machine_apply(uint32_t index, const struct simulated_op *op)
{
	struct machine_thread *thread = &machine.threads[index];
	uint32_t child;

	switch (op->kind) {
	case SIMULATED_CREATE:
		child = machine_add_thread(op->object, index,
			thread_name_child(machine.names[index], thread->children++));
		if (thread->children > 1 &&
			machine.threads[machine_child(index, thread->children - 2u)].code ==
				machine.threads[child].code)
			bitset_add(machine.equals_previous, child);
		machine_announce(child);
		break;
	case SIMULATED_LOCK:
		machine.owner[op->object] = (uint16_t)index;
		break;
	case SIMULATED_UNLOCK:
		if (machine.owner[op->object] != index)
			return OUTCOME_UNLOCK_NOT_OWNED;
		machine.owner[op->object] = NOBODY;
		break;
	case SIMULATED_SIGNAL:
	case SIMULATED_BROADCAST:
		machine_wake(op->object, op->kind == SIMULATED_BROADCAST);
		break;
	case SIMULATED_POST:
		machine.semaphore[op->object]++;
		break;
	case SIMULATED_TAKE:
		machine.semaphore[op->object]--;
		break;
	case SIMULATED_SET:
		machine.variable[op->object] = op->argument;
		break;
	case SIMULATED_SET_BOTH:
		machine.variable[op->object] = machine.variable[op->object ^ 1] = op->argument;
		break;
	case SIMULATED_GRAB:
		machine.variable[op->object] = 1;
		break;
	case SIMULATED_ADD:
		machine.variable[op->object] += op->argument;
		break;
	case SIMULATED_ADVANCE:
		machine.variable[op->object] += machine.variable[op->object] == op->argument;
		break;
	case SIMULATED_EXPECT:
		return machine.variable[op->object] == op->argument ? OUTCOME_NONE : OUTCOME_ABORT;
	case SIMULATED_REFUSE:
		return machine.variable[op->object] != op->argument ? OUTCOME_NONE : OUTCOME_ABORT;
	case SIMULATED_LEAVE:
		if (machine.variable[op->object] == op->argument) {
			thread->at = thread->code->op_count - 1; /* this was the last one */
			thread->round = thread->code->repeat ? thread->code->repeat - 1 : 0;
		}
		break;
	default:
		break; /* reads and joins change nothing */
	}
	return OUTCOME_NONE;
}

/* Performs the pending op of `index` and announces its next one. */
static enum outcome_kind machine_perform(uint32_t index)
{
	struct machine_thread *thread = &machine.threads[index];
	const struct simulated_op *op = machine_op(thread);
	enum outcome_kind end = OUTCOME_NONE;
	bool is_next = true;

	if (!thread->is_begun) {
		thread->is_begun = true;
		is_next = false;
	} else if (thread->is_ending) {
		thread->is_done = true;
		is_next = false;
	} else if (op->kind == SIMULATED_WAIT && !thread->is_waiting) {
		if (machine.owner[op->argument] != index)
			return OUTCOME_UNLOCK_NOT_OWNED;
		machine.owner[op->argument] = NOBODY;
		thread->is_waiting = true;
		is_next = false;
	} else if (op->kind == SIMULATED_WAIT) {
		machine.owner[op->argument] = (uint16_t)index;
		thread->is_waiting = thread->is_signalled = false;
	} else {
		end = machine_apply(index, op);
	}
	if (is_next && ++thread->at == thread->code->op_count) {
		const bool is_over =
			++thread->round >= (thread->code->repeat ? thread->code->repeat : 1);

		thread->at = 0;
		thread->is_ending = is_over && machine.run->program->has_exits &&
				    index >= machine.run->program->initial_count;
		thread->is_done = is_over && !thread->is_ending;
	}
	machine_announce(index);
	return end;
}

static void machine_begin(struct simulated_run *run)
{
	const struct simulated_program *program = run->program;

	machine.run = run;
	machine.view = (struct schedule_view){.enabled = machine.enabled,
		.pending = machine.pending,
		.names = machine.names,
		.equals_previous = machine.equals_previous,
		.is_common = machine_is_common,
		/* Threads that all stand at their start: no thread moved last. */
		.current = program->initial_count > 1 ? THREAD_NONE : (struct thread_id){0}};
	rng_seed(&machine.values, hash_pair(run->seed, 1));
	memset(machine.equals_previous, 0, sizeof machine.equals_previous);
	for (uint32_t i = 0; i < SIMULATED_OBJECTS; i++) {
		machine.owner[i] = NOBODY;
		machine.semaphore[i] = 0;
		machine.variable[i] = 0;
	}
	for (uint32_t i = 0; i < program->initial_count; i++) {
		const uint32_t index = machine_add_thread(
			i, 0, i ? thread_name_child(THREAD_NAME_MAIN, i - 1) : THREAD_NAME_MAIN);

		machine.threads[index].is_begun = true;
		machine_announce(index);
	}
	machine.threads[0].children = (uint16_t)(program->initial_count - 1);
	machine.threads[0].parent = NOBODY;
	machine_announce(0);
}

static enum outcome_kind machine_end(void)
{
	for (uint32_t i = 0; i < machine.view.thread_count; i++)
		if (!machine.threads[i].is_done)
			return OUTCOME_DEADLOCK;
	return OUTCOME_PASSED;
}

/* One scheduling point with its op; OUTCOME_NONE: the run continues. */
static enum outcome_kind machine_step(struct simulated_run *run)
{
	const struct schedule_view *view = &machine.view;
	const struct thread_id chosen = view->step < run->prefix_steps
						? view_default(view)
						: run->strategy->choose(run->state, view);
	bool is_preemption;

	if (chosen.index >= view->thread_count || !view_is_enabled(view, chosen.index)) {
		run->has_false_choice = true;
		return OUTCOME_REFUSED;
	}
	is_preemption =
		view_is_enabled(view, view->current.index) && !thread_same(chosen, view->current);
	run->contested_count += view->enabled_count > 1;
	run->preemption_count += is_preemption;
	run->order_hash = hash_pair(run->order_hash, chosen.index);
	if (run->observe)
		run->observe(run->context, view, chosen);
	if (run->strategy->executed)
		run->strategy->executed(run->state, view, chosen);
	if (run->recording)
		schedule_add_steps(run->recording, chosen, is_preemption ? SEGMENT_PREEMPTS : 0, 1);
	machine.view.current = chosen;
	machine.view.step++;
	return machine_perform(chosen.index);
}

void simulated_run(struct simulated_run *run)
{
	run->outcome = OUTCOME_NONE;
	run->contested_count = run->preemption_count = run->order_hash = 0;
	run->has_false_choice = false;
	if (run->recording)
		schedule_clear(run->recording);
	machine_begin(run);
	run->strategy->begin_run(run->state, run->seed);
	while (run->outcome == OUTCOME_NONE) {
		if (run->crash_after && machine.view.step == run->crash_after)
			run->outcome = OUTCOME_CRASH;
		else if (run->step_limit && machine.view.step == run->step_limit)
			run->outcome = OUTCOME_STEP_LIMIT;
		else if (machine_look())
			run->outcome = machine_step(run);
		else
			run->outcome = machine_end();
	}
	if (run->strategy->ending && run->outcome != OUTCOME_CRASH)
		run->strategy->ending(run->state, &machine.view);
	run->thread_count = machine.view.thread_count;
	run->step_count = machine.view.step;
}

struct run_summary simulated_summary(const struct simulated_run *run)
{
	return (struct run_summary){.thread_count = run->thread_count,
		.step_count = run->step_count,
		.outcome = run->outcome};
}

void simulated_campaign_init(struct simulated_campaign *campaign,
	const struct simulated_program *program, const struct strategy *strategy, int64_t option,
	uint64_t seed)
{
	*campaign = (struct simulated_campaign){
		.run = {.program = program, .strategy = strategy}, .seed = seed};
	campaign->config.thread_capacity = THREAD_CAPACITY;
	for (uint32_t i = 0; strategy->options && strategy->options[i].name; i++)
		campaign->config.option[i] = strategy->options[i].standard;
	if (option)
		campaign->config.option[0] = option;
	campaign->state_bytes = strategy_state_bytes(strategy, &campaign->config);
	campaign->state = strategy_state_new(campaign->state_bytes);
	strategy_begin_campaign(strategy, campaign->state, &campaign->config);
}

void simulated_campaign_release(struct simulated_campaign *campaign)
{
	strategy_state_free(campaign->state, campaign->state_bytes);
	campaign->state = NULL;
}

enum outcome_kind simulated_campaign_run(struct simulated_campaign *campaign)
{
	struct simulated_run *run = &campaign->run;
	struct run_summary summary;

	run->state = campaign->state;
	run->seed = hash_pair(campaign->seed, campaign->run_number++);
	simulated_run(run);
	summary = simulated_summary(run);
	strategy_end_single_run(run->strategy, campaign->state, &summary);
	return run->outcome;
}

uint64_t simulated_campaign_count(
	struct simulated_campaign *campaign, uint64_t runs, enum outcome_kind outcome)
{
	uint64_t count = 0;

	for (uint64_t i = 0; i < runs; i++)
		count += simulated_campaign_run(campaign) == outcome;
	return count;
}

void simulated_campaign_relocate(struct simulated_campaign *campaign)
{
	void *copy = strategy_state_new(campaign->state_bytes);

	memcpy(copy, campaign->state, campaign->state_bytes);
	memset(campaign->state, 0xa5, campaign->state_bytes);
	strategy_state_free(campaign->state, campaign->state_bytes);
	campaign->state = copy;
}
