#include "runtime/thread_stacks.h"

#include <pthread.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#include "base/bitset.h"
#include "base/hot_state.h"
#include "model/ids.h"
#include "platform/platform.h"
#include "engine/engine.h"
#include "runtime/heap.h"
#include "runtime/runtime.h"

void call_on_stack(void (*function)(void *), void *argument, void *stack_end);

/* Slots of large stacks lie below the others, one area for each class. All areas grow downwards,
 * as glibc's stacks do. */
#define LARGE_END (THREAD_STACKS_START + UINT64_C(0x10000000000))
#define LARGE_LEAST_BYTES ((size_t)16 * 1024 * 1024)
#define LARGE_AREA_BYTES                                                                           \
	((LARGE_END - THREAD_STACKS_START) / THREAD_STACK_CLASSES / GAP_BYTES * GAP_BYTES)
#define SLOTS_END (THREAD_STACKS_START + THREAD_STACKS_BYTES)
/* Gap between stacks, larger than most frames: a stack overflow faults instead of reaching the next
 * stack. */
#define GAP_BYTES ((size_t)1024 * 1024)
/* Room for glibc's vector, which has an entry for each module with thread-local variables. */
#define LENT_BYTES ((size_t)16 * 1024)

static HOT_STATE size_t standard_stack_bytes; /* 0: not known yet */

/* Written by the moving thread; restored with each run. */
static HOT_STATE struct {
	uint64_t mapped[BITSET_WORDS(THREAD_CAPACITY)]; /* mapped slots, counted from SLOTS_END */
} stacks;

size_t thread_stack_standard_bytes(void)
{
	pthread_attr_t standard;

	if (!standard_stack_bytes) {
		(void)pthread_attr_init(&standard); /* cannot fail in glibc */
		(void)pthread_attr_getstacksize(&standard, &standard_stack_bytes);
		(void)pthread_attr_destroy(&standard);
	}
	return standard_stack_bytes;
}

static size_t thread_stack_stride(void)
{
	return thread_stack_standard_bytes() + LENT_BYTES + GAP_BYTES;
}

/* Returns the position of a slot, counted from the end of the range. */
static uint32_t thread_stack_position(uint32_t slot)
{
	return runtime.layout.has_ascending_stacks ? THREAD_CAPACITY - 1 - slot : slot;
}

static uint64_t thread_stack_end(uint32_t position)
{
	return SLOTS_END - GAP_BYTES - position * thread_stack_stride();
}

static bool thread_stack_map_below(struct thread_stack *stack, uint64_t end, size_t stack_bytes)
{
	const size_t bytes = stack_bytes + LENT_BYTES;
	const long start = platform_call(SYS_mmap, end - bytes, bytes, PROT_READ | PROT_WRITE,
		MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK | MAP_FIXED_NOREPLACE, -1,
		0);

	if (platform_failed(start))
		return false;
	*stack = (struct thread_stack){
		.start = (char *)start, .bytes = bytes, .stack_bytes = stack_bytes};
	if (start == (long)(end - bytes))
		return true;
	thread_stack_unmap(stack); /* the kernel ignored MAP_FIXED_NOREPLACE */
	return false;
}

static size_t thread_stack_large_bytes(uint32_t size_class)
{
	return LARGE_LEAST_BYTES << (size_class - 1);
}

uint32_t thread_stack_class(size_t stack_bytes)
{
	uint32_t size_class = 1;

	if (stack_bytes <= thread_stack_standard_bytes())
		return 0;
	while (size_class < THREAD_STACK_CLASSES &&
		thread_stack_large_bytes(size_class) < stack_bytes)
		size_class++;
	return size_class;
}

/* Ends are multiples of GAP_BYTES: an address alone shows whether memory is lent. */
static bool thread_stack_map_large(struct thread_stack *stack, uint32_t size_class, uint32_t slot)
{
	const size_t bytes = thread_stack_large_bytes(size_class);
	const uint64_t stride = bytes + 2 * GAP_BYTES;

	return (slot + 1) * stride <= LARGE_AREA_BYTES &&
	       thread_stack_map_below(stack,
		       LARGE_END - (size_class - 1) * LARGE_AREA_BYTES - slot * stride, bytes);
}

bool thread_stack_map(struct thread_stack *stack, uint32_t size_class, uint32_t slot)
{
	const uint32_t position = thread_stack_position(slot);

	if (size_class)
		return size_class < THREAD_STACK_CLASSES &&
		       thread_stack_map_large(stack, size_class, slot);
	if (slot >= THREAD_CAPACITY ||
		(uint64_t)(position + 1) * thread_stack_stride() > SLOTS_END - LARGE_END ||
		!thread_stack_map_below(
			stack, thread_stack_end(position), thread_stack_standard_bytes()))
		return false;
	bitset_add(stacks.mapped, position);
	return true;
}

void thread_stack_unmap(const struct thread_stack *stack)
{
	const uint64_t position =
		(SLOTS_END - GAP_BYTES - (uint64_t)(uintptr_t)stack->start - stack->bytes) /
		thread_stack_stride();

	if (position < THREAD_CAPACITY && (uint64_t)(uintptr_t)stack->start >= LARGE_END)
		bitset_remove(stacks.mapped, (uint32_t)position);
	platform_unmap(stack->start, stack->bytes);
}

/* Bound for the frames of glibc before thread_stack_enter(). */
#define FIRST_FRAMES_BYTES 512
/* Bytes that context_make() leaves above the first frame. */
#define FIRST_WORDS_BYTES 16

void *thread_stack_top(void *frame)
{
	return (void *)(((uintptr_t)frame - FIRST_FRAMES_BYTES -
				runtime.layout.thread_stack_bytes) &
			~(uintptr_t)15);
}

void thread_stack_enter(void *thread)
{
	engine_thread_main(thread);
	__asm__ volatile(""); /* no tail call: every executor needs this frame */
}

void thread_stack_enter_at(void *top, void *thread)
{
	call_on_stack(thread_stack_enter, thread, (char *)top - FIRST_WORDS_BYTES);
}

void thread_stack_lend(const struct thread_stack *stack)
{
	char *lent = stack->start + stack->stack_bytes;

	heap_lend(lent, LENT_BYTES);
}

void thread_stack_lend_end(struct thread_stack *stack)
{
	stack->used_end = heap_lent_end();
	heap_lend(NULL, 0);
}

static const char *thread_stack_large_lent_end(uint64_t block)
{
	const uint64_t end = (block | (GAP_BYTES - 1)) + 1;

	return end - block <= LENT_BYTES && block >= THREAD_STACKS_START
		       ? (const char *)(uintptr_t)end
		       : NULL;
}

const char *thread_stack_lent_end(const void *block)
{
	const uint64_t below = SLOTS_END - GAP_BYTES - (uint64_t)(uintptr_t)block;
	uint64_t position;

	if ((uint64_t)(uintptr_t)block < LARGE_END)
		return thread_stack_large_lent_end((uint64_t)(uintptr_t)block);
	if (!standard_stack_bytes)
		return NULL;
	position = (below - 1) / thread_stack_stride();
	if (position >= THREAD_CAPACITY || !bitset_has(stacks.mapped, (uint32_t)position) ||
		(below - 1) % thread_stack_stride() >= LENT_BYTES)
		return NULL;
	return (const char *)(uintptr_t)thread_stack_end((uint32_t)position);
}
