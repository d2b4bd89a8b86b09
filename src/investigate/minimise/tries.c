#include "investigate/minimise/tries.h"

#include "base/hash.h"
#include "platform/platform.h"

/* A transfer costs some hundred microseconds, the process of a further probe milliseconds. */
#define PARALLEL_FROM_NS UINT64_C(2000000)
#define PARALLEL_AFTER_RUNS 4u /* the first run may have started the process */
#define SLEEP_NS UINT64_C(20000000)

static uint64_t tries_digest_of(const struct probe_plan *plan)
{
	uint64_t digest = hash_pair(plan->mode, hash_pair(plan->segment_count, plan->fall_count));

	digest = hash_pair(
		digest, hash_bytes(plan->segments, plan->segment_count * sizeof *plan->segments));
	digest = hash_pair(digest, hash_bytes(plan->falls, plan->fall_count * sizeof *plan->falls));
	for (uint32_t i = 0; i < plan->preemption_count; i++) {
		const struct replay_preemption *item = &plan->preemptions[i];

		digest = hash_pair(digest, hash_pair(item->site, item->number));
		digest = hash_pair(digest, hash_pair(item->turn, item->op_count));
		digest = hash_pair(digest, hash_pair(item->step_count, item->is_open));
	}
	return digest;
}

/* Programs that bind a name, such as a port, conflict with each other. */
static bool tries_is_parallel_faster(const struct tries *tries, const struct probe *own)
{
	return tries->wanted > 1 && !tries->has_failed && tries->runs >= PARALLEL_AFTER_RUNS &&
	       !(own->worker.contract->names & NAME_TAKEN) &&
	       tries->runs_ns >= tries->runs * tries->parallel_from_ns;
}

static int tries_execute_own(struct tries *tries, struct probe *own,
	const struct minimise_sequence *sequence, struct error *err)
{
	const uint64_t begun_ns = platform_monotonic_ns();
	struct probe_plan plan;
	int result;

	(void)sequence->plan(sequence->context, 0, &plan); /* candidate 0 always exists */
	own->run_count = sequence->number;
	result = probe_run(own, &plan, err);
	tries->runs++;
	tries->runs_ns += platform_monotonic_ns() - begun_ns;
	return result;
}

static void tries_open_slots(struct tries *tries, struct probe *own)
{
	tries->slots[0] = (struct try_slot){.probe = own};
	tries->count = 1;
	tries->is_on = true;
	while (tries->count < tries->wanted) {
		struct try_slot *slot = &tries->slots[tries->count];

		*slot = (struct try_slot){.probe = &slot->opened};
		if (probe_open(&slot->opened, tries->params, NULL) < 0)
			break;
		slot->opened.worker.contract->plan.restart = own->worker.contract->plan.restart;
		tries->count++;
	}
}

static struct try_slot *tries_slot_of(struct tries *tries, uint64_t number, uint64_t digest)
{
	for (uint32_t i = 0; i < tries->count; i++) {
		struct try_slot *slot = &tries->slots[i];

		if (slot->state != TRY_FREE && !slot->is_stale && slot->number == number &&
			slot->digest == digest)
			return slot;
	}
	return NULL;
}

static struct try_slot *tries_free_slot(struct tries *tries)
{
	for (uint32_t i = 0; i < tries->count; i++)
		if (tries->slots[i].state == TRY_FREE)
			return &tries->slots[i];
	return NULL;
}

static int tries_set_out(
	struct try_slot *slot, uint64_t number, const struct probe_plan *plan, struct error *err)
{
	int result;

	slot->probe->run_count = slot->number = number;
	slot->digest = tries_digest_of(plan);
	slot->is_stale = false;
	slot->begun_ns = platform_monotonic_ns();
	result = probe_begin(slot->probe, plan, err);
	slot->state = result < 0 ? TRY_FREE : TRY_BUSY;
	return result;
}

static void tries_start_ahead(struct tries *tries, const struct minimise_sequence *sequence)
{
	for (uint32_t ahead = 1; ahead < tries->count && !tries->has_failed; ahead++) {
		struct try_slot *slot = tries_free_slot(tries);
		struct probe_plan plan;

		if (!slot || !sequence->plan(sequence->context, ahead, &plan))
			return;
		if (tries_slot_of(tries, sequence->number + ahead, tries_digest_of(&plan)))
			continue;
		tries->has_failed = tries_set_out(slot, sequence->number + ahead, &plan, NULL) < 0;
	}
}

