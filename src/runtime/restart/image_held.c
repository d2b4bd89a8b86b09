/*
 * The *holder* is a forked copy of the target that never continues. It keeps the content that large areas
 * of memory had at the starting point. No copy is needed: the kernel shares each page between both
 * processes until the target writes it. A restore reads the written pages back from the holder. If the
 * target may not read the holder (seccomp, ptrace rules), the image copies these areas like all others.
 * Runs in the rewind server.
 */
#include "runtime/restart/image_internal.h"

#include <errno.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "runtime/runtime.h"

/* A fork copies the page tables of the whole process, and makes the first write of each page slow:
 * below this size a copy costs less time, and its memory does not matter. */
#define HELD_BYTES_LEAST ((size_t)32 * 1024 * 1024)
/* Pages of an area that are looked at for one that is not zero. */
#define PROBES_MAX 1024

static size_t image_held_large_bytes(const struct image *image)
{
	size_t bytes = 0;

	for (uint32_t i = 0; i < image->area_count; i++)
		if (image_is_large(&image->areas[i]))
			bytes += image->areas[i].resident_bytes;
	return bytes;
}

void image_start_holding(struct image *image)
{
	const uint64_t all = ~UINT64_C(0);
	uint64_t mask;
	long pid;

	if (image_held_large_bytes(image) < HELD_BYTES_LEAST)
		return;
	(void)platform_call(SYS_rt_sigprocmask, SIG_SETMASK, &all, &mask, sizeof all);
	pid = platform_fork_idle();
	(void)platform_call(SYS_rt_sigprocmask, SIG_SETMASK, &mask, NULL, sizeof mask);
	if (platform_failed(pid))
		return;
	image->holder = runtime.holder_pid = pid;
}

void image_end_holding(struct image *image)
{
	if (!image->holder)
		return;
	(void)platform_call(SYS_kill, image->holder, SIGKILL); /* a child: cannot fail */
	while (platform_call(SYS_wait4, image->holder, NULL, __WALL, NULL) == -EINTR)
		continue;
	image->holder = runtime.holder_pid = 0;
}

/* Reads the same addresses from the holder. */
static bool image_held_read(const struct image *image, const struct iovec *to,
	const struct iovec *from, uint32_t count, size_t bytes)
{
	return platform_call(SYS_process_vm_readv, image->holder, to, (long)count, from,
		       (long)count, 0L) == (long)bytes;
}

/* Returns whether the holder has the area's memory: madvise() can exclude memory from forks
 * (MADV_DONTFORK, MADV_WIPEONFORK) for a whole mapping. One page that is not zero shows the
 * difference. */
static bool image_held_is_same(const struct image *image, const struct image_area *area)
{
	const size_t pages = area->end_present - area->first_present;
	const size_t step = pages / PROBES_MAX + 1;
	char content[PAGE_BYTES];
	const struct iovec to = {.iov_base = content, .iov_len = PAGE_BYTES};

	for (size_t page = area->first_present; page < area->end_present; page += step) {
		char *position = area->start + page * PAGE_BYTES;
		const struct iovec from = {.iov_base = position, .iov_len = PAGE_BYTES};

		if (area->present[page] == PAGE_SAVED && !image_is_same(position, NULL, PAGE_BYTES))
			return image_held_read(image, &to, &from, 1, PAGE_BYTES) &&
			       image_is_same(position, content, PAGE_BYTES);
	}
	return false;
}

void image_hold(struct image *image, struct image_area *area)
{
	area->is_held = image->holder && area->is_tracked && image_held_is_same(image, area);
}

bool image_read_held(struct image *image, char *page)
{
	struct iovec *last = image->read_count ? &image->reads[image->read_count - 1] : NULL;

	if (last && (char *)last->iov_base + last->iov_len == page) {
		last->iov_len += PAGE_BYTES;
		return true;
	}
	if (image->read_count == IMAGE_READS_MAX && !image_finish_reads(image))
		return false;
	image->reads[image->read_count++] = (struct iovec){.iov_base = page, .iov_len = PAGE_BYTES};
	return true;
}

bool image_finish_reads(struct image *image)
{
	const uint32_t count = image->read_count;
	size_t bytes = 0;

	for (uint32_t i = 0; i < count; i++)
		bytes += image->reads[i].iov_len;
	image->read_count = 0;
	return !count || image_held_read(image, image->reads, image->reads, count, bytes);
}
