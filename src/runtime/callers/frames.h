/*
 * Walks a thread's calls outwards by the unwinding rules (.eh_frame) of the code, which optimised code has, too.
 * Runs in the moving thread; takes no lock and allocates nothing.
 */
#ifndef RADDLE_RUNTIME_CALLERS_FRAMES_H
#define RADDLE_RUNTIME_CALLERS_FRAMES_H

#include <stdbool.h>
#include <stdint.h>

/* A function that has made a call: where it returns to in the caller, and two registers of the caller then. */
struct frame {
	uint64_t return_address;
	uint64_t stack_pointer, base_pointer; /* %rsp, 0: not known; %rbp */
};

/* Reads a word of the stack; false: that memory cannot be read. */
typedef bool frame_read(uint64_t address, uint64_t *word, void *context);

/* Makes room to keep rules in, which survive a rewind. Without it each rule is found again. */
void frames_set_up(void);

/* Goes on to the caller of the function that `frame` returns to. False: no rule says where that is. */
bool frame_leave(struct frame *frame, frame_read *read, void *context);

#endif
