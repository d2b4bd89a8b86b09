#include "branches/values/stretch.h"

#include <stdatomic.h>
#include <stddef.h>
#include <sys/mman.h>
#include <time.h>

#include "base/bug.h"

#define HUGE_BYTES (UINT64_C(1) << 21)
/* A huge page may take 4 ms in a virtual machine whose host has reclaimed the memory. */
#define HUGE_NS_MOST 700000u
/* Small pages are populated in steps: half of the cost of a single fault is the kernel's entry. */
#define SMALL_STEP_BYTES (UINT64_C(1) << 17)

/* Once one huge page was slow, huge pages are not used any more. */
static atomic_bool is_huge_slow;

uint64_t thread_processor_ns(void)
{
	struct timespec time;

	(void)clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time); /* cannot fail */
	return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

/* Reserves the range so that the small pages end where the first huge page begins. */
static void stretch_map(struct stretch *stretch)
{
	uint64_t small_end;

	stretch->mapping = mmap(NULL, STRETCH_BYTES + 2 * HUGE_BYTES, PROT_READ | PROT_WRITE,
		MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	BUG_ON(stretch->mapping == MAP_FAILED);
	small_end = ((uint64_t)(uintptr_t)stretch->mapping + STRETCH_SMALL_BYTES + HUGE_BYTES - 1) &
		    ~(HUGE_BYTES - 1);
	stretch->memory = (uint8_t *)(uintptr_t)(small_end - STRETCH_SMALL_BYTES);
	stretch->ready = STRETCH_SMALL_BYTES;
	/* Fails if the kernel has no huge pages: then all pages are small. */
	(void)madvise(stretch->memory + STRETCH_SMALL_BYTES, STRETCH_BYTES - STRETCH_SMALL_BYTES,
		MADV_HUGEPAGE);
}

static void stretch_add_huge(struct stretch *stretch)
{
	const uint64_t begin = thread_processor_ns();

	*(volatile uint8_t *)(stretch->memory + stretch->ready) = 0;
	stretch->ready += HUGE_BYTES;
	if (thread_processor_ns() - begin >= HUGE_NS_MOST)
		atomic_store_explicit(&is_huge_slow, true, memory_order_relaxed);
}

static void stretch_end_huge(struct stretch *stretch)
{
	(void)madvise(
		stretch->memory + stretch->ready, STRETCH_BYTES - stretch->ready, MADV_NOHUGEPAGE);
	stretch->is_small = true;
}

static void stretch_add_small(struct stretch *stretch)
{
	/* Fails on Linux before 5.14: then each page is populated by its first touch. */
	(void)madvise(stretch->memory + stretch->ready, SMALL_STEP_BYTES, MADV_POPULATE_WRITE);
	stretch->ready += SMALL_STEP_BYTES;
}

void stretch_reach(struct stretch *stretch, uint64_t bytes)
{
	if (!stretch->mapping)
		stretch_map(stretch);
	BUG_ON(bytes > STRETCH_BYTES);
	while (stretch->ready < bytes)
		if (stretch->is_small) {
			stretch_add_small(stretch);
		} else if (atomic_load_explicit(&is_huge_slow, memory_order_relaxed)) {
			stretch_end_huge(stretch);
		} else {
			stretch_add_huge(stretch);
		}
}

void stretch_release(struct stretch *stretch)
{
	if (stretch->mapping)
		(void)munmap(stretch->mapping, STRETCH_BYTES + 2 * HUGE_BYTES);
	*stretch = (struct stretch){0};
}
