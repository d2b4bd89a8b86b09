/* Walks a call stack outwards by the unwinding rules (.eh_frame) of the code, which exist for
 * optimised code, too. Runs in the moving thread; no locks, no allocation. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* A function that has made a call: return address in, and registers of, the caller. */
struct frame {
	uint64_t return_address;
	uint64_t stack_pointer, base_pointer; /* %rsp (0: unknown) and %rbp */
};

/* Reads a word of the stack. Returns false if not readable. */
typedef bool frame_read(uint64_t address, uint64_t *word, void *context);

/* The cache of rules survives a rewind. */
void frames_set_up(void);

/* Moves to the caller of the function that `frame` returns to. Returns false if there is no rule
 * for that code. */
bool frame_leave(struct frame *frame, frame_read *read, void *context);
