/* Runs in the rewind server: uses no libc state, and only target memory that it restores. */
#include "runtime/restart/image_internal.h"

#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#include "runtime/runtime.h"

#define HUGE_PAGE_BYTES ((size_t)2 * 1024 * 1024)
/* The kernel keeps more than this free below main's stack, which grows on demand. */
#define MAIN_STACK_BYTES ((size_t)64 * 1024 * 1024)

/* Finds the part to save of a mapping with a pooled thread's stack. */
struct image_stack_search {
	char *start, *end;
	char *kept;	/* first address to save */
	char *used_end; /* NULL means the end of the searched area */
	uint32_t pool_index;
};

static void image_match_stack(void *kept, char *end, uint32_t pool_index, void *argument)
{
	struct image_stack_search *search = argument;

	if ((char *)kept < search->start || (char *)kept >= search->end)
		return;
	search->kept = kept;
	search->used_end = end;
	search->pool_index = pool_index;
}

static void image_find_resident(struct image *image, struct image_area *area)
{
	size_t pages = area->bytes / PAGE_BYTES;

	memset(image->residency, 0, pages);
	(void)platform_call(SYS_mincore, area->start, area->bytes, image->residency);
	for (size_t page = 0; page < pages; page++) {
		if (!(image->residency[page] & 1)) {
			area->has_gaps = true;
			continue;
		}
		if (!area->resident_bytes)
			area->first_present = page;
		area->end_present = page + 1;
		area->present[page] = PAGE_SAVED;
		area->resident_bytes += PAGE_BYTES;
	}
}

static void image_copy_resident(struct image_area *area)
{
	for (size_t page = area->first_present; page < area->end_present; page++)
		if (area->present[page] == PAGE_SAVED)
			platform_copy(area->copy + page * PAGE_BYTES,
				area->start + page * PAGE_BYTES, PAGE_BYTES);
}

static bool image_add(struct image *image, char *start, char *end, bool is_stack)
{
	struct image_area *area = &image->areas[image->area_count];
	size_t pages;

	if (image->area_count == IMAGE_AREAS_MAX)
		return false;
	*area = (struct image_area){
		.start = start, .bytes = (size_t)(end - start), .pool_index = FIBER_NOT_POOLED};
	pages = (area->bytes + PAGE_BYTES - 1) / PAGE_BYTES;
	if (pages > sizeof image->residency)
		return false;
	area->copy = platform_map(pages * (PAGE_BYTES + 1), true);
	if (!area->copy)
		return false;
	area->present = (unsigned char *)area->copy + pages * PAGE_BYTES;
	image->area_count++;
	if (is_stack) {
		/* The area is not page-aligned, always resident and small, so it is saved as one
		 * piece. */
		platform_copy(area->copy, start, area->bytes);
		area->resident_bytes = area->bytes;
		memset(area->present, PAGE_SAVED, pages);
	} else {
		image_find_resident(image, area);
	}
	return true;
}

/* Saves the content of all areas, after image_add() has found their resident pages: in the holder, or as a
 * copy. */
static void image_save(struct image *image)
{
	for (uint32_t i = 0; i < image->area_count; i++) {
		struct image_area *area = &image->areas[i];

		image_hold(image, area);
		if (!area->is_held)
			image_copy_resident(area);
		platform_seal(area->copy, image_pages(area) * (PAGE_BYTES + 1));
	}
}

/* Forbids huge pages, which may become resident without the fault that image_find_late() needs. */
static void image_keep_small(struct image_area *area)
{
	if (area->has_gaps && area->bytes >= HUGE_PAGE_BYTES)
		area->may_be_huge = platform_failed(
			platform_call(SYS_madvise, area->start, area->bytes, MADV_NOHUGEPAGE));
}

static void image_add_piece(void *argument, void *start, size_t bytes)
{
	/* A full table also fails at the next mapping, which then fails the image. */
	(void)image_add(argument, start, (char *)start + bytes, true);
}

