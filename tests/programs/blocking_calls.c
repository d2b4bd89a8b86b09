/* EXPECT: passed runs=10 */
/*
 * Every system call that may wait for another thread, made in three ways: by libc's function, by syscall(), and
 * inline. A thread makes the call, another one ends its wait. tests/interposition/check-blocking compares the rows
 * with the runtime's table.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/aio_abi.h>
#include <linux/futex.h>
#include <mqueue.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/file.h>
#include <sys/ipc.h>
#include <sys/mman.h>
#include <sys/msg.h>
#include <sys/select.h>
#include <sys/sem.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "blocking_scenes.h"
#include "check.h"

#define MASK_BYTES 8
#define CALL_FUTEX_WAITV 449
#define CALL_EPOLL_PWAIT2 441

enum way { BY_LIBC, BY_SYSCALL, INLINE, WAYS };

static long make_inline(long number, const long a[6])
{
	register long fourth __asm__("r10") = a[3];
	register long fifth __asm__("r8") = a[4];
	register long sixth __asm__("r9") = a[5];
	long result;

	__asm__ volatile(
		"syscall"
		: "=a"(result)
		: "a"(number), "D"(a[0]), "S"(a[1]), "d"(a[2]), "r"(fourth), "r"(fifth), "r"(sixth)
		: "rcx", "r11", "memory");
	if (result >= 0 || result < -4095)
		return result;
	errno = (int)-result;
	return -1;
}

/* ---- the calls ---- */

static struct pollfd polls;
static fd_set set;
static struct timeval while_selecting;
static struct timespec long_time, short_time = {.tv_nsec = 1000000};
static struct epoll_event event;
static struct msghdr header = {.msg_iov = &vector, .msg_iovlen = 1};
static struct mmsghdr headers;
static struct io_event io_event;
static siginfo_t information;
static sigset_t signals, no_signals;
static const struct {
	const sigset_t *mask;
	size_t bytes;
} select_mask = {&no_signals, MASK_BYTES};
static struct {
	uint64_t value, word;
	uint32_t flags, reserved;
} waits[2];

static void set_up_arguments(void)
{
	polls = (struct pollfd){.fd = ends[0], .events = POLLIN};
	FD_ZERO(&set);
	if (ends[0] >= 0 && ends[0] < FD_SETSIZE)
		FD_SET(ends[0], &set);
	while_selecting = (struct timeval){.tv_sec = 100};
	long_time = (struct timespec){.tv_sec = 100};
	headers.msg_hdr = header;
	sigemptyset(&no_signals);
	sigemptyset(&signals);
	sigaddset(&signals, SIGUSR1);
	for (int i = 0; i < 2; i++) {
		waits[i].word = (uint64_t)(uintptr_t)&words[i];
		waits[i].flags = 2 | FUTEX_PRIVATE_FLAG;
	}
}

struct row {
	const char *name;
	long number;
	void (*prepare)(void);
	void (*end_wait)(void);
	void (*clean_up)(void);
	long (*by_libc)(void); /* NULL if libc has no function for it */
	void (*arguments)(long a[6]);
	long least, most; /* the result */
	int error;	  /* errno of the result -1 */
};

#define ARGUMENTS(name, ...)                                                                       \
	static void name##_arguments(long a[6])                                                    \
	{                                                                                          \
		const long these[6] = {__VA_ARGS__};                                               \
		memcpy(a, these, sizeof these);                                                    \
	}
#define LIBC(name, call)                                                                           \
	static long name##_by_libc(void)                                                           \
	{                                                                                          \
		return (long)(call);                                                               \
	}
#define P(pointer) ((long)(pointer))

