/* Writes why a thread waits at a barrier or a latch for ever: which threads arrived in the last round, or counted
 * down, and which ones ended without. */
#include <inttypes.h>
#include <string.h>

#include "base/array.h"
#include "base/strbuf.h"
#include "findings/describe/causes/causes_internal.h"

static const struct wait_edge *barriers_wait(const struct outcome *outcome)
{
	for (uint32_t i = 0; i < outcome->wait_count; i++)
		if (outcome->waits[i].op == OP_BARRIER_LEAVE && !outcome->waits[i].is_in_child)
			return &outcome->waits[i];
	return NULL;
}

/* Returns the thread's last event of that kind, about that object if it is not 0; else NO_EVENT. */
static uint64_t barriers_last(
	const struct finding_source *source, uint32_t thread, enum op_kind kind, uint64_t address)
{
	for (uint64_t i = source->event_count; i-- > 0;)
		if (source->events[i].thread == thread && source->events[i].kind == kind &&
			(!address || source->events[i].address == address))
			return i;
	return NO_EVENT;
}

static void barriers_add_arrivals(
	const struct builder *builder, const struct wait_edge *wait, struct strbuf *cause)
{
	const struct finding_source *source = builder->source;

	for (uint32_t i = 0; i < source->outcome->wait_count; i++) {
		const struct wait_edge *other = &source->outcome->waits[i];
		uint64_t arrival;

		if (other->op != OP_BARRIER_LEAVE || other->object_address != wait->object_address)
			continue;
		arrival = barriers_last(
			source, other->waiter.index, OP_BARRIER_ARRIVE, other->object_address);
		if (arrival == NO_EVENT)
			continue;
		strbuf_adds(cause, "\n");
		builder_add_sentence(
			builder, cause, "{actor} arrived at {step}", &source->events[arrival]);
	}
}

/* Names the threads that ended, which a round of more threads than the blocked ones needed. */
static void barriers_add_ended(
	const struct builder *builder, const struct wait_edge *wait, struct strbuf *cause)
{
	const struct finding_source *source = builder->source;

	for (uint16_t i = 1; i < source->thread_count; i++) {
		const uint64_t end = barriers_last(source, i, OP_THREAD_EXIT, 0);
		const bool has_arrived = barriers_last(source, i, OP_BARRIER_ARRIVE,
						 wait->object_address) != NO_EVENT;

		if (end == NO_EVENT)
			continue;
		strbuf_adds(cause, "\n");
		builder_mark_cause(builder, end, cause);
		strbuf_addf(cause, "%s ended %s", builder_thread(builder, (struct thread_id){i}),
			has_arrived ? "after an earlier round" : "without arriving");
	}
}

bool builder_barrier_cause(
	const struct builder *builder, struct strbuf *cause, struct strbuf *remedy)
{
	const struct outcome *outcome = builder->source->outcome;
	const struct wait_edge *wait = barriers_wait(outcome);
	uint32_t waiting = 0;
	FREE_SCOPED char *barrier = NULL;

	if (!wait || !wait->number || builder->source->event_count == 0)
		return false;
	barrier = builder_object(builder, OP_BARRIER_LEAVE, wait->object_address, UINT64_MAX);
	for (uint32_t i = 0; i < outcome->wait_count; i++)
		waiting += outcome->waits[i].op == OP_BARRIER_LEAVE &&
			   outcome->waits[i].object_address == wait->object_address;
	builder_add_sentence(builder, cause, "{object}", barrier ? barrier : "the barrier");
	strbuf_addf(cause, " opens when %u threads have arrived, and %" PRIu32 " %s",
		(unsigned)wait->number, waiting, waiting == 1 ? "has" : "have");
	barriers_add_arrivals(builder, wait, cause);
	barriers_add_ended(builder, wait, cause);
	strbuf_adds(cause, "\n");
	strbuf_adds(remedy,
		"give the barrier the number of threads that arrive in each round, and let no thread skip a round");
	return true;
}

/* A latch with more calls of count_down() needs no list. */
#define COUNT_DOWNS_MOST 8

/* Adds the changes of the latch in the trace. Returns their number. */
static unsigned barriers_add_count_downs(
	const struct builder *builder, const char *latch, uint64_t address, struct strbuf *cause)
{
	const struct finding_source *source = builder->source;
	unsigned count = 0;

	for (uint64_t i = 0; i < source->event_count && count <= COUNT_DOWNS_MOST; i++)
		if (source->events[i].kind == OP_ATOMIC_UPDATE &&
			source->events[i].address == address && ++count <= COUNT_DOWNS_MOST)
			builder_add_sentence(builder, cause,
				"{actor} counts {object} down at {step}\n", &source->events[i],
				latch);
	return count;
}

/* Adds the threads that ended and have not counted the latch down. */
static void barriers_add_without_count_down(
	const struct builder *builder, uint64_t address, struct strbuf *cause)
{
	for (uint16_t i = 1; i < builder->source->thread_count; i++) {
		const uint64_t end = barriers_last(builder->source, i, OP_THREAD_EXIT, 0);

		if (end == NO_EVENT ||
			barriers_last(builder->source, i, OP_ATOMIC_UPDATE, address) != NO_EVENT)
			continue;
		builder_mark_cause(builder, end, cause);
		strbuf_addf(cause, "%s ends without counting it down\n",
			builder_thread(builder, (struct thread_id){i}));
	}
}

bool builder_latch_cause(const struct builder *builder, struct strbuf *cause, struct strbuf *remedy)
{
	const struct outcome *outcome = builder->source->outcome;

	for (uint32_t i = 0; i < outcome->wait_count; i++) {
		const struct wait_edge *edge = &outcome->waits[i];
		FREE_SCOPED char *latch = NULL;
		unsigned count;

		if (edge->op != OP_FUTEX_BLOCK || edge->is_in_child)
			continue;
		latch = builder_wait_object(builder, edge);
		if (!latch || strncmp(latch, "latch ", 6) != 0)
			continue;
		count = barriers_add_count_downs(builder, latch, edge->object_address, cause);
		if (!count) /* accesses are no steps */
			return false;
		if (count > COUNT_DOWNS_MOST)
			strbuf_adds(cause, "further calls count it down\n");
		barriers_add_without_count_down(builder, edge->object_address, cause);
		builder_add_sentence(builder, cause,
			"{thread} waits for {object}, which has not reached 0\n", edge->waiter,
			latch);
		strbuf_adds(remedy,
			"call count_down() once for each count of the latch, on all paths, also after errors");
		return true;
	}
	return false;
}
