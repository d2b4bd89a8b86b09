/* Virtual time, and the random numbers and value choices of the target. */
#include "engine/engine.h"

#include "base/bug.h"
#include "engine/engine_internal.h"

uint64_t engine_clock_ns(void)
{
	return engine.clock_ns;
}

/*
 * Virtual time that a clock read adds per step since the last read. Steps alone do not advance the
 * clock at this rate, so time-outs expire when no thread is enabled. A loop that polls the clock
 * waits as long as its own steps take.
 */
#define CLOCK_STEP_NS 100

/*
 * Virtual time per clock read. Many reads without a step between them indicate a loop that waits
 * for time to pass. So do very many reads with steps between them while some thread is always
 * enabled. The rate then doubles: at the first rate, 2 s would take 20 million reads, more than the
 * step limit of a run.
 */
#define CLOCK_READ_NS 100
#define CLOCK_READS_BEFORE_HASTE 64
#define CLOCK_POLLS_BEFORE_HASTE 4096
#define CLOCK_HASTE_DOUBLINGS_MAX 20
/*
 * An enabled thread that has not run for this many steps may be the one that the loop waits for.
 * Then the rate does not double, because generous time-outs would expire that never expire in
 * reality.
 */
#define CLOCK_STARVED_STEPS 64

static bool clock_somebody_starves(uint64_t steps)
{
	bitset_each (i, engine.enabled, engine.thread_count) {
		if (&engine.threads[i] != engine.current &&
			engine.threads[i].last_moved + steps < engine.step)
			return true;
	}
	return false;
}

static uint64_t clock_poll_doublings(void)
{
	const uint64_t doublings = engine.clock_polls++ / CLOCK_POLLS_BEFORE_HASTE;

	return doublings && !clock_somebody_starves(CLOCK_STARVED_STEPS) ? doublings : 0;
}

uint64_t engine_clock_read_ns(void)
{
	uint64_t doublings, steps;

	engine_settle();
	steps = engine.step - engine.clock_step;
	engine.clock_step = engine.step;
	doublings = engine.clock_reads++ / CLOCK_READS_BEFORE_HASTE + clock_poll_doublings();
	if (doublings > CLOCK_HASTE_DOUBLINGS_MAX)
		doublings = CLOCK_HASTE_DOUBLINGS_MAX;
	engine_clock_advance_to(
		engine.clock_ns + ((uint64_t)CLOCK_READ_NS << doublings) + steps * CLOCK_STEP_NS);
	return engine.clock_ns;
}

/*
 * Virtual time of a wait that had expired at its start, and of a repeated failed try. In a loop
 * such calls wait for other threads, which may wait for time.
 */
#define CLOCK_WAIT_NS 1000
#define CLOCK_WAITS_BEFORE_HASTE 256

void engine_clock_note_deadline(uint64_t deadline_ns)
{
	engine_note_met(MET_TIME);
	if (deadline_ns < engine.earliest_deadline)
		engine.earliest_deadline = deadline_ns;
}

void engine_clock_wait_for_nothing(void)
{
	uint64_t doublings = engine.clock_waits++ / CLOCK_WAITS_BEFORE_HASTE;

	if (doublings > CLOCK_HASTE_DOUBLINGS_MAX)
		doublings = CLOCK_HASTE_DOUBLINGS_MAX;
	engine_clock_advance_to(engine.clock_ns + ((uint64_t)CLOCK_WAIT_NS << doublings));
}

/*
 * Virtual time jumps to the next deadline when no thread is enabled. While some thread is always enabled, virtual time
 * is a function of the step count, so every restart and every replay see the same times:
 *
 * - While a thread sleeps, the first CLOCK_SLEEP_STEPS steps take CLOCK_SLEEP_NS. Each further interval takes twice the
 *   time of the one before, until a sleep ends. A sleep of 1 s takes some 33,000 steps of other threads.
 * - For timed waits and timers, CLOCK_LIMIT_STEPS steps take CLOCK_LIMIT_NS, doubled in the same way. This rate is
 *   slower, because a time-out that fires too early reports a failure that the program does not have.
 */
#define CLOCK_SLEEP_STEPS 4096
#define CLOCK_SLEEP_NS UINT64_C(4096000)
#define CLOCK_LIMIT_STEPS 65536
#define CLOCK_LIMIT_NS UINT64_C(65536000)

static void clock_set_patience_step(void)
{
	engine.patience_step =
		engine.sleep_step < engine.fairness_step ? engine.sleep_step : engine.fairness_step;
}

