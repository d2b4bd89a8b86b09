/* Objects with ThreadSanitizer's calls, linked with raddle's answers instead of that runtime. */
#ifndef RADDLE_COMPILER_DRIVER_TSAN_LINK_H
#define RADDLE_COMPILER_DRIVER_TSAN_LINK_H

#include "base/error.h"
#include "compiler/driver/arguments.h"

/*
 * The command line for `compiler` to do what argv says. gcc adds its sanitizer's library to every link
 * with -fsanitize=thread, so where argv compiles and links at once, sources are compiled to temporary
 * objects first (by commands of their own, run here) and the command only links.
 */
int tsan_command(
	const char *compiler, char *const *argv, struct arguments *command, struct error *err);

#endif
