/*
 * A strategy makes the same runs with and without a history. history_begin_run() returns the length
 * of the prefix that each run shares with the one before.
 */
#include "strategies/history.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "strategies/dpor/dpor.h"
#include "support/simulated_program.h"

#define RECORD_BYTES ((size_t)1 << 16)
#define RUNS_MOST 400

/* ---- a strategy with a history, as a strategy ---- */

static const struct strategy *inner;
static size_t record_bytes;
static uint32_t same; /* last result of history_begin_run() */

static void *inner_state(struct history *history)
{
	return (char *)history + record_bytes;
}

static size_t wrapped_state_bytes(const struct strategy_config *config)
{
	return record_bytes + strategy_state_bytes(inner, config);
}

static void wrapped_begin_campaign(void *state, const struct strategy_config *config)
{
	strategy_begin_campaign(inner, inner_state(state), config);
	history_begin(state, record_bytes, inner, inner_state(state));
}

static void wrapped_begin_run(void *state, uint64_t seed)
{
	same = history_begin_run(state, seed);
}

static struct thread_id wrapped_choose(void *state, const struct schedule_view *view)
{
	assert_true(history_matches(state, view));
	return history_strategy.choose(state, view);
}

static void wrapped_executed(void *state, const struct schedule_view *view, struct thread_id thread)
{
	history_strategy.executed(state, view, thread);
}

static void wrapped_ending(void *state, const struct schedule_view *view)
{
	history_strategy.ending(state, view);
}

static uint32_t wrapped_choose_value(void *state, uint32_t count)
{
	return history_strategy.choose_value(state, count);
}

static void wrapped_end_run(void *state, const struct run_summary *summary)
{
	inner->end_run(inner_state(state), summary);
}

static bool wrapped_is_exhausted(const void *state)
{
	return inner->search.is_exhausted(inner_state((struct history *)state));
}

static struct strategy wrapped = {
	.name = "wrapped",
	.state_bytes_for = wrapped_state_bytes,
	.begin_campaign = wrapped_begin_campaign,
	.begin_run = wrapped_begin_run,
	.choose = wrapped_choose,
	.executed = wrapped_executed,
	.ending = wrapped_ending,
	.choose_value = wrapped_choose_value,
	.end_run = wrapped_end_run,
	.search = {.is_exhausted = wrapped_is_exhausted},
};

/* ---- comparing ---- */

static const struct simulated_op locker[] = {LOCK(0), ADD(0, 1), UNLOCK(0), ADD(1, 1)};
static const struct simulated_op signaller[] = {LOCK(0), SIGNAL(0), UNLOCK(0), ADD(1, 1)};
static const struct simulated_op waiter[] = {LOCK(0), WAIT(0, 0), UNLOCK(0)};
static const struct simulated_op maker[] = {CREATE(1), CREATE(1), CREATE(2), ADD(0, 1), JOIN(0)};
static const struct simulated_code lockers_codes[] = {CODE(locker), CODE(locker), CODE(locker)};
static const struct simulated_program lockers = {
	.codes = lockers_codes, .code_count = 3, .initial_count = 3};
static const struct simulated_code made_codes[] = {CODE(maker), CODE(waiter), CODE(signaller)};
static const struct simulated_program made = {
	.codes = made_codes, .code_count = 3, .initial_count = 1};

/* Hashes of every run, and the number of runs that began like the last one. */
struct runs {
	uint64_t hashes[RUNS_MOST];
	uint32_t count;
	uint64_t same;
};

static void make_runs(
	const struct simulated_program *program, const struct strategy *strategy, struct runs *runs)
{
	struct simulated_campaign campaign;

	runs->count = 0;
	runs->same = 0;
	same = 0;
	simulated_campaign_init(&campaign, program, strategy, 0, 1);
	while (runs->count < RUNS_MOST && !strategy->search.is_exhausted(campaign.state)) {
		(void)simulated_campaign_run(&campaign);
		assert_false(campaign.run.has_false_choice);
		runs->hashes[runs->count++] = campaign.run.order_hash;
		runs->same += same;
	}
	simulated_campaign_release(&campaign);
}

