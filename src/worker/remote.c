#include "worker/remote.h"

#include <stdlib.h>
#include <string.h>

#include "exchange/contract_exchange.h"

/* Header of an extent of the block; bytes 0: end of the message. */
struct remote_extent {
	uint64_t offset, bytes;
};

static void remote_pack(
	struct strbuf *message, struct contract *contract, uint64_t offset, uint64_t bytes)
{
	const struct remote_extent extent = {offset, bytes};

	strbuf_add(message, (const char *)&extent, sizeof extent);
	strbuf_add(message, (const char *)contract + offset, bytes);
}

void remote_pack_area(struct strbuf *message, struct worker *worker, bool is_memory)
{
	struct contract *contract = worker->contract;
	uint64_t at = is_memory ? contract->memory_offset : contract->strategy_offset;
	const uint64_t end = at + (is_memory ? contract->memory_bytes : contract->strategy_bytes);
	uint64_t bytes;

	for (; (bytes = contract_block_next(&worker->block, &at, end)) != 0; at += bytes)
		remote_pack(message, contract, at, bytes);
}

void remote_pack_run(struct strbuf *message, struct contract *contract)
{
	const struct schedule *schedule = contract_schedule(contract);

	remote_pack(message, contract, contract->threads_offset,
		contract->thread_count * sizeof(struct thread_record));
	remote_pack(message, contract, contract->schedule_offset,
		sizeof *schedule + schedule->count * sizeof(struct schedule_segment));
}

void remote_pack_end(struct strbuf *message)
{
	const struct remote_extent end = {0};

	strbuf_add(message, (const char *)&end, sizeof end);
}

static bool remote_is_valid_extent(
	const struct contract *contract, const struct remote_extent *extent)
{
	const struct remote_extent areas[] = {
		{contract->strategy_offset, contract->strategy_bytes},
		{contract->memory_offset, contract->memory_bytes},
		{contract->threads_offset, THREAD_CAPACITY * sizeof(struct thread_record)},
		{contract->schedule_offset, contract->schedule_bytes},
	};

	for (size_t i = 0; i < sizeof areas / sizeof *areas; i++)
		if (extent->offset >= areas[i].offset && extent->bytes <= areas[i].bytes &&
			extent->offset - areas[i].offset <= areas[i].bytes - extent->bytes)
			return true;
	return false;
}

bool remote_unpack(struct worker *worker, const char *bytes, size_t size)
{
	struct contract *contract = worker->contract;
	const struct remote_head *head = (const struct remote_head *)(const void *)bytes;
	size_t at = sizeof *head;
	struct remote_extent extent;

	if (size < sizeof *head || head->contract.bytes != contract->bytes ||
		head->report > REPORT_DIED || head->was_killed_outside > 1 || head->has_memory > 1)
		return false;
	contract_block_clear(&worker->block, contract->strategy_offset, contract->strategy_bytes);
	if (head->has_memory)
		contract_block_clear(
			&worker->block, contract->memory_offset, contract->memory_bytes);
	while (size - at >= sizeof extent) {
		memcpy(&extent, bytes + at, sizeof extent);
		at += sizeof extent;
		if (!extent.bytes)
			return true;
		if (extent.bytes > size - at || !remote_is_valid_extent(contract, &extent))
			return false;
		memcpy((char *)contract + extent.offset, bytes + at, extent.bytes);
		at += extent.bytes;
	}
	return false;
}

bool remote_is_lost(struct worker *worker)
{
	const struct remote_link *link = worker->params.remote;

	worker->is_lost = link->is_lost(link->context, worker->params.remote_number);
	return worker->is_lost;
}

void remote_begin(struct worker *worker)
{
	const struct remote_link *link = worker->params.remote;
	struct remote_head head = {.serial = ++worker->remote_serial,
		.has_memory = !worker->remote_has_memory,
		.contract = *worker->contract};
	STRBUF_SCOPED message = STRBUF_EMPTY;

	worker->remote_is_away = worker->remote_has_memory = true;
	contract_expect(&worker->block);
	if (remote_is_lost(worker))
		return; /* remote_poll() reports a lost process */
	strbuf_add(&message, (const char *)&head, sizeof head);
	remote_pack_area(&message, worker, false);
	if (head.has_memory)
		remote_pack_area(&message, worker, true);
	remote_pack_end(&message);
	link->send(link->context, worker->params.remote_number, message.text, message.length);
}

void remote_stop(struct worker *worker)
{
	const struct remote_link *link = worker->params.remote;

	if (worker->remote_is_away)
		link->stop(link->context, worker->params.remote_number);
}

void remote_kill(struct worker *worker)
{
	/* A report that arrives later has an old serial number and is ignored. */
	if (worker->remote_is_away)
		remote_stop(worker);
	worker->remote_is_away = false;
	worker->remote_serial++;
}

static enum contract_report remote_take_report(
	struct worker *worker, const char *bytes, size_t size)
{
	const struct remote_head *head = (const struct remote_head *)(const void *)bytes;
	struct contract_memory *memory = contract_memory(worker->contract);

	if (!remote_unpack(worker, bytes, size) || head->report == REPORT_NONE ||
		head->report == REPORT_READY)
		worker->damage = "message";
	else
		worker->damage = contract_receive_report(&worker->block, &head->contract);
	if (worker->damage)
		return REPORT_DIED;
	worker->contract->report = head->report;
	memory->newly_shared = head->newly_shared;
	memory->points_version = head->points_version;
	memory->searched_version = head->searched_version;
	worker->exit_status = head->exit_status;
	worker->was_killed_outside = head->was_killed_outside;
	return (enum contract_report)head->report;
}

int remote_poll(struct worker *worker, enum contract_report *out, struct error *err)
{
	const struct remote_link *link = worker->params.remote;
	enum contract_report report = REPORT_NONE;
	size_t size;
	char *bytes;

	(void)remote_is_lost(worker); /* sets worker->is_lost */
	while (report == REPORT_NONE && (bytes = link->receive(link->context,
						 worker->params.remote_number, &size)) != NULL) {
		if (size >= sizeof(struct remote_head) && worker->remote_is_away &&
			((const struct remote_head *)(const void *)bytes)->serial ==
				worker->remote_serial)
			report = remote_take_report(worker, bytes, size);
		free(bytes);
	}
	if (report == REPORT_NONE && worker->is_lost && worker->remote_is_away) {
		worker->remote_has_memory = false; /* unknown until the next message */
		report = REPORT_DIED;
		remote_kill(worker);
	}
	if (report != REPORT_NONE)
		worker->remote_is_away = false;
	*out = report;
	return worker->damage
		       ? error_set(err, ERROR_FORMAT,
				 "the report of rank %u is damaged (%s); run one release of raddle on all machines",
				 worker->params.remote_number + 1, worker->damage)
		       : 0;
}