ARGUMENTS(futex, P(&words[1]), FUTEX_WAIT_PRIVATE, 0)
ARGUMENTS(futex_waitv, P(waits), 2, 0, 0, CLOCK_MONOTONIC)
ARGUMENTS(nanosleep, P(&short_time))
LIBC(nanosleep, nanosleep(&short_time, NULL))
ARGUMENTS(clock_nanosleep, CLOCK_MONOTONIC, 0, P(&short_time))
LIBC(clock_nanosleep, clock_nanosleep(CLOCK_MONOTONIC, 0, &short_time, NULL))
ARGUMENTS(read, ends[0], P(&byte), 1)
LIBC(read, read(ends[0], &byte, 1))
ARGUMENTS(readv, ends[0], P(&vector), 1)
LIBC(readv, readv(ends[0], &vector, 1))
ARGUMENTS(preadv2, ends[0], P(&vector), 1, -1, -1, 0)
ARGUMENTS(write, ends[1], P(&byte), 1)
LIBC(write, write(ends[1], &byte, 1))
ARGUMENTS(writev, ends[1], P(&vector), 1)
LIBC(writev, writev(ends[1], &vector, 1))
ARGUMENTS(pwritev2, ends[1], P(&vector), 1, -1, -1, 0)
ARGUMENTS(open, P(path), O_RDONLY)
LIBC(open, open(path, O_RDONLY))
ARGUMENTS(openat, AT_FDCWD, P(path), O_RDONLY)
LIBC(openat, openat(AT_FDCWD, path, O_RDONLY))
ARGUMENTS(splice, ends[0], 0, others[1], 0, 1, 0)
LIBC(splice, splice(ends[0], NULL, others[1], NULL, 1, 0))
ARGUMENTS(tee, ends[0], others[1], 1, 0)
LIBC(tee, tee(ends[0], others[1], 1, 0))
ARGUMENTS(sendfile, ends[1], file, 0, 1)
LIBC(sendfile, sendfile(ends[1], file, NULL, 1))
ARGUMENTS(poll, P(&polls), 1, -1)
LIBC(poll, poll(&polls, 1, -1))
ARGUMENTS(ppoll, P(&polls), 1, P(&long_time), P(&no_signals), MASK_BYTES)
LIBC(ppoll, ppoll(&polls, 1, &long_time, &no_signals))
ARGUMENTS(select, ends[0] + 1, P(&set), 0, 0, P(&while_selecting))
LIBC(select, select(ends[0] + 1, &set, NULL, NULL, &while_selecting))
ARGUMENTS(pselect6, ends[0] + 1, P(&set), 0, 0, P(&long_time), P(&select_mask))
LIBC(pselect6, pselect(ends[0] + 1, &set, NULL, NULL, &long_time, &no_signals))
ARGUMENTS(epoll_wait, epoll_fd, P(&event), 1, -1)
LIBC(epoll_wait, epoll_wait(epoll_fd, &event, 1, -1))
ARGUMENTS(epoll_pwait, epoll_fd, P(&event), 1, -1, P(&no_signals), MASK_BYTES)
LIBC(epoll_pwait, epoll_pwait(epoll_fd, &event, 1, -1, &no_signals))
ARGUMENTS(epoll_pwait2, epoll_fd, P(&event), 1, P(&long_time), P(&no_signals), MASK_BYTES)
LIBC(epoll_pwait2, epoll_pwait2(epoll_fd, &event, 1, &long_time, &no_signals))
ARGUMENTS(accept, server)
LIBC(accept, accept(server, NULL, NULL))
ARGUMENTS(accept4, server, 0, 0, SOCK_CLOEXEC)
LIBC(accept4, accept4(server, NULL, NULL, SOCK_CLOEXEC))
ARGUMENTS(connect, client, P(&address), address_bytes)
LIBC(connect, connect(client, (void *)&address, address_bytes))
ARGUMENTS(recvfrom, ends[0], P(&byte), 1)
LIBC(recvfrom, recvfrom(ends[0], &byte, 1, 0, NULL, NULL))
ARGUMENTS(recvmsg, ends[0], P(&header))
LIBC(recvmsg, recvmsg(ends[0], &header, 0))
ARGUMENTS(recvmmsg, ends[0], P(&headers), 1)
LIBC(recvmmsg, recvmmsg(ends[0], &headers, 1, 0, NULL))
ARGUMENTS(sendto, ends[1], P(&byte), 1)
LIBC(sendto, sendto(ends[1], &byte, 1, 0, NULL, 0))
ARGUMENTS(sendmsg, ends[1], P(&header))
LIBC(sendmsg, sendmsg(ends[1], &header, 0))
ARGUMENTS(sendmmsg, ends[1], P(&headers), 1)
LIBC(sendmmsg, sendmmsg(ends[1], &headers, 1, 0))
ARGUMENTS(flock, file, LOCK_EX)
LIBC(flock, flock(file, LOCK_EX))
ARGUMENTS(fcntl, file, F_OFD_SETLKW, P(&range))
LIBC(fcntl, fcntl(file, F_OFD_SETLKW, &range))
ARGUMENTS(mq_timedsend, queue, P("x"), 1, 1)
LIBC(mq_timedsend, mq_send(queue, "x", 1, 1))
ARGUMENTS(mq_timedreceive, queue, P(&byte), 1)
LIBC(mq_timedreceive, mq_receive(queue, &byte, 1, NULL))
ARGUMENTS(msgsnd, ipc, P(&message), sizeof message.text)
LIBC(msgsnd, msgsnd(ipc, &message, sizeof message.text, 0))
ARGUMENTS(msgrcv, ipc, P(&message), 1, 1)
LIBC(msgrcv, msgrcv(ipc, &message, 1, 1, 0))
ARGUMENTS(semop, ipc, P(&down), 1)
LIBC(semop, semop(ipc, &down, 1))
ARGUMENTS(semtimedop, ipc, P(&down), 1, P(&long_time))
LIBC(semtimedop, semtimedop(ipc, &down, 1, &long_time))
ARGUMENTS(io_getevents, P(events_context), 1, 1, P(&io_event))
ARGUMENTS(io_pgetevents, P(events_context), 1, 1, P(&io_event), P(&long_time), P(&select_mask))
ARGUMENTS(rt_sigtimedwait, P(&signals), P(&information), P(&long_time), MASK_BYTES)
LIBC(rt_sigtimedwait, sigtimedwait(&signals, &information, &long_time))
ARGUMENTS(rt_sigsuspend, P(&no_signals), MASK_BYTES)
LIBC(rt_sigsuspend, sigsuspend(&signals))
ARGUMENTS(pause, 0)
LIBC(pause, pause())
ARGUMENTS(wait4, child)
LIBC(wait4, wait4(child, NULL, 0, NULL))
ARGUMENTS(waitid, P_PID, child, P(&information), WEXITED)
LIBC(waitid, waitid(P_PID, (id_t)child, &information, WEXITED))

