/*
 * Where the stacks and thread-local blocks of threads lie: slots of an address range of their own, with the same address
 * under every restart. A restart that makes stacks ahead and one that makes them during a run leave the program's heap and
 * mappings alike: glibc's pthread_create() also takes its vector of thread-local blocks from the slot.
 */
#ifndef RADDLE_RUNTIME_THREAD_STACKS_H
#define RADDLE_RUNTIME_THREAD_STACKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Above the runtime's own mappings (platform/memory.c), below its tables of the heap. */
#define THREAD_STACKS_START UINT64_C(0x7c0000000000)
#define THREAD_STACKS_BYTES UINT64_C(0x028000000000)

struct thread_stack {
	char *start; /* of the mapping: the stack, and behind it what glibc allocates for the thread */
	size_t bytes;
	size_t stack_bytes;
	char *used_end; /* of what glibc has allocated: behind it nothing is ever written */
};

/* Of standard size, at the place of that slot; false: the place is taken, or there is no memory. */
bool thread_stack_map(struct thread_stack *stack, uint32_t slot);
/* Of another size: the next place of the run. */
bool thread_stack_map_large(struct thread_stack *stack, size_t stack_bytes);
void thread_stack_unmap(const struct thread_stack *stack);

/* Bytes of a stack that is made without attributes. */
size_t thread_stack_standard_bytes(void);

/* Where a thread's frames begin, below those of glibc; `frame` is of the first function that glibc calls. */
void *thread_stack_top(void *frame);
/* The first frame there, the same for fibers and kernel threads: engine_thread_main(). */
void thread_stack_enter(void *thread);
/* Calls that there; returns when the thread has ended. */
void thread_stack_enter_at(void *top, void *thread);

/* Until the end, the heap gives out memory of the slot instead of the program's (interpose_heap.c). */
void thread_stack_lend(const struct thread_stack *stack);
void thread_stack_lend_end(struct thread_stack *stack);
/* The end of the lent memory that the block lies in; NULL: the block is the program's. */
const char *thread_stack_lent_end(const void *block);

#endif
