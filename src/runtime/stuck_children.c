/*
 * Children that the target has forked and that wait for what will never come: a lock that another thread of their parent
 * held at the fork, most of all. A child that finds the process family deadlocked (family.h) says by the contract what its
 * threads wait for; that is part of the evidence of the run.
 *
 * The child's part runs in its moving thread, the rest in the process of the run.
 */
#include <sys/syscall.h>

#include "runtime/interpose.h"
#include "runtime/runtime.h"
#include "runtime/world.h"

static uint32_t stuck_count(const struct contract *contract)
{
	const uint32_t count = __atomic_load_n(&contract->stuck_count, __ATOMIC_RELAXED);

	return count < CONTRACT_STUCK_MOST ? count : CONTRACT_STUCK_MOST;
}

void stuck_child_tell(const struct outcome *outcome)
{
	struct contract *contract = runtime.contract;
	struct contract_stuck *stuck;
	uint32_t place;

	if (!contract || !runtime.is_forked_child || stuck_count(contract) == CONTRACT_STUCK_MOST)
		return;
	place = __atomic_fetch_add(&contract->stuck_count, 1, __ATOMIC_RELAXED);
	if (place >= CONTRACT_STUCK_MOST)
		return;
	stuck = &contract->stuck[place];
	stuck->kind = outcome->kind;
	stuck->site = outcome->site;
	stuck->address = outcome->address;
	stuck->wait_count = 0;
	for (uint32_t i = 0; i < outcome->wait_count && i < CONTRACT_STUCK_WAITS; i++)
		stuck->waits[stuck->wait_count++] = outcome->waits[i];
	/* Release: the parent's acquire finds the rest filled. */
	__atomic_store_n(&stuck->pid, (uint32_t)platform_call(SYS_getpid), __ATOMIC_RELEASE);
}

void stuck_children_begin_run(void)
{
	struct contract *contract = runtime.contract;

	for (uint32_t i = 0; i < stuck_count(contract); i++)
		contract->stuck[i].pid = 0;
	contract->stuck_count = 0;
}

static const struct contract_stuck *stuck_of(int pid)
{
	const struct contract *contract = runtime.contract;

	for (uint32_t i = 0; pid && i < stuck_count(contract); i++)
		if (__atomic_load_n(&contract->stuck[i].pid, __ATOMIC_ACQUIRE) == (uint32_t)pid)
			return &contract->stuck[i];
	return NULL;
}

/* Threads that only the child has are not told of: the run does not know them. */
static void stuck_put_first(struct outcome *outcome, const struct wait_edge *wait)
{
	struct wait_edge *edge = outcome->waits;

	if (wait->waiter.index >= engine_thread_count())
		return;
	if (outcome->wait_count == OUTCOME_WAITS_MAX) {
		outcome->wait_count--;
		outcome->waits_left_out++;
	}
	for (uint32_t i = outcome->wait_count++; i; i--)
		outcome->waits[i] = outcome->waits[i - 1];
	*edge = *wait;
	edge->is_in_child = 1;
	if (edge->holder.index >= engine_thread_count())
		edge->holder = THREAD_NONE;
}

void stuck_children_add_waits(struct outcome *outcome)
{
	int pids[CHILDREN_MAX];
	uint32_t count;

	if (outcome->kind != OUTCOME_DEADLOCK || !stuck_count(runtime.contract))
		return;
	count = children_alive(pids);
	for (uint32_t i = count; i--;) {
		const struct contract_stuck *stuck = stuck_of(pids[i]);

		for (uint32_t k = stuck ? stuck->wait_count : 0; k--;)
			stuck_put_first(outcome, &stuck->waits[k]);
		if (!stuck)
			continue;
		outcome->kind = stuck->kind;
		outcome->site = stuck->site;
		outcome->address = stuck->address;
	}
}
