/*
 * Shared declarations of image.c (the starting point), image_held.c (its large areas), image_track.c
 * (which pages have been written) and image_versions.c (later contents of pages).
 *
 * An image is a table of *areas*. A *tracked* area is large: the kernel reports the pages written
 * since it was last protected. A *watched* area is small. Pages that a run has written become
 * *busy*, and every restore copies all busy pages. A page that is unchanged for a while is
 * protected again. All other areas are copied as a whole.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/uio.h>

#include "model/ids.h"
#include "runtime/restart/image.h"

#define PAGE_BYTES ((size_t)4096)
/* Areas with fewer resident bytes are not tracked: they are as fast to copy whole. */
#define TRACKED_BYTES_LEAST ((size_t)256 * 1024)
/* Room for a stack of each possible thread, and as many other areas. */
#define IMAGE_AREAS_MAX (2 * THREAD_CAPACITY)
/* Bytes in use below a suspended context's stack pointer: red zone, frame of the switch. */
#define STACK_MARGIN_BYTES 256
#define IMAGE_SCAN_REGIONS 4096
#define IMAGE_READS_MAX 256

struct image_scan_region {
	uint64_t start, end, categories;
};

enum image_presence {
	PAGE_ABSENT,
	PAGE_SAVED, /* resident at the starting point, and copied */
	PAGE_LATE   /* first touched by a later run: reads as zero */
};

struct image_area {
	char *start;
	size_t bytes;
	/* In sealed shared memory; holes where no page was resident. Empty if is_held. */
	char *copy;
	unsigned char *present; /* behind the copy; per page: enum image_presence */
	size_t resident_bytes;
	bool is_tracked;
	bool is_watched;
	bool is_held; /* the holder keeps the saved pages (image_held.c); only if is_tracked */
	bool has_gaps;
	bool may_be_huge; /* the kernel may use huge pages here */
	bool is_file;	  /* absent pages read as the file, not as zero */
	/* No page outside of this range was saved. */
	size_t first_present, end_present;
	/* No page outside of this range is late. */
	size_t first_late, end_late;
	/* Start of the mapping whose end this area is; NULL if the area is the whole mapping. */
	char *mapping_start;
	/* Pool index of the thread with this stack, or FIBER_NOT_POOLED. */
	uint32_t pool_index;
	char *stack_floor;	   /* may grow down to here; NULL if not a stack */
	uint32_t *latest;	   /* per page: its newest version or 0 */
	struct image_watch *watch; /* per page; used if is_watched */
};

/* How a page is watched. Invariant: a page that is not busy has its wanted content, or the kernel
 * knows of the write. */
struct image_watch {
	bool is_busy; /* not protected, and restored before every run */
	uint8_t idle; /* consecutive checks without a change */
	/* Idle checks until protection; grows after each protection that was too early. */
	uint8_t patience;
	uint32_t cooled; /* `restores` at that time */
};

struct image_busy {
	uint32_t area, page;
};

/* The content of a page at a checkpoint, in the memory of the checkpoints. A version is identified
 * by its position there, in words, plus 1. */
struct image_version {
	uint32_t previous; /* previous version of the page; 0: the starting point */
	uint32_t area, page;
	uint32_t next; /* next version of the checkpoint; 0: last */
	char content[];
};

struct image {
	uint32_t area_count;
	struct image_area areas[IMAGE_AREAS_MAX];
	uint32_t visited_count;
	/* Areas that every restore visits: all but the watched ones. */
	uint16_t visited[IMAGE_AREAS_MAX];
	long fault_descriptor; /* userfaultfd, or -1 */
	long pagemap_descriptor;
	long holder; /* process id; 0: none */
	const char *stack_pointer;
	char *versions;		 /* start of the checkpoints' memory */
	struct image_busy *busy; /* busy pages of all watched areas; has room for all pages */
	uint32_t busy_count;
	uint64_t table_pages; /* number of entries there, and of image_watch behind them */
	uint32_t *latest;     /* of all areas */
	/* The fields above and the table at `busy` are read-only during runs. The rest changes at
	 * each checkpoint or restore. */
	_Alignas(PAGE_BYTES) bool is_open;
	uint32_t version_count[IMAGE_AREAS_MAX]; /* per area: nonzero entries of its `latest` */
	uint32_t restores;
	/* Page faults at the last search for late pages; -1: no search yet. */
	long fault_count;
	unsigned char residency[1 << 20]; /* scratch for mincore: areas up to 4 GB */
	struct image_scan_region regions[IMAGE_SCAN_REGIONS];
	/* Pages to read from the holder. */
	struct iovec reads[IMAGE_READS_MAX];
	uint32_t read_count;
};

