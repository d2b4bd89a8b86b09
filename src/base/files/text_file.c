#include "base/files/text_file.h"

#include <errno.h>
#include <string.h>

/* Larger files are refused. A million long names of test cases need less. */
#define FILE_BYTES_MAX (256u << 20)

int text_file_read(
	FILE *file, const char *title, const char *path, struct strbuf *out, struct error *err)
{
	char buffer[4096];
	size_t got;
	int result = 0;

	if (!file)
		return error_set(err, ERROR_NOTFOUND, "%s %s cannot be opened (%s); check the path",
			title, path, strerror(errno));
	while (result == 0 && (got = fread(buffer, 1, sizeof buffer, file)) > 0) {
		strbuf_add(out, buffer, got);
		if (out->length > FILE_BYTES_MAX)
			result = error_set(err, ERROR_USAGE,
				"%s %s has more than %u MB; is it the right file?", title, path,
				FILE_BYTES_MAX >> 20);
	}
	if (result == 0 && ferror(file))
		result = error_set(err, ERROR_IO, "%s %s cannot be read (%s); check the file",
			title, path, strerror(errno));
	(void)fclose(file); /* the file was opened for reading */
	return result;
}
