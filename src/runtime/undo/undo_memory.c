/* Memory of a run that the starting point does not have. */
#include <sys/mman.h>
#include <sys/syscall.h>

#include "platform/platform.h"
#include "runtime/undo/undo_internal.h"

static bool undo_is_own_range(uintptr_t start, uintptr_t end)
{
	for (uint32_t i = 0; i < undo->mapping_count; i++)
		if (start >= undo->mappings[i].start && end <= undo->mappings[i].end)
			return true;
	return false;
}

static void undo_note_mapped(uintptr_t start, size_t bytes)
{
	if (undo->mapping_count == UNDO_MAPPINGS_MAX) {
		undo_taint(TAINT_REWIND, "made very many memory mappings", -1);
		return;
	}
	undo->mappings[undo->mapping_count++] =
		(struct undo_range){start, start + ((bytes + 4095) & ~(size_t)4095)};
}

/* May stay in the list if partly unmapped: a second unmapping is harmless. */
static void undo_note_unmapped(uintptr_t start, size_t bytes)
{
	uintptr_t end = start + ((bytes + 4095) & ~(size_t)4095);

	for (uint32_t i = 0; i < undo->mapping_count; i++)
		if (undo->mappings[i].start == start && undo->mappings[i].end == end) {
			undo->mappings[i] = undo->mappings[--undo->mapping_count];
			return;
		}
	undo_obstruct("gave back a part of its memory");
	if (!undo_is_own_range(start, end))
		undo_taint(TAINT_REWIND, "gave back memory of the starting point", SYS_munmap);
}

bool undo_note_memory(long number, const long a[6], long result)
{
	switch (number) {
	case SYS_brk:
		undo->has_moved_break = true;
		return true;
	case SYS_sched_setaffinity:
		undo->has_moved_affinity = true;
		undo_obstruct("asked for certain processors");
		return true;
	case SYS_mmap:
		if (a[3] & (MAP_FIXED | MAP_FIXED_NOREPLACE) &&
			!undo_is_own_range((uintptr_t)result, (uintptr_t)result + (size_t)a[1])) {
			if (a[3] & MAP_FIXED_NOREPLACE)
				undo_note_mapped((uintptr_t)result, (size_t)a[1]);
			else
				undo_taint(TAINT_REWIND, "mapped over memory of the starting point",
					number);
		} else {
			undo_note_mapped((uintptr_t)result, (size_t)a[1]);
		}
		if (a[2] != (PROT_READ | PROT_WRITE) ||
			(a[3] & (MAP_TYPE | MAP_ANONYMOUS | MAP_FIXED | MAP_FIXED_NOREPLACE |
					MAP_GROWSDOWN)) != (MAP_PRIVATE | MAP_ANONYMOUS))
			undo_obstruct("mapped other memory than plain");
		return true;
	case SYS_munmap:
		undo_note_unmapped((uintptr_t)a[0], (size_t)a[1]);
		return true;
	case SYS_mremap:
		undo_note_unmapped((uintptr_t)a[0], (size_t)a[1]);
		undo_note_mapped((uintptr_t)result, (size_t)a[2]);
		return true;
	case SYS_mprotect:
		undo_obstruct("changed the protection of memory");
		if (!undo_is_own_range((uintptr_t)a[0], (uintptr_t)a[0] + (size_t)a[1]))
			undo_taint(TAINT_REWIND, "changed the protection of memory", number);
		return true;
	case SYS_madvise:
		if ((a[2] == MADV_DONTNEED || a[2] == MADV_FREE || a[2] == MADV_REMOVE) &&
			!undo_is_own_range((uintptr_t)a[0], (uintptr_t)a[0] + (size_t)a[1]))
			undo_taint(TAINT_REWIND, "discarded memory of the starting point", number);
		return true;
	default:
		return false;
	}
}

bool undo_note_memory_of_run(struct undo_memory *memory)
{
	memory->program_break =
		undo->has_moved_break ? platform_call(SYS_brk, 0) : undo->program_break;
	memory->range_count = undo->mapping_count;
	if (memory->range_count > UNDO_RANGES_MAX)
		return false;
	for (uint32_t i = 0; i < undo->mapping_count; i++)
		memory->ranges[i] = undo->mappings[i];
	return true;
}

uintptr_t undo_program_break(void)
{
	return (uintptr_t)undo->program_break;
}

static bool undo_has_range(
	const struct undo_range *ranges, uint32_t count, const struct undo_range *range)
{
	for (uint32_t i = 0; i < count; i++)
		if (ranges[i].start == range->start && ranges[i].end == range->end)
			return true;
	return false;
}

static bool undo_map_again(const struct undo_range *range)
{
	const long got = platform_call(SYS_mmap, range->start, range->end - range->start,
		PROT_READ | PROT_WRITE,
		MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1, 0);

	return got == (long)range->start;
}

bool undo_memory(const struct undo_memory *memory)
{
	const uint32_t count = memory ? memory->range_count : 0;
	const long end = memory ? memory->program_break : undo->program_break;
	bool is_complete = true;

	for (uint32_t i = undo->mapping_count; i-- > 0;) {
		const struct undo_range range = undo->mappings[i];

		if (count && undo_has_range(memory->ranges, count, &range))
			continue;
		platform_unmap((void *)range.start, range.end - range.start);
		undo->mappings[i] = undo->mappings[--undo->mapping_count];
	}
	for (uint32_t i = 0; i < count; i++)
		if (!undo_has_range(undo->mappings, undo->mapping_count, &memory->ranges[i]))
			is_complete &= undo_map_again(&memory->ranges[i]);
	for (uint32_t i = 0; i < count; i++) /* copies the order of the ranges, too */
		undo->mappings[i] = memory->ranges[i];
	undo->mapping_count = count;
	if (undo->has_moved_break)
		is_complete &= platform_call(SYS_brk, end) == end;
	undo->has_moved_break = end != undo->program_break;
	return is_complete;
}
