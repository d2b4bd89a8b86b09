#include "runtime/restart/image_versions.h"

#include <string.h>

#include "platform/platform.h"
#include "runtime/restart/image_internal.h"

void *image_memory_take(struct image_memory *memory, uint64_t bytes)
{
	const uint64_t words = (bytes + sizeof(uint64_t) - 1) / sizeof(uint64_t);
	void *position = memory->start + memory->used * sizeof(uint64_t);

	if (words > memory->capacity - memory->used)
		return NULL;
	memory->used += words;
	return position;
}

struct keeping {
	struct image_memory *memory;
	uint32_t *last;
};

static bool image_keep_page(
	struct image *image, struct image_area *area, size_t page, const struct keeping *keeping)
{
	const size_t bytes = image_page_bytes(area, page);
	struct image_version *version;

	version = image_memory_take(keeping->memory, sizeof *version + bytes);
	if (!version)
		return false;
	if (image->versions != keeping->memory->start) {
		image_open(image);
		image->versions = keeping->memory->start;
	}
	*version = (struct image_version){.previous = area->latest[page],
		.area = (uint32_t)(area - image->areas),
		.page = (uint32_t)page,
		.next = *keeping->last};
	platform_copy(version->content, area->start + page * PAGE_BYTES, bytes);
	image->version_count[area - image->areas] += !area->latest[page];
	*keeping->last = area->latest[page] =
		(uint32_t)(((char *)version - image->versions) / sizeof(uint64_t)) + 1;
	return true;
}

bool image_is_same(const char *page, const char *content, size_t bytes)
{
	static const char zero[PAGE_BYTES];

	return memcmp(page, content ? content : zero, bytes) == 0;
}

static bool image_keep_whole(struct image *image, struct image_area *area, bool has_faults,
	const struct keeping *keeping)
{
	const size_t pages = (area->bytes + PAGE_BYTES - 1) / PAGE_BYTES;

	if (area->has_gaps)
		image_find_late(image, area, has_faults);
	for (size_t page = 0; page < pages; page++) {
		const char *content;

		if (area->present[page] == PAGE_ABSENT)
			continue;
		content = image_content(image, area, page);
		if (!content && area->is_file) {
			if (!image_keep_page(image, area, page, keeping))
				return false;
			continue;
		}
		if (!image_is_same(area->start + page * PAGE_BYTES, content,
			    image_page_bytes(area, page)) &&
			!image_keep_page(image, area, page, keeping))
			return false;
	}
	return true;
}

static bool image_keep_region(struct image *image, struct image_area *area,
	const struct image_scan_region *region, void *argument)
{
	const size_t first =
		(size_t)(region->start - (uint64_t)(uintptr_t)area->start) / PAGE_BYTES;
	const size_t count = (size_t)(region->end - region->start) / PAGE_BYTES;

	for (size_t page = first; page < first + count; page++)
		if (!image_keep_page(image, area, page, argument))
			return false;
	return true;
}

static bool image_keep_watched(struct image *image, bool has_faults, const struct keeping *keeping)
{
	if (has_faults && !image_find_busy(image))
		return false;
	for (uint32_t i = 0; i < image->busy_count; i++) {
		struct image_area *area = &image->areas[image->busy[i].area];
		const size_t page = image->busy[i].page;
		const char *content = image_content(image, area, page);
		const bool is_of_file = !content && area->is_file;

		if ((is_of_file ||
			    !image_is_same(area->start + page * PAGE_BYTES, content, PAGE_BYTES)) &&
			!image_keep_page(image, area, page, keeping))
			return false;
	}
	return true;
}

static bool image_keep_tracked(
	struct image *image, struct image_memory *memory, struct keeping *keeping, uint64_t *pages)
{
	const uint64_t before = memory->used;

	for (uint32_t i = 0; i < image->area_count; i++)
		if (image->areas[i].is_tracked &&
			!image_each_written(image, &image->areas[i], image_keep_region, keeping))
			return false;
	*pages = (memory->used - before) /
		 ((sizeof(struct image_version) + PAGE_BYTES) / sizeof(uint64_t));
	return true;
}

bool image_keep_versions(struct image *image, struct image_memory *memory,
	const struct image_point *before, uint32_t *last)
{
	struct keeping keeping = {.memory = memory, .last = last};
	const uint64_t faults = image_new_faults(image);
	uint64_t pages = 0;
	bool is_kept;

	*last = 0;
	is_kept = image_keep_tracked(image, memory, &keeping, &pages) &&
		  image_keep_watched(image, faults > pages, &keeping);
	for (uint32_t i = 0; is_kept && i < image->area_count; i++) {
		struct image_area *area = &image->areas[i];

		if (!area->is_watched && !area->is_tracked && !image_is_untouched(area, before))
			is_kept = image_keep_whole(image, area, faults > pages, &keeping);
	}
	/* The remaining areas were not searched for late pages. */
	if (!is_kept)
		image->fault_count = -1;
	image_close(image);
	return is_kept;
}

void image_drop_versions(struct image *image, uint32_t last)
{
	while (last) {
		const struct image_version *version = image_version(image, last);
		struct image_area *area = &image->areas[version->area];
		volatile char *page = area->start + version->page * PAGE_BYTES;

		area->latest[version->page] = version->previous;
		image->version_count[version->area] -= !version->previous;
		/* The kernel regards the page as unwritten, but the restore must include it. */
		if (area->is_tracked)
			*page = *page;
		else if (area->is_watched)
			image_make_busy(image, area, version->page);
		last = version->next;
	}
}

enum image_whereabouts image_find(
	const struct image *image, const char *position, struct image_stack *stack)
{
	for (uint32_t i = 0; i < image->area_count; i++) {
		const struct image_area *area = &image->areas[i];
		const char *low = area->stack_floor ? area->stack_floor : area->start;

		if (position < low || position >= area->start + area->bytes)
			continue;
		if (!area->stack_floor)
			return IMAGE_MEMORY;
		*stack = (struct image_stack){area->stack_floor, area->start};
		return IMAGE_STACK;
	}
	return IMAGE_NOWHERE;
}

const char *image_main_stack(const struct image *image)
{
	return image->stack_pointer;
}
