/* EXPECT: passed runs=50 */
/* poll, select, epoll with time-outs, event descriptors, socket pairs, masks. */
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "check.h"

static int ends[2];

static void *write_later(void *unused)
{
	(void)unused;
	usleep(2000);
	MUST(write(ends[1], "x", 1) == 1);
	return NULL;
}

static pthread_t start_writer(void)
{
	pthread_t writer;

	MUST(pipe(ends) == 0);
	MUST(pthread_create(&writer, NULL, write_later, NULL) == 0);
	return writer;
}

static void end_writer(pthread_t writer)
{
	MUST(pthread_join(writer, NULL) == 0);
	close(ends[0]);
	close(ends[1]);
}

/* ---- poll ---- */

static void test_poll(void)
{
	pthread_t writer = start_writer();
	struct pollfd polls[2] = {{.fd = -1, .events = POLLIN}, {.fd = ends[0], .events = POLLIN}};
	struct timespec limit = time_in(CLOCK_MONOTONIC, 30);

	CHECK(poll(polls, 2, -1) == 1);
	CHECK(polls[0].revents == 0 && polls[1].revents == POLLIN);
	end_writer(writer);

	MUST(pipe(ends) == 0);
	polls[1].fd = ends[0];
	CHECK(poll(polls, 2, 0) == 0);
	limit = time_in(CLOCK_MONOTONIC, 30);
	CHECK(poll(polls, 2, 30) == 0);
	CHECK(is_reached(CLOCK_MONOTONIC, &limit));
	limit = time_in(CLOCK_MONOTONIC, 10);
	CHECK(poll(NULL, 0, 10) == 0);
	CHECK(is_reached(CLOCK_MONOTONIC, &limit));
	close(ends[1]);
	CHECK(poll(polls, 2, -1) == 1 && polls[1].revents == POLLHUP);
	close(ends[0]);
	CHECK(poll(polls, 2, -1) == 1 && polls[1].revents == POLLNVAL);
}

/* ---- select ---- */

static void test_select(void)
{
	pthread_t writer = start_writer();
	struct timeval timeout = {.tv_usec = 20000};
	struct timespec short_time = {.tv_nsec = 5000000};
	fd_set reads;
	fd_set writes;

	FD_ZERO(&reads);
	FD_ZERO(&writes);
	FD_SET(ends[0], &reads);
	CHECK(select(ends[0] + 1, &reads, NULL, NULL, NULL) == 1);
	CHECK(FD_ISSET(ends[0], &reads));
	FD_SET(ends[1], &writes);
	CHECK(select(ends[1] + 1, &reads, &writes, NULL, &timeout) == 2);
	end_writer(writer);

	MUST(pipe(ends) == 0);
	FD_ZERO(&reads);
	FD_SET(ends[0], &reads);
	timeout = (struct timeval){.tv_usec = 20000};
	CHECK(select(ends[0] + 1, &reads, NULL, NULL, &timeout) == 0);
	CHECK(!FD_ISSET(ends[0], &reads));
	CHECK(timeout.tv_sec == 0 && timeout.tv_usec == 0);
	CHECK(pselect(0, NULL, NULL, NULL, &short_time, NULL) == 0);
	errno = 0;
	CHECK(select(-1, NULL, NULL, NULL, NULL) == -1 && errno == EINVAL);
	close(ends[0]);
	close(ends[1]);
}

/* ---- epoll ---- */

static void test_epoll(void)
{
	pthread_t writer = start_writer();
	struct epoll_event event = {.events = EPOLLIN, .data.u32 = 7};
	struct epoll_event out = {0};
	int epoll = epoll_create1(EPOLL_CLOEXEC);

	MUST(epoll >= 0);
	MUST(epoll_ctl(epoll, EPOLL_CTL_ADD, ends[0], &event) == 0);
	CHECK(epoll_wait(epoll, &out, 1, -1) == 1);
	CHECK(out.data.u32 == 7 && out.events == EPOLLIN);
	end_writer(writer);
	CHECK(epoll_wait(epoll, &out, 1, 0) == 0);
	CHECK(epoll_wait(epoll, &out, 1, 15) == 0);
	errno = 0;
	CHECK(epoll_wait(epoll, &out, 0, 0) == -1 && errno == EINVAL);
	close(epoll);
}

/* ---- event descriptors ---- */

static int event_fd;

static void *add_to_event(void *unused)
{
	(void)unused;
	MUST(eventfd_write(event_fd, 3) == 0);
	MUST(eventfd_write(event_fd, 4) == 0);
	return NULL;
}

static void test_eventfd(void)
{
	pthread_t adder;
	eventfd_t sum = 0;
	eventfd_t value;

	event_fd = eventfd(0, 0);
	MUST(event_fd >= 0);
	MUST(pthread_create(&adder, NULL, add_to_event, NULL) == 0);
	while (sum < 7) {
		MUST(eventfd_read(event_fd, &value) == 0);
		sum += value;
	}
	CHECK(sum == 7);
	MUST(pthread_join(adder, NULL) == 0);
	close(event_fd);

	event_fd = eventfd(2, EFD_SEMAPHORE | EFD_NONBLOCK);
	CHECK(eventfd_read(event_fd, &value) == 0 && value == 1);
	CHECK(eventfd_read(event_fd, &value) == 0 && value == 1);
	errno = 0;
	CHECK(eventfd_read(event_fd, &value) == -1 && errno == EAGAIN);
	close(event_fd);
}

