/* Words as a shell takes them. */
#ifndef RADDLE_BASE_SHELL_WORDS_H
#define RADDLE_BASE_SHELL_WORDS_H

#include "base/strbuf.h"

/* Appends them with blanks between, quoted where they must be. */
void shell_words_add(struct strbuf *out, char *const *words);

#endif
