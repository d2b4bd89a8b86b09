/* Quotes command-line arguments for a POSIX shell. */
#ifndef RADDLE_BASE_SHELL_WORDS_H
#define RADDLE_BASE_SHELL_WORDS_H

#include "base/strbuf.h"

/*
 * Appends the NULL-terminated list `words`, separated by blanks. Each word is quoted if the shell
 * needs it; control characters become $'...' escapes.
 */
void shell_words_add(struct strbuf *out, char *const *words);

#endif
