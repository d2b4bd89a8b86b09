/* Names the stores whose delay in a store buffer the failing run needs (model/memory_model.h). */
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

static void delayed_stores_add(const struct builder *builder, const struct delayed_store *store,
	struct strbuf *cause, struct strbuf *remedy)
{
	const struct finding_frame writer_at =
		delayed_stores_frame(builder, store->writer, store->site);
	const struct finding_frame observer_at =
		delayed_stores_frame(builder, store->observer, store->observer_site);
	const struct finding_frame passing_at =
		delayed_stores_frame(builder, store->writer, store->passing_site);
	const struct symbols_access access = {.address = store->address,
		.bytes = store->bytes,
		.site = store->site,
		.step = UINT64_MAX,
		.is_brief = true};
	char *variable = builder_memory(builder, &access);
	const char *writer = builder_thread(builder, store->writer);

	strbuf_addf(cause, "%s %s %s", builder_thread(builder, store->observer),
		store->is_read ? "reads" : "writes", variable);
	if (store->is_read) {
		strbuf_adds(cause, " = ");
		delayed_stores_add_value(store->old_value, cause);
	}
	strbuf_adds(cause, " at ");
	frame_place(&observer_at, cause);
	strbuf_addf(cause, "%s, while the store of ", store->is_read ? " (old)" : "");
	delayed_stores_add_value(store->value, cause);
	strbuf_addf(cause, " by %s at ", writer);
	frame_place(&writer_at, cause);
	strbuf_addf(cause, " is in its store buffer; the read of %s at ", writer);
	frame_place(&passing_at, cause);
	strbuf_adds(cause, " overtakes that store\n");
	if (!remedy->length) {
		strbuf_adds(remedy, "order the store at ");
		frame_place(&writer_at, remedy);
		strbuf_adds(remedy, " before the read at ");
		frame_place(&passing_at, remedy);
		strbuf_adds(remedy,
			": make the store memory_order_seq_cst, or put atomic_thread_fence(memory_order_seq_cst) between them");
	}
	free(variable);
}

void builder_delayed_stores_cause(
	const struct builder *builder, struct strbuf *cause, struct strbuf *remedy)
{
	const struct delayed_stores *delayed = builder->source->delayed;

	for (uint32_t i = 0; delayed && i < delayed_stores_recorded(delayed); i++)
		delayed_stores_add(builder, &delayed->items[i], cause, remedy);
}
