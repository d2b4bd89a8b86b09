/* Finds the pages written since a point, by userfaultfd write protection in asynchronous mode
 * (Linux 6.7). In this mode the kernel removes the protection of a page at the first write. Runs in
 * the rewind server. */
#include "runtime/restart/image_internal.h"

#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>

#include "runtime/runtime.h"

/* Argument of Linux 6.7's scan, which older kernel headers do not have. */
struct image_scan {
	uint64_t size, flags, start, end, walk_end, vector, vector_length, max_pages;
	uint64_t category_inverted, category_mask, category_any_mask, return_mask;
};
#define IMAGE_PAGEMAP_SCAN _IOWR('f', 16, struct image_scan)
#define IMAGE_PAGE_WRITTEN 2
#define IMAGE_FEATURE_WP_ASYNC (1 << 15)
#define IMAGE_FEATURE_WP_UNPOPULATED (1 << 13)
#define IMAGE_USER_MODE_ONLY 1
/* Number of restores between two checks which busy pages are unchanged. */
#define LOOK_EVERY 127
#define PATIENCE_MOST 127
/* A page written again within this number of restores was protected too early. */
#define SOON 1024
/* A small area with more address space is mostly holes, which would have to be protected, too. */
#define WATCHED_BYTES_MOST ((size_t)16 * 1024 * 1024)

/* Raises a descriptor's number, because some programs close all low descriptors. */
static long image_raise_descriptor(long descriptor)
{
	long raised =
		platform_failed(descriptor) ? descriptor : runtime_high_descriptor(descriptor);

	if (platform_failed(raised) || !raised)
		return descriptor;
	(void)platform_call(SYS_close, descriptor); /* its duplicate stays open */
	return raised;
}

static bool image_protect(struct image *image, uint64_t start, uint64_t end)
{
	struct uffdio_writeprotect protect = {
		.range = {.start = start, .len = end - start}, .mode = UFFDIO_WRITEPROTECT_MODE_WP};

	return !platform_failed(
		platform_call(SYS_ioctl, image->fault_descriptor, UFFDIO_WRITEPROTECT, &protect));
}

static bool image_track(struct image *image, struct image_area *area)
{
	/* A split mapping would no longer be recognised as main's stack. */
	char *start = area->mapping_start ? area->mapping_start : area->start;
	struct uffdio_register enrol = {
		.range = {.start = (uint64_t)(uintptr_t)start,
			.len = (uint64_t)(area->start + area->bytes - start)},
		.mode = UFFDIO_REGISTER_MODE_WP};

	if ((uintptr_t)area->start % PAGE_BYTES || area->bytes % PAGE_BYTES)
		return false;
	if (platform_failed(
		    platform_call(SYS_ioctl, image->fault_descriptor, UFFDIO_REGISTER, &enrol)))
		return false;
	return image_protect(image, (uint64_t)(uintptr_t)area->start,
		(uint64_t)(uintptr_t)area->start + area->bytes);
}

static bool image_is_watchable(const struct image_area *area)
{
	return !image_is_large(area) && area->bytes <= WATCHED_BYTES_MOST &&
	       !((uintptr_t)area->start % PAGE_BYTES) && !(area->bytes % PAGE_BYTES);
}

static bool image_open_tracking(struct image *image)
{
	struct uffdio_api api = {.api = UFFD_API,
		.features = IMAGE_FEATURE_WP_ASYNC | IMAGE_FEATURE_WP_UNPOPULATED |
			    UFFD_FEATURE_PAGEFAULT_FLAG_WP};

	image->pagemap_descriptor = -1;
	image->fault_descriptor = platform_call(SYS_userfaultfd, O_CLOEXEC | IMAGE_USER_MODE_ONLY);
	if (platform_failed(image->fault_descriptor))
		return false;
	if (platform_failed(platform_call(SYS_ioctl, image->fault_descriptor, UFFDIO_API, &api))) {
		(void)platform_call(SYS_close, image->fault_descriptor);
		image->fault_descriptor = -1;
		return false;
	}
	image->fault_descriptor = image_raise_descriptor(image->fault_descriptor);
	image->pagemap_descriptor = image_raise_descriptor(
		platform_call(SYS_openat, AT_FDCWD, "/proc/self/pagemap", O_RDONLY | O_CLOEXEC));
	return !platform_failed(image->pagemap_descriptor);
}

void image_start_tracking(struct image *image)
{
	if (!image_open_tracking(image))
		return;
	image_start_holding(image);
	for (uint32_t i = 0; i < image->area_count; i++) {
		struct image_area *area = &image->areas[i];

		if (image_is_large(area))
			area->is_tracked = image_track(image, area);
		else if (image_is_watchable(area))
			area->is_watched = image_track(image, area);
	}
}

