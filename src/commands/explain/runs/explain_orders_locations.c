/* The accesses whose orders may be too weak; see explain_orders.h. */
#include "commands/explain/runs/explain_orders_internal.h"
#include "investigate/trace_window.h"

static bool explain_orders_locations_orders_is_weak(
	uint8_t kind, uint8_t order, enum memory_model model)
{
	switch (kind) {
	case OP_LOAD:
	case OP_STORE:
	case OP_ATOMIC_LOAD:
	case OP_ATOMIC_STORE:
		return order != ORDER_SEQUENTIAL;
	case OP_ATOMIC_UPDATE: /* a locked instruction in x86 */
		return order != ORDER_SEQUENTIAL && model == MEMORY_MODEL_C11;
	default:
		return false;
	}
}

static void explain_orders_locations_orders_add_location(
	struct orders_search *search, uint64_t site, uint8_t kind, uint8_t order)
{
	struct explain_orders *out = search->out;
	const uint64_t id = explain_site(search->explain, site)->id;
	struct orders_location *location;

	if (!site || !explain_orders_locations_orders_is_weak(kind, order, out->model))
		return;
	for (uint32_t i = 0; i < out->location_count; i++) {
		location = &out->locations[i];
		for (uint32_t copy = 0; copy < location->site_count; copy++)
			if (location->sites[copy] == site)
				return;
		if (explain_site(search->explain, location->sites[0])->id != id ||
			location->kind != kind || location->order != order ||
			location->site_count == ORDERS_COPIES_MOST)
			continue;
		location->sites[location->site_count++] = site;
		return;
	}
	if (out->location_count == ORDERS_LOCATIONS_MOST)
		return;
	location = &out->locations[out->location_count++];
	*location = (struct orders_location){
		.sites = {site}, .site_count = 1, .kind = kind, .order = order};
}

/* The event of the access at the site; NULL: none. */
static const struct trace_event *explain_orders_locations_orders_event_at(
	const struct trace_event *events, uint64_t count, uint64_t site)
{
	for (uint64_t i = 0; i < count; i++)
		if (events[i].site == site)
			return &events[i];
	return NULL;
}

static void explain_orders_locations_orders_add_event(
	struct orders_search *search, const struct trace_event *event)
{
	/* the order of a drained store is not known, but weak */
	if (event->kind == OP_DRAIN || event->kind == OP_BUFFER)
		explain_orders_locations_orders_add_location(
			search, event->site, OP_STORE, ORDER_RELAXED);
	else
		explain_orders_locations_orders_add_location(
			search, event->site, event->kind, event->order);
}

/* The accesses of the delayed stores, then the other atomic ones, the latest first; the plain ones of a
 * program without atomic ones. */
static void explain_orders_locations_orders_add_events(
	struct orders_search *search, struct contract *contract)
{
	const struct delayed_stores *delayed = &contract->delayed;
	const struct trace_event *events = contract_area(contract, contract->trace_offset);
	const uint64_t capacity = contract->trace_bytes / sizeof *events;
	const uint64_t count = contract->trace_count < capacity ? contract->trace_count : capacity;
	uint32_t before;
	bool has_atomics;

	for (uint32_t i = 0; i < delayed_stores_recorded(delayed); i++) {
		const struct delayed_store *store = &delayed->items[i];
		const uint64_t sites[] = {store->site, store->observer_site, store->passing_site};

		for (uint32_t j = 0; j < sizeof sites / sizeof *sites; j++) {
			const struct trace_event *event =
				explain_orders_locations_orders_event_at(events, count, sites[j]);

			if (event)
				explain_orders_locations_orders_add_event(search, event);
		}
	}
	before = search->out->location_count;
	for (uint64_t i = count; i-- > 0;)
		if (events[i].kind != OP_LOAD && events[i].kind != OP_STORE)
			explain_orders_locations_orders_add_event(search, &events[i]);
	has_atomics = search->out->location_count > before;
	for (uint64_t i = count; i-- > 0 && !has_atomics;)
		if (events[i].kind == OP_LOAD || events[i].kind == OP_STORE)
			explain_orders_locations_orders_add_event(search, &events[i]);
}

int orders_collect(struct orders_search *search)
{
	const struct explain *explain = search->explain;
	struct probe_params params = explain->setting.probe;
	struct probe probe;
	int result;

	params.worker.output = OUTPUT_DISCARD;
	params.trace_events = trace_window_events(explain->finding->schedule.step_count);
	result = probe_open(&probe, &params, search->err);
	if (result < 0)
		return result;
	result = probe_run(&probe, &explain->setting.plan, search->err);
	if (result == 0 && probe.is_failure && probe.worker.contract->delayed.count) {
		search->out->model = explain->setting.settings.memory_model;
		explain_orders_locations_orders_add_events(search, probe.worker.contract);
	}
	probe_close(&probe);
	return result;
}
