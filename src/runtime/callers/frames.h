/* Walks a thread's call stack outwards by the unwinding rules (.eh_frame) of the code, which
 * exist for optimised code, too. Runs in the moving thread; takes no lock and allocates nothing. */
#ifndef RADDLE_RUNTIME_CALLERS_FRAMES_H
#define RADDLE_RUNTIME_CALLERS_FRAMES_H

#include <stdbool.h>
#include <stdint.h>

/* A function that has made a call: the return address in the caller, and two registers of the
 * caller. */
struct frame {
	uint64_t return_address;
	uint64_t stack_pointer, base_pointer; /* %rsp (0: unknown) and %rbp */
};

/* Reads a word of the stack. False: not readable. */
typedef bool frame_read(uint64_t address, uint64_t *word, void *context);

/* Allocates the cache of rules, which survives a rewind. Without it each rule is searched again. */
void frames_set_up(void);

/* Moves to the caller of the function that `frame` returns to. False: no rule for that code. */
bool frame_leave(struct frame *frame, frame_read *read, void *context);

#endif