static bool image_add_stack(struct image *image, char *start, char *end, char *floor)
{
	if (!image_add(image, start, end, true))
		return false;
	image->areas[image->area_count - 1].stack_floor = floor;
	return true;
}

/* Splits main's stack: arguments and environment above become an area of their own. */
static bool image_add_main_stack(struct image *image, char *start, char *end)
{
	char *pointer = (char *)(uintptr_t)image->stack_pointer;
	char *low = (char *)((uintptr_t)(pointer - STACK_MARGIN_BYTES) & ~(uintptr_t)15);
	char *rest = (char *)((uintptr_t)pointer & ~(uintptr_t)(PAGE_BYTES - 1)) + PAGE_BYTES;
	char *floor = start - MAIN_STACK_BYTES;

	if (rest >= end)
		return image_add_stack(image, low, end, floor);
	if (!image_add_stack(image, low, rest, floor) || !image_add(image, rest, end, false))
		return false;
	image->areas[image->area_count - 1].mapping_start = start;
	return true;
}

static bool image_add_mapping(struct image *image, char *start, char *end, bool is_file)
{
	struct image_stack_search search = {.start = start, .end = end};
	const char *pointer = image->stack_pointer;

	if (engine_owns_mapping(start, end)) {
		engine_each_saved(image_add_piece, image);
		return true;
	}
	if (pointer >= start && pointer < end)
		return image_add_main_stack(image, start, end);
	fiber_each_pooled(image_match_stack, &search);
	if (search.kept) {
		if (!image_add_stack(image, (char *)((uintptr_t)search.kept & ~(uintptr_t)63),
			    search.used_end ? search.used_end : end, start))
			return false;
		image->areas[image->area_count - 1].pool_index = search.pool_index;
		return true;
	}
	if (!image_add(image, start, end, false))
		return false;
	image_keep_small(&image->areas[image->area_count - 1]);
	image->areas[image->area_count - 1].is_file = is_file;
	return true;
}

static bool image_visit(void *argument, const struct platform_mapping *mapping)
{
	return !mapping->is_writable || !mapping->is_private ||
	       image_add_mapping(argument, mapping->start, mapping->end, mapping->is_file);
}

static size_t image_table_bytes(const struct image *image)
{
	return image->table_pages * (sizeof *image->busy + sizeof(struct image_watch));
}

void image_open(struct image *image)
{
	if (image->is_open)
		return;
	platform_unseal(image, offsetof(struct image, is_open));
	platform_unseal(image->busy, image_table_bytes(image));
	image->is_open = true;
}

void image_close(struct image *image)
{
	if (!image->is_open)
		return;
	platform_seal(image->busy, image_table_bytes(image));
	platform_seal(image, offsetof(struct image, is_open));
	image->is_open = false;
}

static void image_find_visited(struct image *image)
{
	for (uint32_t i = 0; i < image->area_count; i++)
		if (!image->areas[i].is_watched)
			image->visited[image->visited_count++] = (uint16_t)i;
}

/* Makes the tables that have entries for each page of each area. */
static bool image_make_tables(struct image *image)
{
	struct image_watch *watch;
	uint32_t *latest;

	for (uint32_t i = 0; i < image->area_count; i++)
		image->table_pages += image_pages(&image->areas[i]);
	image->busy = platform_map(image_table_bytes(image), true);
	image->latest = latest = platform_map(image->table_pages * sizeof *latest, true);
	if (!image->busy || !latest)
		return false;
	watch = (struct image_watch *)(image->busy + image->table_pages);
	for (uint32_t i = 0; i < image->area_count; i++) {
		image->areas[i].watch = watch;
		image->areas[i].latest = latest;
		watch += image_pages(&image->areas[i]);
		latest += image_pages(&image->areas[i]);
	}
	return true;
}

struct image *image_take(const void *stack_pointer)
{
	struct image *image = platform_map(sizeof *image, true);

