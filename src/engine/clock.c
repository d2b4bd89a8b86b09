/*
 * Virtual time, and the random numbers and value choices of the target.
 *
 * Time is steps times a cost. Time jumps to the next deadline when no thread is enabled. While some
 * thread is always enabled, the run is divided into busy periods of CLOCK_PERIOD_STEPS steps. If a
 * thread, a timer or a reader of the clock waits for time at the end of a period, the cost of a
 * step doubles. A sleep of 1 s takes some 85,000 steps of other threads, a limit of 600 s takes
 * 830,000.
 * Starved threads run first (engine_favour_starved), because the thread in a timed wait may depend
 * on one of them. An early time-out would be a false failure.
 * For the same reason, the steps of others end a wait for an event in no earlier period than if the cost had not
 * doubled before the wait began. Threads that hand a lock on keep the cost high, but none of them waits for long.
 * A thread whose last such wait timed out waits for time, and its next wait ends by the clock alone.
 *
 * Time is a function of the steps alone: every restart and every replay see the same times.
 */
#include "engine/engine.h"

#include "base/bug.h"
#include "engine/engine_internal.h"

/* Virtual time of a step while no busy period has ended. */
#define CLOCK_STEP_NS 100
#define CLOCK_PERIOD_STEPS 8192
/* A step costs at most 0.8 ms, so that some thousand steps still take seconds, and tests that measure them pass. */
#define CLOCK_DOUBLINGS_MAX 13
/* A step costs at most 13 us if no thread waits for time, but some read the clock. A thread that reads it may wait in a
 * loop for a time to come, but most such threads measure how long something takes. */
#define CLOCK_DOUBLINGS_OF_READS 7
/* Busy periods after which each further one ends with a look outside: the threads that move may wait
 * for a thread that waits for another process. */
#define CLOCK_PERIODS_BEFORE_LOOK 8
/* Cost, in steps, of a failed try and of a wait that had expired at its start. Natively they are
 * system calls, and a loop of them waits for other threads, which may wait for time. */
#define CLOCK_POLL_STEPS 16
/* Computing time that a thread at a spin point is assumed to have used. */
#define CLOCK_SPIN_NS 20000000
/* Ends of waits for time, in sequence, while a cycle of waits exists. */
#define CLOCK_CYCLE_IDLES_MOST 64

static uint64_t clock_step_ns(void)
{
	return (uint64_t)CLOCK_STEP_NS << engine.clock_doublings;
}

uint64_t engine_clock_ns(void)
{
	return engine.clock_ns;
}

uint64_t engine_clock_accelerated_ns(void)
{
	return engine.accelerated_ns;
}

static void clock_add(uint64_t steps)
{
	engine.clock_ns += steps * clock_step_ns();
	engine.accelerated_ns += steps * (clock_step_ns() - CLOCK_STEP_NS);
}

static void clock_account(void)
{
	engine_settle();
	clock_add(engine.step - engine.clock_step);
	engine.clock_step = engine.step;
}

/* Due is the end of the busy period, or the step at which time reaches the first deadline. The
 * steps of other threads alone let no deadline expire in the first period. */
static void clock_set_due_step(void)
{
	const uint64_t step_ns = clock_step_ns();
	uint64_t next_ns = engine.earliest_deadline;
	uint64_t steps = 0;

	engine.due_step = engine.slice_count ? engine.step : engine.period_end;
	if (engine.timer_ns < next_ns)
		next_ns = engine.timer_ns;
	if (next_ns == ENGINE_FOREVER || !engine.period_count)
		return;
	if (next_ns > engine.clock_ns)
		steps = (next_ns - engine.clock_ns - 1) / step_ns + 1;
	if (engine.clock_step + steps < engine.due_step)
		engine.due_step = engine.clock_step + steps;
}

void engine_clock_note_deadline(uint64_t deadline_ns)
{
	engine_note_feature(FEATURE_TIME);
	if (deadline_ns >= engine.earliest_deadline)
		return;
	engine.earliest_deadline = deadline_ns;
	clock_set_due_step();
}

