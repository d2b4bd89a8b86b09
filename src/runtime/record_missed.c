/*
 * What quick stubs have found not to be predicted, by way of record_near.S: as record_report(), for sites of which all that
 * has to be known is known. By general registers only (CMakeLists.txt).
 */
#include "runtime/interpose.h"
#include "runtime/record.h"
#include "runtime/record_access.h"
#include "runtime/record_internal.h"
#include "runtime/sites.h"

static bool record_is_quiet(void)
{
	return !record_state.area || sites_are_live == SITES_QUIET;
}

/* May the report of a site that may end a turn be dealt with at once? */
static bool record_goes_on(void)
{
	return !record_is_quiet() && record_state.moving->left > 0;
}

bool record_missed_read(uint64_t address, uint64_t known)
{
	if (__builtin_expect(!record_goes_on(), 0))
		return false;
	record_state.moving->wants_arguments = 0;
	record_flush();
	if (known <= 8)
		(void)record_read_part(address, (uint32_t)known);
	else
		record_read(address, known);
	return true;
}

bool record_missed_update(uint64_t address, uint64_t known)
{
	if (!record_missed_read(address, known))
		return false;
	record_pend(address, (uint32_t)known);
	return true;
}

bool record_missed_result(uint64_t value, uint64_t known)
{
	if (__builtin_expect(!record_goes_on(), 0))
		return false;
	record_state.moving->wants_arguments = 0;
	record_drop();
	record_value((uint32_t)known, value);
	return true;
}

bool record_missed_address(uint64_t value, uint64_t known)
{
	if (__builtin_expect(!record_goes_on(), 0))
		return false;
	record_state.moving->wants_arguments = 0;
	record_flush();
	record_value((uint32_t)known, value);
	return true;
}

bool record_missed_argument(uint64_t value, uint64_t known)
{
	(void)known;
	if (record_is_quiet())
		return false;
	record_argument(value);
	return true;
}

bool record_missed_enter(uint64_t nothing, uint64_t known, uintptr_t frame)
{
	(void)nothing;
	if (record_is_quiet())
		return false;
	record_state.moving->wants_arguments = 0;
	record_enter((uint32_t)known, frame);
	return true;
}

bool record_missed_range(
	uint64_t address, const struct site_record *site, uintptr_t frame, uint64_t length)
{
	if (record_is_quiet())
		return false;
	record_report(site, address, length, frame);
	return true;
}
