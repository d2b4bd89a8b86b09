/* Slow paths of quick stubs, called by record_near.S. The functions do the same as record_report(),
 * with the site's properties as arguments. The file is compiled for general registers only
 * (CMakeLists.txt). */
#include "runtime/record.h"
#include "runtime/record/record_access.h"
#include "runtime/record/record_internal.h"
#include "runtime/record/record_near.h"
#include "runtime/sites.h"
#include "runtime/quick.h"

#define IS_AT(type, field, number) (offsetof(struct type, field) == (number))
_Static_assert(IS_AT(record_moving, left, NEAR_LEFT) &&
		       IS_AT(record_moving, pending, NEAR_PENDING) &&
		       IS_AT(record_moving, pending_bytes, NEAR_PENDING_BYTES) &&
		       IS_AT(record_moving, wants_arguments, NEAR_WANTS_ARGUMENTS) &&
		       IS_AT(record_moving, memory, NEAR_MEMORY) &&
		       IS_AT(record_moving, values, NEAR_VALUES) &&
		       IS_AT(record_moving, mark, NEAR_MARK) &&
		       IS_AT(record_moving, thread, NEAR_THREAD) &&
		       IS_AT(record_moving, entered, NEAR_ENTERED) &&
		       IS_AT(record_thread, at, NEAR_AT) && IS_AT(record_thread, end, NEAR_END) &&
		       IS_AT(record_thread, predicted, NEAR_PREDICTED) &&
		       IS_AT(record_state, area, 0) && IS_AT(record_state, outside, NEAR_OUTSIDE),
	"record_near.h is of another layout");
_Static_assert(NEAR_ROOM == RECORD_ENTRY_MOST && NEAR_TAG_READ == RECORD_READ &&
		       NEAR_TAG_VALUE == RECORD_VALUE && NEAR_TAG_ENTER == RECORD_ENTER &&
		       NEAR_TAG_ENTER_AGAIN == RECORD_ENTER_AGAIN &&
		       NEAR_MEMORY_MASK == RECORD_MEMORY_BYTES - 1 &&
		       NEAR_VALUES_MASK == RECORD_VALUES - 1 && RECORD_TAG_BITS == 4,
	"record_near.h is of another format");

static bool record_is_off(void)
{
	return !record_state.area || sites_are_live == SITES_OFF;
}

/* Returns whether recording is on and the time slice not over. */
static bool record_continues(void)
{
	return !record_is_off() && record_state.moving->left > 0;
}

bool record_missed_read(uint64_t address, uint64_t known)
{
	if (__builtin_expect(!record_continues(), 0))
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
	if (__builtin_expect(!record_continues(), 0))
		return false;
	record_state.moving->wants_arguments = 0;
	record_drop();
	record_value((uint32_t)known, value);
	return true;
}

bool record_missed_address(uint64_t value, uint64_t known)
{
	if (__builtin_expect(!record_continues(), 0))
		return false;
	record_state.moving->wants_arguments = 0;
	record_flush();
	record_value((uint32_t)known, value);
	return true;
}

bool record_missed_argument(uint64_t value, uint64_t known)
{
	(void)known;
	if (record_is_off())
		return false;
	record_argument(value);
	return true;
}

bool record_missed_enter(uint64_t nothing, uint64_t known, uintptr_t frame)
{
	(void)nothing;
	if (record_is_off())
		return false;
	record_state.moving->wants_arguments = 0;
	record_enter((uint32_t)known, frame);
	return true;
}

/* Called before a read is recorded. Returns false if nothing is recorded now. */
static bool record_missed_begin_reading(void)
{
	if (record_is_off())
		return false;
	record_flush();
	record_state.moving->wants_arguments = 0;
	return true;
}

bool record_missed_copied(uint64_t from, uint64_t known, uintptr_t frame, uint64_t length)
{
	(void)known;
	(void)frame;
	if (!record_missed_begin_reading())
		return false;
	record_state.moving->copied_from = from;
	if (length <= SITE_COPIED_MOST)
		record_read(from, length);
	return true;
}

bool record_missed_copy(uint64_t to, uint64_t known, uintptr_t frame, uint64_t length)
{
	(void)known;
	(void)frame;
	if (record_is_off())
		return false;
	record_drop();
	record_state.moving->wants_arguments = 0;
	if (length <= SITE_FOLLOWED_MOST)
		record_copied(record_state.moving->copied_from, to, length);
	return true;
}

bool record_missed_string(uint64_t address, uint64_t known, uintptr_t frame, uint64_t length)
{
	(void)known;
	(void)frame;
	if (!record_missed_begin_reading())
		return false;
	record_string(address, length);
	return true;
}

bool record_missed_contents(uint64_t address, uint64_t known, uintptr_t frame, uint64_t length)
{
	(void)known;
	(void)frame;
	if (!record_missed_begin_reading())
		return false;
	record_range(address, length);
	return true;
}

bool record_missed_range(
	uint64_t address, const struct site_record *site, uintptr_t frame, uint64_t length)
{
	if (record_is_off())
		return false;
	record_report(site, address, length, frame);
	return true;
}
