/* EXPECT: passed runs=20 */
/*
 * Pipes between threads: a reader that waits, a writer that finds the pipe full, end of file, a
 * broken pipe, and calls that must not wait.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

#include "check.h"

#define BYTES 200000 /* more than a pipe holds */

static int ends[2];

static void *write_much(void *unused)
{
	static char block[BYTES];

	for (size_t i = 0; i < sizeof(block); i++)
		block[i] = (char)(i * 7);
	size_t done = 0;
	while (done < sizeof(block)) {
		ssize_t count = write(ends[1], block + done, sizeof(block) - done);

		if (count <= 0)
			break;
		done += (size_t)count;
	}
	close(ends[1]);
	(void)unused;
	return (void *)(uintptr_t)done;
}

static void check_much(void)
{
	pthread_t writer;
	void *written;
	size_t total = 0, wrong = 0;
	char part[5000];
	ssize_t count;

	MUST(pipe(ends) == 0);
	MUST(pthread_create(&writer, NULL, write_much, NULL) == 0);
	while ((count = read(ends[0], part, sizeof(part))) > 0)
		for (ssize_t i = 0; i < count; i++, total++)
			wrong += part[i] != (char)(total * 7);
	MUST(pthread_join(writer, &written) == 0);
	CHECK(count == 0);
	CHECK(total == BYTES);
	CHECK((size_t)(uintptr_t)written == BYTES);
	CHECK(wrong == 0);
	close(ends[0]);
}

static int forth[2], back[2];

static void *echo(void *unused)
{
	char byte;

	(void)unused;
	while (read(forth[0], &byte, 1) == 1) {
		byte++;
		if (write(back[1], &byte, 1) != 1)
			break;
	}
	close(back[1]);
	return NULL;
}

static void check_echo(void)
{
	struct iovec parts[2];
	pthread_t thread;
	char answer[4] = "", first = 'a', second = 'c';

	MUST(pipe(forth) == 0 && pipe(back) == 0);
	MUST(pthread_create(&thread, NULL, echo, NULL) == 0);
	CHECK(write(forth[1], "h", 1) == 1);
	CHECK(read(back[0], answer, 1) == 1);
	CHECK(answer[0] == 'i');
	parts[0] = (struct iovec){.iov_base = &first, .iov_len = 1};
	parts[1] = (struct iovec){.iov_base = &second, .iov_len = 1};
	CHECK(writev(forth[1], parts, 2) == 2);
	CHECK(read(back[0], answer, 1) == 1 && answer[0] == 'b');
	CHECK(readv(back[0], parts, 1) == 1 && first == 'd');
	CHECK(close(forth[1]) == 0);
	CHECK(read(back[0], answer, 1) == 0);
	CHECK(pthread_join(thread, NULL) == 0);
	close(forth[0]);
	close(back[0]);
}

static void check_without_waiting(void)
{
	static char block[4096];
	char byte;
	long filled = 0;
	ssize_t count;

	MUST(pipe2(ends, O_NONBLOCK) == 0);
	CHECK(read(ends[0], &byte, 1) == -1 && errno == EAGAIN);
	while ((count = write(ends[1], block, sizeof(block))) > 0)
		filled += count;
	CHECK(count == -1 && errno == EAGAIN);
	CHECK(filled >= 4096);
	signal(SIGPIPE, SIG_IGN);
	MUST(close(ends[0]) == 0);
	CHECK(write(ends[1], "x", 1) == -1 && errno == EPIPE);
	MUST(close(ends[1]) == 0);
	CHECK(read(-1, &byte, 1) == -1 && errno == EBADF);
}

int main(void)
{
	check_much();
	check_echo();
	check_without_waiting();
	return check_status();
}
