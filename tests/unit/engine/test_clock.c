/*
 * Virtual time. Each test of the first part has the name of the program that once showed a false
 * failure. Some thread of that program is always enabled, but the program ends only if time passes.
 * The programs run under choosers that starve threads as far as the engine permits.
 */
#include "engine/engine.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "engine/sync.h"
#include "engine/engine_internal.h"
#include "support/simulation.h"

#define MILLISECOND UINT64_C(1000000)
#define SECOND (1000 * MILLISECOND)
/* A tenth of the default limit of a run. */
#define STEPS_MOST 1000000

/* ---- choosers: random, and three that always prefer the same thread ---- */

static struct thread_id choose_first(void *state, const struct schedule_view *view)
{
	(void)state;
	return (struct thread_id){(uint16_t)view_next_enabled(view, 0)};
}

static struct thread_id choose_last(void *state, const struct schedule_view *view)
{
	uint32_t last = view_next_enabled(view, 0);

	(void)state;
	for (uint32_t i = last; i < view->thread_count; i = view_next_enabled(view, i + 1))
		last = i;
	return (struct thread_id){(uint16_t)last};
}

static struct thread_id choose_current(void *state, const struct schedule_view *view)
{
	(void)state;
	return view_default(view);
}

static bool must_continue(void *state, const struct schedule_view *view)
{
	(void)state;
	(void)view;
	return true;
}

static void begin_campaign(void *state, const struct strategy_config *config)
{
	(void)state;
	(void)config;
}

static void begin_run(void *state, uint64_t seed)
{
	(void)state;
	(void)seed;
}

#define CHOOSER(function)                                                                          \
	.name = #function, .summary = "", .state_bytes = 8, .begin_campaign = begin_campaign,      \
	.begin_run = begin_run, .choose = function

static const struct strategy first = {CHOOSER(choose_first)};
static const struct strategy last = {CHOOSER(choose_last)};
static const struct strategy current = {CHOOSER(choose_current)};
static const struct strategy followed = {
	CHOOSER(choose_current), .fast_path = {.must_continue = must_continue}};
static const struct strategy *const choosers[] = {&strategy_random, &first, &last, &current};

/* ---- elements of the programs ---- */

static struct {
	struct mutex mutex;
	struct mutex slow;
	struct cond changed;
	bool is_over;
	int players;
	int turn;
	int error;
	uint64_t began_ns;
	uint64_t rounds;
	uint64_t longest_ns;
	uint64_t timer_ns;
	bool has_fired;
} scene;

static enum engine_result wait_until(uint64_t deadline_ns, bool is_sleep)
{
	struct engine_op op = {
		.kind = OP_SLEEP, .is_timeout_only = is_sleep, .deadline_ns = deadline_ns};

	return engine_perform(&op);
}

static void sleep_for(uint64_t ns)
{
	(void)wait_until(engine_clock_ns() + ns, true);
}

static void lock(struct mutex *mutex)
{
	(void)mutex_lock(mutex, ENGINE_FOREVER, 1);
}

static void unlock(struct mutex *mutex)
{
	(void)mutex_unlock(mutex, 2);
}

static bool look_under_lock(void)
{
	bool is_over;

	lock(&scene.mutex);
	is_over = scene.is_over;
	unlock(&scene.mutex);
	return is_over;
}

static void end_under_lock(void)
{
	lock(&scene.mutex);
	scene.is_over = true;
	unlock(&scene.mutex);
}

static void *lock_until_over(void *unused)
{
	while (!look_under_lock())
		;
	return unused;
}

/* Runs `count` threads of `work` while main executes `rest`, and joins them. */
static void run_beside(void *(*work)(void *), unsigned count, void (*rest)(void))
{
	struct engine_thread *threads[8];

	for (unsigned i = 0; i < count; i++)
		threads[i] = simulation_create(work, NULL);
	rest();
	for (unsigned i = 0; i < count; i++)
		(void)simulation_join(threads[i]);
}

static const struct outcome *run_within(
	uint64_t step_limit, const struct strategy *strategy, void (*program)(void *))
{
	const struct simulation simulation = {
		.strategy = strategy, .seed = 7, .step_limit = step_limit};

	memset(&scene, 0, sizeof scene);
	return simulate(&simulation, program, NULL);
}

static const struct outcome *run(const struct strategy *strategy, void (*program)(void *))
{
	return run_within(STEPS_MOST, strategy, program);
}

