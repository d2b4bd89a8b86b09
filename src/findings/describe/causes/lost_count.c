/*
 * Says that an update of a reference count was lost before the memory was freed. The count is the member of the freed block
 * that the freeing thread wrote last. An update is lost if a thread reads the count, another thread writes it, and the
 * first thread then writes a value that it has computed from what it has read.
 */
#include <string.h>

#include "base/array.h"
#include "findings/describe/causes/causes_internal.h"

/* Returns the freed block, or NULL if the run has not recorded it. */
static const struct memory_block *lost_count_block(const struct finding_source *source)
{
	const struct outcome *outcome = source->outcome;

	for (uint32_t i = source->block_count; i-- > 0;)
		if (source->blocks[i].freed_step == outcome->other_step &&
			outcome->address - source->blocks[i].start < source->blocks[i].bytes)
			return &source->blocks[i];
	return NULL;
}

/* Returns the index of the first event after the free. The runtime stores the number of steps that the run had made when
 * the memory was freed. */
static uint64_t lost_count_free(const struct finding_source *source)
{
	uint64_t end = 0;

	while (end < source->event_count && source->events[end].step < source->outcome->other_step)
		end++;
	return end;
}

/* Returns the event in which the freeing thread writes the count, or NO_EVENT if it writes nothing in the block. */
static uint64_t lost_count_write(const struct finding_source *source, uint64_t end)
{
	const struct memory_block *block = lost_count_block(source);

	while (block && end-- > 0) {
		const struct trace_event *event = &source->events[end];

		if (event->thread == source->outcome->other_thread.index &&
			event->call != CALL_FREE && builder_is_write(event) &&
			event->address - block->start < block->bytes)
			return end;
	}
	return NO_EVENT;
}

static void lost_count_prevent(const struct builder *builder, const struct lost_update *lost,
	const char *count, struct strbuf *remedy)
{
	const struct trace_event *events = builder->source->events;
	const struct trace_event *one = &events[lost->read], *other = &events[lost->foreign];
	FREE_SCOPED char *held =
		builder_held_words(builder, (struct thread_id){one->thread}, one->step, 0);
	FREE_SCOPED char *held_by_other =
		builder_held_words(builder, (struct thread_id){other->thread}, other->step, 0);
	STRBUF_SCOPED first = STRBUF_EMPTY, second = STRBUF_EMPTY;

	builder_add_event_location(builder, one, &first);
	builder_add_event_location(builder, other, &second);
	if (!held != !held_by_other)
		builder_add_sentence(builder, remedy, "hold {text} also for the update at {text}",
			held ? held : held_by_other, held ? second.text : first.text);
	else if (strcmp(first.text, second.text) == 0)
		builder_add_sentence(builder, remedy,
			"make the update of {object} at {text} one atomic operation, or guard it by a lock",
			count, first.text);
	else
		builder_add_sentence(builder, remedy,
			"make the updates of {object} at {text} and {text} atomic operations, or guard both by one lock",
			count, first.text, second.text);
}

bool builder_lost_count_cause(
	const struct builder *builder, struct strbuf *cause, struct strbuf *remedy)
{
	const struct finding_source *source = builder->source;
	const struct trace_event *events = source->events;
	const uint64_t end = lost_count_free(source);
	const uint64_t written = lost_count_write(source, end);
	struct lost_update lost;
	FREE_SCOPED char *count = NULL;

	if (written == NO_EVENT ||
		!builder_find_lost_update(builder, events[written].address, end, &lost))
		return false;
	count = builder_event_object(builder, &events[written]);
	builder_add_sentence(
		builder, cause, "{actor} reads {object} at {step}\n", &events[lost.read], count);
	builder_add_sentence(
		builder, cause, "{actor} writes {object} at {step}\n", &events[lost.foreign], NULL);
	builder_add_sentence(builder, cause,
		"{actor} overwrites it at {step} without having read what {actor} wrote\n",
		&events[lost.store], &events[lost.foreign]);
	lost_count_prevent(builder, &lost, count, remedy);
	return true;
}