#define ROW(call, number, prepare, end_wait, clean_up, least, most)                                \
	{                                                                                          \
#call, number, prepare, end_wait, clean_up, call##_by_libc, call##_arguments,      \
			least, most, 0                                                             \
	}
#define RAW_ROW(call, number, prepare, end_wait, clean_up, least, most)                            \
	{                                                                                          \
#call, number, prepare, end_wait, clean_up, NULL, call##_arguments, least, most, 0 \
	}
#define INTERRUPTED_ROW(call, prepare, end_wait)                                                   \
	{                                                                                          \
#call, SYS_##call, prepare, end_wait, do_nothing, call##_by_libc,                  \
			call##_arguments, -1, -1, EINTR                                            \
	}
#define FIRST_DESCRIPTOR 3
#define LAST_DESCRIPTOR 1000000

static const struct row rows[] = {
	RAW_ROW(futex, SYS_futex, make_words, wake_word, do_nothing, -1, 0),
	RAW_ROW(futex_waitv, CALL_FUTEX_WAITV, make_words, wake_word, do_nothing, -1, 1),
	ROW(nanosleep, SYS_nanosleep, do_nothing, do_nothing, do_nothing, 0, 0),
	ROW(clock_nanosleep, SYS_clock_nanosleep, do_nothing, do_nothing, do_nothing, 0, 0),
	ROW(read, SYS_read, make_pipe, write_byte, do_nothing, 1, 1),
	ROW(readv, SYS_readv, make_pipe, write_byte, do_nothing, 1, 1),
	RAW_ROW(preadv2, SYS_preadv2, make_pipe, write_byte, do_nothing, 1, 1),
	ROW(write, SYS_write, make_full_pipe, drain_pipe, do_nothing, 1, 1),
	ROW(writev, SYS_writev, make_full_pipe, drain_pipe, do_nothing, 1, 1),
	RAW_ROW(pwritev2, SYS_pwritev2, make_full_pipe, drain_pipe, do_nothing, 1, 1),
	ROW(open, SYS_open, make_fifo, open_other_end, end_fifo, FIRST_DESCRIPTOR, LAST_DESCRIPTOR),
	ROW(openat, SYS_openat, make_fifo, open_other_end, end_fifo, FIRST_DESCRIPTOR,
		LAST_DESCRIPTOR),
	ROW(splice, SYS_splice, make_pipes, write_byte, do_nothing, 1, 1),
	ROW(tee, SYS_tee, make_pipes, write_byte, do_nothing, 1, 1),
	ROW(sendfile, SYS_sendfile, make_full_pipe_and_file, drain_pipe, do_nothing, 1, 1),
	ROW(poll, SYS_poll, make_pipe, write_byte, do_nothing, 1, 1),
	ROW(ppoll, SYS_ppoll, make_pipe, write_byte, do_nothing, 1, 1),
	ROW(select, SYS_select, make_pipe, write_byte, do_nothing, 1, 1),
	ROW(pselect6, SYS_pselect6, make_pipe, write_byte, do_nothing, 1, 1),
	ROW(epoll_wait, SYS_epoll_wait, make_epoll, write_byte, do_nothing, 1, 1),
	ROW(epoll_pwait, SYS_epoll_pwait, make_epoll, write_byte, do_nothing, 1, 1),
	ROW(epoll_pwait2, CALL_EPOLL_PWAIT2, make_epoll, write_byte, do_nothing, 1, 1),
	ROW(accept, SYS_accept, make_server, connect_client, do_nothing, FIRST_DESCRIPTOR,
		LAST_DESCRIPTOR),
	ROW(accept4, SYS_accept4, make_server, connect_client, do_nothing, FIRST_DESCRIPTOR,
		LAST_DESCRIPTOR),
	ROW(connect, SYS_connect, make_full_server, accept_one, do_nothing, 0, 0),
	ROW(recvfrom, SYS_recvfrom, make_sockets, write_byte, do_nothing, 1, 1),
	ROW(recvmsg, SYS_recvmsg, make_sockets, write_byte, do_nothing, 1, 1),
	ROW(recvmmsg, SYS_recvmmsg, make_sockets, write_byte, do_nothing, 1, 1),
	ROW(sendto, SYS_sendto, make_full_sockets, drain_sockets, do_nothing, 1, 1),
	ROW(sendmsg, SYS_sendmsg, make_full_sockets, drain_sockets, do_nothing, 1, 1),
	ROW(sendmmsg, SYS_sendmmsg, make_full_sockets, drain_sockets, do_nothing, 1, 1),
	ROW(flock, SYS_flock, make_flocked_file, unlock_file, do_nothing, 0, 0),
	ROW(fcntl, SYS_fcntl, make_range, unlock_range, do_nothing, 0, 0),
	ROW(mq_timedsend, SYS_mq_timedsend, make_full_queue, receive_message, do_nothing, 0, 0),
	ROW(mq_timedreceive, SYS_mq_timedreceive, make_queue, send_message, do_nothing, 1, 1),
	ROW(msgsnd, SYS_msgsnd, make_full_messages, receive_ipc, end_messages, 0, 0),
	ROW(msgrcv, SYS_msgrcv, make_messages, send_ipc, end_messages, 1, 1),
	ROW(semop, SYS_semop, make_semaphore, post_semaphore, end_semaphore, 0, 0),
	ROW(semtimedop, SYS_semtimedop, make_semaphore, post_semaphore, end_semaphore, 0, 0),
	RAW_ROW(io_getevents, SYS_io_getevents, make_events, write_byte, end_events, 1, 1),
	RAW_ROW(io_pgetevents, 333, make_events, write_byte, end_events, 1, 1),
	ROW(rt_sigtimedwait, SYS_rt_sigtimedwait, do_nothing, signal_process, do_nothing, SIGUSR1,
		SIGUSR1),
	INTERRUPTED_ROW(rt_sigsuspend, make_handler, signal_caller),
	INTERRUPTED_ROW(pause, make_handler, signal_caller),
	ROW(wait4, SYS_wait4, make_child, write_byte, do_nothing, 1, 1L << 30),
	ROW(waitid, SYS_waitid, make_child, write_byte, do_nothing, 0, 0),
};

