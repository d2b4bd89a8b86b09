/* Names the stores that other threads see late in the failing run (model/memory_model.h). */
#include <inttypes.h>
#include <stdio.h>

#include "base/array.h"
#include "findings/describe/causes/causes_internal.h"

/* Returns an event that stands for an access, because the trace may lack the event of that access. */
static struct trace_event delayed_stores_access(struct thread_id thread, uint64_t site)
{
	return (struct trace_event){.kind = OP_STORE, .thread = thread.index, .site = site};
}

#define VALUE_BYTES 24

static const char *delayed_stores_value(uint64_t value, char text[VALUE_BYTES])
{
	(void)snprintf(text, VALUE_BYTES, value <= INT32_MAX ? "%" PRIu64 : "0x%" PRIx64,
		value); /* fits */
	return text;
}

/* tso: the store waits in a store buffer. */
static void delayed_stores_add_buffered(
	const struct builder *builder, const struct delayed_store *store, struct strbuf *cause)
{
	const struct trace_event write = delayed_stores_access(store->writer, store->site);
	const struct trace_event read = delayed_stores_access(store->writer, store->passing_site);
	char value[VALUE_BYTES];

	builder_add_sentence(builder, cause,
		"{text}, while the store of {text} by {actor} at {location} is in its store buffer; the read of {actor} at {location} overtakes that store\n",
		store->is_read ? " (old)" : "", delayed_stores_value(store->value, value), &write,
		&write, &read, &read);
}

/* c11: no happens-before orders the store before the access. */
static void delayed_stores_add_unseen(
	const struct builder *builder, const struct delayed_store *store, struct strbuf *cause)
{
	const struct trace_event write = delayed_stores_access(store->writer, store->site);
	char text[VALUE_BYTES];
	const char *value = delayed_stores_value(store->value, text);

	if (store->is_read)
		builder_add_sentence(builder, cause,
			" (old; {actor} wrote {text} at {location}, not yet visible: no release/acquire between)\n",
			&write, value, &write);
	else
		builder_add_sentence(builder, cause,
			" (overwritten by the earlier store of {text} by {actor} at {location}: no release/acquire between)\n",
			value, &write, &write);
}

/* Returns the access to the store's variable at a step, or NO_EVENT if the trace lacks it. */
static uint64_t delayed_stores_find(
	const struct builder *builder, const struct delayed_store *store, uint64_t step)
{
	const struct finding_source *source = builder->source;

	for (uint64_t i = 0; i < source->event_count; i++)
		if (source->events[i].step == step && source->events[i].address == store->address)
			return i;
	return NO_EVENT;
}

static void delayed_stores_add_remedy(
	const struct builder *builder, const struct delayed_store *store, struct strbuf *remedy)
{
	const struct trace_event write = delayed_stores_access(store->writer, store->site);
	const struct trace_event other =
		store->is_unseen ? delayed_stores_access(store->observer, store->observer_site)
				 : delayed_stores_access(store->writer, store->passing_site);

	builder_add_sentence(builder, remedy,
		!store->is_unseen || store->is_read
			? "order the store at {location} before the read at {location}"
			: "order the store at {location} before the store at {location}",
		&write, &other);
	if (store->is_unseen) {
		builder_missing_order(builder,
			&(struct missing_order){
				.stored = delayed_stores_find(builder, store, store->step),
				.observed =
					delayed_stores_find(builder, store, store->observer_step),
				.is_read = store->is_read,
			},
			remedy);
		return;
	}
	strbuf_adds(remedy,
		": make the store memory_order_seq_cst, or put atomic_thread_fence(memory_order_seq_cst) between them");
}

/* Returns the displayed step of the event; NULL if it is not displayed. */
static struct finding_step *delayed_stores_step(const struct builder *builder, uint64_t event)
{
	const uint64_t at = event - builder->first_step;

	return event >= builder->first_step && at < builder->finding->step_count
		       ? &builder->finding->steps[at]
		       : NULL;
}

/* tso: links the buffered store with its drain, and the drain with the first access that reads it. */
static void delayed_stores_link_drain(
	const struct builder *builder, const struct delayed_store *store, uint64_t stored)
{
	const struct finding_source *source = builder->source;
	uint64_t drained = NO_EVENT;

	for (uint64_t i = stored + 1; i < source->event_count; i++) {
		const struct trace_event *event = &source->events[i];
		const bool is_read = op_descriptions[event->kind].flags & OP_READ ||
				     event->kind == OP_ATOMIC_UPDATE;
		struct finding_step *step = delayed_stores_step(builder, i);

		if (event->address != store->address || event->thread == store->writer.index)
			continue;
		if (drained == NO_EVENT && event->kind == OP_DRAIN && event->site == store->site) {
			drained = i;
			if (step)
				step->makes_visible = store->step;
		} else if (drained != NO_EVENT) {
			if (step && is_read)
				step->reads_from = source->events[drained].step;
			return;
		}
	}
}

/* Marks the steps of the observer and the store, and links them. */
static void delayed_stores_mark(const struct builder *builder, const struct delayed_store *store,
	const struct strbuf *cause)
{
	const uint64_t observed = delayed_stores_find(builder, store, store->observer_step);
	const uint64_t stored = delayed_stores_find(builder, store, store->step);
	struct finding_step *step = delayed_stores_step(builder, observed);

	builder_mark_cause(builder, observed, cause);
	builder_mark_cause(builder, stored, cause);
	if (step && delayed_stores_find(builder, store, store->read_step) != NO_EVENT)
		step->reads_from = store->read_step;
	if (stored == NO_EVENT)
		return;
	if (step)
		step->misses = store->step;
	if (!store->is_unseen)
		delayed_stores_link_drain(builder, store, stored);
}

static void delayed_stores_add(const struct builder *builder, const struct delayed_store *store,
	struct strbuf *cause, struct strbuf *remedy)
{
	const struct symbols_access access = {.address = store->address,
		.bytes = store->bytes,
		.site = store->site,
		.step = UINT64_MAX,
		.is_brief = true};
	const struct trace_event observed =
		delayed_stores_access(store->observer, store->observer_site);
	FREE_SCOPED char *variable = builder_memory(builder, &access);
	char value[VALUE_BYTES];

	delayed_stores_mark(builder, store, cause);
	if (store->is_read)
		builder_add_sentence(builder, cause, "{actor} reads {text} = {text} at {location}",
			&observed, variable, delayed_stores_value(store->old_value, value),
			&observed);
	else
		builder_add_sentence(builder, cause, "{actor} writes {text} at {location}",
			&observed, variable, &observed);
	if (store->is_unseen)
		delayed_stores_add_unseen(builder, store, cause);
	else
		delayed_stores_add_buffered(builder, store, cause);
	if (!remedy->length)
		delayed_stores_add_remedy(builder, store, remedy);
}

void builder_delayed_stores_cause(
	const struct builder *builder, struct strbuf *cause, struct strbuf *remedy)
{
	const struct delayed_stores *delayed = builder->source->delayed;

	if (delayed && delayed->count && cause->length && cause->text[cause->length - 1] != '\n')
		strbuf_adds(cause, "\n"); /* each cause is one line */
	builder->finding->needs_weak_memory = delayed && delayed->count;
	for (uint32_t i = 0; delayed && i < delayed_stores_recorded(delayed); i++)
		delayed_stores_add(builder, &delayed->items[i], cause, remedy);
}
