/* EXPECT: passed runs=20 */
/* poll, select, epoll and eventfd: waiting for another thread, and waiting without result. */
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdint.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/select.h>
#include <unistd.h>

#include "check.h"

static int ends[2], event;

static void *write_byte(void *unused)
{
	(void)unused;
	MUST(write(ends[1], "x", 1) == 1);
	return NULL;
}

static void *add_to_event(void *unused)
{
	uint64_t five = 5;

	(void)unused;
	MUST(write(event, &five, sizeof(five)) == sizeof(five));
	return NULL;
}

static pthread_t begin(void *(*start)(void *))
{
	pthread_t thread;

	MUST(pthread_create(&thread, NULL, start, NULL) == 0);
	return thread;
}

static void end(pthread_t thread)
{
	char byte;

	MUST(pthread_join(thread, NULL) == 0);
	MUST(read(ends[0], &byte, 1) == 1);
}

static void check_poll(void)
{
	struct pollfd wanted[2] = {
		{.fd = ends[0], .events = POLLIN}, {.fd = ends[1], .events = POLLOUT}};
	struct timespec soon = time_in(CLOCK_MONOTONIC, 20);
	struct timespec long_time = {.tv_sec = 60};
	pthread_t thread;

	CHECK(poll(wanted, 1, 0) == 0);
	CHECK(poll(wanted, 1, 20) == 0);
	CHECK(is_reached(CLOCK_MONOTONIC, &soon));
	CHECK(poll(wanted, 2, -1) == 1 && wanted[1].revents == POLLOUT);
	thread = begin(write_byte);
	CHECK(poll(wanted, 1, -1) == 1 && wanted[0].revents == POLLIN);
	end(thread);
	thread = begin(write_byte);
	CHECK(ppoll(wanted, 1, &long_time, NULL) == 1);
	end(thread);
	CHECK(poll(NULL, 0, 1) == 0);
}

static void check_select(void)
{
	struct timeval short_time = {.tv_usec = 20000};
	struct timespec soon = time_in(CLOCK_MONOTONIC, 20);
	struct timespec nothing = {.tv_sec = 0};
	pthread_t thread;
	fd_set set;

	FD_ZERO(&set);
	FD_SET(ends[0], &set);
	CHECK(select(ends[0] + 1, &set, NULL, NULL, &short_time) == 0);
	CHECK(is_reached(CLOCK_MONOTONIC, &soon));
	CHECK(!FD_ISSET(ends[0], &set));
	FD_SET(ends[0], &set);
	CHECK(pselect(ends[0] + 1, &set, NULL, NULL, &nothing, NULL) == 0);
	thread = begin(write_byte);
	FD_SET(ends[0], &set);
	CHECK(select(ends[0] + 1, &set, NULL, NULL, NULL) == 1);
	CHECK(FD_ISSET(ends[0], &set));
	end(thread);
	short_time = (struct timeval){.tv_usec = 1000};
	CHECK(select(0, NULL, NULL, NULL, &short_time) == 0);
}

static void check_epoll(void)
{
	struct epoll_event wanted = {.events = EPOLLIN, .data.u32 = 77};
	struct epoll_event found[2];
	struct timespec soon;
	int set = epoll_create1(EPOLL_CLOEXEC);
	pthread_t thread;

	CHECK(set >= 0);
	CHECK(epoll_ctl(set, EPOLL_CTL_ADD, ends[0], &wanted) == 0);
	CHECK(epoll_ctl(set, EPOLL_CTL_ADD, ends[0], &wanted) == -1 && errno == EEXIST);
	CHECK(epoll_wait(set, found, 2, 0) == 0);
	soon = time_in(CLOCK_MONOTONIC, 20);
	CHECK(epoll_wait(set, found, 2, 20) == 0);
	CHECK(is_reached(CLOCK_MONOTONIC, &soon));
	thread = begin(write_byte);
	CHECK(epoll_wait(set, found, 2, -1) == 1);
	CHECK(found[0].data.u32 == 77 && found[0].events == EPOLLIN);
	end(thread);
	thread = begin(write_byte);
	CHECK(epoll_pwait(set, found, 2, 60000, NULL) == 1);
	end(thread);
	CHECK(close(set) == 0);
}

static void check_event(void)
{
	uint64_t value;
	pthread_t thread;

	event = eventfd(0, 0);
	CHECK(event >= 0);
	thread = begin(add_to_event);
	CHECK(read(event, &value, sizeof(value)) == sizeof(value));
	CHECK(value == 5);
	MUST(pthread_join(thread, NULL) == 0);
	CHECK(close(event) == 0);
	event = eventfd(2, EFD_SEMAPHORE | EFD_NONBLOCK);
	CHECK(eventfd_read(event, &value) == 0 && value == 1);
	CHECK(eventfd_read(event, &value) == 0 && value == 1);
	CHECK(eventfd_read(event, &value) == -1 && errno == EAGAIN);
	CHECK(eventfd_write(event, 1) == 0);
	CHECK(close(event) == 0);
}

int main(void)
{
	MUST(pipe(ends) == 0);
	check_poll();
	check_select();
	check_epoll();
	check_event();
	return check_status();
}
