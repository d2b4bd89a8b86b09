/* Accesses that ThreadSanitizer's calls report (src/compiler/tsan/). They cannot be switched off:
 * the variable alone decides whether an access is a point. */
#include "runtime/interpose.h"
#include "runtime/memory.h"
#include "runtime/quick.h"
#include "runtime/runtime.h"
#include "runtime/sites.h"
#include "compiler/tsan/hook.h"

void tsan_begin(void)
{
	ENTER();
	runtime.has_tsan_calls = true;
	if (!runtime.contract || runtime.is_forked_child)
		return;
	/* Set in every process, because another process may have written the contract before. */
	runtime.contract->has_memory_sites = 1;
	heap_start_recording();
}

void tsan_reached_exchange(const volatile void *address, size_t bytes, uint8_t order,
	uint8_t order_of_failure, uint64_t expected, uint64_t site)
{
	struct memory_access access = {
		.address = (const void *)(uintptr_t)address,
		.bytes = bytes,
		.site = site,
		.kind = SITE_COMPARE_EXCHANGE,
		.order = order,
		.order_of_failure = order_of_failure,
		.knows_expected = bytes <= sizeof expected,
		.expected = expected,
	};

	if (sites_are_live)
		memory_access(&access);
}

void tsan_reached(
	const volatile void *address, size_t bytes, uint8_t kind, uint8_t order, uint64_t site)
{
	const uint64_t at = (uint64_t)(uintptr_t)address;
	struct memory_access access;

	if (!sites_are_live)
		return;
	if (sites_are_live == SITES_QUICK && kind <= SITE_STORE) {
		const uint32_t properties = quick_properties(kind, order, (uint16_t)bytes);

		if (quick_is_repeated(sites_quick, &sites_now, at, properties) ||
			quick_passes(at, properties, site, NULL))
			return;
	}
	access = (struct memory_access){
		.address = (const void *)(uintptr_t)address,
		.bytes = bytes,
		.site = site,
		.kind = kind,
		.order = order,
	};
	memory_access(&access);
}
