#include "explore/serve.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "explore/campaign_state.h"
#include "exchange/contract_exchange.h"
#include "worker/remote.h"

#define NAP_NS UINT64_C(1000000)

static void serve_send_report(struct campaign *campaign, const struct serve_link *link,
	uint32_t serial, enum contract_report report)
{
	struct worker *worker = &campaign->workers[0].worker;
	const struct contract_memory *memory = contract_memory(worker->contract);
	const struct remote_head head = {.serial = serial,
		.report = report,
		.exit_status = worker->exit_status,
		.was_killed_outside = worker->was_killed_outside,
		.newly_shared = memory->newly_shared,
		.points_version = memory->points_version,
		.searched_version = memory->searched_version,
		.contract = *worker->contract};
	STRBUF_SCOPED message = STRBUF_EMPTY;

	strbuf_add(&message, (const char *)&head, sizeof head);
	remote_pack_area(&message, worker, false);
	if (report == REPORT_FAILURE)
		remote_pack_run(&message, worker->contract);
	remote_pack_end(&message);
	link->send(link->context, message.text, message.length);
}

/* Returns false if the owner's contract has another layout, or the message is damaged. */
static bool serve_take_batch(struct worker *worker, const char *bytes, size_t size)
{
	const struct remote_head *head = (const struct remote_head *)(const void *)bytes;

	if (size >= sizeof *head && head->has_memory)
		/* the process began with another view of memory: a new process must start */
		worker_kill(worker);
	if (!remote_unpack(worker, bytes, size) ||
		!contract_is_batch_plan(worker->contract, &head->contract.plan))
		return false;
	worker->contract->plan = head->contract.plan;
	worker->contract->totals = head->contract.totals;
	worker->is_strategy_fresh = worker->contract->plan.is_fresh_state = false;
	return worker_is_valid_state(worker, contract_strategy(worker->contract));
}

static int serve_make_batch(struct campaign *campaign, const struct serve_link *link,
	const char *bytes, size_t size, struct error *err)
{
	struct worker *worker = &campaign->workers[0].worker;
	enum contract_report report = REPORT_NONE;
	bool has_stopped = false;
	int status;

	if (!serve_take_batch(worker, bytes, size))
		return error_set(err, ERROR_FORMAT,
			"a batch of rank 0 cannot be read; give all ranks the same command");
	status = worker_begin(worker, err);
	while (status == 0 && report == REPORT_NONE) {
		const enum serve_wish wish = link->wish(link->context);

		if (wish == SERVE_END) {
			worker_kill(worker);
			return 0;
		}
		if (wish == SERVE_STOP && !has_stopped) {
			worker_stop(worker);
			has_stopped = true;
		}
		status = worker_poll(worker, &report, err);
		if (status == 0 && report == REPORT_NONE)
			worker_sleep(&worker, 1, NAP_NS);
	}
	if (status == 0)
		serve_send_report(campaign, link,
			((const struct remote_head *)(const void *)bytes)->serial, report);
	return status;
}

int campaign_serve(
	const struct campaign_options *options, const struct serve_link *link, struct error *err)
{
	const struct campaign_listener listener = {0};
	struct campaign_result result = {0};
	struct campaign campaign = {.options = options, .listener = &listener, .result = &result};
	int status = campaign_open_alone(&campaign, err);
	size_t size;
	char *bytes;

	while (status == 0 && (bytes = link->next(link->context, &size)) != NULL) {
		status = serve_make_batch(&campaign, link, bytes, size, err);
		free(bytes);
	}
	campaign_close(&campaign);
	return status;
}