void engine_clock_begin_wait(struct engine_thread *thread, const struct engine_op *op)
{
	uint64_t period_ns = (uint64_t)CLOCK_PERIOD_STEPS * CLOCK_STEP_NS, past_ns = period_ns;

	thread->wait_ns = op->deadline_ns > engine.clock_ns ? op->deadline_ns - engine.clock_ns : 0;
	thread->wait_end_period = engine.periods_ended;
	if (!op->is_timeout_only && !thread->has_timed_out && thread->wait_ns) {
		thread->wait_end_period++;
		while (past_ns + (period_ns *= 2) < thread->wait_ns) {
			past_ns += period_ns;
			thread->wait_end_period++;
		}
	}
	thread->has_timed_out = false;
}

bool engine_clock_has_expired(const struct engine_thread *thread, const struct engine_op *op)
{
	if (op->deadline_ns > engine.clock_ns) {
		engine_clock_note_deadline(op->deadline_ns);
		return false;
	}
	if (engine.periods_ended >= thread->wait_end_period)
		return true;
	engine.has_overdue_wait = true; /* clock_end_period() evaluates the wait again */
	return false;
}

static void clock_expire(void)
{
	engine.earliest_deadline = ENGINE_FOREVER;
	for (uint32_t i = 0; i < engine.thread_count; i++)
		if (engine.threads[i].op && engine.threads[i].op->deadline_ns != ENGINE_FOREVER)
			engine_evaluate(&engine.threads[i]);
}

/* Lets all waits time out whose deadline has passed. Called when time jumps, because no steps of others come first. */
static void clock_end_waits(void)
{
	engine.has_overdue_wait = false;
	for (uint32_t i = 0; i < engine.thread_count; i++)
		if (engine.threads[i].op && engine.threads[i].op->deadline_ns <= engine.clock_ns)
			engine.threads[i].wait_end_period = 0;
}

void engine_clock_advance_to(uint64_t clock_ns)
{
	if (clock_ns > engine.clock_ns)
		engine.clock_ns = clock_ns;
	if (engine.clock_ns >= engine.earliest_deadline || engine.has_overdue_wait) {
		clock_end_waits();
		clock_expire();
	}
	clock_set_due_step();
}

static void clock_fire_timers(void)
{
	engine.timer_ns = engine.host.fire_timers ? engine.host.fire_timers() : ENGINE_FOREVER;
}

static void clock_begin_period(void)
{
	engine.clock_was_read = false;
	engine.period_begin = engine.step;
	engine.period_end = engine.step + CLOCK_PERIOD_STEPS;
	for (uint32_t word = 0; word < BITSET_WORDS(engine.thread_count); word++)
		engine.was_enabled[word] = engine.enabled[word];
}

/* Returns how often the cost of a step may have doubled at most. The limit is lower if threads only read the clock, and 0
 * if nothing depends on time. */
static uint32_t clock_doublings_most(void)
{
	if (engine.earliest_deadline != ENGINE_FOREVER || engine.timer_ns != ENGINE_FOREVER)
		return CLOCK_DOUBLINGS_MAX;
	return engine.clock_was_read ? CLOCK_DOUBLINGS_OF_READS : 0;
}

static void clock_end_period(void)
{
	uint32_t most;

	engine.periods_ended++;
	clock_fire_timers();
	clock_expire(); /* earliest_deadline may belong to a wait that has ended */
	most = clock_doublings_most();
	engine.clock_doublings = engine.clock_doublings < most ? engine.clock_doublings + 1 : most;
	engine.period_count++;
	if (engine.host.look_outside && engine.period_count >= CLOCK_PERIODS_BEFORE_LOOK)
		engine.host.look_outside();
	engine_favour_starved();
	engine_loop_watch();
	clock_begin_period();
}

void engine_clock_pass(void)
{
	clock_account();
	if (engine.clock_ns >= engine.timer_ns)
		clock_fire_timers();
	if (engine.clock_ns >= engine.earliest_deadline)
		clock_expire();
	if (engine.step >= engine.period_end)
		clock_end_period();
	clock_set_due_step();
}

/* A loop may make such calls without any step. */
static void clock_add_steps(uint64_t count)
{
	clock_account();
	clock_add(count);
	engine.period_end =
		engine.period_end > engine.step + count ? engine.period_end - count : engine.step;
	engine_clock_pass();
}

