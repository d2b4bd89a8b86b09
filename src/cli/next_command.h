/*
 * Builds the command that raddle suggests next. The suggestion can be run as printed in the current
 * folder. A suggestion to repeat the current command carries all its options unless the caller
 * drops them.
 */
#pragma once

#include <stdint.h>

#include "base/strbuf.h"
#include "cli/option.h"
#include "plan/settings.h"
#include "findings/finding.h"

/* Appends " --store DIR" unless it is the default store. NULL means that the user gave no store. */
void next_add_store(struct strbuf *out, const char *directory);
/*
 * Returns the words of `given` before `program` (in the same array) that are options of the
 * table `options`, except those whose names `dropped` lists up to NULL. The returned array ends with NULL; release it with strings_free().
 */
char **next_select_given(char *const *given, char *const *program,
	const struct command_option *options, const char *const *dropped);
/* Appends these words. */
void next_add_given(struct strbuf *out, char *const *given, char *const *program,
	const struct command_option *options, const char *const *dropped);
/* Appends " -- PROGRAM [ARG...]". */
void next_add_program(struct strbuf *out, char *const *program);
/* Adds " --time 30s": a time of whole seconds in seconds, others in milliseconds. */
void next_add_time(struct strbuf *out, const char *option, uint64_t time_ns);
/* Appends the options of `raddle run` for all settings that differ from the default. */
void next_add_settings(struct strbuf *out, const struct settings *settings);
/* Appends the arguments of `raddle run` that make runs like the finding's. */
void next_add_finding(struct strbuf *out, const struct finding *finding, const char *store);
