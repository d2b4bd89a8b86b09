/* The calls that led to a step: stack frames, and which code they lie in. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct engine_thread;
struct trace_event;

/* Returns the lower end of the program's newest frame on the stack of a thread that waits at a call;
 * 0: unknown, as always with kernel threads. */
uint64_t runtime_newest_frame(const struct engine_thread *thread);
/* Stores the return addresses around `site`, innermost first, into a zeroed array; unknown entries
 * stay 0. */
void runtime_note_callers(
	const struct engine_thread *thread, uint64_t site, uint64_t *callers, unsigned count);
/* Fills in the call stack of an event, and the frames of its calls. */
void runtime_note_calls(
	const struct engine_thread *thread, bool is_access, struct trace_event *event);
/* Returns whether the address is in the runtime. Such frames belong to no function of the
 * program. */
bool runtime_is_own_code(uint64_t address);

/* ---- code of the C++ library (library_code.c) ---- */

/*
 * Finds out from symbol tables whether an address lies in code of the C++ library. Reports show a
 * step inside such code at the line where the user's code calls the library. A stripped program has
 * no symbols, so all of its own code counts as the user's.
 */

/* A module has such code. Set by library_code_set_up(). */
extern bool library_code_is_there;

/* Finds the code in all modules loaded now. Later calls do nothing. `walks_stacks`: runs walk stacks so often that the
 * rules of frames are kept. */
void library_code_set_up(bool walks_stacks);

/* Returns the innermost return address outside of the C++ library, from `site` outwards; else
 * `site`. `own_frame`: the frame of the function that `site` called. */
uint64_t library_code_caller(uint64_t site, const void *own_frame);
