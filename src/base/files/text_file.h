/* Reads text files that the user names, in bounded memory. */
#pragma once

#include <stdio.h>

#include "base/error.h"
#include "base/strbuf.h"

/*
 * Appends the rest of the stream to *out and closes the stream, which may be NULL if opening it
 * failed. Messages name the file by title and path: "the suppressions", "known.txt".
 */
int text_file_read(
	FILE *file, const char *title, const char *path, struct strbuf *out, struct error *err);
