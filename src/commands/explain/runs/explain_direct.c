/* Runs that the strategy `directed` drives to show a pattern, or to show none of several. */

#include "base/bug.h"
#include "commands/explain/runs/explain_internal.h"
#include "strategies/directed/directed_order.h"

static struct directed_order explain_direct_order_of(
	struct explain *explain, const struct pattern *pattern, bool is_forbidden)
{
	struct directed_order order = {
		.access_count = pattern_access_count(pattern),
		.is_forbidden = is_forbidden,
		.object = pattern->objects[0],
	};

	if (!explain->has_all_locations)
		explain_locations_add_program(
			&explain->locations, explain->setting.target.path, pattern->sites[0]);
	explain->has_all_locations = true;
	for (unsigned i = 0; i < order.access_count; i++) {
		struct directed_access *access = &order.accesses[i];

		access->party = (uint8_t)pattern_thread(pattern, i);
		access->function =
			explain_location(&explain->locations, pattern->sites[i])->function;
		access->variable = (uint8_t)pattern_variable(pattern, i);
		/* Reads and writes of one line are different sites; the pattern means one kind. */
		access->site_count = explain_locations_like(
			&explain->locations, pattern, i, access->sites, DIRECTED_SITES_MAX);
	}
	return order;
}

void explain_force_between(
	struct explain *explain, const struct pattern *pattern, const thread_name *names)
{
	struct directed_order order = explain_direct_order_of(explain, pattern, false);

	for (unsigned i = 0; i < PATTERN_VARIABLES_MAX; i++)
		order.homes[i] = pattern->objects[i];
	for (unsigned i = 0; names && i < PATTERN_THREADS; i++)
		order.names[i] = names[i];
	explain_runs_direct(explain, &order, 1);
}

void explain_forbid(struct explain *explain, const struct pattern *patterns, uint32_t count)
{
	struct directed_order orders[EXPLAIN_FORBIDDEN_MAX];

	_Static_assert(EXPLAIN_FORBIDDEN_MAX <= DIRECTED_ORDERS_MAX, "room for all");
	BUG_ON(count > EXPLAIN_FORBIDDEN_MAX);
	for (uint32_t i = 0; i < count; i++)
		orders[i] = explain_direct_order_of(explain, &patterns[i], true);
	explain_runs_direct(explain, orders, count);
}
