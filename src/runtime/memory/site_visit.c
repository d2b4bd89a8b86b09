/* Accesses at instrumented sites, from the thunk (site_thunk.S) to memory.c, or to record.c in
 * recorded runs. site_reached() and its callees use general registers only (CMakeLists.txt). */
#include "runtime/sites.h"

#include "base/hot_state.h"
#include "engine/store_buffer.h"
#include "runtime/contexts.h"
#include "runtime/filter.h"
#include "runtime/guarded_read.h"
#include "runtime/main_locals.h"
#include "runtime/memory/memory_internal.h"
#include "runtime/record.h"
#include "runtime/runtime.h"
#include "runtime/quick.h"
#include "runtime/sampling.h"

/* Passed from site_reached() to site_perform(); no thread of the target moves in between. */
static HOT_STATE struct memory_visit site_visit;

/* Moves the start of the access to the end of the string. */
static void site_visit_memory_append(struct memory_access *access, const struct site_record *record)
{
	size_t bytes;

	if (record->bytes != SITE_APPENDS)
		return;
	bytes = guarded_string_bytes(access->address, SIZE_MAX);
	access->address = (const char *)access->address + (bytes ? bytes - 1 : 0);
}

/* In a recorded run: the report that follows the scheduling point. */
static HOT_STATE struct {
	const struct site_record *site;
	uint64_t address, length;
	uintptr_t frame;
} site_report;

static bool site_is_chosen(const struct site_record *record)
{
	const uint8_t *state = site_state(record);

	return state && *state & SITE_CHOSEN;
}

/* Returns whether the thread waits until its store buffer is empty: always at fences, which are
 * scheduling points with store buffers. */
static bool site_drains(const struct memory_access *access)
{
	if (access->kind == SITE_FENCE)
		return access->order == SITE_SEQUENTIAL && engine_has_store_buffers();
	return engine_has_buffered() && site_kind_writes(access->kind) &&
	       memory_write_is_direct(access);
}

/* Scheduling points are the accesses at chosen sites. Returns true if site_perform() is needed. */
static bool site_recorded(const struct site_record *record)
{
	const bool is_live = memory_is_watched();

	site_visit.is_point_wanted = is_live && site_is_chosen(record);
	if (site_visit.is_point_wanted || (is_live && site_drains(&site_visit.access)) ||
		(record_may_end_turn(record) && record_turn_is_over() && is_live))
		return true;
	record_report(record, site_report.address, site_report.length, site_report.frame);
	return false;
}

static void site_perform_recorded(void)
{
	struct memory_visit visit = {.access = site_visit.access};
	const struct site_record *record = site_report.site;
	const bool is_point = site_visit.is_point_wanted;
	const uint64_t address = site_report.address, length = site_report.length;
	const uintptr_t frame = site_report.frame;

	record_settle(record, is_point);
	if (is_point) {
		visit.point = (object_name)memory_variable_name(visit.access.address);
		if (!memory_buffer_write(&visit))
			memory_point(&visit, visit.point);
		memory_check_freed(&visit.access, OUTCOME_USE_AFTER_FREE);
	} else if (site_drains(&visit.access)) {
		if (!memory_buffer_write(&visit))
			memory_point(&visit, 0);
	} else if (!engine_must_continue()) {
		engine_spin_point(visit.access.site);
	}
	record_resume();
	record_report(record, address, length, frame);
}

/* Returns true if no granule is a point (filter.h), no detector needs the access and it does not wait. */
static bool site_is_unwanted(const struct memory_access *access)
{
	return access->kind != SITE_FENCE && !access->waits &&
	       !(memory_kind_is_atomic(access->kind) && runtime_looks_for_races()) &&
	       filter_misses((uintptr_t)access->address, access->bytes);
}

/* Sets what only the read of a waiting loop has. */
static inline void site_visit_read_wait(
	struct memory_access *access, const struct site_record *record, size_t length)
{
	access->waits = site_record_waits(record);
	if (access->waits)
		access->expected = length;
}

/* Sets what depends on the site's third argument. Returns false if nothing is accessed. */
static inline bool site_read_length(
	struct memory_access *access, const struct site_record *record, size_t length)
{
	switch (record->kind) {
	case SITE_RANGE_READ:
	case SITE_RANGE_WRITE:
		access->bytes = length;
		if (!length)
			return false;
		site_visit_memory_append(access, record);
		break;
	case SITE_STRING_READ:
		access->bytes = guarded_string_bytes(access->address, length);
		break;
	case SITE_STRING_WRITE:
		/* A call that failed has returned no string. */
		if (!length)
			return false;
		access->bytes = guarded_string_bytes((const char *)length, SIZE_MAX);
		site_visit_memory_append(access, record);
		break;
	case SITE_COMPARE_EXCHANGE:
		access->order_of_failure = (uint8_t)site_record_order_of_failure(record);
		access->knows_expected = record->order & SITE_EXPECTED;
		access->expected = length;
		break;
	case SITE_FENCE:
		access->expected = 0; /* the last compare-exchange's */
		break;
	default:
		break;
	}
	return true;
}

bool site_reached(
	const void *address, size_t length, const struct site_record *record, uintptr_t frame)
{
	struct memory_access *access = &site_visit.access;
	const uint64_t site =
		(uint64_t)(uintptr_t)&record->point + (uint64_t)(int64_t)record->point;

	const bool is_quick = sites_are_live == SITES_QUICK; /* always if the run is sampled */
	uint8_t *const state = is_quick ? site_state(record) : NULL;

	if (is_quick)
		sampling_note(record, state);
	if (is_quick && record->kind <= SITE_STORE &&
		quick_passes((uint64_t)(uintptr_t)address,
			quick_properties(record->kind, record->order, record->bytes), site, state))
		return false;
	if (record_is_on()) {
		access->kind = record->kind;
		access->order = (uint8_t)site_record_order(record);
		if (!site_drains(access) &&
			record_quickly(record, (uint64_t)(uintptr_t)address, length, frame))
			return false;
		site_report.site = record;
		site_report.address = (uint64_t)(uintptr_t)address;
		site_report.length = length;
		site_report.frame = frame;
		access->address = address;
		access->bytes = record->bytes;
		access->site = site;
		site_visit_read_wait(access, record, length);
		return site_recorded(record);
	}
	if (main_locals_has(record)) {
		main_locals_note(record, (uintptr_t)address);
		return false;
	}
	if (!memory_is_watched())
		return false;
	contexts_note(record, frame);
	if (record->kind >= SITE_FUNCTION_ENTRY)
		return false;
	access->address = address;
	access->bytes = record->bytes;
	access->site = site;
	access->kind = record->kind;
	access->order = (uint8_t)site_record_order(record);
	access->site_state = is_quick ? state : site_state(record);
	site_visit_read_wait(access, record, length);
	if (!site_read_length(access, record, length))
		return false;
	if (is_quick && memory_kind_is_range(record->kind) &&
		quick_passes_range((uint64_t)(uintptr_t)access->address, access->bytes,
			memory_kind_writes_range(record->kind)))
		return false;
	return !site_is_unwanted(access) && memory_begin(&site_visit);
}

uint64_t memory_last_site(void)
{
	return site_visit.access.site;
}

void site_perform(void)
{
	struct memory_visit visit = site_visit;

	if (record_is_on())
		site_perform_recorded();
	else
		memory_finish(&visit);
}
