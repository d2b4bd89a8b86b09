/* Links objects that call ThreadSanitizer's functions with raddle's implementation instead of that
 * runtime. */
#pragma once

#include "base/error.h"
#include "compiler/driver/arguments.h"

/*
 * Makes `compiler` do what argv says. gcc links its sanitizer library whenever it sees
 * -fsanitize=thread; a command that compiles and links is therefore done here in two steps and does
 * not return on success. The caller releases *command.
 */
int tsan_command(
	const char *compiler, char *const *argv, struct arguments *command, struct error *err);
