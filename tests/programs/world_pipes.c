/* EXPECT: passed runs=50 */
/* Pipes between threads: order, end of file, big and partial writes, EPIPE, EAGAIN, copies. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/uio.h>
#include <unistd.h>

#include "check.h"

#define BIG_BYTES 300000
#define PIPE_BYTES 65536
#define PAGE_BYTES 4096

static int ends[2];
static char big[BIG_BYTES];

/* ---- order and end of file ---- */

static void *write_numbers(void *unused)
{
	(void)unused;
	for (int i = 0; i < 40; i++)
		MUST(write(ends[1], &i, sizeof i) == sizeof i);
	MUST(close(ends[1]) == 0);
	return NULL;
}

static void test_order(void)
{
	pthread_t writer;
	int number;
	int expected = 0;

	MUST(pipe(ends) == 0);
	MUST(pthread_create(&writer, NULL, write_numbers, NULL) == 0);
	while (read(ends[0], &number, sizeof number) == sizeof number)
		MUST(number == expected++);
	CHECK(expected == 40);
	MUST(pthread_join(writer, NULL) == 0);
	close(ends[0]);
}

/* ---- more than the pipe holds ---- */

static void *write_big(void *result)
{
	*(ssize_t *)result = write(ends[1], big, sizeof big);
	close(ends[1]);
	return NULL;
}

static void *write_vector(void *result)
{
	struct iovec vector[3] = {{big, 100}, {big + 100, 0}, {big + 100, BIG_BYTES - 100}};

	*(ssize_t *)result = writev(ends[1], vector, 3);
	close(ends[1]);
	return NULL;
}

static void drain(void *(*writer)(void *), ssize_t *written, long *received, int *is_intact)
{
	pthread_t thread;
	char part[7001];
	ssize_t got;

	*received = 0;
	*is_intact = 1;
	MUST(pipe(ends) == 0);
	MUST(pthread_create(&thread, NULL, writer, written) == 0);
	while ((got = read(ends[0], part, sizeof part)) > 0) {
		*is_intact &= memcmp(part, big + *received, (size_t)got) == 0;
		*received += got;
	}
	MUST(pthread_join(thread, NULL) == 0);
	close(ends[0]);
}

static void test_big(void)
{
	ssize_t written;
	long received;
	int is_intact;

	for (int i = 0; i < BIG_BYTES; i++)
		big[i] = (char)(i * 7 + i / 251);
	drain(write_big, &written, &received, &is_intact);
	CHECK(written == BIG_BYTES);
	CHECK(received == BIG_BYTES);
	CHECK(is_intact);
	drain(write_vector, &written, &received, &is_intact);
	CHECK(written == BIG_BYTES);
	CHECK(is_intact);
}

/* ---- writes that fit must not wait ---- */

static void *idle(void *unused)
{
	(void)unused;
	return NULL;
}

static void test_room(void)
{
	pthread_t other;
	int waiting = 0;
	int written = 0;

	MUST(pipe(ends) == 0);
	MUST(pthread_create(&other, NULL, idle, NULL) == 0);
	for (int i = 0; i < PIPE_BYTES / PAGE_BYTES - 1; i++)
		written += (int)write(ends[1], big, PAGE_BYTES);
	/* Byte by byte: all but the first go into a page with which poll() calls the pipe full. */
	for (int i = 0; i < PAGE_BYTES; i++)
		written += write(ends[1], "x", 1) == 1;
	CHECK(written == PIPE_BYTES);
	MUST(ioctl(ends[0], FIONREAD, &waiting) == 0);
	CHECK(waiting == PIPE_BYTES);
	MUST(fcntl(ends[1], F_SETFL, O_NONBLOCK) == 0);
	errno = 0;
	CHECK(write(ends[1], "x", 1) == -1 && errno == EAGAIN);
	MUST(pthread_join(other, NULL) == 0);
	close(ends[0]);
	close(ends[1]);
}

/* ---- errors ---- */

static void *read_once(void *result)
{
	char byte;

	*(ssize_t *)result = read(ends[0], &byte, 1);
	return NULL;
}

static void test_errors(void)
{
	pthread_t reader;
	ssize_t result = -2;
	char byte;

	MUST(pipe2(ends, O_NONBLOCK) == 0);
	errno = 0;
	CHECK(read(ends[0], &byte, 1) == -1 && errno == EAGAIN);
	CHECK(read(ends[0], &byte, 0) == 0);
	close(ends[0]);
	MUST(signal(SIGPIPE, SIG_IGN) != SIG_ERR);
	errno = 0;
	CHECK(write(ends[1], "x", 1) == -1 && errno == EPIPE);
	close(ends[1]);
	errno = 0;
	CHECK(read(ends[0], &byte, 1) == -1 && errno == EBADF);
	errno = 0;
	CHECK(close(ends[0]) == -1 && errno == EBADF);

	/* The last writer's close ends a read that waits. */
	MUST(pipe(ends) == 0);
	MUST(pthread_create(&reader, NULL, read_once, &result) == 0);
	close(ends[1]);
	MUST(pthread_join(reader, NULL) == 0);
	CHECK(result == 0);
	close(ends[0]);
}

/* ---- copies of descriptors ---- */

static void test_copies(void)
{
	pthread_t reader;
	ssize_t result = -2;
	int copy;

	MUST(pipe(ends) == 0);
	copy = dup(ends[1]);
	MUST(copy >= 0);
	MUST(close(ends[1]) == 0);
	MUST(pthread_create(&reader, NULL, read_once, &result) == 0);
	CHECK(write(copy, "x", 1) == 1);
	MUST(pthread_join(reader, NULL) == 0);
	CHECK(result == 1);
	CHECK(dup2(copy, 1500) == 1500); /* a number beyond small tables */
	close(copy);
	MUST(pthread_create(&reader, NULL, read_once, &result) == 0);
	CHECK(write(1500, "x", 1) == 1);
	MUST(pthread_join(reader, NULL) == 0);
	CHECK(result == 1);
	close(1500);
	close(ends[0]);
}

int main(void)
{
	test_order();
	test_big();
	test_room();
	test_errors();
	test_copies();
	return check_status();
}