	if (!image)
		return NULL;
	image->is_open = true;
	image->stack_pointer = stack_pointer;
	image->fault_count = -1;
	if (!platform_each_mapping(image_visit, image) || !image_make_tables(image)) {
		image_release(image);
		return NULL;
	}
	image_start_tracking(image);
	image_find_visited(image);
	image_save(image);
	image_close(image);
	return image;
}

void image_release(struct image *image)
{
	for (uint32_t i = 0; i < image->area_count; i++) {
		struct image_area *area = &image->areas[i];

		platform_unmap(area->copy, image_pages(area) * (PAGE_BYTES + 1));
	}
	image_end_tracking(image);
	image_end_holding(image);
	if (image->busy)
		platform_unmap(image->busy, image_table_bytes(image));
	if (image->latest)
		platform_unmap(image->latest, image->table_pages * sizeof *image->latest);
	platform_unmap(image, sizeof *image);
}

/* Finds pages that were absent and have been touched since. Skipped while the fault count is
 * unchanged, except where huge pages could not be forbidden. */
void image_find_late(struct image *image, struct image_area *area, bool has_faults)
{
	size_t pages = area->bytes / PAGE_BYTES;
	bool is_open = false;

	if (!has_faults && !area->may_be_huge)
		return;
	(void)platform_call(SYS_mincore, area->start, area->bytes, image->residency);
	for (size_t page = 0; page < pages; page++) {
		if (area->present[page] != PAGE_ABSENT || !(image->residency[page] & 1))
			continue;
		if (!is_open)
			platform_unseal(area->present, pages);
		image_open(image);
		is_open = true;
		area->present[page] = PAGE_LATE;
		if (!area->end_late || page < area->first_late)
			area->first_late = page;
		if (page >= area->end_late)
			area->end_late = page + 1;
	}
	if (is_open)
		platform_seal(area->present, pages);
}

/* Clears an absent page that was touched: it must read as at the starting point. */
static void image_clear_page(const struct image_area *area, size_t page)
{
	char *start = area->start + page * PAGE_BYTES;

	/* A dropped private page of a file reads as the file again. */
	if (area->is_file)
		(void)platform_call(SYS_madvise, start, PAGE_BYTES, MADV_DONTNEED);
	else
		platform_clear(start, PAGE_BYTES);
}

static uint64_t image_clear_late(const struct image_area *area)
{
	uint64_t cleared = 0;

	for (size_t page = area->first_late; page < area->end_late; page++) {
		if (area->present[page] != PAGE_LATE)
			continue;
		image_clear_page(area, page);
		cleared++;
	}
	return cleared;
}

static uint64_t image_restore_versions(const struct image *image, struct image_area *area)
{
	const size_t pages = (area->bytes + PAGE_BYTES - 1) / PAGE_BYTES;
	uint64_t restored = 0;

	for (size_t page = 0; page < pages; page++) {
		const char *content;

		if (area->present[page] == PAGE_ABSENT)
			continue;
		content = image_content(image, area, page);
		if (content)
			platform_copy(area->start + page * PAGE_BYTES, content,
				image_page_bytes(area, page));
		else
			image_clear_page(area, page);
		restored++;
	}
	return restored;
}

static uint64_t image_restore_whole(struct image *image, struct image_area *area, bool has_faults)
{
	size_t pages = (area->bytes + PAGE_BYTES - 1) / PAGE_BYTES;

	if (area->has_gaps)
		image_find_late(image, area, has_faults);
	if (image->version_count[area - image->areas])
		return image_restore_versions(image, area);
	if (!area->has_gaps) {
		platform_copy(area->start, area->copy, area->bytes);
		return pages;
	}
	for (size_t page = area->first_present; page < area->end_present;) {
		size_t run = 0;

		while (page + run < area->end_present && area->present[page + run] == PAGE_SAVED)
			run++;
		platform_copy(area->start + page * PAGE_BYTES, area->copy + page * PAGE_BYTES,
			run * PAGE_BYTES);
		page += run + 1;
	}
	return area->resident_bytes / PAGE_BYTES + image_clear_late(area);
}

