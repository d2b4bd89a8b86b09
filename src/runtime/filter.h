/*
 * Which memory may hold one of the few variables that are points in a run (focus.h): lines of 64 bytes, found by
 * some bits of the address. An access to any other line is nothing to the run, and site_thunk.S lets it pass
 * in a few instructions; one to these lines may still be to something else, and memory.c looks at it.
 *
 * What is static lies where it lies. Blocks of the heap are added as they are made; one that is freed stays, as whoever
 * uses it too late means the same variable.
 *
 * Runs in whoever starts runs, and in the moving thread; general registers only.
 */
#ifndef RADDLE_RUNTIME_FILTER_H
#define RADDLE_RUNTIME_FILTER_H

#define FILTER_LINE_BITS 6 /* 64 bytes */
#define FILTER_LINES 8192  /* a power of two: a byte each, so of 512 kB of neighbours */

#ifndef __ASSEMBLER__

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct heap_block;
struct contract_memory;

/* Read by site_thunk.S. Of FILTER_LINES bytes; 0: nothing there is wanted. */
extern const uint8_t *filter_lines;
/* Every line is wanted. */
extern const uint8_t filter_all[FILTER_LINES];

/* The run begins, or goes on from a checkpoint; `is_filtered`: its points are known by name. */
void filter_begin_run(const struct contract_memory *memory, bool is_filtered);
/* The next access is wanted, whatever it is to, */
void filter_suspend(void);
/* and has come. */
void filter_resume(void);
/* A block of the heap is made. */
void filter_add_block(const struct heap_block *block);
/* Is none of these bytes wanted? */
bool filter_misses(uintptr_t start, size_t bytes);

#endif
#endif