void image_end_tracking(struct image *image)
{
	if (image->fault_descriptor > 0)
		(void)platform_call(SYS_close, image->fault_descriptor);
	if (image->pagemap_descriptor > 0)
		(void)platform_call(SYS_close, image->pagemap_descriptor);
}

uint64_t image_new_faults(struct image *image)
{
	struct rusage usage = {.ru_minflt = 0};
	const long before = image->fault_count;

	/* All threads of the target run on this kernel thread. */
	if (platform_failed(platform_call(SYS_getrusage, RUSAGE_THREAD, &usage)))
		return UINT64_MAX;
	image->fault_count = usage.ru_minflt + usage.ru_majflt;
	return before < 0 ? UINT64_MAX : (uint64_t)(image->fault_count - before);
}

/* Scans as far as `regions` has room. *at: start of the next scan. */
static long image_scan_written(struct image *image, uint64_t *at, uint64_t end)
{
	struct image_scan scan = {.size = sizeof scan,
		.start = *at,
		.end = end,
		.vector = (uint64_t)(uintptr_t)image->regions,
		.vector_length = IMAGE_SCAN_REGIONS,
		.category_mask = IMAGE_PAGE_WRITTEN,
		.return_mask = IMAGE_PAGE_WRITTEN};
	const long count =
		platform_call(SYS_ioctl, image->pagemap_descriptor, IMAGE_PAGEMAP_SCAN, &scan);

	*at = scan.walk_end;
	return count;
}

bool image_each_written(
	struct image *image, struct image_area *area, image_visit_written *visit, void *argument)
{
	uint64_t at = (uint64_t)(uintptr_t)area->start;
	const uint64_t end = at + area->bytes;

	while (at < end) {
		const long count = image_scan_written(image, &at, end);

		if (platform_failed(count))
			return false;
		for (long i = 0; i < count; i++)
			if (!visit(image, area, &image->regions[i], argument))
				return false;
		/* image_finish_reads() writes pages of the target, so it precedes their protection. */
		if (!image_finish_reads(image))
			return false;
		for (long i = 0; i < count; i++)
			if (!image_protect(image, image->regions[i].start, image->regions[i].end))
				return false;
	}
	return true;
}

void image_make_busy(struct image *image, struct image_area *area, uint32_t page)
{
	struct image_watch *watch = &area->watch[page];

	if (watch->is_busy)
		return;
	image_open(image);
	watch->is_busy = true;
	watch->idle = 0;
	if (image->restores - watch->cooled > SOON)
		watch->patience = 0;
	else
		watch->patience = watch->patience < PATIENCE_MOST / 2 ? 2 * watch->patience + 1
								      : PATIENCE_MOST;
	image->busy[image->busy_count++] =
		(struct image_busy){(uint32_t)(area - image->areas), page};
}

static bool image_find_busy_in(struct image *image, struct image_area *area)
{
	const uint64_t start = (uint64_t)(uintptr_t)area->start;
	uint64_t at = start;

	while (at < start + area->bytes) {
		const long count = image_scan_written(image, &at, start + area->bytes);

		if (platform_failed(count))
			return false;
		for (long i = 0; i < count; i++)
			for (uint64_t position = image->regions[i].start;
				position < image->regions[i].end; position += PAGE_BYTES)
				image_make_busy(
					image, area, (uint32_t)((position - start) / PAGE_BYTES));
	}
	return true;
}

bool image_find_busy(struct image *image)
{
	for (uint32_t i = 0; i < image->area_count; i++)
		if (image->areas[i].is_watched && !image_find_busy_in(image, &image->areas[i]))
			return false;
	return true;
}

bool image_is_look(struct image *image)
{
	return ++image->restores % LOOK_EVERY == 0;
}

bool image_cools(struct image *image, struct image_area *area, uint32_t page, bool is_same)
{
	struct image_watch *watch = &area->watch[page];
	const uint64_t start = (uint64_t)(uintptr_t)area->start + page * PAGE_BYTES;

	if (!is_same && !watch->idle)
		return false;
	image_open(image); /* costs system calls, so only for a change */
	watch->idle = is_same ? watch->idle + 1 : 0;
	if (watch->idle <= watch->patience || !image_protect(image, start, start + PAGE_BYTES))
		return false;
	watch->cooled = (uint32_t)image->restores;
	watch->is_busy = false;
	return true;
}
