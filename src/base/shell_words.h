/* Quotes command-line arguments for a POSIX shell. */
#pragma once

#include "base/strbuf.h"

/*
 * Appends the NULL-terminated list `words`, separated by blanks. Each word is quoted if the shell
 * needs it; control characters become $'...' escapes.
 */
void shell_words_add(struct strbuf *out, char *const *words);