static void test_timerfd(void)
{
	struct itimerspec wanted = {.it_value.tv_nsec = 3000000};
	struct itimerspec left;
	struct pollfd poll_timer = {.events = POLLIN};
	uint64_t expirations = 0;
	int timer = timerfd_create(CLOCK_MONOTONIC, 0);

	MUST(timer >= 0);
	poll_timer.fd = timer;
	CHECK(poll(&poll_timer, 1, 5) == 0);
	MUST(timerfd_settime(timer, 0, &wanted, NULL) == 0);
	CHECK(read(timer, &expirations, sizeof expirations) == sizeof expirations);
	CHECK(expirations == 1);
	wanted.it_value = time_in(CLOCK_MONOTONIC, 3);
	MUST(timerfd_settime(timer, TFD_TIMER_ABSTIME, &wanted, NULL) == 0);
	CHECK(read(timer, &expirations, sizeof expirations) == sizeof expirations);
	CHECK(timerfd_gettime(timer, &left) == 0 && left.it_value.tv_sec == 0 &&
		left.it_value.tv_nsec == 0);
	/* Unread expirations are counted. */
	wanted = (struct itimerspec){.it_value.tv_nsec = 2000000, .it_interval.tv_nsec = 2000000};
	MUST(timerfd_settime(timer, 0, &wanted, NULL) == 0);
	usleep(9000);
	CHECK(poll(&poll_timer, 1, -1) == 1 && poll_timer.revents == POLLIN);
	CHECK(read(timer, &expirations, sizeof expirations) == sizeof expirations);
	CHECK(expirations >= 4);
	CHECK(poll(&poll_timer, 1, -1) == 1);
	CHECK(timerfd_gettime(timer, &left) == 0 && left.it_interval.tv_nsec == 2000000);
	wanted.it_value.tv_nsec = -1;
	errno = 0;
	CHECK(timerfd_settime(timer, 0, &wanted, NULL) == -1 && errno == EINVAL);
	close(timer);
}

/* ---- socket pairs ---- */

static int pair[2];

static void *echo(void *unused)
{
	char buffer[64];
	ssize_t size;

	(void)unused;
	while ((size = recv(pair[1], buffer, sizeof buffer, 0)) > 0)
		MUST(send(pair[1], buffer, (size_t)size, 0) == size);
	return NULL;
}

static void test_socketpair(void)
{
	pthread_t thread;
	char buffer[8];

	MUST(socketpair(AF_UNIX, SOCK_STREAM, 0, pair) == 0);
	MUST(pthread_create(&thread, NULL, echo, NULL) == 0);
	for (int i = 0; i < 5; i++) {
		MUST(write(pair[0], "hello", 5) == 5);
		MUST(recv(pair[0], buffer, 5, MSG_WAITALL) == 5);
	}
	CHECK(buffer[0] == 'h' && buffer[4] == 'o');
	errno = 0;
	CHECK(recv(pair[0], buffer, 1, MSG_DONTWAIT) == -1 && errno == EAGAIN);
	CHECK(shutdown(pair[0], SHUT_WR) == 0);
	MUST(pthread_join(thread, NULL) == 0);
	close(pair[0]);
	close(pair[1]);
}

/* ---- ppoll opens the mask only while it waits ---- */

static volatile sig_atomic_t handled;

static void on_signal(int signal)
{
	(void)signal;
	handled++;
}

static void *kill_main(void *handle)
{
	MUST(pthread_kill(*(pthread_t *)handle, SIGUSR1) == 0);
	return NULL;
}

static void test_masks(void)
{
	struct sigaction action = {.sa_handler = on_signal, .sa_flags = SA_RESTART};
	pthread_t self = pthread_self();
	pthread_t killer;
	sigset_t blocked;
	sigset_t open;

	MUST(sigaction(SIGUSR1, &action, NULL) == 0);
	sigemptyset(&open);
	sigemptyset(&blocked);
	sigaddset(&blocked, SIGUSR1);
	MUST(pthread_sigmask(SIG_BLOCK, &blocked, NULL) == 0);
	MUST(pthread_create(&killer, NULL, kill_main, &self) == 0);
	errno = 0;
	CHECK(ppoll(NULL, 0, NULL, &open) == -1 && errno == EINTR);
	CHECK(handled == 1);
	MUST(pthread_join(killer, NULL) == 0);
	MUST(raise(SIGUSR1) == 0);
	CHECK(handled == 1);
	errno = 0;
	CHECK(pselect(0, NULL, NULL, NULL, NULL, &open) == -1 && errno == EINTR);
	CHECK(handled == 2);
	MUST(pthread_sigmask(SIG_UNBLOCK, &blocked, NULL) == 0);
}

int main(void)
{
	test_poll();
	test_select();
	test_epoll();
	test_eventfd();
	test_timerfd();
	test_socketpair();
	test_masks();
	return check_status();
}
