#include "process/capture.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/files/write_all.h"

int capture_open(struct capture *capture, struct error *err)
{
	int file = memfd_create("raddle-output", MFD_CLOEXEC);

	if (file < 0)
		return error_set(err, ERROR_IO,
			"no memory file for the target's output (%s); raise ulimit -n",
			strerror(errno));
	/* A file that the target opens again must append as well. */
	(void)fcntl(file, F_SETFL, O_APPEND); /* cannot fail on a memory file */
	*capture = (struct capture){.file = file, .cut_to = CAPTURE_KEPT_BYTES};
	return 0;
}

void capture_close(struct capture *capture)
{
	if (capture->file >= 0)
		(void)close(capture->file); /* memory only: no data to lose */
	capture->file = -1;
}

void capture_clear(struct capture *capture)
{
	(void)ftruncate(capture->file, 0); /* cannot fail: our own unsealed memory file */
	capture->cut_to = CAPTURE_KEPT_BYTES;
	capture->shown_to = 0;
}

static uint64_t capture_size(const struct capture *capture)
{
	struct stat status;

	return fstat(capture->file, &status) == 0 ? (uint64_t)status.st_size : 0;
}

void capture_trim(struct capture *capture)
{
	uint64_t size = capture_size(capture);
	uint64_t end;

	if (capture->keeps_all || size < capture->cut_to + 2 * (uint64_t)CAPTURE_KEPT_BYTES)
		return;
	end = (size - CAPTURE_KEPT_BYTES) & ~UINT64_C(4095);
	if (fallocate(capture->file, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE,
		    (off_t)capture->cut_to, (off_t)(end - capture->cut_to)) == 0)
		capture->cut_to = end;
}

bool capture_pass_on(struct capture *capture, int descriptor)
{
	char block[16 * 1024];

	for (;;) {
		ssize_t got = pread(capture->file, block, sizeof block, (off_t)capture->shown_to);

		if (got <= 0)
			break;
		if (!write_all(descriptor, block, (size_t)got))
			return false;
		capture->shown_to += (uint64_t)got;
	}
	/* Printed output is needed for head and tail only. */
	capture_trim(capture);
	return true;
}

static void capture_read_range(
	const struct capture *capture, uint64_t from, uint64_t to, struct strbuf *out)
{
	char block[16 * 1024];

	while (from < to) {
		size_t wanted = to - from < sizeof block ? (size_t)(to - from) : sizeof block;
		ssize_t got = pread(capture->file, block, wanted, (off_t)from);

		if (got <= 0)
			return;
		strbuf_add(out, block, (size_t)got);
		from += (uint64_t)got;
	}
}

void capture_read(const struct capture *capture, struct strbuf *out)
{
	uint64_t size = capture_size(capture);
	uint64_t tail;

	if (size <= 2 * (uint64_t)CAPTURE_KEPT_BYTES) {
		capture_read_range(capture, 0, size, out);
		return;
	}
	tail = size - CAPTURE_KEPT_BYTES;
	capture_read_range(capture, 0, CAPTURE_KEPT_BYTES, out);
	strbuf_addf(out, "\n[... %llu bytes left out ...]\n",
		(unsigned long long)(tail - CAPTURE_KEPT_BYTES));
	capture_read_range(capture, tail, size, out);
}
