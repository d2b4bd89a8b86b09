/*
 * A coarse filter for runs in which few variables are points (focus.h). The filter marks the lines
 * of 64 bytes that may hold such a variable, indexed by some bits of the address. site_thunk.S lets
 * an access to any other line pass in a few instructions; memory.c examines accesses to marked
 * lines. Heap blocks are added when allocated. A freed block stays marked, because a use after free
 * means the same variable.
 *
 * Runs in the code that starts runs, and in the moving thread; general registers only.
 */
#pragma once

#define FILTER_LINE_BITS 6
#define FILTER_LINES 8192 /* a power of two: one byte each, for a window of 512 kB */

#ifndef __ASSEMBLER__

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct heap_block;
struct contract_memory;

/* FILTER_LINES bytes, read by site_thunk.S; 0: no access to the line needs work. */
extern const uint8_t *filter_lines;
extern const uint8_t filter_all[FILTER_LINES];

/* Called when a run begins or continues. `is_filtered`: points are known by name. */
void filter_begin_run(const struct contract_memory *memory, bool is_filtered);
/* Lets every access through, until filter_resume(). */
void filter_suspend(void);
void filter_resume(void);
/* Marks the lines of a new heap block, if it may hold a point. */
void filter_add_block(const struct heap_block *block);
bool filter_misses(uintptr_t start, size_t bytes);

#endif