static void passes_within(uint64_t steps, void (*program)(void *))
{
	for (size_t i = 0; i < sizeof choosers / sizeof *choosers; i++) {
		const struct outcome *outcome = run_within(steps, choosers[i], program);

		if (outcome->kind != OUTCOME_PASSED)
			fail_msg("under %s: outcome %d at step %lu", choosers[i]->name,
				outcome->kind, (unsigned long)outcome->step);
		assert_int_equal(scene.error, 0);
	}
}

/* ---- programs in which some thread is always enabled ---- */

static void sleep_then_end(void)
{
	sleep_for(500 * MILLISECOND);
	end_under_lock();
}

static void sleep_then_stop_1(void *unused)
{
	(void)unused;
	run_beside(lock_until_over, 1, sleep_then_end);
}

static void sleep_then_stop_8(void *unused)
{
	(void)unused;
	run_beside(lock_until_over, 8, sleep_then_end);
}

static void wait_then_end(void)
{
	lock(&scene.slow);
	scene.error = cond_wait(&scene.changed, &scene.slow, engine_clock_ns() + 10 * MILLISECOND,
			      3) != ETIMEDOUT;
	unlock(&scene.slow);
	end_under_lock();
}

/* workers_until_asked_to_end: main waits with a limit instead of sleeping. */
static void workers_until_limit(void *unused)
{
	(void)unused;
	run_beside(lock_until_over, 2, wait_then_end);
}

static void *play(void *unused)
{
	const int own = scene.players++;

	lock(&scene.mutex);
	while (!scene.is_over) {
		if (scene.turn == own) {
			scene.turn = !own;
			cond_signal(&scene.changed, 1);
		} else {
			(void)cond_wait(&scene.changed, &scene.mutex, ENGINE_FOREVER, 2);
		}
	}
	cond_broadcast(&scene.changed, 3);
	unlock(&scene.mutex);
	return unused;
}

static void handed_to_and_fro(void *unused)
{
	(void)unused;
	run_beside(play, 2, sleep_then_end);
}

/* time_polled: locks, tests and reads the clock until two seconds are over. */
static void time_polled(void *unused)
{
	const uint64_t end_ns = engine_clock_read_ns() + 2 * SECOND;

	(void)unused;
	while (!look_under_lock() && engine_clock_read_ns() < end_ns)
		;
}

static void time_polled_without_steps(void *unused)
{
	const uint64_t end_ns = engine_clock_read_ns() + 2 * SECOND;

	(void)unused;
	while (engine_clock_read_ns() < end_ns)
		;
}

static void *try_until_over(void *unused)
{
	while (!look_under_lock())
		(void)mutex_trylock(&scene.slow, 4);
	return unused;
}

static void *expire_until_over(void *unused)
{
	while (!look_under_lock())
		(void)wait_until(0, true);
	return unused;
}

static void sleep_briefly_then_end(void)
{
	sleep_for(20 * MILLISECOND);
	end_under_lock();
}

static void waits_of_no_time(void *unused)
{
	(void)unused;
	lock(&scene.slow);
	run_beside(try_until_over, 1, sleep_briefly_then_end);
	scene.is_over = false;
	run_beside(expire_until_over, 1, sleep_briefly_then_end);
}

/* calls_until_asked_to_end: calls that are no scheduling points, 256 of them to each yield. */
static void *call_until_over(void *unused)
{
	while (!scene.is_over) {
		engine_clock_note_calls(256);
		engine_point(OP_YIELD, NULL, 0);
	}
	return unused;
}

static void sleep_then_end_unlocked(void)
{
	sleep_for(10 * MILLISECOND);
	scene.is_over = true;
}

static void calls_until_asked_to_end(void *unused)
{
	(void)unused;
	run_beside(call_until_over, 1, sleep_then_end_unlocked);
}

static void *spin_until_over(void *unused)
{
	for (; !scene.is_over; scene.rounds++)
		engine_spin_point(1);
	return unused;
}

static void sleep_long_then_end_unlocked(void)
{
	sleep_for(10 * SECOND);
	scene.is_over = true;
}

/* spin_for_sleeper: threads compute, and reach no step, until another one has slept. */
static void spin_for_sleeper(void *unused)
{
	(void)unused;
	run_beside(spin_until_over, 2, sleep_long_then_end_unlocked);
	scene.error = scene.rounds > 10; /* each takes 20 ms of real time */
}

