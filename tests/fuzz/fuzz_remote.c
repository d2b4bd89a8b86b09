/*
 * Reports of remote ranks: an input is a whole report of a batch. The leader takes it over as in a campaign, and uses what it
 * accepts.
 */
#include <stdlib.h>
#include <string.h>

#include "base/bug.h"
#include "base/strbuf.h"
#include "exchange/contract_exchange.h"
#include "investigate/probe/failure.h"
#include "worker/remote.h"
#include "fuzz/fuzz_targets.h"

#define RUN_FIRST 1000u
#define RUN_LIMIT 64u
#define RUNS_BEFORE 500u

static struct {
	struct worker worker;
	struct contract header; /* header before the batch */
	const uint8_t *bytes;
	size_t size;
} remote;

static void remote_ignore_message(void *context, uint32_t number, const void *bytes, size_t size)
{
	(void)context, (void)number, (void)bytes, (void)size;
}

static void remote_ignore_stop(void *context, uint32_t number)
{
	(void)context, (void)number;
}

static bool remote_is_never_lost(void *context, uint32_t number)
{
	(void)context, (void)number;
	return false;
}

/* The input, with the number of the batch that is under way; then nothing. */
static char *remote_receive_input(void *context, uint32_t number, size_t *size)
{
	char *message;

	(void)context, (void)number;
	if (!remote.size)
		return NULL;
	message = malloc(remote.size);
	BUG_ON(!message);
	memcpy(message, remote.bytes, remote.size);
	if (remote.size >= sizeof(uint32_t))
		memcpy(message, &remote.worker.remote_serial, sizeof(uint32_t));
	*size = remote.size;
	remote.size = 0;
	return message;
}

static const struct remote_link remote_link = {.count = 1,
	.send = remote_ignore_message,
	.stop = remote_ignore_stop,
	.receive = remote_receive_input,
	.is_lost = remote_is_never_lost};

static void remote_open(void)
{
	const struct contract_sizes sizes = {.strategy_bytes = 4096};
	struct contract *contract;

	remote.worker.params.remote = &remote_link;
	BUG_ON(contract_block_open(&remote.worker.block, &sizes, NULL) < 0);
	contract = remote.worker.contract = remote.worker.block.contract;
	contract->plan = (struct contract_plan){
		.run_first = RUN_FIRST, .run_limit = RUN_LIMIT, .step_limit = 10000};
	contract->totals = (struct contract_totals){
		.runs = RUNS_BEFORE, .outcome[OUTCOME_PASSED] = RUNS_BEFORE};
	remote.header = *contract;
}

static void remote_use(const struct contract *contract)
{
	struct failure failure = {0};

	failure_take(&failure, (struct contract *)(uintptr_t)contract);
	(void)failure_key(&failure.outcome);
	BUG_ON(failure.thread_count > THREAD_CAPACITY);
	failure_release(&failure);
	BUG_ON(!outcome_descriptions[contract->outcome.kind].word);
	BUG_ON(contract->totals.runs - RUNS_BEFORE > RUN_LIMIT);
	BUG_ON(contract->run_number - RUN_FIRST > RUN_LIMIT && contract->run_number);
	BUG_ON(strlen(contract->outcome.text) >= sizeof contract->outcome.text);
}

static bool remote_run(const uint8_t *bytes, size_t size)
{
	struct worker *worker = &remote.worker;
	enum contract_report report;
	struct error err = {0};
	int status;

	if (!worker->contract)
		remote_open();
	*worker->contract = remote.header;
	schedule_clear(contract_schedule(worker->contract));
	worker->damage = NULL;
	remote_begin(worker);
	remote.bytes = bytes;
	remote.size = size;
	status = remote_poll(worker, &report, &err);
	if (status < 0)
		fuzz_check_refusal(status, &err);
	if (status < 0 || report == REPORT_NONE)
		return false;
	remote_use(worker->contract);
	return true;
}

static size_t remote_make_seed(uint8_t *bytes, size_t capacity)
{
	struct remote_head head = {.report = REPORT_BATCH};
	struct strbuf message;
	size_t size;

	if (!remote.worker.contract)
		remote_open();
	head.contract = remote.header;
	head.contract.run_number = RUN_FIRST + 9;
	head.contract.totals.runs += 10;
	head.contract.totals.outcome[OUTCOME_PASSED] += 10;
	*remote.worker.contract = remote.header;
	remote.worker.contract->thread_count = 3;
	schedule_clear(contract_schedule(remote.worker.contract));
	schedule_append(contract_schedule(remote.worker.contract), 1, 0, 20);
	strbuf_init(&message);
	strbuf_add(&message, (const char *)&head, sizeof head);
	remote_pack_run(&message, remote.worker.contract);
	remote_pack_end(&message);
	size = message.length;
	BUG_ON(size > capacity);
	memcpy(bytes, message.text, size);
	strbuf_release(&message);
	return size;
}

const struct fuzz_target fuzz_target_remote = {
	.name = "remote", .run = remote_run, .make_seed = remote_make_seed};