static uint64_t clock_sooner(uint64_t step, uint32_t count)
{
	return step > engine.step + count ? step - count : engine.step;
}

void engine_clock_note_calls(uint32_t count)
{
	engine_settle();
	engine.sleep_step = clock_sooner(engine.sleep_step, count);
	engine.limit_step = clock_sooner(engine.limit_step, count);
	engine.fairness_step = clock_sooner(engine.fairness_step, count);
	clock_set_patience_step();
}

void engine_clock_begin_patience(void)
{
	engine.clock_polls = engine.clock_waits = 0;
	engine.sleep_passes = engine.limit_passes = 0;
	engine.sleep_step = engine.step + CLOCK_SLEEP_STEPS;
	engine.limit_step = engine.fairness_step = engine.step + CLOCK_LIMIT_STEPS;
	engine.patience_steps = CLOCK_LIMIT_STEPS;
	engine.patience_looks = 0;
	clock_set_patience_step();
}

/*
 * A strategy may schedule other threads for ever before the one that would end the loop. In a run
 * of this length, threads that have not run for patience_steps steps are scheduled next. The
 * interval shrinks, because such a thread may need to run many times.
 */
#define CLOCK_LONG_RUN_STEPS (UINT64_C(1) << 17)
#define CLOCK_PATIENCE_STEPS_LEAST 1024
/*
 * A thread that waits for a lock is enabled at few steps of a loop that locks and unlocks. The engine therefore checks
 * for starved threads at several consecutive steps, and begins the next check at another step of the loop.
 */
#define CLOCK_LOOKS_LEAST 8
#define CLOCK_STEPS_PER_LOOK 1024

static void clock_help_starved(void)
{
	for (uint32_t i = 0; i < engine.thread_count; i++)
		if (bitset_has(engine.enabled, i) &&
			engine.threads[i].last_moved + engine.patience_steps >= engine.step)
			engine_hold_back(&engine.threads[i]);
}

/* The earliest deadline of all sleeps, or, with of_sleeps false, of all timed waits. */
static uint64_t clock_earliest(bool of_sleeps)
{
	uint64_t earliest_ns = ENGINE_FOREVER;

	for (uint32_t i = 0; i < engine.thread_count; i++) {
		const struct engine_op *op = engine.threads[i].op;

		if (op && op->is_timeout_only == of_sleeps && op->deadline_ns > engine.clock_ns &&
			op->deadline_ns < earliest_ns)
			earliest_ns = op->deadline_ns;
	}
	return earliest_ns;
}

static uint64_t clock_fire_timers(void)
{
	return engine.host.fire_timers ? engine.host.fire_timers() : ENGINE_FOREVER;
}

/* Runs at engine.sleep_step. Time stops before the deadline of any timed wait: these expire at a slower rate. */
static void clock_pass_for_sleeps(void)
{
	const uint64_t sleep_ns = clock_earliest(true);
	uint64_t end_ns = engine.clock_ns + (CLOCK_SLEEP_NS << engine.sleep_passes);
	uint64_t limit_ns, timer_ns;

	engine.sleep_step = engine.step + CLOCK_SLEEP_STEPS;
	if (sleep_ns == ENGINE_FOREVER)
		return;
	limit_ns = clock_earliest(false);
	timer_ns = clock_fire_timers();
	if (timer_ns < limit_ns)
		limit_ns = timer_ns;
	if (end_ns >= sleep_ns) {
		end_ns = sleep_ns;
		engine.sleep_passes = 0;
	} else if (engine.sleep_passes < CLOCK_HASTE_DOUBLINGS_MAX) {
		engine.sleep_passes++;
	}
	engine_clock_advance_to(end_ns < limit_ns ? end_ns : limit_ns - 1);
}

/* Time stops at the first far deadline, so its thread can run before later deadlines expire. */
static void clock_pass_for_limits(void)
{
	const uint64_t least_ns = engine.clock_ns + CLOCK_LIMIT_NS;
	uint64_t end_ns = engine.clock_ns + (CLOCK_LIMIT_NS << engine.limit_passes);
	const uint64_t timer_ns = clock_fire_timers();

	engine.limit_step = engine.step + CLOCK_LIMIT_STEPS;
	if (engine.earliest_deadline == ENGINE_FOREVER && timer_ns == ENGINE_FOREVER)
		return;
	if (timer_ns > least_ns && timer_ns < end_ns)
		end_ns = timer_ns;
	for (uint32_t i = 0; i < engine.thread_count; i++) {
		const struct engine_op *op = engine.threads[i].op;

		if (op && op->deadline_ns > least_ns && op->deadline_ns < end_ns)
			end_ns = op->deadline_ns;
	}
	engine_clock_advance_to(end_ns);
	(void)clock_fire_timers(); /* the result is not needed: the next pass asks again */
	if (engine.limit_passes < CLOCK_HASTE_DOUBLINGS_MAX)
		engine.limit_passes++;
}