/* waits_blindly: a spinning thread waits for one that is enabled. */
static void step_then_end(void)
{
	for (int i = 0; i < 100; i++)
		simulation_step();
	scene.is_over = true;
}

static void waits_blindly(void *unused)
{
	(void)unused;
	run_beside(spin_until_over, 2, step_then_end);
}

/* A thread that computes for three seconds is awaited with a limit of ten. */
static void *compute_then_signal(void *unused)
{
	for (int i = 0; i < 150; i++)
		engine_spin_point(1);
	lock(&scene.mutex);
	scene.is_over = true;
	cond_signal(&scene.changed, 1);
	unlock(&scene.mutex);
	return unused;
}

static void wait_for_computation(void)
{
	const uint64_t limit_ns = engine_clock_ns() + 10 * SECOND;

	lock(&scene.mutex);
	while (!scene.is_over && !scene.error)
		scene.error = cond_wait(&scene.changed, &scene.mutex, limit_ns, 2);
	unlock(&scene.mutex);
}

static void limit_beside_computation(void *unused)
{
	(void)unused;
	run_beside(compute_then_signal, 1, wait_for_computation);
}

static void *sleep_with_lock(void *unused)
{
	lock(&scene.slow);
	sleep_for(100 * MILLISECOND);
	unlock(&scene.slow);
	return unused;
}

static void *wait_with_generous_limit(void *unused)
{
	simulation_step();
	scene.error = mutex_lock(&scene.slow, engine_clock_ns() + 600 * SECOND, 5);
	if (!scene.error)
		unlock(&scene.slow);
	end_under_lock();
	return unused;
}

static void *look_at_clock_until_over(void *unused)
{
	while (!look_under_lock())
		(void)engine_clock_read_ns();
	return unused;
}

/* The limit must not expire before the sleeper has had its turn, however long the looker runs. */
static void generous_limit(void *unused)
{
	struct engine_thread *threads[3] = {simulation_create(sleep_with_lock, NULL),
		simulation_create(wait_with_generous_limit, NULL),
		simulation_create(look_at_clock_until_over, NULL)};

	(void)unused;
	for (int i = 0; i < 3; i++)
		(void)simulation_join(threads[i]);
}

static void generous_limit_looked_for_first(void *unused)
{
	struct engine_thread *threads[3] = {simulation_create(look_at_clock_until_over, NULL),
		simulation_create(sleep_with_lock, NULL),
		simulation_create(wait_with_generous_limit, NULL)};

	(void)unused;
	for (int i = 0; i < 3; i++)
		(void)simulation_join(threads[i]);
}

/* as_glibc: no thread waits for time; the loop ends when the starved thread has made a hundred steps. */
static void make_steps_then_end(void)
{
	for (int i = 0; i < 100; i++)
		simulation_step();
	end_under_lock();
}

static void starved_without_time(void *unused)
{
	(void)unused;
	run_beside(lock_until_over, 3, make_steps_then_end);
}

/* A ticker sleeps briefly again and again while another thread waits for much longer. */
static void *tick_until_over(void *unused)
{
	while (!look_under_lock())
		sleep_for(10 * MILLISECOND);
	return unused;
}

static void sleep_long_then_end(void)
{
	struct engine_thread *ticker = simulation_create(tick_until_over, NULL);

	sleep_for(30 * SECOND);
	end_under_lock();
	(void)simulation_join(ticker);
}

static void ticker_and_long_sleep(void *unused)
{
	(void)unused;
	run_beside(lock_until_over, 1, sleep_long_then_end);
}

static uint64_t fire_timer(void)
{
	if (scene.timer_ns <= engine_clock_ns()) {
		scene.has_fired = true;
		return ENGINE_FOREVER;
	}
	return scene.timer_ns;
}

/* calls_until_asked_to_end with a timer, whose handler ends the loop. */
static void timer_ends_loop(void *unused)
{
	(void)unused;
	scene.timer_ns = engine_clock_ns() + 50 * MILLISECOND;
	engine.host.fire_timers = fire_timer;
	while (!scene.has_fired)
		simulation_step();
}

#define PASSES(program, steps)                                                                     \
	static void test_clock__##program(void **state)                                            \
	{                                                                                          \
		(void)state;                                                                       \
		passes_within(steps, program);                                                     \
	}