static bool image_restore_region(struct image *image, struct image_area *area,
	const struct image_scan_region *region, void *argument)
{
	size_t page = (size_t)(region->start - (uint64_t)(uintptr_t)area->start) / PAGE_BYTES;
	uint64_t *pages = argument;

	for (uint64_t at = region->start; at < region->end; at += PAGE_BYTES, page++) {
		const char *content = image_content(image, area, page);

		if (content == area->copy + page * PAGE_BYTES && area->is_held) {
			if (!image_read_held(image, (char *)(uintptr_t)at))
				return false;
		} else if (content) {
			platform_copy((char *)(uintptr_t)at, content, PAGE_BYTES);
		} else {
			platform_clear((char *)(uintptr_t)at, PAGE_BYTES);
		}
		(*pages)++;
	}
	return true;
}

/* Checks a page. Returns true if runs no longer write it, and it is protected again. */
static bool image_look_at(struct image *image, struct image_area *area, uint32_t page)
{
	const char *content = image_content(image, area, page);
	const bool is_known = content || !area->is_file;

	return image_cools(image, area, page,
		is_known && image_is_same(
				    area->start + (size_t)page * PAGE_BYTES, content, PAGE_BYTES));
}

/* Returns false if the kernel can no longer report written pages. */
static bool image_restore_watched(struct image *image, bool has_faults, uint64_t *pages)
{
	const bool is_look = image_is_look(image);
	uint32_t kept = 0;

	if (has_faults && !image_find_busy(image))
		return false;
	for (uint32_t i = 0; i < image->busy_count; i++) {
		const struct image_busy busy = image->busy[i];
		struct image_area *area = &image->areas[busy.area];
		const char *content;

		if (is_look && image_look_at(image, area, busy.page))
			continue;
		content = image_content(image, area, busy.page);
		if (content)
			platform_copy(
				area->start + (size_t)busy.page * PAGE_BYTES, content, PAGE_BYTES);
		else
			image_clear_page(area, busy.page);
		if (kept < i)
			image->busy[kept] = busy;
		kept++;
	}
	if (kept < image->busy_count)
		image->busy_count = kept;
	*pages += kept;
	return true;
}

bool image_is_untouched(const struct image_area *area, const struct image_point *point)
{
	const uint64_t *used_at = fiber_used_at(area->pool_index);

	return used_at && *used_at <= (point ? point->time : 0) &&
	       !(point && bitset_has(point->alive, area->pool_index));
}

/* Records that the area is as at that point: later uses of the stack are forgotten. */
static void image_note_point(const struct image_area *area, const struct image_point *point)
{
	uint64_t *used_at = fiber_used_at(area->pool_index);
	const uint64_t time = point ? point->time : 0;

	if (used_at && *used_at > time)
		*used_at = time;
}

uint64_t image_restore(struct image *image, const struct image_point *point, bool *is_complete)
{
	const uint64_t faults = image_new_faults(image);
	uint64_t pages = 0;
	bool has_other_faults;

	*is_complete = true;
	for (uint32_t i = 0; i < image->visited_count; i++) {
		struct image_area *area = &image->areas[image->visited[i]];

		if (area->is_tracked &&
			!image_each_written(image, area, image_restore_region, &pages))
			*is_complete = false;
	}
	/* Each written page has cost one fault: more faults mean other touched pages. */
	has_other_faults = faults > pages;
	*is_complete &= image_restore_watched(image, has_other_faults, &pages);
	for (uint32_t i = 0; i < image->visited_count; i++) {
		struct image_area *area = &image->areas[image->visited[i]];

		if (area->is_tracked || image_is_untouched(area, point))
			continue;
		pages += image_restore_whole(image, area, has_other_faults);
		image_note_point(area, point);
	}
	image_close(image);
	return pages;
}