/*
 * Runs at engine.fairness_step. Timed waits may depend on a starved thread, which is enabled and never scheduled. So
 * these waits expire only after starved threads have run; a long run schedules starved threads ever more often.
 */
static void clock_help(void)
{
	const bool is_starved = clock_somebody_starves(engine.patience_steps);
	uint64_t looks = engine.patience_steps / CLOCK_STEPS_PER_LOOK;

	if (looks < CLOCK_LOOKS_LEAST)
		looks = CLOCK_LOOKS_LEAST;
	if (!is_starved && ++engine.patience_looks < looks) {
		engine.fairness_step = engine.step + 1;
		return;
	}
	engine.patience_looks = 0;
	if (is_starved && engine.step >= CLOCK_LONG_RUN_STEPS) {
		/* A replayed schedule alone decides which thread runs. */
		if (!engine_is_to_go_on())
			clock_help_starved();
		if (engine.patience_steps > CLOCK_PATIENCE_STEPS_LEAST)
			engine.patience_steps /= 2;
	}
	engine.fairness_step = engine.step + engine.patience_steps + !is_starved;
	if (engine.step >= engine.limit_step &&
		(!is_starved || engine.patience_steps == CLOCK_PATIENCE_STEPS_LEAST))
		clock_pass_for_limits();
}

void engine_clock_lose_patience(void)
{
	if (engine.step >= engine.sleep_step)
		clock_pass_for_sleeps();
	if (engine.step >= engine.fairness_step)
		clock_help();
	clock_set_patience_step();
}

/* No thread is enabled: waits for an outside event, else jumps to the next deadline, else reports a deadlock. */
void engine_clock_idle(void)
{
	uint64_t deadline = ENGINE_FOREVER;

	engine_clock_begin_patience();
	engine_note_idle();
	for (uint32_t i = 0; i < engine.thread_count; i++) {
		const struct engine_op *op = engine.threads[i].op;

		if (op && op->deadline_ns < deadline)
			deadline = op->deadline_ns;
	}
	if (engine.host.wait_outside && engine.host.wait_outside(deadline)) {
		engine_changed_kind(OP_FD_READ);
		engine_changed_kind(OP_FD_WRITE);
		engine_changed_kind(OP_FD_POLL);
		engine_changed_kind(OP_CHILD_WAIT);
		engine_changed_kind(OP_SIGNAL_WAIT);
		engine_changed_shared();
		return;
	}
	if (deadline == ENGINE_FOREVER)
		engine_stuck();
	engine_clock_advance_to(deadline);
}

/* Is another thread enabled that is not at a spin point? */
static bool clock_somebody_moves(void)
{
	for (uint32_t i = 0; i < engine.thread_count; i++)
		if (bitset_has(engine.enabled, i) && &engine.threads[i] != engine.current &&
			engine.threads[i].op->kind != OP_SPIN)
			return true;
	return false;
}

/* A thread computes for long, or spins until a sleeping thread writes a value. Its computation
 * takes as much virtual time as the sleep. */
void engine_clock_wait_for_sleepers(void)
{
	while (engine.earliest_deadline != ENGINE_FOREVER && !clock_somebody_moves())
		engine_clock_advance_to(engine.earliest_deadline);
}

void engine_clock_advance_to(uint64_t clock_ns)
{
	if (clock_ns > engine.clock_ns)
		engine.clock_ns = clock_ns;
	if (engine.clock_ns >= engine.earliest_deadline)
		engine_expire();
}

void engine_expire(void)
{
	engine.earliest_deadline = ENGINE_FOREVER;
	for (uint32_t i = 0; i < engine.thread_count; i++)
		if (engine.threads[i].op && engine.threads[i].op->deadline_ns != ENGINE_FOREVER)
			engine_evaluate(&engine.threads[i]);
}

void engine_random_bytes(void *buffer, size_t bytes)
{
	unsigned char *at = buffer;

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