PASSES(sleep_then_stop_1, STEPS_MOST)
PASSES(sleep_then_stop_8, STEPS_MOST)
PASSES(workers_until_limit, STEPS_MOST)
PASSES(handed_to_and_fro, STEPS_MOST)
PASSES(time_polled, STEPS_MOST)
PASSES(time_polled_without_steps, STEPS_MOST)
PASSES(waits_of_no_time, 20000)
PASSES(calls_until_asked_to_end, 1000)
PASSES(spin_for_sleeper, 1000)
PASSES(waits_blindly, STEPS_MOST)
PASSES(limit_beside_computation, STEPS_MOST)
PASSES(generous_limit, STEPS_MOST)
PASSES(generous_limit_looked_for_first, STEPS_MOST)
PASSES(starved_without_time, STEPS_MOST)
PASSES(ticker_and_long_sleep, STEPS_MOST)
PASSES(timer_ends_loop, STEPS_MOST)

/* ---- limits of virtual time ---- */

/* yields_for_ever: nothing waits for time, so the run ends by its limit, and hardly any time has passed. */
static void *yield_for_ever(void *unused)
{
	for (;;)
		engine_point(OP_YIELD, NULL, 0);
	return unused;
}

static void nothing(void)
{
}

static void yields_for_ever(void *unused)
{
	(void)unused;
	run_beside(yield_for_ever, 2, nothing);
}

static void test_clock__is_slow_when_nothing_waits_for_time(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof choosers / sizeof *choosers; i++) {
		assert_int_equal(run(choosers[i], yields_for_ever)->kind, OUTCOME_LIVELOCK);
		assert_true(engine_clock_ns() <= SECOND);
	}
}

static void *work_then_signal(void *unused)
{
	for (int i = 0; i < 10000; i++)
		simulation_step();
	lock(&scene.mutex);
	scene.is_over = true;
	cond_signal(&scene.changed, 1);
	unlock(&scene.mutex);
	return unused;
}

static void wait_for_work(void)
{
	const uint64_t limit_ns = engine_clock_ns() + 20 * MILLISECOND;

	lock(&scene.mutex);
	while (!scene.is_over && !scene.error)
		scene.error = cond_wait(&scene.changed, &scene.mutex, limit_ns, 2);
	unlock(&scene.mutex);
}

/* Ten thousand steps of another thread take less than the 20 ms that main waits for it. */
static void limit_beside_work(void *unused)
{
	(void)unused;
	run_beside(work_then_signal, 1, wait_for_work);
}

PASSES(limit_beside_work, STEPS_MOST)

static void *lock_in_time(void *unused)
{
	for (int i = 0; i < 50000 && !scene.error; i++) {
		scene.error = mutex_lock(&scene.mutex, engine_clock_ns() + 5 * SECOND, 1);
		if (!scene.error)
			unlock(&scene.mutex);
	}
	return unused;
}

/* Some thread always waits for the lock, with a limit of 5 s, but none of them waits for that long. */
static void lock_handed_on(void *unused)
{
	(void)unused;
	run_beside(lock_in_time, 4, nothing);
}

PASSES(lock_handed_on, STEPS_MOST)

/* Each thread measures how long a hundred of its steps take. */
static void *measure_steps(void *unused)
{
	for (int i = 0; i < 500; i++) {
		const uint64_t begin_ns = engine_clock_read_ns();
		uint64_t taken_ns;

		for (int step = 0; step < 100; step++)
			simulation_step();
		taken_ns = engine_clock_read_ns() - begin_ns;
		if (taken_ns > scene.longest_ns)
			scene.longest_ns = taken_ns;
	}
	return unused;
}

static void sleep_for_hours(void)
{
	sleep_for(UINT64_C(10000) * SECOND);
}

static void steps_measured(void *unused)
{
	(void)unused;
	run_beside(measure_steps, 4, nothing);
}

static void steps_measured_beside_a_sleep(void *unused)
{
	(void)unused;
	run_beside(measure_steps, 4, sleep_for_hours);
}

static void test_clock__steps_measured(void **state)
{
	(void)state;
	assert_int_equal(run(&strategy_random, steps_measured)->kind, OUTCOME_PASSED);
	assert_true(scene.longest_ns < 50 * MILLISECOND);
	assert_int_equal(
		run(&strategy_random, steps_measured_beside_a_sleep)->kind, OUTCOME_PASSED);
	assert_true(scene.longest_ns < 2 * SECOND);
}

