/*
 * The different failures of a campaign, and how often each has occurred.
 *
 * A failure gets its number when a run reports it for the first time. As soon as its finding is
 * stored, the plan of all further batches has its key: the runtime then counts such runs and goes
 * on, without a report. contract_totals.known[] has the counts, so that discarded runs of a task are
 * subtracted with their totals.
 */
#include "explore/services.h"

#include "base/array.h"

static uint32_t known_find(const struct campaign *campaign, uint64_t key)
{
	uint32_t index = 0;

	while (index < campaign->known.count && campaign->known.failures[index].key != key)
		index++;
	return index;
}

struct known_failure *known_add(struct campaign *campaign, uint64_t key)
{
	const uint32_t index = known_find(campaign, key);

	if (index == campaign->known.count)
		ARRAY_APPEND(campaign->known.failures, campaign->known.count,
			(struct known_failure){.key = key});
	return &campaign->known.failures[index];
}

const struct known_failure *known_find_signature(
	const struct campaign *campaign, uint64_t signature)
{
	for (uint32_t i = 0; i < campaign->known.count; i++)
		if (campaign->known.failures[i].has_finding &&
			campaign->known.failures[i].signature == signature)
			return &campaign->known.failures[i];
	return NULL;
}

bool known_is_investigated(const struct campaign *campaign, uint64_t key)
{
	const uint32_t index = known_find(campaign, key);

	return index < campaign->known.count && campaign->known.failures[index].is_investigated;
}

void known_count_run(struct campaign *campaign, const struct campaign_worker *worker, uint64_t key)
{
	struct contract *contract = worker->worker.contract;
	struct contract_run *run = contract_run_of(contract, contract->run_number);
	const uint32_t index = (uint32_t)(known_add(campaign, key) - campaign->known.failures);

	if (index >= CONTRACT_KNOWN_MAX)
		return;
	contract->totals.known[index]++;
	if (run)
		run->known = (uint16_t)(index + 1);
}

void known_write_plan(const struct campaign *campaign, struct contract_plan *plan)
{
	uint32_t count = campaign->known.count;

	if (count > CONTRACT_KNOWN_MAX)
		count = CONTRACT_KNOWN_MAX;
	for (uint32_t i = 0; i < count; i++)
		plan->known_keys[i] = campaign->known.failures[i].finding[0]
					      ? campaign->known.failures[i].key
					      : 0;
	plan->known_count = count;
}

void known_take_counts(struct campaign *campaign, const struct contract_totals *totals)
{
	for (uint32_t i = 0; i < campaign->known.count && i < CONTRACT_KNOWN_MAX; i++)
		campaign->known.failures[i].times = totals->known[i];
}

int known_store_counts(struct campaign *campaign, struct error *err)
{
	int status = 0;

	for (uint32_t i = 0; i < campaign->known.count && status == 0; i++) {
		struct known_failure *known = &campaign->known.failures[i];

		if (!known->finding[0] || known->times <= known->times_stored)
			continue;
		status = store_count_finding(
			campaign->store, known->finding, known->times - known->times_stored, err);
		known->times_stored = known->times;
	}
	return status;
}
