/*
 * Which order of the program lets a thread miss a store (c11). In *message passing* the thread has read
 * a later store of the writer: a release store and an acquire load of its value would make the first
 * store visible. In *store buffering* nothing has reached the thread: only the order of sequentially
 * consistent operations helps.
 */
#include "base/bitset.h"
#include "findings/describe/causes/causes_internal.h"

static bool missing_order_is_read(const struct trace_event *event)
{
	return op_descriptions[event->kind].flags & OP_READ || event->kind == OP_ATOMIC_UPDATE;
}

/* Returns the last write before the event to the memory that it reads, or NO_EVENT if there is none. */
static uint64_t missing_order_last_write(const struct finding_source *source, uint64_t read)
{
	for (uint64_t i = read; i-- > 0;)
		if (source->events[i].address == source->events[read].address &&
			builder_is_write(&source->events[i]))
			return i;
	return NO_EVENT;
}

/* Finds the first load of the observer that reads a later store of the writer, if an order is missing there. */
static bool missing_order_find_message(const struct finding_source *source,
	const struct missing_order *missing, uint64_t *store, uint64_t *load)
{
	const uint16_t writer = source->events[missing->stored].thread;
	const uint16_t observer = source->events[missing->observed].thread;

	for (*load = missing->stored + 1; *load < missing->observed; (*load)++) {
		const struct trace_event *event = &source->events[*load];

		if (event->thread != observer || !missing_order_is_read(event) ||
			event->kind == OP_LOAD)
			continue;
		*store = missing_order_last_write(source, *load);
		if (*store != NO_EVENT && *store > missing->stored &&
			source->events[*store].kind != OP_STORE &&
			source->events[*store].thread == writer)
			return !order_releases(source->events[*store].order) ||
			       !order_acquires(event->order);
	}
	return false;
}

/* Returns whether anything that the writer did after the store reached the observer through other threads. */
static bool missing_order_reaches(
	const struct finding_source *source, const struct missing_order *missing)
{
	const uint16_t observer = source->events[missing->observed].thread;
	uint64_t informed[BITSET_WORDS(THREAD_CAPACITY)] = {0};
	uint64_t last;

	bitset_add(informed, source->events[missing->stored].thread);
	for (uint64_t i = missing->stored + 1; i < missing->observed; i++) {
		const struct trace_event *event = &source->events[i];

		if (!missing_order_is_read(event))
			continue;
		last = missing_order_last_write(source, i);
		if (last != NO_EVENT && last > missing->stored &&
			bitset_has(informed, source->events[last].thread))
			bitset_add(informed, event->thread);
	}
	return bitset_has(informed, observer);
}

/* "the store at a.c:17 memory_order_release" */
static void missing_order_add_location(const struct builder *builder,
	const struct trace_event *event, const char *order, struct strbuf *out)
{
	builder_add_sentence(builder, out, "the {text} at {location} {text}",
		event->kind == OP_ATOMIC_UPDATE ? "update"
		: builder_is_write(event)	? "store"
						: "load",
		event, order);
}

/* ": make the store at a.c:17 memory_order_release and the load at a.c:23 memory_order_acquire" */
static void missing_order_add_message(
	const struct builder *builder, uint64_t store, uint64_t load, struct strbuf *out)
{
	const struct trace_event *events = builder->source->events;
	const bool is_released = order_releases(events[store].order);
	const bool is_acquired = order_acquires(events[load].order);

	strbuf_adds(out, ": make ");
	if (!is_released)
		missing_order_add_location(builder, &events[store], "memory_order_release", out);
	if (!is_released && !is_acquired)
		strbuf_adds(out, " and ");
	if (!is_acquired)
		missing_order_add_location(builder, &events[load], "memory_order_acquire", out);
	strbuf_addf(out, "; or put atomic_thread_fence() of %s",
		is_acquired   ? "this order before the store"
		: is_released ? "this order after the load"
			      : "these orders before the store and after the load");
}

void builder_missing_order(
	const struct builder *builder, const struct missing_order *missing, struct strbuf *out)
{
	const struct finding_source *source = builder->source;
	const bool is_known = missing->stored != NO_EVENT && missing->observed != NO_EVENT;
	uint64_t store, load;

	if (is_known && missing_order_find_message(source, missing, &store, &load))
		missing_order_add_message(builder, store, load, out);
	else if (!is_known || missing_order_reaches(source, missing))
		strbuf_addf(out,
			": a memory_order_release store after that store, and a memory_order_acquire load of its value before the %s; or, where each thread stores before it reads what the other stores, memory_order_seq_cst for all of these accesses",
			missing->is_read ? "read" : "other store");
	else if (missing->is_read)
		strbuf_adds(out,
			": each thread stores before it reads what the other stores; make these accesses memory_order_seq_cst, or put atomic_thread_fence(memory_order_seq_cst) between store and read in each thread");
	else
		strbuf_adds(out,
			": make the stores of both threads memory_order_seq_cst, or put atomic_thread_fence(memory_order_seq_cst) between the stores of each thread");
}