static void tries_look_at(struct tries *tries, struct try_slot *slot)
{
	const uint64_t limit_ns = tries->params->run_limit_ns;
	bool is_over, is_spoilt = false;

	if (slot->state != TRY_BUSY)
		return;
	if (probe_poll(slot->probe, &is_over, &is_spoilt, NULL) < 0) {
		worker_kill(&slot->probe->worker);
		is_over = is_spoilt = true;
	} else if (!is_over && limit_ns && platform_monotonic_ns() - slot->begun_ns >= limit_ns) {
		probe_abandon(slot->probe);
		is_over = true;
	}
	if (is_over)
		slot->state = slot->is_stale ? TRY_FREE : is_spoilt ? TRY_SPOILT : TRY_DONE;
}

static void tries_sleep_for(struct tries *tries)
{
	struct worker *busy[TRIES_MOST];
	unsigned count = 0;

	for (uint32_t i = 0; i < tries->count; i++)
		if (tries->slots[i].state == TRY_BUSY)
			busy[count++] = &tries->slots[i].probe->worker;
	worker_sleep(busy, count, SLEEP_NS);
}

static void tries_kill_all(struct tries *tries)
{
	for (uint32_t i = 0; i < tries->count; i++) {
		if (tries->slots[i].state == TRY_BUSY)
			worker_kill(&tries->slots[i].probe->worker);
		tries->slots[i].state = TRY_FREE;
	}
}

static int tries_wait_for(struct tries *tries, struct try_slot *wanted,
	const struct minimise_sequence *sequence, struct error *err)
{
	for (;;) {
		tries_start_ahead(tries, sequence);
		for (uint32_t i = 0; i < tries->count; i++)
			tries_look_at(tries, &tries->slots[i]);
		if (wanted->state != TRY_BUSY)
			return 0;
		if (*tries->params->is_interrupted) {
			tries_kill_all(tries);
			return error_set(err, ERROR_INTERRUPTED, "interrupted");
		}
		tries_sleep_for(tries);
	}
}

static int tries_make_run(void *context, struct probe *own,
	const struct minimise_sequence *sequence, struct probe **made, struct error *err)
{
	struct tries *tries = context;
	struct probe_plan plan;
	struct try_slot *slot;
	int result = 0;

	*made = own;
	if (!tries->is_on && !tries_is_parallel_faster(tries, own))
		return tries_execute_own(tries, own, sequence, err);
	if (!tries->is_on)
		tries_open_slots(tries, own);
	(void)sequence->plan(sequence->context, 0, &plan); /* candidate 0 always exists */
	slot = tries_slot_of(tries, sequence->number, tries_digest_of(&plan));
	tries->ahead_runs += slot != NULL;
	if (!slot) {
		slot = tries_free_slot(tries); /* the probe of the last run, at least, is free */
		result = tries_set_out(slot, sequence->number, &plan, err);
	}
	if (result == 0)
		result = tries_wait_for(tries, slot, sequence, err);
	if (result < 0)
		return result;
	if (slot->state == TRY_SPOILT) {
		(void)sequence->plan(
			sequence->context, 0, &plan); /* the plan buffer was reused since */
		slot->probe->run_count = sequence->number;
		result = probe_run(slot->probe, &plan, err);
	}
	slot->state = TRY_FREE;
	*made = slot->probe;
	return result;
}

static void tries_turn(void *context)
{
	struct tries *tries = context;

	for (uint32_t i = 0; i < tries->count; i++) {
		struct try_slot *slot = &tries->slots[i];

		if (slot->state == TRY_BUSY)
			slot->is_stale = true;
		else
			slot->state = TRY_FREE;
	}
}

static void tries_end(void *context)
{
	tries_release(context);
}

void tries_init(struct tries *tries, const struct probe_params *params, uint32_t slots)
{
	*tries = (struct tries){.params = params,
		.parallel_from_ns = PARALLEL_FROM_NS,
		.wanted = slots < TRIES_MOST ? slots : TRIES_MOST,
		.ahead = {.context = tries,
			.run = tries_make_run,
			.turn = tries_turn,
			.end = tries_end}};
}

void tries_release(struct tries *tries)
{
	tries_kill_all(tries);
	for (uint32_t i = 1; i < tries->count; i++)
		probe_close(&tries->slots[i].opened);
	tries->count = 0;
	tries->is_on = false;
}
