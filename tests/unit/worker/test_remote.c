#include "worker/remote.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "exchange/contract_exchange.h"

#define RUN_FIRST 100u
#define RUN_LIMIT 50u

/* The report that the rank sends next. */
static struct remote_head report;
static struct schedule_segment segment;

static void ignore_message(void *context, uint32_t number, const void *bytes, size_t size)
{
	(void)context, (void)number, (void)bytes, (void)size;
}

static void ignore_stop(void *context, uint32_t number)
{
	(void)context, (void)number;
}

static bool is_never_lost(void *context, uint32_t number)
{
	(void)context, (void)number;
	return false;
}

static char *receive_report(void *context, uint32_t number, size_t *size)
{
	const uint64_t end[2] = {0};
	struct schedule schedule = {.count = 1, .step_count = 1};
	uint64_t extent[2] = {report.contract.schedule_offset,
		offsetof(struct schedule, segments) + sizeof segment};
	struct strbuf message;

	(void)context, (void)number;
	strbuf_init(&message);
	strbuf_add(&message, (const char *)&report, sizeof report);
	strbuf_add(&message, (const char *)extent, sizeof extent);
	strbuf_add(&message, (const char *)&schedule, offsetof(struct schedule, segments));
	strbuf_add(&message, (const char *)&segment, sizeof segment);
	strbuf_add(&message, (const char *)end, sizeof end);
	*size = message.length;
	return strbuf_detach(&message);
}

static const struct remote_link remote_link = {.count = 1,
	.send = ignore_message,
	.stop = ignore_stop,
	.receive = receive_report,
	.is_lost = is_never_lost};

/* A batch is under way, and a correct report of it is ready. */
static void open_remote_worker(struct worker *worker)
{
	const struct contract_sizes sizes = {.strategy_bytes = 4096};

	*worker = (struct worker){.params.remote = &remote_link};
	assert_int_equal(contract_block_open(&worker->block, &sizes, NULL), 0);
	worker->contract = worker->block.contract;
	worker->contract->plan = (struct contract_plan){
		.run_first = RUN_FIRST, .run_limit = RUN_LIMIT, .step_limit = 1000};
	worker->contract->totals = (struct contract_totals){
		.runs = 500, .steps = 4000, .outcome[OUTCOME_PASSED] = 500};
	remote_begin(worker);
	segment = (struct schedule_segment){.thread = 1};
	report = (struct remote_head){.serial = worker->remote_serial,
		.report = REPORT_BATCH,
		.contract = *worker->contract};
	report.contract.host_pid = 1;
	report.contract.run_number = RUN_FIRST + 9;
	report.contract.totals.runs += 10;
	report.contract.totals.outcome[OUTCOME_PASSED] += 10;
	report.contract.totals.steps += 80;
}

static void test_remote__accepts_a_report(void **state)
{
	enum contract_report rung;
	struct worker worker;
	struct error err;

	(void)state;
	open_remote_worker(&worker);
	assert_int_equal(remote_poll(&worker, &rung, &err), 0);
	assert_int_equal(rung, REPORT_BATCH);
	assert_int_equal(worker.contract->totals.runs, 510);
	assert_int_equal(worker.contract->run_number, RUN_FIRST + 9);
	assert_int_not_equal(worker.contract->host_pid, 1);
	contract_block_close(&worker.block);
}

static void assert_refused(struct worker *worker, const char *damaged)
{
	enum contract_report rung;
	struct error err;
	char words[64];

	assert_int_equal(remote_poll(worker, &rung, &err), ERROR_FORMAT);
	(void)snprintf(words, sizeof words, "rank 1 is damaged (%s)", damaged); /* fits */
	assert_non_null(strstr(err.text, words));
	assert_int_equal(worker->contract->totals.runs, 500);
	contract_block_close(&worker->block);
}

static void test_remote__refuses_impossible_counters(void **state)
{
	struct worker worker;

	(void)state;
	open_remote_worker(&worker);
	report.contract.totals.runs = UINT64_MAX;
	assert_refused(&worker, "totals");
	open_remote_worker(&worker);
	report.contract.totals.runs += RUN_LIMIT;
	assert_refused(&worker, "totals");
	open_remote_worker(&worker);
	report.contract.totals.steps -= 100;
	assert_refused(&worker, "totals");
	open_remote_worker(&worker);
	report.contract.run_number = RUN_FIRST + RUN_LIMIT;
	assert_refused(&worker, "run number");
}

static void test_remote__refuses_indices_out_of_bounds(void **state)
{
	struct worker worker;

	(void)state;
	open_remote_worker(&worker);
	report.contract.thread_count = THREAD_CAPACITY + 1;
	assert_refused(&worker, "counts");
	open_remote_worker(&worker);
	report.contract.outcome.kind = OUTCOME_KIND_COUNT;
	assert_refused(&worker, "outcome");
	open_remote_worker(&worker);
	segment.thread = UINT16_MAX;
	assert_refused(&worker, "schedule");
	open_remote_worker(&worker);
	report.contract.strategy_offset++;
	assert_refused(&worker, "layout");
	open_remote_worker(&worker);
	report.report = REPORT_NONE;
	assert_refused(&worker, "message");
}

static void test_remote__checks_the_plan_of_a_batch(void **state)
{
	static const unsigned char no_flag = 2;
	struct contract_plan plan;
	struct worker worker;

	(void)state;
	open_remote_worker(&worker);
	plan = worker.contract->plan;
	assert_true(contract_is_batch_plan(worker.contract, &plan));
	plan.strategy = UINT32_MAX;
	assert_false(contract_is_batch_plan(worker.contract, &plan));
	plan = worker.contract->plan;
	plan.restart = RESTART_COUNT;
	assert_false(contract_is_batch_plan(worker.contract, &plan));
	plan = worker.contract->plan;
	plan.round_runs = UINT32_MAX;
	assert_false(contract_is_batch_plan(worker.contract, &plan));
	plan = worker.contract->plan;
	memcpy(&plan.is_traced, &no_flag, sizeof no_flag);
	assert_false(contract_is_batch_plan(worker.contract, &plan));
	contract_block_close(&worker.block);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_remote__accepts_a_report),
		cmocka_unit_test(test_remote__refuses_impossible_counters),
		cmocka_unit_test(test_remote__refuses_indices_out_of_bounds),
		cmocka_unit_test(test_remote__checks_the_plan_of_a_batch),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
