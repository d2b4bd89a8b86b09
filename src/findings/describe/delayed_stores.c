/* Names the stores that other threads see late in the failing run (model/memory_model.h). */
#include <inttypes.h>

#include "base/array.h"
#include "findings/describe/build_internal.h"

static struct finding_frame delayed_stores_frame(
	const struct builder *builder, struct thread_id thread, uint64_t site)
{
	const struct trace_event event = {.kind = OP_STORE, .thread = thread.index, .site = site};

	return builder_event_frame(builder, &event);
}

static void delayed_stores_add_value(uint64_t value, struct strbuf *out)
{
	strbuf_addf(out, value <= INT32_MAX ? "%" PRIu64 : "0x%" PRIx64, value);
}

static void delayed_stores_add_place(
	const struct builder *builder, struct thread_id thread, uint64_t site, struct strbuf *out)
{
	const struct finding_frame at = delayed_stores_frame(builder, thread, site);

	strbuf_adds(out, " at ");
	frame_place(&at, out);
}

/* tso: the store waits in a store buffer. */
static void delayed_stores_add_buffered(
	const struct builder *builder, const struct delayed_store *store, struct strbuf *cause)
{
	const char *writer = builder_thread(builder, store->writer);

	strbuf_addf(cause, "%s, while the store of ", store->is_read ? " (old)" : "");
	delayed_stores_add_value(store->value, cause);
	strbuf_addf(cause, " by %s", writer);
	delayed_stores_add_place(builder, store->writer, store->site, cause);
	strbuf_addf(cause, " is in its store buffer; the read of %s", writer);
	delayed_stores_add_place(builder, store->writer, store->passing_site, cause);
	strbuf_adds(cause, " overtakes that store\n");
}

/* c11: no happens-before orders the store before the access. */
static void delayed_stores_add_unseen(
	const struct builder *builder, const struct delayed_store *store, struct strbuf *cause)
{
	const char *writer = builder_thread(builder, store->writer);

	if (store->is_read) {
		strbuf_addf(cause, " (old; %s wrote ", writer);
		delayed_stores_add_value(store->value, cause);
		delayed_stores_add_place(builder, store->writer, store->site, cause);
		strbuf_adds(cause, ", not yet visible: no release/acquire between)\n");
		return;
	}
	strbuf_adds(cause, " (overwritten by the earlier store of ");
	delayed_stores_add_value(store->value, cause);
	strbuf_addf(cause, " by %s", writer);
	delayed_stores_add_place(builder, store->writer, store->site, cause);
	strbuf_adds(cause, ": no release/acquire between)\n");
}

/* Returns the access to the store's variable at a step; NO_EVENT if the trace lacks it. */
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
	strbuf_adds(remedy, "order the store");
	delayed_stores_add_place(builder, store->writer, store->site, remedy);
	strbuf_addf(
		remedy, " before the %s", !store->is_unseen || store->is_read ? "read" : "store");
	if (store->is_unseen) {
		delayed_stores_add_place(builder, store->observer, store->observer_site, remedy);
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
	delayed_stores_add_place(builder, store->writer, store->passing_site, remedy);
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
	FREE_SCOPED char *variable = builder_memory(builder, &access);

	delayed_stores_mark(builder, store, cause);
	strbuf_addf(cause, "%s %s %s", builder_thread(builder, store->observer),
		store->is_read ? "reads" : "writes", variable);
	if (store->is_read) {
		strbuf_adds(cause, " = ");
		delayed_stores_add_value(store->old_value, cause);
	}
	delayed_stores_add_place(builder, store->observer, store->observer_site, cause);
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
