/*
 * What image.c (the starting point), image_track.c (which pages have been written to) and image_versions.c
 * (later contents of its pages) share.
 */
#ifndef RADDLE_RUNTIME_RESTART_IMAGE_INTERNAL_H
#define RADDLE_RUNTIME_RESTART_IMAGE_INTERNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model/ids.h"
#include "runtime/restart/image.h"

#define PAGE_BYTES ((size_t)4096)
/* A stack for each thread that a run can have, and everything else. */
#define IMAGE_AREAS_MAX (2 * THREAD_CAPACITY)
/* Below the stack pointer of a suspended context: the red zone and the frame of the switch. */
#define STACK_MARGIN_BYTES 256
#define IMAGE_SCAN_REGIONS 4096

struct image_scan_region {
	uint64_t start, end, categories;
};

enum image_presence {
	PAGE_ABSENT,
	PAGE_SAVED, /* resident at the starting point, and copied */
	PAGE_LATE   /* some run has touched it since: reads as zero at the starting point */
};

/* A run of pages or bytes that was there when the image was taken. */
struct image_area {
	char *start;
	size_t bytes;
	char *copy;		/* same size, in shared memory; holes where nothing was resident */
	unsigned char *present; /* per page: enum image_presence */
	size_t resident_bytes;
	bool is_tracked; /* large: what a run wrote is found after it, and protected again */
	bool is_watched; /* small: pages that a run wrote to are busy for a while, and put back after each */
	bool has_gaps;			   /* some pages were not resident */
	bool may_be_huge;		   /* the kernel may put huge pages there */
	bool is_file;			   /* absent pages read as the file, not as zero */
	size_t first_present, end_present; /* pages: nothing is saved outside */
	size_t first_late, end_late;	   /* pages: none is late outside */
	char *mapping_start;	/* where that begins of which the area is the end; NULL: with it */
	uint32_t pool_index;	/* of the thread whose stack it is, FIBER_NOT_POOLED: none's */
	char *stack_floor;	/* the used part of a stack: how far down it may go; else NULL */
	uint32_t *latest;	/* per page: its newest version, 0: none; NULL: no page has any */
	uint32_t version_count; /* in `latest` */
	struct image_watch *watch; /* per page of a watched area */
};

/* A page of a watched area that is not busy holds what it is to hold, or the kernel knows that it was written to. */
struct image_watch {
	bool is_busy;	  /* not protected: put back before every run */
	uint8_t idle;	  /* looks at it that found it unchanged, in a row */
	uint8_t patience; /* more than so many: it is protected again. Grows where that was too early */
	uint32_t cooled; /* when that was, in `restores` */
};

struct image_busy {
	uint32_t area, page;
};

/*
 * What a page held at a checkpoint. They lie in the memory of the checkpoints, and are known by their
 * place in it, in words, plus 1.
 */
struct image_version {
	uint32_t previous; /* of the same page, 0: the starting point */
	uint32_t area, page;
	uint32_t next; /* of the same checkpoint, 0: it was the first */
	char content[];
};

struct image {
	uint32_t area_count;
	struct image_area areas[IMAGE_AREAS_MAX];
	long fault_descriptor; /* userfaultfd, or -1 */
	long pagemap_descriptor;
	const char *stack_pointer;
	long fault_count; /* of the process, when late pages were last looked for; -1: never */
	unsigned char residency[1 << 20]; /* scratch for mincore: areas up to 4 GB */
	struct image_scan_region regions[IMAGE_SCAN_REGIONS];
	char *versions;		 /* where the memory of the checkpoints begins */
	struct image_busy *busy; /* the pages of watched areas that are busy: room for all */
	uint32_t busy_count;
	uint64_t watch_bytes; /* of `busy`, with what is known of each page behind it */
	uint64_t watch_pages;
	uint32_t restores; /* of watched areas */
};

/* The bytes of that page of the area: fewer at its end. */
static inline size_t image_page_bytes(const struct image_area *area, size_t page)
{
	const size_t left = area->bytes - page * PAGE_BYTES;

	return left < PAGE_BYTES ? left : PAGE_BYTES;
}

static inline struct image_version *image_version(const struct image *image, uint32_t place)
{
	return (struct image_version *)(image->versions + ((size_t)place - 1) * sizeof(uint64_t));
}

/* What the page is to hold; NULL: what it held before it was first touched. */
static inline const char *image_content(
	const struct image *image, const struct image_area *area, size_t page)
{
	if (area->latest && area->latest[page])
		return image_version(image, area->latest[page])->content;
	return area->present[page] == PAGE_SAVED ? area->copy + page * PAGE_BYTES : NULL;
}

/* Has nobody used the area, the stack of a thread, since that moment? */
bool image_is_untouched(const struct image_area *area, const struct image_moment *moment);

/* NULL: zero. libc's memcmp takes no lock, and is as fast as memory is. */
bool image_is_same(const char *page, const char *content, size_t bytes);

/* Faults of the process since the last call; UINT64_MAX: not known. */
uint64_t image_new_faults(struct image *image);
/* Finds pages that were absent and have been touched since. */
void image_find_late(struct image *image, struct image_area *area, bool has_faults);

/* Has the kernel find out what is written to from here on, where it can and that pays. */
void image_start_tracking(struct image *image);
void image_end_tracking(struct image *image);
/* Makes the pages of watched areas busy that have been written to. False: the kernel does not say which. */
bool image_find_busy(struct image *image);
void image_make_busy(struct image *image, struct image_area *area, uint32_t page);
/* Is it time to see which busy pages runs do not write to any more? Asked once for each restoring. */
bool image_is_look(struct image *image);
/* A look has found the page unchanged or not: is it protected again, and no longer busy? */
bool image_cools(struct image *image, struct image_area *area, uint32_t page, bool is_same);

/*
 * Visits the parts of a tracked area that have been written to since it was last protected, and protects
 * them again. False: the kernel does not say which, or the visitor said stop.
 */
typedef bool image_visit_written(struct image *image, struct image_area *area,
	const struct image_scan_region *region, void *argument);
bool image_each_written(
	struct image *image, struct image_area *area, image_visit_written *visit, void *argument);

#endif