static void *tick(void *unused)
{
	lock(&scene.slow);
	for (; scene.rounds < 400; scene.rounds++)
		(void)cond_wait(
			&scene.changed, &scene.slow, engine_clock_ns() + 10 * MILLISECOND, 2);
	unlock(&scene.slow);
	scene.is_over = true;
	return unused;
}

static void look_until_over(void)
{
	(void)lock_until_over(NULL);
}

/* A wait that always times out serves as a sleep: only the first of 400 takes periods of its own. */
static void ticks_counted(void *unused)
{
	(void)unused;
	run_beside(tick, 1, look_until_over);
}

static void test_clock__ticks_counted(void **state)
{
	(void)state;
	assert_int_equal(run(&strategy_random, ticks_counted)->kind, OUTCOME_PASSED);
}

static void sleep_in_order(void *unused)
{
	(void)unused;
	sleep_for(3 * SECOND);
	scene.began_ns = engine_clock_ns();
}

static void test_clock__jumps_when_no_thread_is_enabled(void **state)
{
	(void)state;
	assert_true(run(&first, sleep_in_order)->step <= 2);
	assert_in_range(scene.began_ns, 3 * SECOND, 3 * SECOND + MILLISECOND);
}

/* rare.c of e2e/branches: a followed schedule alone decides which thread runs. */
static void *count_for_long(void *unused)
{
	for (scene.rounds = 0; scene.rounds < 300000; scene.rounds++)
		simulation_step();
	return unused;
}

static void *note_rounds(void *unused)
{
	scene.began_ns = scene.rounds;
	return unused;
}

static void starve_one(void *unused)
{
	struct engine_thread *counter = simulation_create(count_for_long, NULL);
	struct engine_thread *other = simulation_create(note_rounds, NULL);

	(void)unused;
	(void)simulation_join(counter);
	(void)simulation_join(other);
}

static void test_clock__starves_where_a_schedule_says_so(void **state)
{
	(void)state;
	assert_int_equal(run(&followed, starve_one)->kind, OUTCOME_PASSED);
	assert_int_equal(scene.began_ns, 300000);
	assert_int_equal(run(&current, starve_one)->kind, OUTCOME_PASSED);
	assert_in_range(scene.began_ns, 1, 299999);
}

/* Time is a function of the schedule: the same run has the same times. */
static void test_clock__repeats(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof choosers / sizeof *choosers; i++) {
		const uint64_t steps = run(choosers[i], generous_limit)->step;
		const uint64_t end_ns = engine_clock_ns();

		assert_int_equal(run(choosers[i], generous_limit)->step, steps);
		assert_int_equal(engine_clock_ns(), end_ns);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_clock__sleep_then_stop_1),
		cmocka_unit_test(test_clock__sleep_then_stop_8),
		cmocka_unit_test(test_clock__workers_until_limit),
		cmocka_unit_test(test_clock__handed_to_and_fro),
		cmocka_unit_test(test_clock__time_polled),
		cmocka_unit_test(test_clock__time_polled_without_steps),
		cmocka_unit_test(test_clock__waits_of_no_time),
		cmocka_unit_test(test_clock__calls_until_asked_to_end),
		cmocka_unit_test(test_clock__spin_for_sleeper),
		cmocka_unit_test(test_clock__waits_blindly),
		cmocka_unit_test(test_clock__limit_beside_computation),
		cmocka_unit_test(test_clock__generous_limit),
		cmocka_unit_test(test_clock__generous_limit_looked_for_first),
		cmocka_unit_test(test_clock__starved_without_time),
		cmocka_unit_test(test_clock__ticker_and_long_sleep),
		cmocka_unit_test(test_clock__timer_ends_loop),
		cmocka_unit_test(test_clock__limit_beside_work),
		cmocka_unit_test(test_clock__lock_handed_on),
		cmocka_unit_test(test_clock__steps_measured),
		cmocka_unit_test(test_clock__ticks_counted),
		cmocka_unit_test(test_clock__is_slow_when_nothing_waits_for_time),
		cmocka_unit_test(test_clock__jumps_when_no_thread_is_enabled),
		cmocka_unit_test(test_clock__starves_where_a_schedule_says_so),
		cmocka_unit_test(test_clock__repeats),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
