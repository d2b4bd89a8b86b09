#include "store/store_compressed.h"

#include <errno.h>
#include <stdlib.h>
#include <zstd.h>

#include "base/array.h"
#include "base/bug.h"

/* A person may read and edit a shorter text. A schedule of 748,000 context switches has 4.5 MB, and
 * 0.2 MB compressed. */
#define SIZE_LEAST ((size_t)256 << 10)
/* zstd's default: level 19 saves a third more, at ten times the time and more. */
#define LEVEL 3

char *store_compress(const char *text, size_t size, size_t *stored)
{
	const size_t most = ZSTD_compressBound(size);
	char *bytes;

	if (size < SIZE_LEAST)
		return NULL;
	bytes = array_resize(NULL, most, 1);
	*stored = ZSTD_compress(bytes, most, text, size, LEVEL);
	BUG_ON(ZSTD_isError(*stored));
	return bytes;
}

char *store_decompress(const char *stored, size_t stored_size, size_t limit, size_t *size)
{
	const unsigned long long length = ZSTD_getFrameContentSize(stored, stored_size);
	char *text = NULL;

	if (length == ZSTD_CONTENTSIZE_UNKNOWN || length == ZSTD_CONTENTSIZE_ERROR) {
		errno = EBADMSG;
		return NULL;
	}
	if (length > limit) {
		errno = EFBIG;
		return NULL;
	}
	text = array_resize(NULL, (size_t)length + 1, 1);
	*size = ZSTD_decompress(text, (size_t)length, stored, stored_size);
	if (ZSTD_isError(*size) || *size != length) {
		free(text);
		errno = EBADMSG;
		return NULL;
	}
	text[length] = '\0';
	return text;
}