uint64_t engine_clock_read_ns(void)
{
	engine.clock_was_read = true;
	engine_note_outside();
	clock_add_steps(1);
	return engine.clock_ns;
}

void engine_clock_note_poll(void)
{
	clock_add_steps(CLOCK_POLL_STEPS);
}

void engine_clock_note_calls(uint32_t count)
{
	clock_add_steps(count);
}

static bool clock_somebody_moves(void)
{
	for (uint32_t i = 0; i < engine.thread_count; i++)
		if (bitset_has(engine.enabled, i) && &engine.threads[i] != engine.current &&
			engine.threads[i].op->kind != OP_SPIN)
			return true;
	return false;
}

const struct engine_op *engine_next_wait(void)
{
	const struct engine_op *next = NULL;

	for (uint32_t i = 0; i < engine.thread_count; i++) {
		const struct engine_op *op = engine.threads[i].op;

		if (op && op->deadline_ns != ENGINE_FOREVER &&
			(!next || op->deadline_ns < next->deadline_ns))
			next = op;
	}
	return next;
}

/* Time jumps to the end of a sleep if no other thread can move, because the spinning thread may
 * wait for the sleeper. Time does not jump to the limit of a timed wait, whose thread may wait
 * for the result of the computation. */
void engine_clock_note_spin(void)
{
	const struct engine_op *next;

	engine.accelerated_ns += CLOCK_SPIN_NS;
	engine_clock_advance_to(engine_clock_ns() + CLOCK_SPIN_NS);
	while (!clock_somebody_moves()) {
		next = engine_next_wait();
		if (!next || !next->is_timeout_only)
			break;
		engine_clock_advance_to(next->deadline_ns);
	}
}

void engine_clock_restart(void)
{
	engine_settle();
	engine_drop_slices();
	engine.clock_doublings = engine.period_count = 0;
	engine.timer_ns = ENGINE_FOREVER;
	clock_begin_period();
	clock_set_due_step();
}

/* Time may end the run of a cycle of waits: the failure of a watchdog that expires names it. A thread
 * that only sleeps again and again is no watchdog. */
static void clock_check_cycle(void)
{
	if (!engine.run.outcome || !engine_has_cycle())
		engine.cycle_idles = 0;
	else if (++engine.cycle_idles == CLOCK_CYCLE_IDLES_MOST)
		engine_stuck();
}

void engine_clock_idle(void)
{
	const struct engine_op *next = engine_next_wait();
	const uint64_t deadline = next ? next->deadline_ns : ENGINE_FOREVER;

	engine_clock_restart();
	engine_note_idle(deadline);
	clock_check_cycle();
	if (engine.host.wait_outside && engine.host.wait_outside(deadline)) {
		engine_changed_kind(OP_FD_READ);
		engine_changed_kind(OP_FD_WRITE);
		engine_changed_kind(OP_FD_POLL);
		engine_changed_kind(OP_CHILD_WAIT);
		engine_changed_kind(OP_SIGNAL_WAIT);
		engine_changed_shared();
	} else if (deadline == ENGINE_FOREVER) {
		engine_stuck();
	} else {
		engine_clock_advance_to(deadline);
	}
}

void engine_random_bytes(void *buffer, size_t bytes)
{
	unsigned char *at = buffer;

	engine_note_outside();
	while (bytes) {
		uint64_t word = rng_next(&engine.random);

		for (unsigned i = 0; i < 8 && bytes; i++, bytes--, word >>= 8)
			*at++ = (unsigned char)word;
	}
}

uint32_t engine_choose_value(uint32_t count)
{
	const struct engine_run *run = &engine.run;
	uint32_t value;

	engine_settle();
	engine_note_outside();
	if (count < 2 || !engine.is_live || !run->strategy)
		return 0;
	if (run->strategy->choose_value)
		value = run->strategy->choose_value(run->strategy_state, count);
	else
		value = rng_below(&engine.value_random, count);
	BUG_ON(value >= count);
	if (run->recording)
		schedule_add_value(run->recording, (uint16_t)value, count);
	return value;
}
