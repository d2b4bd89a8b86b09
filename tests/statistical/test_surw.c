/*
 * surw: every order of the ops on the picked object is equally likely, whatever other ops the
 * threads make between them. This holds also for threads that the program creates later.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "support/simulated_program.h"
#include "support/statistics.h"

#define CELLS_MAX 128

/* Variables 1 to 3 belong to one thread each: nothing to pick there. */
#define BUSY(own) READ(own), READ(own), READ(own), READ(own), READ(own)

/* 1, 2 and 3 writes: 6!/(1!*2!*3!) = 60 orders. */
static const struct simulated_op one[] = {ADD(0, 1), BUSY(1)};
static const struct simulated_op two[] = {BUSY(2), ADD(0, 1), BUSY(2), ADD(0, 1)};
static const struct simulated_op three[] = {ADD(0, 1), ADD(0, 1), BUSY(3), BUSY(3), ADD(0, 1)};
static const struct simulated_code write_codes[] = {CODE(one), CODE(two), CODE(three)};
static const struct simulated_program writes = {
	.codes = write_codes, .code_count = 3, .initial_count = 3};

/* Three threads that take a lock twice: 6!/(2!*2!*2!) = 90 orders. */
static const struct simulated_op locker[] = {LOCK(0), UNLOCK(0), LOCK(0), UNLOCK(0)};
static const struct simulated_op late_locker[] = {
	BUSY(2), LOCK(0), READ(2), UNLOCK(0), LOCK(0), UNLOCK(0)};
static const struct simulated_code lock_codes[] = {CODE(locker), CODE(late_locker), CODE(locker)};
static const struct simulated_program locks = {
	.codes = lock_codes, .code_count = 3, .initial_count = 3};

/*
 * Main writes, creates a child, and writes again twice. The child creates a grandchild that writes
 * once, and writes twice itself. Orders: main's first write is first. Main then has 2 writes, and
 * the child's tree has 3: the child's two in order, and the grandchild's anywhere. This makes
 * 5!/(2!*3!) mixtures, times 3 orders within the tree.
 */
static const struct simulated_op root[] = {ADD(0, 1), CREATE(1), ADD(0, 1), BUSY(1), ADD(0, 1)};
static const struct simulated_op branch[] = {BUSY(2), CREATE(2), ADD(0, 1), BUSY(2), ADD(0, 1)};
static const struct simulated_op leaf[] = {BUSY(3), ADD(0, 1)};
static const struct simulated_code tree_codes[] = {CODE(root), CODE(branch), CODE(leaf)};
static const struct simulated_program tree = {
	.codes = tree_codes, .code_count = 3, .initial_count = 1};

/* The order in which threads did ops of one kind on one object, and how often each occurred. */
struct orders {
	object_name object;
	uint8_t kind;
	uint32_t order; /* order of the current run, a number in base 4 */
	uint32_t cell_count;
	uint32_t order_of[CELLS_MAX];
	uint64_t count[CELLS_MAX];
};

static void note_order(void *context, const struct schedule_view *view, struct thread_id chosen)
{
	struct orders *orders = context;
	const struct pending_op *op = &view->pending[chosen.index];

	if (view->step == 0)
		orders->order = 1;
	if (op->object == orders->object && op->kind == orders->kind)
		orders->order = orders->order * 4 + chosen.index;
}

static void orders_count(struct orders *orders)
{
	uint32_t cell = 0;

	while (cell < orders->cell_count && orders->order_of[cell] != orders->order)
		cell++;
	assert_true(cell < CELLS_MAX);
	if (cell == orders->cell_count)
		orders->order_of[orders->cell_count++] = orders->order;
	orders->count[cell]++;
}

/* The tail of uniformity over `cells` orders; none may be another. */
static double uniformity(const struct simulated_program *program, const struct strategy *strategy,
	enum simulated_kind kind, enum op_kind op, uint32_t cells)
{
	static struct orders orders;
	struct simulated_campaign campaign;

	memset(&orders, 0, sizeof orders);
	orders.object = simulated_object_name(kind, 0);
	orders.kind = (uint8_t)op;
	simulated_campaign_init(&campaign, program, strategy, 0, statistics_seed(1));
	(void)simulated_campaign_run(&campaign); /* learns; not counted */
	campaign.run.observe = note_order;
	campaign.run.context = &orders;
	for (int run = 0; run < 30000; run++) {
		assert_int_equal(simulated_campaign_run(&campaign), OUTCOME_PASSED);
		orders_count(&orders);
	}
	simulated_campaign_release(&campaign);
	assert_in_range(orders.cell_count, 1, cells);
	return chi_square_test(orders.count, NULL, cells);
}

static void surw__is_uniform_over_orders_of_writes(void **unused)
{
	(void)unused;
	assert_true(uniformity(&writes, &strategy_surw, SIMULATED_ADD, OP_ATOMIC_UPDATE, 60) >
		    STATISTICS_ALPHA);
}

static void surw__is_uniform_over_orders_of_acquisitions(void **unused)
{
	(void)unused;
	assert_true(uniformity(&locks, &strategy_surw, SIMULATED_LOCK, OP_MUTEX_LOCK, 90) >
		    STATISTICS_ALPHA);
}

static void surw__is_uniform_where_threads_create_threads(void **unused)
{
	(void)unused;
	assert_true(uniformity(&tree, &strategy_surw, SIMULATED_ADD, OP_ATOMIC_UPDATE, 30) >
		    STATISTICS_ALPHA);
}

static void random__fails_the_tests_of_uniformity(void **unused)
{
	(void)unused;
	assert_true(uniformity(&writes, &strategy_random, SIMULATED_ADD, OP_ATOMIC_UPDATE, 60) <
		    STATISTICS_ALPHA);
	assert_true(uniformity(&locks, &strategy_random, SIMULATED_LOCK, OP_MUTEX_LOCK, 90) <
		    STATISTICS_ALPHA);
	assert_true(uniformity(&tree, &strategy_random, SIMULATED_ADD, OP_ATOMIC_UPDATE, 30) <
		    STATISTICS_ALPHA);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(surw__is_uniform_over_orders_of_writes),
		cmocka_unit_test(surw__is_uniform_over_orders_of_acquisitions),
		cmocka_unit_test(surw__is_uniform_where_threads_create_threads),
		cmocka_unit_test(random__fails_the_tests_of_uniformity),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
