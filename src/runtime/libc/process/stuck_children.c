/* Forked children that are blocked forever, usually on a lock that another thread of the parent
 * held at the fork. A child that finds the process family deadlocked (family.h) writes its threads'
 * waits into the contract, as evidence of the run. The child's part runs in its moving thread, the
 * rest in the process of the run. */
#include <sys/syscall.h>

#include "base/hot_state.h"
#include "base/text.h"
#include "model/thread_name.h"
#include "runtime/libc/child_run.h"
#include "runtime/runtime.h"
#include "runtime/libc/world.h"

/* Threads of children, listed after those of the run. Written at the end of the run. */
static struct thread_record stuck_threads[CONTRACT_STUCK_MOST * CONTRACT_STUCK_WAITS + 1];
static HOT_STATE uint32_t stuck_thread_count;

static uint32_t stuck_count(const struct contract *contract)
{
	const uint32_t count = __atomic_load_n(&contract->stuck_count, __ATOMIC_RELAXED);

	return count < CONTRACT_STUCK_MOST ? count : CONTRACT_STUCK_MOST;
}

/* Describes a thread that exists only in the child. Its name follows when the run ends. */
struct thread_record stuck_child_describe(const struct engine_thread *thread)
{
	struct thread_record description = {
		.create_site = thread->create_site, .start = (uint64_t)(uintptr_t)thread->start};
	struct text text;

	text_init(&text, description.label, sizeof description.label);
	text_add(&text, "child");
	return description;
}

void stuck_child_report(const struct outcome *outcome)
{
	struct contract *contract = runtime.contract;
	struct contract_stuck *reported;
	uint32_t location;

	if (!contract || !runtime.is_forked_child || stuck_count(contract) == CONTRACT_STUCK_MOST)
		return;
	location = __atomic_fetch_add(&contract->stuck_count, 1, __ATOMIC_RELAXED);
	if (location >= CONTRACT_STUCK_MOST)
		return;
	reported = &contract->stuck[location];
	reported->kind = outcome->kind;
	reported->site = outcome->site;
	reported->address = outcome->address;
	reported->wait_count = 0;
	reported->forker = child_run_forker();
	reported->has_own_threads = engine_thread_count() > child_run_first_own();
	for (uint32_t i = 0; i < outcome->wait_count && i < CONTRACT_STUCK_WAITS; i++) {
		reported->threads[i] =
			stuck_child_describe(engine_thread(outcome->waits[i].waiter.index));
		reported->waits[reported->wait_count++] = outcome->waits[i];
	}
	/* Pairs with the acquire in the process of the run, which then reads the other fields. */
	__atomic_store_n(&reported->pid, (uint32_t)platform_call(SYS_getpid), __ATOMIC_RELEASE);
}

void stuck_children_begin_run(void)
{
	struct contract *contract = runtime.contract;

	for (uint32_t i = 0; i < stuck_count(contract); i++)
		contract->stuck[i].pid = 0;
	contract->stuck_count = 0;
	contract->child_death = (struct contract_child_death){0};
	stuck_thread_count = 0;
}

static const struct contract_stuck *stuck_of(int pid)
{
	const struct contract *contract = runtime.contract;

	for (uint32_t i = 0; pid && i < stuck_count(contract); i++)
		if (__atomic_load_n(&contract->stuck[i].pid, __ATOMIC_ACQUIRE) == (uint32_t)pid)
			return &contract->stuck[i];
	return NULL;
}

static struct wait_edge *stuck_put_first(struct outcome *outcome, const struct wait_edge *wait)
{
	if (outcome->wait_count == OUTCOME_WAITS_MAX) {
		outcome->wait_count--;
		outcome->waits_left_out++;
	}
	for (uint32_t i = outcome->wait_count++; i; i--)
		outcome->waits[i] = outcome->waits[i - 1];
	outcome->waits[0] = *wait;
	return &outcome->waits[0];
}

/* Adds the wait of a child's only thread. It has its forker's index, and may wait for other threads
 * of the parent. */
static void stuck_add_forker(struct outcome *outcome, const struct wait_edge *wait)
{
	struct wait_edge *edge;

	if (wait->waiter.index >= engine_thread_count())
		return;
	edge = stuck_put_first(outcome, wait);
	edge->is_in_child = 1;
	if (edge->holder.index >= engine_thread_count())
		edge->holder = THREAD_NONE;
}

struct thread_id stuck_children_add_thread(
	struct thread_id forker_id, const struct thread_record *description)
{
	struct thread_record *thread = &stuck_threads[stuck_thread_count];
	const struct engine_thread *forker = engine_thread(forker_id.index);

	if (forker_id.index >= engine_thread_count() ||
		engine_thread_count() + stuck_thread_count >= THREAD_CAPACITY ||
		stuck_thread_count == sizeof stuck_threads / sizeof *stuck_threads)
		return THREAD_NONE;
	*thread = *description;
	thread->parent = forker_id;
	thread->ordinal = (uint16_t)(forker->children + stuck_thread_count);
	thread->name = thread_name_child(forker->name, thread->ordinal);
	return (struct thread_id){(uint16_t)(engine_thread_count() + stuck_thread_count++)};
}

/* Returns the index in the run for a thread of the child; THREAD_NONE: not listed. */
static struct thread_id stuck_thread_of(
	const struct contract_stuck *reported, struct thread_id thread)
{
	for (uint32_t i = 0; i < reported->wait_count; i++)
		if (thread_same(reported->waits[i].waiter, thread))
			return (struct thread_id){
				(uint16_t)(engine_thread_count() + stuck_thread_count + i)};
	return THREAD_NONE;
}

/* Adds a child that has made threads; the evidence lists them as created by its forker. */
static void stuck_add_own(struct outcome *outcome, const struct contract_stuck *reported)
{
	if (engine_thread_count() + stuck_thread_count + reported->wait_count > THREAD_CAPACITY ||
		reported->forker.index >= engine_thread_count())
		return;
	for (uint32_t k = reported->wait_count; k--;) {
		struct wait_edge edge = reported->waits[k];

		edge.waiter = stuck_thread_of(reported, edge.waiter);
		edge.holder = stuck_thread_of(reported, edge.holder);
		(void)stuck_put_first(outcome, &edge);
	}
	for (uint32_t k = 0; k < reported->wait_count; k++)
		(void)stuck_children_add_thread(reported->forker, &reported->threads[k]);
}

void stuck_children_add_threads(struct thread_record *threads, uint32_t *count)
{
	for (uint32_t i = 0; i < stuck_thread_count && *count < THREAD_CAPACITY; i++)
		threads[(*count)++] = stuck_threads[i];
}

void stuck_children_add_waits(struct outcome *outcome)
{
	int pids[CHILDREN_MAX];
	uint32_t count;

	if (outcome->kind != OUTCOME_DEADLOCK || !stuck_count(runtime.contract))
		return;
	count = children_alive(pids);
	for (uint32_t i = count; i--;) {
		const struct contract_stuck *reported = stuck_of(pids[i]);

		if (!reported)
			continue;
		for (uint32_t k = reported->has_own_threads ? 0 : reported->wait_count; k--;)
			stuck_add_forker(outcome, &reported->waits[k]);
		if (reported->has_own_threads)
			stuck_add_own(outcome, reported);
		outcome->kind = reported->kind;
		outcome->site = reported->site;
		outcome->address = reported->address;
	}
}
