/* Accesses that ThreadSanitizer's calls report (src/compiler/tsan/). They cannot be switched off:
 * the variable alone decides whether an access is a point. */
#include "runtime/interpose.h"
#include "runtime/memory.h"
#include "runtime/quick.h"
#include "runtime/runtime.h"
#include "runtime/sites.h"
#include "compiler/tsan/hook.h"

/* Passes the suppressions of the program to the command. */
static void tsan_read_suppressions(struct contract *contract)
{
	const char *from;
	char *to = contract->default_suppressions;

	if (!tsan_default_suppressions)
		*(void **)&tsan_default_suppressions =
			runtime_symbol("__tsan_default_suppressions");
	from = tsan_default_suppressions ? tsan_default_suppressions() : NULL;
	if (!from || *to)
		return;
	for (size_t i = 0; from[i] && i < sizeof contract->default_suppressions - 1; i++)
		to[i] = from[i];
}

void tsan_begin(void)
{
	ENTER();
	runtime.has_tsan_calls = true;
	if (!runtime.contract || runtime.is_forked_child)
		return;
	/* Set in every process, because another process may have written the contract before. */
	runtime.contract->has_memory_sites = 1;
	heap_start_recording();
	tsan_read_suppressions(runtime.contract);
}

/* Ranges of AnnotateBenignRaceSized(). Further ones have no effect. */
#define BENIGN_MOST 256u

static struct {
	uint32_t count;
	struct {
		uint64_t start, end;
	} ranges[BENIGN_MOST];
} tsan_benign;

const char *(*tsan_default_suppressions)(void);

/* Nesting depth of the thread's ignored sections. */
static __thread int tsan_ignored;

void tsan_ignore(int change)
{
	tsan_ignored += change;
}

void tsan_ignore_memory(const volatile void *address, size_t bytes)
{
	const uint64_t start = (uint64_t)(uintptr_t)address;

	if (tsan_benign.count == BENIGN_MOST)
		return;
	tsan_benign.ranges[tsan_benign.count].start = start;
	tsan_benign.ranges[tsan_benign.count].end = start + bytes;
	tsan_benign.count++;
}

static bool tsan_is_ignored(uint64_t address, size_t bytes)
{
	if (tsan_ignored > 0)
		return true;
	for (uint32_t i = 0; i < tsan_benign.count; i++)
		if (address < tsan_benign.ranges[i].end &&
			address + bytes > tsan_benign.ranges[i].start)
			return true;
	return false;
}

void tsan_ordered(const volatile void *address, uint8_t order, uint64_t site)
{
	const struct memory_access access = {
		.expected = (uint64_t)(uintptr_t)address,
		.site = site,
		.kind = SITE_FENCE,
		.order = order,
	};

	if (sites_are_live)
		memory_access(&access);
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

	if (!sites_are_live || (!memory_kind_is_atomic(kind) && tsan_is_ignored(at, bytes)))
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

void memory_note_transfer(
	bool is_read, const struct iovec *vector, int count, long result, uint64_t site)
{
	size_t left = runtime.has_tsan_calls && result > 0 ? (size_t)result : 0;

	for (int i = 0; i < count && left; i++) {
		const size_t bytes = left < vector[i].iov_len ? left : vector[i].iov_len;

		if (bytes)
			tsan_reached(vector[i].iov_base, bytes,
				is_read ? SITE_RANGE_WRITE : SITE_RANGE_READ, SITE_RELAXED, site);
		left -= bytes;
	}
}