static void compare(
	const struct simulated_program *program, const struct strategy *strategy, bool has_room)
{
	static struct runs without, with;

	inner = strategy;
	wrapped.options = strategy->options;
	record_bytes = has_room ? RECORD_BYTES : sizeof(struct history) + 64;
	make_runs(program, strategy, &without);
	make_runs(program, &wrapped, &with);
	assert_true(without.count > 2);
	assert_int_equal(with.count, without.count);
	assert_memory_equal(with.hashes, without.hashes, with.count * sizeof *with.hashes);
	if (has_room)
		assert_true(with.same > with.count); /* they do have something in common */
	else
		assert_int_equal(with.same, 0);
}

static const struct strategy *const compared[] = {
	&strategy_dpor, &strategy_icb, &strategy_vt, &strategy_bounded};

static void history__changes_no_run(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof compared / sizeof *compared; i++) {
		compare(&lockers, compared[i], true);
		compare(&made, compared[i], true);
	}
}

static void history__without_room_changes_no_run(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof compared / sizeof *compared; i++)
		compare(&made, compared[i], false);
}

/* ---- length of equal prefixes ---- */

#define STEPS_MOST 64

static uint16_t chosen_last[STEPS_MOST], chosen_now[STEPS_MOST];
static uint32_t steps_now;

static void note_chosen(void *context, const struct schedule_view *view, struct thread_id chosen)
{
	(void)context;
	(void)view;
	chosen_now[steps_now++] = chosen.index;
}

static void history__says_where_the_next_run_leaves_the_last(void **state)
{
	struct simulated_campaign campaign;
	uint32_t steps_last = 0, runs = 0;

	(void)state;
	inner = &strategy_dpor;
	wrapped.options = inner->options;
	record_bytes = RECORD_BYTES;
	simulated_campaign_init(&campaign, &lockers, &wrapped, 0, 1);
	campaign.run.observe = note_chosen;
	while (!wrapped.search.is_exhausted(campaign.state)) {
		uint32_t common = 0;

		steps_now = 0;
		(void)simulated_campaign_run(&campaign);
		while (common < steps_last && common < steps_now &&
			chosen_last[common] == chosen_now[common])
			common++;
		/* Lockers make no choices but of threads; and after the runs that dpor learns from it begins anew. */
		assert_int_equal(same, runs && runs <= DPOR_LESSONS ? 0 : common);
		runs++;
		memcpy(chosen_last, chosen_now, sizeof chosen_last);
		steps_last = steps_now;
	}
	simulated_campaign_release(&campaign);
}

/* A program that does something else than it did before is noticed where it does. */
static void history__knows_other_views(void **state)
{
	static const struct simulated_program fewer = {
		.codes = lockers_codes, .code_count = 3, .initial_count = 2};
	struct simulated_campaign campaign;
	struct schedule_view view = {.thread_count = 2, .enabled_count = 2};
	uint64_t enabled = 3;

	(void)state;
	inner = &strategy_dpor;
	wrapped.options = inner->options;
	record_bytes = RECORD_BYTES;
	simulated_campaign_init(&campaign, &lockers, &wrapped, 0, 1);
	(void)simulated_campaign_run(&campaign);
	wrapped.begin_run(campaign.state, 1);
	view.enabled = &enabled;
	view.current = THREAD_NONE;
	/* the recorded view had three threads */
	assert_false(history_matches(campaign.state, &view));
	simulated_campaign_release(&campaign);

	simulated_campaign_init(&campaign, &fewer, &wrapped, 0, 1);
	(void)simulated_campaign_run(&campaign);
	wrapped.begin_run(campaign.state, 1);
	assert_true(history_matches(campaign.state, &view));
	enabled = 1;
	view.enabled_count = 1;
	assert_false(history_matches(campaign.state, &view));
	simulated_campaign_release(&campaign);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(history__changes_no_run),
		cmocka_unit_test(history__without_room_changes_no_run),
		cmocka_unit_test(history__says_where_the_next_run_leaves_the_last),
		cmocka_unit_test(history__knows_other_views),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
