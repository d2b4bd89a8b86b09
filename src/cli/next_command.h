/*
 * The command that is suggested to be typed next: runnable as it is printed, in the folder where this one was typed, and
 * with all that was given to this one, unless it is another one of it that is suggested.
 */
#ifndef RADDLE_CLI_NEXT_COMMAND_H
#define RADDLE_CLI_NEXT_COMMAND_H

#include <argp.h>

#include "base/strbuf.h"
#include "plan/settings.h"
#include "findings/finding.h"

/* Appends " OPTION VALUE", the value quoted where it must be; nothing where it is NULL. */
void next_add_option(struct strbuf *out, const char *option, const char *value);
/* " --store DIR", where it is another one than that which is looked for anyway. NULL: it is not. */
void next_add_store(struct strbuf *out, const char *directory);
/*
 * Appends the options that were given, each with a blank before: the words of `given` before `program`, which is a place in the same
 * array. `options` is the table that knows them, ended by zeros; those with a key in `dropped` (ended by 0) are left out.
 */
void next_add_given(struct strbuf *out, char *const *given, char *const *program,
	const struct argp_option *options, const int *dropped);
/* Appends " -- PROGRAM [ARG...]". */
void next_add_program(struct strbuf *out, char *const *program);
/* Appends those options of `raddle run` that say what is not as it is by itself: what the program meets, what is a failure. */
void next_add_settings(struct strbuf *out, const struct settings *settings);
/* Appends what of `raddle run` would make runs like that of the finding: its settings and its program. */
void next_add_finding(struct strbuf *out, const struct finding *finding, const char *store);

#endif