/* ---- one call ---- */

static const struct row *current;
static enum way current_way;
static long result;
static int error;

static void *make_call(void *unused)
{
	long a[6];

	(void)unused;
	current->arguments(a);
	errno = 0;
	if (current_way == BY_LIBC)
		result = current->by_libc();
	else if (current_way == BY_SYSCALL)
		result = syscall(current->number, a[0], a[1], a[2], a[3], a[4], a[5]);
	else
		result = make_inline(current->number, a);
	error = errno;
	is_done = 1;
	return NULL;
}

static int *const made[] = {
	&ends[0], &ends[1], &others[0], &others[1], &epoll_fd, &file, &same_file, &server, &client};
#define MADE_COUNT (sizeof made / sizeof *made)

static void close_all(void)
{
	for (size_t i = 0; i < MADE_COUNT; i++)
		if (*made[i] >= 0)
			(void)close(*made[i]);
	if (queue >= 0)
		(void)mq_close(queue);
}

static void run_row(const struct row *row, enum way way)
{
	static const char *const names[WAYS] = {"by libc", "by syscall()", "inline"};
	int holds;

	if (way == BY_LIBC && !row->by_libc)
		return;
	current = row;
	current_way = way;
	is_done = 0;
	for (size_t i = 0; i < MADE_COUNT; i++)
		*made[i] = -1;
	queue = -1;
	row->prepare();
	set_up_arguments();
	MUST(pthread_create(&caller, NULL, make_call, NULL) == 0);
	usleep(500);
	row->end_wait();
	MUST(pthread_join(caller, NULL) == 0);
	row->clean_up();
	close_all();
	/* A futex whose word has changed before is not waited for. */
	holds = result >= row->least && result <= row->most &&
		(result != -1 || error == (row->error ? row->error : EAGAIN));
	printf("%s %s %s\n", holds ? "ok" : "FAILED", row->name, names[way]);
	check_failures += !holds;
}

