/*
 * The end of a run. runtime_finish_run() completes the outcome, lets the command inspect the stopped
 * threads if it asked for that, and does not return.
 */
#include <sys/syscall.h>

#include "runtime/interpose.h"
#include "runtime/libc/child_run.h"
#include "runtime/libc/family.h"
#include "runtime/libc/raw_thread.h"
#include "runtime/libc/world.h"
#include "runtime/memory.h"
#include "runtime/record.h"
#include "runtime/runtime.h"

/* Counts the steps of each thread in the recorded schedule. */
static void run_end_count_steps(struct contract *contract, struct thread_record *threads)
{
	const struct schedule *schedule = contract_area(contract, contract->schedule_offset);

	for (uint32_t i = 0; i < schedule->count; i++) {
		const struct schedule_segment *segment = &schedule->segments[i];

		if (!(segment->flags & SEGMENT_VALUE))
			threads[segment->thread].steps += segment->count;
	}
}

void runtime_publish_threads(void)
{
	struct contract *contract = runtime.contract;
	struct thread_record *threads = contract_area(contract, contract->threads_offset);

	contract->thread_count = engine_thread_count();
	for (uint32_t i = 0; i < contract->thread_count; i++) {
		const struct engine_thread *thread = engine_thread(i);
		bool is_parked = thread->state == THREAD_ALIVE && thread != engine_current() &&
				 runtime.executor == &executor_fiber;

		threads[i] = (struct thread_record){
			.name = thread->name,
			.parent = thread->parent,
			.ordinal = thread->ordinal,
			.create_site = thread->create_site,
			.start = (uint64_t)(uintptr_t)thread->start,
			.stack_pointer = is_parked ? (uint64_t)thread->context.stack_pointer : 0,
			.thread_base = thread->context.thread_base,
		};
		for (unsigned c = 0; c < sizeof threads[i].label; c++)
			threads[i].label[c] = thread->label[c];
	}
	run_end_count_steps(contract, threads);
	stuck_children_add_threads(threads, &contract->thread_count);
}

/* A switch to a context that rings and waits saves the context of this thread, so that the command
 * can unwind it like any other. */
struct run_end_inspection {
	struct context self, waiter;
	unsigned char stack[16384];
};

static void run_end_wait_for_inspection(void *argument)
{
	struct run_end_inspection *inspection = argument;
	struct contract *contract = runtime.contract;
	struct thread_record *threads = contract_area(contract, contract->threads_offset);
	struct thread_record *self = &threads[engine_current()->id.index];
	struct context unused;

	self->stack_pointer = (uint64_t)inspection->self.stack_pointer;
	self->thread_base = inspection->self.thread_base;
	(void)runtime_report_and_wait(REPORT_INSPECT);
	context_switch_plain(&unused, &inspection->self);
}

static void run_end_inspect(void)
{
	struct run_end_inspection *inspection = platform_map(sizeof *inspection, true);

	if (!inspection)
		return;
	inspection->self.thread_base = context_thread_base();
	context_make(&inspection->waiter, inspection->stack + sizeof inspection->stack,
		context_thread_base(), run_end_wait_for_inspection, inspection);
	context_switch_plain(&inspection->self, &inspection->waiter);
	platform_unmap(inspection, sizeof *inspection);
}

void runtime_stand_still(void)
{
	runtime_publish_threads();
	run_end_inspect();
}

/* Ends a forked child of the target, or a process without a command, as it would end natively. */
static void run_end_alone(const struct outcome *outcome) __attribute__((noreturn));
static void run_end_alone(const struct outcome *outcome)
{
	if (outcome->kind == OUTCOME_PASSED || outcome->kind == OUTCOME_EXIT)
		for (;;)
			(void)platform_call(SYS_exit_group, outcome->code);
	stuck_child_report(outcome);
	family_stop();
	signals_give_to_kernel(); /* a pending signal may still end the process */
	for (;;)		  /* a deadlock: the native program hangs, too */
		(void)platform_call(SYS_pause);
}

/* Blocks of one allocating call form one group: runs of one bug differ in the block. */
static void run_end_group_objects(struct outcome *outcome)
{
	if (outcome->kind == OUTCOME_USE_AFTER_FREE || outcome->kind == OUTCOME_DOUBLE_FREE)
		outcome->object_group = memory_block_class(outcome->address);
	for (uint32_t i = 0; i < outcome->wait_count; i++) {
		struct wait_edge *edge = &outcome->waits[i];

		edge->object_group = memory_block_class(edge->object_address);
		if (!edge->object_group)
			edge->object_group = edge->object;
	}
}

/* Adds the death of a child, or a sanitizer's report, as the cause of an exit status. */
static void run_end_complete(struct outcome *outcome)
{
	const int sanitizer_status = runtime.contract->plan.sanitizer_status;

	child_run_take_death(outcome);
	if (outcome->kind == OUTCOME_EXIT && sanitizer_status && sanitizer_status == outcome->code)
		outcome->kind = OUTCOME_SANITIZER;
}

/* Notes that the run did not end, and the location of its last step. */
static void run_end_note_limit(struct contract *contract, const struct outcome *outcome)
{
	if (outcome->kind != OUTCOME_STEP_LIMIT || contract->features & FEATURE_STEPS_CUT)
		return;
	contract->limit_site = outcome->site;
	/* Release: the command reads the location after the bit. */
	__atomic_or_fetch(&contract->features, FEATURE_STEPS_CUT, __ATOMIC_RELEASE);
}

void runtime_finish_run(void)
{
	struct contract *contract = runtime.contract;
	struct outcome *outcome;
	int status;

	if (!contract || runtime.is_forked_child)
		run_end_alone(engine_private_outcome());
	outcome = &contract->outcome;
	if (runtime.is_run_over)
		for (;;)
			(void)platform_call(SYS_exit_group, 127);
	runtime.is_run_over = true;
	run_end_group_objects(outcome);
	raw_thread_check_end();
	if (contract->is_live)
		engine_report_ending();
	if (contract->plan.is_recorded)
		engine_report_rest();
	if (record_is_on())
		record_end();
	status = outcome->code;
	run_end_complete(outcome);
	run_end_note_limit(contract, outcome);
	if (outcome_is_failure(outcome) || contract->plan.is_traced || contract->plan.is_recorded) {
		runtime_publish_threads();
		if (contract->plan.stop_for_debugger && outcome_is_failure(outcome))
			__asm__ volatile("int3");
		if (contract->plan.inspect)
			run_end_inspect();
	}
	runtime.restart->finish(status);
}

void runtime_run_ended(int status)
{
	struct contract *contract = runtime.contract;
	const bool is_left = process_leaves_daemon(status);

	if (contract && !is_left && !runtime.is_forked_child &&
		contract->outcome.kind == OUTCOME_NONE)
		engine_exited(status);
	family_end();
	if (!contract || is_left || runtime.is_forked_child)
		for (;;)
			(void)platform_call(SYS_exit_group, status);
	runtime_finish_run();
}
