/* Orders of the plan instead of the program's own (struct strengthened). Compiled, like its caller,
 * to use general registers only. */
#include "runtime/memory/memory_internal.h"
#include "runtime/runtime.h"

/* A plain access becomes an atomic one. */
static uint8_t strengthened_kind(uint8_t kind)
{
	switch (kind) {
	case SITE_LOAD:
		return SITE_ATOMIC_LOAD;
	case SITE_STORE:
		return SITE_ATOMIC_STORE;
	default:
		return kind;
	}
}

static uint8_t strengthened_order_of_failure(uint8_t order)
{
	switch (order) {
	case ORDER_SEQUENTIAL:
		return ORDER_SEQUENTIAL;
	case ORDER_ACQUIRE:
	case ORDER_ACQUIRE_RELEASE:
		return ORDER_ACQUIRE;
	default:
		return ORDER_RELAXED;
	}
}

void memory_strengthen(struct memory_access *access)
{
	const struct contract_plan *plan = &runtime.contract->plan;

	for (uint32_t i = 0; i < plan->strengthened_count; i++) {
		const struct strengthened *stronger = &plan->strengthened[i];
		const uint8_t of_failure = strengthened_order_of_failure(stronger->order);

		if (stronger->site != access->site)
			continue;
		if (stronger->is_fence) {
			access->fence = stronger->order;
			continue;
		}
		access->kind = strengthened_kind(access->kind);
		access->order = stronger->order;
		if (access->order_of_failure < of_failure)
			access->order_of_failure = of_failure;
	}
}
