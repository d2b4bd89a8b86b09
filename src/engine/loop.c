/*
 * Endless loops. Where one thread is enabled and no thread waits for time, the rest of the run is a
 * function of the program's memory and of this thread's registers. A thread that reaches an
 * operation in the same state again thus repeats its loop for ever: a livelock.
 *
 * The states are compared after 32 busy periods (clock.c), 64 and so on: that costs correct
 * programs little. A loop that ends by the processor's time stamp counter, which raddle does not
 * see, usually ends before.
 */
#include "engine/engine.h"
#include "engine/engine_internal.h"

#define LOOP_PERIODS 32
/* rbx and r12 to r15, below the saved frame pointer */
#define LOOP_SAVED_BYTES 40
/* A thread may visit one location several times per iteration, up to 8 times. */
#define LOOP_COMPARISONS 12
/* Unused words of the runtime's own frames keep what earlier calls left there. The first visits
 * after the end of a busy period differ in them. Later states are compared with that of visit 4. */
#define LOOP_REFERENCES 4

void engine_note_outside(void)
{
	engine.outside_count++;
}

uint64_t engine_outside_count(void)
{
	return engine.outside_count;
}

bool engine_is_closed(void)
{
	return engine.is_live && !engine.is_ending && !engine.enabled_count &&
	       !engine.changed_count && !engine.attention && !engine_next_wait();
}

void engine_loop_watch(void)
{
	engine.loop = (struct engine_loop){
		.is_watched = engine.host.digest && engine.period_count >= LOOP_PERIODS &&
			      !(engine.period_count & (engine.period_count - 1)) &&
			      engine.timer_ns == ENGINE_FOREVER && !engine.clock_was_read};
}

static bool loop_may_be_endless(const struct engine_op *op)
{
	const uint8_t class = op_descriptions[op->kind].object;

	return engine_is_closed() && !op->is_shared && op->deadline_ns == ENGINE_FOREVER &&
	       class != OBJECT_FD && class != OBJECT_CHILD && class != OBJECT_SIGNAL &&
	       (!engine.loop.comparisons || engine.loop.outside_count == engine.outside_count);
}

static void loop_visit(const struct engine_op *op, const char *stack_pointer)
{
	struct engine_loop *loop = &engine.loop;
	uint64_t digest;

	engine_evaluate_changed();
	loop->is_watched = loop_may_be_endless(op);
	if (!loop->is_watched ||
		(loop->comparisons && (op->site != loop->site || op->address != loop->address)))
		return;
	loop->is_watched =
		loop->comparisons < LOOP_COMPARISONS && engine.host.digest(stack_pointer, &digest);
	if (!loop->is_watched)
		return;
	if (loop->comparisons++ && digest == loop->digest)
		engine_fail_because(OUTCOME_LIVELOCK, op->site,
			"no other thread can run, and the state is as at this location before");
	if (loop->comparisons > LOOP_REFERENCES || loop->comparisons & (loop->comparisons - 1))
		return;
	loop->site = op->site;
	loop->address = op->address;
	loop->digest = digest;
	loop->outside_count = engine.outside_count;
}

__attribute__((noinline)) enum engine_result engine_perform_watched(struct engine_op *op)
{
	/* The frames of the runtime hold registers of the program: these are saved here. */
	__builtin_unwind_init();
	loop_visit(op, (const char *)__builtin_frame_address(0) - LOOP_SAVED_BYTES);
	return engine_perform_now(op);
}
