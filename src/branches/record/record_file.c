#include "branches/record/record_file.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zstd.h>

#include "base/array.h"
#include "base/bug.h"

/* Records are mostly repeated counts; higher levels gain little. */
#define LEVEL 3
/* Records are shorter: a larger size in the header means damage. */
#define PLAIN_MOST (UINT64_C(1) << 36)

/* Compresses contents with zstd's checksum. The caller frees the bytes. */
static uint8_t *record_file_compress(const struct run_record *record, struct record_file_head *head)
{
	size_t size, room, stored;
	uint8_t *plain = record_contents(record, &size), *bytes;
	ZSTD_CCtx *context = ZSTD_createCCtx();

	room = ZSTD_compressBound(size);
	bytes = array_new(room, 1);
	BUG_ON(!context);
	BUG_ON(ZSTD_isError(ZSTD_CCtx_setParameter(context, ZSTD_c_compressionLevel, LEVEL)));
	BUG_ON(ZSTD_isError(ZSTD_CCtx_setParameter(context, ZSTD_c_checksumFlag, 1)));
	stored = ZSTD_compress2(context, bytes, room, plain, size);
	BUG_ON(ZSTD_isError(stored));
	*head = (struct record_file_head){
		.version = RECORD_VERSION, .plain_bytes = size, .stored_bytes = stored};
	memcpy(head->magic, RECORD_FILE_MAGIC, sizeof head->magic);
	ZSTD_freeCCtx(context);
	free(plain);
	return bytes;
}

/* Removes a partly written record. Special files such as /dev/full stay. */
static void record_file_remove_half(const char *path)
{
	struct stat state;

	if (lstat(path, &state) == 0 && S_ISREG(state.st_mode))
		(void)unlink(path); /* the file stays if this fails */
}

int record_file_write(const struct run_record *record, const char *path, struct error *err)
{
	struct record_file_head head;
	FILE *file = fopen(path, "wb");
	FREE_SCOPED uint8_t *bytes = NULL;
	bool is_whole;

	if (!file)
		return error_set(err, ERROR_IO, "cannot write %s: %s; choose another file", path,
			strerror(errno));
	bytes = record_file_compress(record, &head);
	is_whole = fwrite(&head, sizeof head, 1, file) == 1 &&
		   fwrite(bytes, 1, head.stored_bytes, file) == head.stored_bytes;
	if (fclose(file) != 0 || !is_whole) {
		const int reason = errno;

		record_file_remove_half(path);
		return error_set(err, ERROR_IO, "cannot write %s: %s; is there room?", path,
			strerror(reason));
	}
	return 0;
}

static int record_file_damaged(struct error *err, const char *path, const char *what)
{
	return error_set(err, ERROR_FORMAT, "%s %s; record the run again", path, what);
}

static int record_file_check_head(
	const struct record_file_head *head, const char *path, struct error *err)
{
	if (memcmp(head->magic, RECORD_FILE_MAGIC, sizeof head->magic) != 0)
		return error_set(err, ERROR_FORMAT,
			"%s is no record of a run; give a file that --save-record wrote", path);
	if (head->version != RECORD_VERSION)
		return error_set(err, ERROR_VERSION,
			"%s was written by another raddle (format %u, this one reads %u); record "
			"the run again",
			path, head->version, RECORD_VERSION);
	if (head->plain_bytes > PLAIN_MOST || head->stored_bytes > PLAIN_MOST)
		return record_file_damaged(err, path, "is damaged: its length");
	return 0;
}

/* Reads the bytes after the header. Returns NULL if the file is shorter or longer than the header
 * says. */
static uint8_t *record_file_read_rest(FILE *file, const struct record_file_head *head)
{
	uint8_t *bytes;
	long size;

	if (fseek(file, 0, SEEK_END) != 0 || (size = ftell(file)) < 0 ||
		(uint64_t)size != sizeof *head + head->stored_bytes ||
		fseek(file, sizeof *head, SEEK_SET) != 0)
		return NULL;
	bytes = array_new(head->stored_bytes + 1, 1);
	if (fread(bytes, 1, head->stored_bytes, file) == head->stored_bytes)
		return bytes;
	free(bytes);
	return NULL;
}

static int record_file_read_contents(struct run_record *record, const struct record_file_head *head,
	const uint8_t *stored, const char *path, struct error *err)
{
	const uint64_t memory = (uint64_t)sysconf(_SC_PHYS_PAGES) * (uint64_t)sysconf(_SC_PAGESIZE);
	FREE_SCOPED uint8_t *plain = NULL;
	size_t size;

	if (ZSTD_getFrameContentSize(stored, head->stored_bytes) != head->plain_bytes)
		return record_file_damaged(err, path, "is damaged: its length");
	/* A small file may claim a long record. The threads' entries are copied out of `plain`. */
	plain = head->plain_bytes > memory / 2 ? NULL : malloc(head->plain_bytes + 1);
	if (!plain)
		return error_set(
			err, ERROR_NOMEM, "%s is too long to be read; close other programs", path);
	size = ZSTD_decompress(plain, head->plain_bytes, stored, head->stored_bytes);
	return ZSTD_isError(size) || size != head->plain_bytes
		       ? record_file_damaged(err, path, "is damaged: its contents have changed")
		       : record_contents_read(record, plain, size, path, err);
}

int record_file_read(struct run_record *record, const char *path, struct error *err)
{
	struct record_file_head head;
	FILE *file = fopen(path, "rb");
	FREE_SCOPED uint8_t *stored = NULL;
	int status;

	if (!file)
		return error_set(err, ERROR_IO, "cannot read %s: %s; name another file", path,
			strerror(errno));
	if (fread(&head, sizeof head, 1, file) != 1)
		status = error_set(err, ERROR_FORMAT,
			"%s is no record of a run; give a file that --save-record wrote", path);
	else
		status = record_file_check_head(&head, path, err);
	if (status == 0)
		stored = record_file_read_rest(file, &head);
	if (status == 0)
		status = stored ? record_file_read_contents(record, &head, stored, path, err)
				: record_file_damaged(err, path, "is cut short");
	(void)fclose(file); /* opened for reading: nothing to lose */
	return status;
}