/* ---- cancellation ---- */

/* A raw call is no cancellation point. */
static void *poll_raw(void *unused)
{
	struct pollfd one = {.fd = ends[0], .events = POLLIN};

	(void)unused;
	result = syscall(SYS_poll, &one, 1, -1);
	is_done = 1;
	pthread_testcancel();
	return NULL;
}

static void *poll_for_ever(void *unused)
{
	(void)unused;
	MUST(pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, NULL) == 0);
	syscall(SYS_ppoll, NULL, 0, NULL, NULL, MASK_BYTES);
	return NULL;
}

static void check_cancellation(void)
{
	void *value;

	make_pipe();
	result = is_done = 0;
	MUST(pthread_create(&caller, NULL, poll_raw, NULL) == 0);
	usleep(500);
	MUST(pthread_cancel(caller) == 0);
	usleep(500);
	CHECK(!is_done);
	write_byte();
	MUST(pthread_join(caller, &value) == 0);
	CHECK(result == 1 && is_done && value == PTHREAD_CANCELED);
	MUST(close(ends[0]) == 0 && close(ends[1]) == 0);

	MUST(pthread_create(&caller, NULL, poll_for_ever, NULL) == 0);
	usleep(500);
	MUST(pthread_cancel(caller) == 0);
	MUST(pthread_join(caller, &value) == 0);
	CHECK(value == PTHREAD_CANCELED);
}

int main(void)
{
	sigset_t block;

	sigemptyset(&block);
	sigaddset(&block, SIGUSR1);
	MUST(pthread_sigmask(SIG_BLOCK, &block, NULL) == 0);
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
		for (int way = 0; way < WAYS; way++)
			run_row(&rows[i], way);
	check_cancellation();
	return check_status();
}
