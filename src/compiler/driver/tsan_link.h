/* Links objects that call ThreadSanitizer's functions with raddle's implementation instead of that runtime. */
#ifndef RADDLE_COMPILER_DRIVER_TSAN_LINK_H
#define RADDLE_COMPILER_DRIVER_TSAN_LINK_H

#include "base/error.h"
#include "compiler/driver/arguments.h"

/*
 * Fills *command with a command line that makes `compiler` do what argv says. gcc links its
 * sanitizer library whenever it sees -fsanitize=thread. If argv both compiles and links, this
 * function therefore first compiles the sources to temporary objects, and does not return after
 * success: it links them and exits. The caller releases *command.
 */
int tsan_command(
	const char *compiler, char *const *argv, struct arguments *command, struct error *err);

#endif
