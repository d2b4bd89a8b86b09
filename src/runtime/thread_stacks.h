/* Addresses of threads' stacks and thread-local blocks: slots of a separate range, equal under
 * every restart. A restart may make stacks in advance or during a run; heap and mappings must be
 * identical in both cases. Hence glibc's pthread_create() also locations its vector of thread-local
 * blocks in the slot. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The range lies above the runtime's own mappings (platform/memory.c) and below its tables of the
 * heap. */
#define THREAD_STACKS_START UINT64_C(0x7c0000000000)
#define THREAD_STACKS_BYTES UINT64_C(0x028000000000)

struct thread_stack {
	/* start of the mapping, which holds the stack, then glibc's data of the thread */
	char *start;
	size_t bytes;
	size_t stack_bytes;
	char *used_end; /* end of glibc's data: no thread writes behind it */
};

/* Class 0 has the standard size. Each further class doubles the size, up to 16 GiB. */
#define THREAD_STACK_CLASSES 12

/* Returns the smallest class whose stacks are large enough; THREAD_STACK_CLASSES: none is. */
uint32_t thread_stack_class(size_t stack_bytes);
/* Maps a stack. Returns false if the class has no such slot, the location is in use, or memory is
 * short. */
bool thread_stack_map(struct thread_stack *stack, uint32_t size_class, uint32_t slot);
void thread_stack_unmap(const struct thread_stack *stack);

size_t thread_stack_standard_bytes(void);

/* Returns the upper end of a thread's own frames. `frame` belongs to the first function that glibc
 * calls. */
void *thread_stack_top(void *frame);
/* Fibers and kernel threads. Calls engine_thread_main(). */
void thread_stack_enter(void *thread);
/* Runs on the stack below `top`; returns when the thread has ended. */
void thread_stack_enter_at(void *top, void *thread);

/* The heap serves allocations from the slot until thread_stack_lend_end()
 * (libc/memory/allocation.c). */
void thread_stack_lend(const struct thread_stack *stack);
void thread_stack_lend_end(struct thread_stack *stack);
/* End of the lent memory that holds the block; returns NULL if the block belongs to the program's
 * heap. */
const char *thread_stack_lent_end(const void *block);
