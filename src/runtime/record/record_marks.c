/*
 * Functions that raddle-cc has marked (instrument_abi.h): the walk recomputes their results. This
 * code runs before vector registers are saved, so it is compiled for general registers only
 * (CMakeLists.txt).
 */
#include <link.h>
#include <string.h>

#include "runtime/guarded_read.h"
#include "runtime/record/record_internal.h"

static bool record_marks_fetch(uint64_t address, uint32_t bytes, uint64_t *value)
{
	return guarded_read((const void *)address, bytes, value);
}

bool record_is_marked(uint64_t function)
{
	uint64_t mark;

	return record_marks_fetch(function - sizeof mark, sizeof mark, &mark) &&
	       mark == SITE_FUNCTION_MARK;
}

/* Returns the target of a PLT entry, which an executable that is not position-independent may use
 * as a library function's address. Known after the first call of the entry. 0: no PLT entry. */
static uint64_t record_behind_linkage(uint64_t function)
{
	uint64_t code, distance, target;

	if (!record_marks_fetch(function, 4, &code))
		return 0;
	if (code == 0xfa1e0ff3) /* endbr64 */
		function += 4;
	if (!record_marks_fetch(function, 1, &code))
		return 0;
	if (code == 0xf2) /* bnd */
		function++;
	if (!record_marks_fetch(function, 2, &code) || code != 0x25ff ||
		!record_marks_fetch(function + 2, 4, &distance) ||
		!record_marks_fetch(
			function + 6 + (uint64_t)(int64_t)(int32_t)distance, 8, &target))
		return 0;
	return target;
}

uint64_t record_callee(const struct site_record *site)
{
	uint64_t callee;

	memcpy(&callee, site_record_target(site), sizeof callee);
	return callee;
}

bool record_is_recomputed(const struct site_record *site, uint64_t length)
{
	uint64_t callee;

	if (site->kind != SITE_RESULT || !(site->order & SITE_CALLEES))
		return false;
	callee = site->order & SITE_CALLEE_NAMED ? record_callee(site) : length;
	return record_is_marked(callee) || record_is_marked(record_behind_linkage(callee));
}

static int record_marks_note_first(struct dl_phdr_info *info, size_t size, void *out)
{
	(void)size;
	*(uint64_t *)out = info->dlpi_addr;
	return 1;
}

/* Notes whether function addresses may be those of PLT entries: if the executable is not
 * position-independent (base 0). The executable is visited first. */
void record_look_at_linkage(void)
{
	uint64_t base = 0;

	(void)dl_iterate_phdr(record_marks_note_first, &base);
	record_state.may_link = !base;
}
