/*
 * From an access to an event in the thread's ring. The common path uses general registers only,
 * so that the thunk saves no others (src/runtime/sites/site_thunk.S).
 */
#include "noise/noise.h"
#include "platform/platform.h"
#include "runtime/guarded_read.h"
#include "runtime/memory.h"
#include "runtime/sites.h"
#include "compiler/tsan/hook.h"

/*
 * Consecutive equal accesses are one event: by one thread, of one kind, at one site, with no
 * other thread's access to the variable in between. A table by hash has one word for the last
 * access of a variable. Two variables that share a word cause extra events. Equal hashes lose an
 * event about once in two thousand million times.
 */
#define ROW_WORDS (UINT32_C(1) << 15)
static uint64_t rows[ROW_WORDS];

static bool noise_goes_on(const struct noise_access *access)
{
	uint64_t *row = &rows[(access->address >> 3) % ROW_WORDS];
	const uint64_t what = access->address << 17 ^ access->site << 40 ^ access->site >> 24 ^
			      (uint64_t)noise_thread.number << 1 ^ access->is_write;

	/*
	 * Relaxed and not ordered with the event: a late thread merely reports the access once
	 * more.
	 */
	if (__atomic_load_n(row, __ATOMIC_RELAXED) == what)
		return true;
	__atomic_store_n(row, what, __ATOMIC_RELAXED);
	return false;
}

static void noise_tell(const struct noise_access *access, struct noise_place place)
{
	struct noise_ring *ring = noise_thread.ring;
	struct noise_event *event;

	if (!ring) {
		(void)__atomic_add_fetch(&noise_log()->lost, 1, __ATOMIC_RELAXED);
		return;
	}
	event = &ring->events[ring->written % NOISE_EVENTS];
	event->time = platform_time_stamp();
	event->site = access->site;
	event->address = access->address;
	event->block = place.block;
	event->class = place.class;
	event->thread = noise_thread.number;
	event->bytes = access->bytes > UINT32_MAX ? UINT32_MAX : (uint32_t)access->bytes;
	event->is_write = access->is_write;
	/* Release: pairs with the command's acquire, which then sees whole events. */
	__atomic_store_n(&ring->written, ring->written + 1, __ATOMIC_RELEASE);
}

static void noise_note_site(const struct noise_access *access, uint32_t block)
{
	if (sites_memory()->is_frozen || !access->site_state)
		return;
	if (!(__atomic_load_n(access->site_state, __ATOMIC_RELAXED) & SITE_SEEN))
		(void)__atomic_or_fetch(access->site_state, SITE_SEEN, __ATOMIC_RELAXED);
	noise_learn(access, block);
}

bool noise_record(const struct noise_access *access)
{
	struct noise_place place;

	if (noise_thread.state != NOISE_ALIVE)
		return noise_thread.state == NOISE_ENDED;
	if (noise_thread.until_delay <= 1)
		return false;
	if (noise_goes_on(access)) {
		noise_thread.until_delay--;
		return true;
	}
	if (!noise_place_known(access->address, &place))
		return false;
	noise_thread.until_delay--;
	noise_note_site(access, place.block);
	noise_tell(access, place);
	return true;
}

void noise_record_all(const struct noise_access *access)
{
	struct noise_place place;

	if (noise_thread.state == NOISE_UNKNOWN)
		noise_meet_thread();
	noise_maybe_delay();
	place = noise_place_find(access->address);
	noise_note_site(access, place.block);
	noise_tell(access, place);
}

/* ---- from the thunk ---- */

static bool kind_writes(uint8_t kind)
{
	return kind != SITE_LOAD && kind != SITE_ATOMIC_LOAD && kind != SITE_RANGE_READ &&
	       kind != SITE_STRING_READ;
}

static size_t noise_bytes(const void *address, size_t length, const struct site_record *record)
{
	switch (record->kind) {
	case SITE_RANGE_READ:
	case SITE_RANGE_WRITE:
		return length;
	case SITE_STRING_READ:
		return guarded_string_bytes(address, length);
	case SITE_STRING_WRITE:
		/* A call that failed has returned no string. */
		return length ? guarded_string_bytes((const char *)length, SIZE_MAX) : 0;
	default:
		return record->bytes;
	}
}

/* Start of the access: an appending access begins at the end of the string. */
static uintptr_t noise_address(const void *address, const struct site_record *record)
{
	size_t bytes;

	if (record->bytes != SITE_APPENDS ||
		(record->kind != SITE_RANGE_WRITE && record->kind != SITE_STRING_WRITE))
		return (uintptr_t)address;
	bytes = guarded_string_bytes(address, SIZE_MAX);
	return (uintptr_t)address + (bytes ? bytes - 1 : 0);
}

bool site_reached(
	const void *address, size_t length, const struct site_record *record, uintptr_t frame)
{
	(void)frame;
	struct noise_access *access = &noise_thread.pending;

	if (record->kind >= SITE_FENCE && record->kind != SITE_RANGE_READ &&
		record->kind != SITE_RANGE_WRITE && record->kind != SITE_STRING_READ &&
		record->kind != SITE_STRING_WRITE)
		return false;
	*access = (struct noise_access){
		.bytes = noise_bytes(address, length, record),
		.address = noise_address(address, record),
		.site = (uint64_t)(uintptr_t)&record->point + (uint64_t)(int64_t)record->point,
		.site_state = site_state(record),
		.is_write = kind_writes(record->kind),
	};
	return access->bytes && !noise_record(access);
}

void site_perform(void)
{
	const struct noise_access access = noise_thread.pending;

	noise_record_all(&access);
}

/* ---- from ThreadSanitizer's functions ---- */

void tsan_reached(
	const volatile void *address, size_t bytes, uint8_t kind, uint8_t order, uint64_t site)
{
	const struct noise_access access = {.address = (uintptr_t)address,
		.bytes = bytes,
		.site = site,
		.is_write = kind_writes(kind)};

	(void)order;
	if (sites_are_live && kind != SITE_FENCE && bytes && !noise_record(&access))
		noise_record_all(&access);
}

void tsan_reached_exchange(const volatile void *address, size_t bytes, uint8_t order,
	uint8_t order_of_failure, uint64_t expected, uint64_t site)
{
	/*
	 * Other threads may run before the exchange, so whether it writes is unknown; it counts
	 * as a write.
	 */
	(void)order_of_failure;
	(void)expected;
	tsan_reached(address, bytes, SITE_COMPARE_EXCHANGE, order, site);
}
