/* Virtual time, and the random numbers and values that the target gets. */
#include "engine/engine.h"

#include "base/bug.h"
#include "engine/engine_internal.h"

uint64_t engine_clock_ns(void)
{
	return engine.clock_ns;
}

/*
 * What a step costs of the time that a reading tells. In between steps cost none, so that waits with a limit end
 * when nobody can move; but who looks at the clock in a loop waits for what the loop's own steps take.
 */
#define CLOCK_STEP_NS 100

/*
 * What a reading costs. Many readings with no step between mean a loop that waits for time to pass; so do
 * very many with steps between (a lock, a look, a glance at the clock) as long as somebody always can
 * move. At the first rate 2 s would take 20 million readings: more than a run may have steps.
 */
#define CLOCK_READ_NS 100
#define CLOCK_READS_BEFORE_HASTE 64
#define CLOCK_POLLS_BEFORE_HASTE 4096
#define CLOCK_HASTE_DOUBLINGS_MAX 20
/*
 * A thread that could move, and has not for so many steps, may be the one that is waited for: then nobody waits for
 * time, and where it hastened all the same, waits with a generous limit would end that never do.
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
 * A wait whose time is over before it begins, and a try that fails again, cost what they do of real time. In a loop
 * they wait for others, who may wait for time, which passes by itself only when nobody can move.
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
 * Steps cost no time. But some threads can always move, handing something to and fro until another one that
 * sleeps says that it is over; so many steps would take of real time about what is made of them here.
 */
#define CLOCK_PATIENCE_STEPS 65536
#define CLOCK_PATIENCE_NS UINT64_C(65536000)

void engine_clock_begin_patience(void)
{
	engine.clock_polls = engine.clock_waits = engine.clock_passes = 0;
	engine.patience_steps = CLOCK_PATIENCE_STEPS;
	engine.patience_looks = 0;
	engine.patience_step = engine.pass_step = engine.step + CLOCK_PATIENCE_STEPS;
}

/*
 * A strategy may let such threads go on for ever, before one that could end it. In a run that is so long already
 * who has not moved for all that time has a turn. It may need many to end it: they come faster and faster.
 */
#define CLOCK_LONG_RUN_STEPS (UINT64_C(1) << 17)
#define CLOCK_PATIENCE_STEPS_LEAST 1024
/*
 * Who waits for a lock that a loop takes and gives back could move at some steps of the loop only. So as many in a row are
 * looked at, one for so many steps from turn to turn, and the next turn is at another step of the loop.
 */
#define CLOCK_STEPS_PER_LOOK 1024

static void clock_help_starved(void)
{
	for (uint32_t i = 0; i < engine.thread_count; i++)
		if (bitset_has(engine.enabled, i) &&
			engine.threads[i].last_moved + engine.patience_steps >= engine.step)
			engine_hold_back(&engine.threads[i]);
}

/*
 * Time that passes for threads that sleep stops at the first one whose sleep is long: it is to move before others learn
 * that still more has passed.
 */
static uint64_t clock_after_pass(void)
{
	const uint64_t least_ns = engine.clock_ns + CLOCK_PATIENCE_NS;
	uint64_t end_ns = engine.clock_ns + (CLOCK_PATIENCE_NS << engine.clock_passes);

	for (uint32_t i = 0; i < engine.thread_count; i++) {
		const struct engine_op *op = engine.threads[i].op;

		if (op && op->deadline_ns > least_ns && op->deadline_ns < end_ns)
			end_ns = op->deadline_ns;
	}
	return end_ns;
}

void engine_clock_lose_patience(void)
{
	const bool is_starved = clock_somebody_starves(engine.patience_steps);

	if (!is_starved && ++engine.patience_looks < engine.patience_steps / CLOCK_STEPS_PER_LOOK) {
		engine.patience_step = engine.step + 1;
		return;
	}
	engine.patience_looks = 0;
	if (is_starved && engine.step >= CLOCK_LONG_RUN_STEPS) {
		/* A schedule that is followed says itself who moves. */
		if (!engine_is_to_go_on())
			clock_help_starved();
		if (engine.patience_steps > CLOCK_PATIENCE_STEPS_LEAST)
			engine.patience_steps /= 2;
	}
	engine.patience_step = engine.step + engine.patience_steps + !is_starved;
	if (engine.earliest_deadline == ENGINE_FOREVER || engine.step < engine.pass_step ||
		is_starved)
		return;
	engine.pass_step = engine.step + CLOCK_PATIENCE_STEPS;
	engine_clock_advance_to(clock_after_pass());
	if (engine.clock_passes < CLOCK_HASTE_DOUBLINGS_MAX)
		engine.clock_passes++;
}

/* Somebody who can move, and is not about to go on spinning. */
static bool clock_somebody_moves(void)
{
	for (uint32_t i = 0; i < engine.thread_count; i++)
		if (bitset_has(engine.enabled, i) && &engine.threads[i] != engine.current &&
			engine.threads[i].op->kind != OP_SPIN)
			return true;
	return false;
}

/* A thread computes for long, or waits for what a thread that sleeps will write: so long takes as long as the sleep. */
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
