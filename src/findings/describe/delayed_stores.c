/* Names the stores that other threads see late in the failing run (model/memory_model.h). */
#include <inttypes.h>
#include <stdlib.h>

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

static void delayed_stores_add_remedy(
	const struct builder *builder, const struct delayed_store *store, struct strbuf *remedy)
{
	strbuf_adds(remedy, "order the store");
	delayed_stores_add_place(builder, store->writer, store->site, remedy);
	strbuf_addf(
		remedy, " before the %s", !store->is_unseen || store->is_read ? "read" : "store");
	if (store->is_unseen) {
		delayed_stores_add_place(builder, store->observer, store->observer_site, remedy);
		strbuf_addf(remedy,
			": a memory_order_release store after that store, and a memory_order_acquire load of its value before the %s; or, where each thread stores before it reads what the other stores, memory_order_seq_cst for all of these accesses",
			store->is_read ? "read" : "other store");
		return;
	}
	delayed_stores_add_place(builder, store->writer, store->passing_site, remedy);
	strbuf_adds(remedy,
		": make the store memory_order_seq_cst, or put atomic_thread_fence(memory_order_seq_cst) between them");
}

/* Marks the step of the observer, and that of the store if the trace has only one that it can be. */
static void delayed_stores_mark(const struct builder *builder, const struct delayed_store *store,
	const struct strbuf *cause)
{
	const struct finding_source *source = builder->source;
	uint64_t written = NO_EVENT, observed = NO_EVENT;
	uint32_t stores = 0;

	for (uint64_t i = 0; i < source->event_count; i++) {
		const struct trace_event *event = &source->events[i];

		if (event->thread == store->observer.index && event->site == store->observer_site &&
			event->step == store->observer_step)
			observed = i;
		if (event->thread != store->writer.index || event->site != store->site ||
			event->address != store->address)
			continue;
		written = i;
		stores++;
	}
	builder_mark_cause(builder, observed, cause);
	if (stores == 1)
		builder_mark_cause(builder, written, cause);
}

static void delayed_stores_add(const struct builder *builder, const struct delayed_store *store,
	struct strbuf *cause, struct strbuf *remedy)
{
	const struct symbols_access access = {.address = store->address,
		.bytes = store->bytes,
		.site = store->site,
		.step = UINT64_MAX,
		.is_brief = true};
	char *variable = builder_memory(builder, &access);

	delayed_stores_mark(builder, store, cause);
	strbuf_addf(cause, "%s %s %s", builder_thread(builder, store->observer),
		store->is_read ? "reads" : "writes", variable);
	free(variable);
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
	for (uint32_t i = 0; delayed && i < delayed_stores_recorded(delayed); i++)
		delayed_stores_add(builder, &delayed->items[i], cause, remedy);
}
