/*
 * Texts of a finding's folder. A long text NAME is stored as NAME.zst, in the format of the tool
 * zstd. A file NAME beside it takes precedence: the user may decompress and edit it.
 */
#pragma once

#include <stddef.h>

#define STORE_COMPRESSED ".zst"

/*
 * Compresses a text that is long enough for that. Returns the stored bytes, which the caller frees,
 * and sets their number; NULL: the text is to be stored as it is.
 */
char *store_compress(const char *text, size_t size, size_t *stored);
/* Returns the text of at most `limit` bytes, with a NUL behind it; the caller frees it. Returns NULL
 * if the bytes are damaged or the text is longer, and errno has the cause. */
char *store_decompress(const char *stored, size_t stored_size, size_t limit, size_t *size);