/* Makes the image's table writable; called before each change. */
void image_open(struct image *image);
/* Makes the table read-only if it is open, so that a stray write of the target faults. */
void image_close(struct image *image);

static inline bool image_is_large(const struct image_area *area)
{
	return area->resident_bytes >= TRACKED_BYTES_LEAST;
}

static inline size_t image_pages(const struct image_area *area)
{
	return (area->bytes + PAGE_BYTES - 1) / PAGE_BYTES;
}

/* Bytes of the page that belong to the area: fewer than a page at its end. */
static inline size_t image_page_bytes(const struct image_area *area, size_t page)
{
	const size_t left = area->bytes - page * PAGE_BYTES;

	return left < PAGE_BYTES ? left : PAGE_BYTES;
}

static inline struct image_version *image_version(const struct image *image, uint32_t position)
{
	return (struct image_version *)(image->versions +
					((size_t)position - 1) * sizeof(uint64_t));
}

/* Returns the content to restore; NULL means the content before the page was first touched. */
static inline const char *image_content(
	const struct image *image, const struct image_area *area, size_t page)
{
	if (image->version_count[area - image->areas] && area->latest[page])
		return image_version(image, area->latest[page])->content;
	return area->present[page] == PAGE_SAVED ? area->copy + page * PAGE_BYTES : NULL;
}

/* Returns true if no thread has used the stack since `point`. */
bool image_is_untouched(const struct image_area *area, const struct image_point *point);

/* `content` NULL: zeroes. libc's memcmp takes no lock and runs at memory speed. */
bool image_is_same(const char *page, const char *content, size_t bytes);

/* Returns the number of page faults of the process since the last call; UINT64_MAX: unknown. */
uint64_t image_new_faults(struct image *image);
void image_find_late(struct image *image, struct image_area *area, bool has_faults);

/* The holder: a forked process whose memory is that of the starting point. It shares the pages with
 * this process until one is written, so a large heap does not need a copy (image_held.c). */

/* Starts the holder if the large areas are worth the fork. Called before any area is copied or
 * protected. */
void image_start_holding(struct image *image);
void image_end_holding(struct image *image);
/* Decides whether the holder keeps this area's pages. */
void image_hold(struct image *image, struct image_area *area);
/* Restores a page of a held area, at the latest at the next image_finish_reads(). Both return false
 * if the holder has died. */
bool image_read_held(struct image *image, char *page);
bool image_finish_reads(struct image *image);

/* Tracks writes where the kernel can, and tracking is cheaper than copying. */
void image_start_tracking(struct image *image);
void image_end_tracking(struct image *image);
/* Makes all written pages of watched areas busy. Returns false if the kernel cannot report them. */
bool image_find_busy(struct image *image);
void image_make_busy(struct image *image, struct image_area *area, uint32_t page);
/* Returns whether this restore checks the busy pages for unchanged ones. Called once per
 * restore. */
bool image_is_look(struct image *image);
/* Records the check of a busy page. Returns true if the page is protected again and no longer
 * busy. */
bool image_cools(struct image *image, struct image_area *area, uint32_t page, bool is_same);

/* Visits and protects the parts of a tracked area written since their last protection. Returns
 * false if the kernel cannot report them, or the visitor returned false. */
typedef bool image_visit_written(struct image *image, struct image_area *area,
	const struct image_scan_region *region, void *argument);
bool image_each_written(
	struct image *image, struct image_area *area, image_visit_written *visit, void *argument);
