/* EXPECT: passed runs=50 options=--stalls,never */
/*
 * Asynchronous input and output of libc: what is asked for is carried out and announced by thread, by signal or not at
 * all; waits end with it or with their time; and what has not begun can be cancelled. A stall of a second keeps a request
 * from beginning in its time.
 */
#include <aio.h>
#include <errno.h>
#include <fcntl.h>
#include <semaphore.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "check.h"

#define PARTS 3

static sem_t announced;
static volatile sig_atomic_t signals_seen;

static void post(union sigval value)
{
	sem_post(value.sival_ptr);
}

static void count(int signal)
{
	(void)signal;
	signals_seen++;
}

static int open_scratch(void)
{
	char name[] = "/tmp/asynchronousXXXXXX";
	int fd = mkstemp(name);

	MUST(fd >= 0 && unlink(name) == 0);
	return fd;
}

static struct aiocb request_of(int fd, void *buffer, size_t bytes)
{
	struct aiocb request;

	memset(&request, 0, sizeof request);
	request.aio_fildes = fd;
	request.aio_buf = buffer;
	request.aio_nbytes = bytes;
	request.aio_sigevent.sigev_notify = SIGEV_NONE;
	return request;
}

static void check_announcements(void)
{
	struct sigaction action = {.sa_handler = count};
	int fd = open_scratch();
	char text[] = "abc", back[4] = "";
	struct aiocb request = request_of(fd, text, 3);

	request.aio_sigevent.sigev_notify = SIGEV_THREAD;
	request.aio_sigevent.sigev_notify_function = post;
	request.aio_sigevent.sigev_value.sival_ptr = &announced;
	CHECK(aio_write(&request) == 0);
	CHECK(sem_wait(&announced) == 0);
	CHECK(aio_error(&request) == 0 && aio_return(&request) == 3);

	MUST(sigaction(SIGUSR1, &action, NULL) == 0);
	request = request_of(fd, back, 3);
	request.aio_sigevent.sigev_notify = SIGEV_SIGNAL;
	request.aio_sigevent.sigev_signo = SIGUSR1;
	CHECK(aio_read(&request) == 0);
	while (!signals_seen)
		usleep(1000);
	CHECK(aio_error(&request) == 0 && aio_return(&request) == 3 && strcmp(back, "abc") == 0);
	CHECK(aio_fsync(O_SYNC, &request) == 0);
	while (aio_error(&request) == EINPROGRESS)
		continue;
	CHECK(aio_return(&request) == 0);
	close(fd);
}

static void check_waits(void)
{
	struct timespec second = {.tv_sec = 1}, end = time_in(CLOCK_MONOTONIC, 1000);
	char byte = 0, other = 0;
	const struct aiocb *list[2] = {NULL, NULL};
	struct aiocb request, waiting;
	int ends[2];

	MUST(pipe(ends) == 0);
	request = request_of(ends[0], &byte, 1);
	waiting = request_of(ends[0], &other, 1);
	list[1] = &request;
	CHECK(aio_read(&request) == 0);
	CHECK(aio_suspend(list, 2, &second) == -1 && errno == EAGAIN);
	CHECK(is_reached(CLOCK_MONOTONIC, &end));
	CHECK(aio_error(&request) == EINPROGRESS);
	CHECK(aio_read(&waiting) == 0); /* queued behind the first request */
	CHECK(aio_cancel(ends[0], &waiting) == AIO_CANCELED);
	CHECK(aio_error(&waiting) == ECANCELED && aio_return(&waiting) == -1);
	CHECK(aio_cancel(ends[0], &request) == AIO_NOTCANCELED);
	MUST(write(ends[1], "x", 1) == 1);
	CHECK(aio_suspend(list, 2, NULL) == 0);
	CHECK(aio_return(&request) == 1 && byte == 'x');
	CHECK(aio_cancel(ends[0], NULL) == AIO_ALLDONE);
	CHECK(aio_cancel(-1, NULL) == -1 && errno == EBADF);
	close(ends[0]);
	close(ends[1]);
}

static void check_lists(void)
{
	int fd = open_scratch();
	char text[] = "abcdefghi", back[10] = "";
	struct aiocb requests[PARTS], *list[PARTS + 1] = {NULL};
	struct sigevent event = {.sigev_notify = SIGEV_THREAD};

	for (int i = 0; i < PARTS; i++) {
		requests[i] = request_of(fd, text + 3 * i, 3);
		requests[i].aio_offset = 3 * i;
		requests[i].aio_lio_opcode = LIO_WRITE;
		list[i + 1] = &requests[i];
	}
	CHECK(lio_listio(LIO_WAIT, list, PARTS + 1, NULL) == 0);
	for (int i = 0; i < PARTS; i++) {
		requests[i].aio_buf = back + 3 * i;
		requests[i].aio_lio_opcode = LIO_READ;
	}
	event.sigev_notify_function = post;
	event.sigev_value.sival_ptr = &announced;
	CHECK(lio_listio(LIO_NOWAIT, list, PARTS + 1, &event) == 0);
	CHECK(sem_wait(&announced) == 0);
	CHECK(strcmp(back, text) == 0);
	requests[0].aio_fildes = -1;
	CHECK(lio_listio(LIO_WAIT, list, 2, NULL) == -1 && errno == EIO);
	CHECK(aio_error(&requests[0]) == EBADF);
	close(fd);
}

int main(void)
{
	MUST(sem_init(&announced, 0, 0) == 0);
	check_announcements();
	check_waits();
	check_lists();
	return check_status();
}
