/*
 * pos samples partial orders. The frequency of each partial order can be computed for small
 * programs. A partial order that a random walk almost never shows is frequent under pos.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "support/simulated_program.h"
#include "support/statistics.h"

/* One write against one that follows eleven ops without races: two partial orders. */
#define FIVE_READS READ(1), READ(1), READ(1), READ(1), READ(1)
static const struct simulated_op near[] = {ADVANCE(0, 1), REFUSE(2, 99)};
static const struct simulated_op far[] = {
	FIVE_READS, FIVE_READS, READ(1), ADVANCE(0, 0), REFUSE(3, 99)};
static const struct simulated_code hidden_codes[] = {CODE(near), CODE(far)};
static const struct simulated_program hidden = {
	.codes = hidden_codes, .code_count = 2, .initial_count = 2};

/* Three writes to one variable, two of them by the first thread. */
static const struct simulated_op twice[] = {ADD(0, 1), ADD(0, 1)};
static const struct simulated_op once[] = {ADD(0, 1)};
static const struct simulated_code racing_codes[] = {CODE(twice), CODE(once)};
static const struct simulated_program racing = {
	.codes = racing_codes, .code_count = 2, .initial_count = 2};

/* The step of the run that is the write of the thread `of`. */
struct position {
	uint16_t of;
	object_name object;
	uint32_t writes; /* writes on that object so far */
	uint32_t place;
};

static void note_write(void *context, const struct schedule_view *view, struct thread_id chosen)
{
	struct position *position = context;
	const struct pending_op *op = &view->pending[chosen.index];

	if (view->step == 0)
		position->writes = 0;
	if (op->object != position->object)
		return;
	if (chosen.index == position->of)
		position->place = position->writes;
	position->writes++;
}

static void measure(const struct simulated_program *program, const struct strategy *strategy,
	uint64_t runs, uint64_t *counts)
{
	struct position position = {.of = 1, .object = simulated_object_name(SIMULATED_ADD, 0)};
	struct simulated_campaign campaign;

	simulated_campaign_init(&campaign, program, strategy, 0, statistics_seed(1));
	campaign.run.observe = note_write;
	campaign.run.context = &position;
	for (uint64_t run = 0; run < runs; run++) {
		(void)simulated_campaign_run(&campaign); /* passes */
		counts[position.place]++;
	}
	simulated_campaign_release(&campaign);
}

static void pos__shows_the_hidden_order_in_1_of_13_runs(void **unused)
{
	/* All twelve ops of the far thread must beat the one priority of the near write. */
	const double shares[] = {1 / 13.0, 12 / 13.0};
	uint64_t counts[2] = {0};

	(void)unused;
	measure(&hidden, &strategy_pos, 20000, counts);
	assert_true(chi_square_test(counts, shares, 2) > STATISTICS_ALPHA);
}

static void random__hides_the_hidden_order(void **unused)
{
	uint64_t counts[2] = {0};

	(void)unused;
	measure(&hidden, &strategy_random, 20000, counts);
	assert_true(binomial_at_most(counts[0], 20000, 1 / 13.0) < STATISTICS_ALPHA);
}

static void pos__draws_anew_after_a_lost_race(void **unused)
{
	/*
	 * The single write is first in 1/2; else it lost and both priorities are new: 1/4 each. If
	 * it kept its old priority, it would tend to lose again (1/6 and 1/3); the test must
	 * distinguish both cases.
	 */
	const double shares[] = {1 / 2.0, 1 / 4.0, 1 / 4.0};
	const double stale[] = {1 / 2.0, 1 / 6.0, 1 / 3.0};
	uint64_t counts[3] = {0};

	(void)unused;
	measure(&racing, &strategy_pos, 20000, counts);
	assert_true(chi_square_test(counts, shares, 3) > STATISTICS_ALPHA);
	assert_true(chi_square_test(counts, stale, 3) < STATISTICS_ALPHA);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(pos__shows_the_hidden_order_in_1_of_13_runs),
		cmocka_unit_test(random__hides_the_hidden_order),
		cmocka_unit_test(pos__draws_anew_after_a_lost_race),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
