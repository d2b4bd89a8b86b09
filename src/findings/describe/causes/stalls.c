/* Describes the stalls that a failing run needs (model/stall.h), and names a sleep that the program
 * uses as synchronisation. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/array.h"
#include "base/strbuf.h"
#include "findings/describe/causes/causes_internal.h"

/* The location of an op. If the run performs the op later, the trace also has its callers. */
static struct finding_frame stalls_frame(
	const struct builder *builder, struct thread_id thread, uint16_t op, uint64_t site)
{
	const struct finding_source *source = builder->source;
	const struct trace_event pending = {
		.kind = (uint8_t)op, .thread = thread.index, .site = site};

	if (op == OP_THREAD_BEGIN && thread.index < source->thread_count)
		return builder_frame_at(
			builder, source->threads[thread.index].start + 1, LOCATION_OF_CALL);
	for (uint64_t i = 0; i < source->event_count; i++)
		if (source->events[i].thread == thread.index && source->events[i].site == site &&
			source->events[i].kind == op)
			return builder_event_frame(builder, &source->events[i]);
	return builder_event_frame(builder, &pending);
}

/* Returns whether the waiter sleeps at that location more than once, as a periodic or polling thread does. */
static bool stalls_is_repeated(const struct builder *builder, const struct stall *stall)
{
	const struct finding_source *source = builder->source;
	unsigned count = 0;

	for (uint64_t i = 0; i < source->event_count; i++)
		count += source->events[i].kind == OP_SLEEP &&
			 source->events[i].thread == stall->waiter.index &&
			 source->events[i].site == stall->site;
	return count > 1;
}

static void stalls_add(struct builder *builder, const struct stall *stall,
	const struct stalled_thread *stalled, uint64_t *moved)
{
	struct finding *finding = builder->finding;
	const char *path = builder_thread(builder, stalled->thread);
	struct finding_stall *out;

	for (uint32_t i = 0; i < finding->stall_count; i++)
		if (moved[i] == stalled->last_moved && !strcmp(finding->stalls[i].thread, path)) {
			finding->stalls[i].duration_ns += stall->duration_ns;
			return;
		}
	moved[finding->stall_count] = stalled->last_moved;
	out = &finding->stalls[finding->stall_count++];
	*out = (struct finding_stall){.thread = string_copy(path),
		.at = stalls_frame(builder, stalled->thread, stalled->op, stalled->site),
		.duration_ns = stall->duration_ns,
		.is_sleep = stall->op == OP_SLEEP,
		.is_repeated = stalls_is_repeated(builder, stall),
		.waiter = string_copy(builder_thread(builder, stall->waiter)),
		.waiter_at = stalls_frame(builder, stall->waiter, stall->op, stall->site)};
}

void builder_fill_stalls(struct builder *builder)
{
	const struct stalls *stalls = builder->source->stalls;
	uint64_t moved[STALLS_MOST * STALL_THREADS_MOST];
	struct finding *finding = builder->finding;

	if (!stalls || stalls->total_ns < STALL_NOTABLE_NS)
		return;
	finding->depends_on_time = true;
	finding->stalls =
		array_new((size_t)STALLS_MOST * STALL_THREADS_MOST, sizeof *finding->stalls);
	for (uint32_t i = 0; i < stalls_recorded(stalls); i++)
		for (uint32_t thread = 0; thread < stalls->items[i].thread_count; thread++)
			stalls_add(builder, &stalls->items[i], &stalls->items[i].threads[thread],
				moved);
}

/* Adds "500 µs", "1.5 ms", "2 s": rounded to a thousandth of the unit. */
static void stalls_add_duration(uint64_t duration_ns, struct strbuf *out)
{
	static const struct {
		uint64_t ns;
		const char *name;
	} units[] = {{1000000000, "s"}, {1000000, "ms"}, {1000, "\u00b5s"}};
	uint32_t unit = 0;
	uint64_t thousandths;

	while (unit < 2 && duration_ns + units[unit].ns / 2000 < units[unit].ns)
		unit++;
	thousandths = (duration_ns + units[unit].ns / 2000) / (units[unit].ns / 1000);
	strbuf_addf(out, "%" PRIu64, thousandths / 1000);
	if (thousandths % 1000) {
		char digits[8];
		size_t length =
			(size_t)snprintf(digits, sizeof digits, ".%03" PRIu64, thousandths % 1000);

		while (digits[length - 1] == '0')
			length--;
		strbuf_add(out, digits, length);
	}
	strbuf_addf(out, " %s", units[unit].name);
}

void builder_add_stalls(const struct builder *builder, struct strbuf *out)
{
	const struct finding *finding = builder->finding;

	if (finding->depends_on_time && !finding->stall_count)
		strbuf_adds(out, "depends on time: needs the machine to be stalled\n");
	for (uint32_t i = 0; i < finding->stall_count; i++) {
		const struct finding_stall *stall = &finding->stalls[i];

		builder_add_sentence(builder, out,
			"depends on time: needs {titled} to be stalled for at least ",
			stall->thread);
		stalls_add_duration(stall->duration_ns, out);
		builder_add_sentence(builder, out, " at {frame}\n", &stall->at);
	}
}

/*
 * Returns whether the sleep stands for a wait: it ends once, and the failure happens in one of the two
 * threads. A sleep whose end merely lets a third thread fail may as well simulate work.
 */
static bool stalls_is_synchronisation(
	const struct finding *finding, const struct finding_stall *stall)
{
	return stall->is_sleep && !stall->is_repeated && finding->failing_thread &&
	       (!strcmp(finding->failing_thread, stall->waiter) ||
		       !strcmp(finding->failing_thread, stall->thread));
}

void builder_stalls_cause(
	const struct builder *builder, struct strbuf *cause, struct strbuf *remedy)
{
	const struct finding *finding = builder->finding;

	for (uint32_t i = 0; i < finding->stall_count; i++) {
		const struct finding_stall *stall = &finding->stalls[i];
		const bool is_synchronisation = stalls_is_synchronisation(finding, stall);

		builder_add_sentence(builder, cause,
			is_synchronisation
				? "a sleep is used as synchronisation: {text} slept at {frame} in the hope that {text} would pass {frame} by then\n"
			: stall->is_sleep
				? "the sleep of {text} at {frame} ended before {text} passed {frame}\n"
				: "the timed wait of {text} at {frame} ended before {text} passed {frame}\n",
			stall->waiter, &stall->waiter_at, stall->thread, &stall->at);
		if (!remedy->length && is_synchronisation)
			builder_add_sentence(builder, remedy,
				"replace the sleep at {frame} by a wait for {text}, such as a join, a semaphore or a condition variable",
				&stall->waiter_at, stall->thread);
	}
}
