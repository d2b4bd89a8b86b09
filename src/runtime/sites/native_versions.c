/* Native versions of functions (abi/instrument_abi.h). */
#include <string.h>

#include "runtime/code_memory.h"
#include "runtime/sites/sites_internal.h"

/* Returns the native version of the function whose entry the record is; NULL: there is none. */
static unsigned char *native_versions_address(const struct site_record *record)
{
	if (record->kind != SITE_FUNCTION_ENTRY || !(record->order & SITE_HAS_NATIVE))
		return NULL;
	return (unsigned char *)(uintptr_t)site_record_target(record);
}

bool native_versions_leave(const struct site_record *records, uint32_t count)
{
	uintptr_t first = UINTPTR_MAX;
	uintptr_t end = 0;

	for (uint32_t i = 0; i < count; i++) {
		const uintptr_t native = (uintptr_t)native_versions_address(&records[i]);

		if (!native)
			continue;
		first = native < first ? native : first;
		end = native + BRANCH_BYTES > end ? native + BRANCH_BYTES : end;
	}
	if (!end)
		return true;
	if (!code_memory_open(first, end, true))
		return false;
	for (uint32_t i = 0; i < count; i++) {
		unsigned char *native = native_versions_address(&records[i]);
		int32_t distance;

		if (!native)
			continue;
		memcpy(&distance, native - SITE_VERSION_BYTES, sizeof distance);
		code_memory_write_branch(native, BRANCH_JUMP, native + distance);
	}
	return code_memory_open(first, end, false);
}
