/*
 * Objects that the calls of blocking_calls.c wait on: how a test makes them, and how another thread ends the wait.
 */
#pragma once

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

#include "check.h"

#define PIPE_BYTES 4096

/* Made anew for each call. */
static int ends[2], others[2], epoll_fd, file, same_file, server, client;
static mqd_t queue;
static int ipc;
static pid_t child;
static aio_context_t events_context;
static char directory[64], path[96];
static char byte;
static struct iovec vector = {.iov_base = &byte, .iov_len = 1};
static _Atomic uint32_t words[2];
static atomic_int is_done;
static pthread_t caller;

static void make_pipe(void)
{
	MUST(pipe(ends) == 0);
}

static void make_pipes(void)
{
	MUST(pipe(ends) == 0 && pipe(others) == 0);
}

static void write_byte(void)
{
	MUST(write(ends[1], "x", 1) == 1);
}

static void make_full_pipe(void)
{
	static const char page[PIPE_BYTES];

	MUST(pipe(ends) == 0 && fcntl(ends[1], F_SETPIPE_SZ, PIPE_BYTES) == PIPE_BYTES);
	MUST(write(ends[1], page, sizeof page) == sizeof page);
}

static void drain_pipe(void)
{
	static char page[PIPE_BYTES];

	MUST(read(ends[0], page, sizeof page) == sizeof page);
}

static void make_full_pipe_and_file(void)
{
	make_full_pipe();
	file = memfd_create("blocking_calls", 0);
	MUST(file >= 0 && write(file, "x", 1) == 1 && lseek(file, 0, SEEK_SET) == 0);
}

static void make_epoll(void)
{
	struct epoll_event event = {.events = EPOLLIN};

	make_pipe();
	epoll_fd = epoll_create1(0);
	MUST(epoll_fd >= 0 && epoll_ctl(epoll_fd, EPOLL_CTL_ADD, ends[0], &event) == 0);
}

static struct sockaddr_un address;
static socklen_t address_bytes;

static void make_server(void)
{
	address.sun_family = AF_UNIX;
	address_bytes = sizeof address;
	server = socket(AF_UNIX, SOCK_STREAM, 0);
	MUST(server >= 0 && bind(server, (void *)&address, sizeof address.sun_family) == 0);
	MUST(getsockname(server, (void *)&address, &address_bytes) == 0 && listen(server, 0) == 0);
	client = socket(AF_UNIX, SOCK_STREAM, 0);
	MUST(client >= 0);
}

static void connect_client(void)
{
	MUST(connect(client, (void *)&address, address_bytes) == 0);
}

static void make_full_server(void)
{
	make_server();
	connect_client();
	client = socket(AF_UNIX, SOCK_STREAM, 0);
	MUST(client >= 0);
}

static void accept_one(void)
{
	MUST(accept(server, NULL, NULL) >= 0);
}

static void make_sockets(void)
{
	MUST(socketpair(AF_UNIX, SOCK_DGRAM, 0, ends) == 0);
}

static int sent_count;

static void make_full_sockets(void)
{
	make_sockets();
	sent_count = 0;
	while (send(ends[1], "x", 1, MSG_DONTWAIT) == 1)
		sent_count++;
}

/* All but what the caller may have sent meanwhile: a sender is woken when there is much room. */
static void drain_sockets(void)
{
	for (int i = 0; i < sent_count; i++)
		MUST(recv(ends[0], &byte, 1, 0) == 1);
}

static void make_locked_file(void)
{
	file = memfd_create("blocking_calls", 0);
	(void)snprintf(path, sizeof path, "/proc/self/fd/%d", file);
	same_file = open(path, O_RDWR);
	MUST(file >= 0 && same_file >= 0);
}

static void make_flocked_file(void)
{
	make_locked_file();
	MUST(flock(same_file, LOCK_EX) == 0);
}

static void unlock_file(void)
{
	MUST(flock(same_file, LOCK_UN) == 0);
}

static struct flock range;

static void make_range(void)
{
	range = (struct flock){.l_type = F_WRLCK, .l_len = 1};
	make_locked_file();
	MUST(fcntl(same_file, F_OFD_SETLK, &range) == 0);
}

static void unlock_range(void)
{
	struct flock nothing = {.l_type = F_UNLCK, .l_len = 1};

	MUST(fcntl(same_file, F_OFD_SETLK, &nothing) == 0);
}

static void make_queue(void)
{
	struct mq_attr attributes = {.mq_maxmsg = 1, .mq_msgsize = 1};

	(void)snprintf(path, sizeof path, "/blocking_calls_%d", (int)getpid());
	queue = mq_open(path, O_CREAT | O_RDWR, 0600, &attributes);
	MUST(queue >= 0 && mq_unlink(path) == 0);
}

static void make_full_queue(void)
{
	make_queue();
	MUST(mq_send(queue, "x", 1, 1) == 0);
}

static void send_message(void)
{
	MUST(mq_send(queue, "x", 1, 1) == 0);
}

static void receive_message(void)
{
	MUST(mq_receive(queue, &byte, 1, NULL) == 1);
}

struct message {
	long type;
	char text[8192];
};
static struct message message = {.type = 1};

static void make_messages(void)
{
	ipc = msgget(IPC_PRIVATE, 0600);
	MUST(ipc >= 0);
}

static void make_full_messages(void)
{
	static const struct message other = {.type = 2};

	make_messages();
	while (msgsnd(ipc, &other, sizeof other.text, IPC_NOWAIT) == 0)
		;
}

static void send_ipc(void)
{
	MUST(msgsnd(ipc, &message, 1, 0) == 0);
}

static void receive_ipc(void)
{
	struct message other;

	while (msgrcv(ipc, &other, sizeof other.text, 2, IPC_NOWAIT) > 0)
		;
}

static void end_messages(void)
{
	MUST(msgctl(ipc, IPC_RMID, NULL) == 0);
}

static struct sembuf down = {.sem_op = -1};

static void make_semaphore(void)
{
	ipc = semget(IPC_PRIVATE, 1, 0600);
	MUST(ipc >= 0);
}

static void post_semaphore(void)
{
	struct sembuf up = {.sem_op = 1};

	MUST(semop(ipc, &up, 1) == 0);
}

static void end_semaphore(void)
{
	MUST(semctl(ipc, 0, IPC_RMID) == 0);
}

static void make_fifo(void)
{
	(void)strcpy(directory, "/tmp/blocking_calls_XXXXXX");
	MUST(mkdtemp(directory) != NULL);
	(void)snprintf(path, sizeof path, "%s/fifo", directory);
	MUST(mkfifo(path, 0600) == 0);
}

static void open_other_end(void)
{
	file = open(path, O_WRONLY);
	MUST(file >= 0);
}

static void end_fifo(void)
{
	MUST(close(file) == 0 && unlink(path) == 0 && rmdir(directory) == 0);
}

static void note(int signal)
{
	(void)signal;
}

static void make_handler(void)
{
	struct sigaction action = {.sa_handler = note};

	MUST(sigaction(SIGUSR2, &action, NULL) == 0);
}

static void signal_process(void)
{
	MUST(kill(getpid(), SIGUSR1) == 0);
}

/* The caller may not wait yet. */
static void signal_caller(void)
{
	while (!is_done) {
		MUST(pthread_kill(caller, SIGUSR2) == 0);
		usleep(500);
	}
}

static void make_child(void)
{
	make_pipe();
	child = fork();
	if (child)
		return;
	(void)!read(ends[0], &byte, 1);
	_exit(0);
}

static void make_words(void)
{
	words[0] = words[1] = 0;
}

static void wake_word(void)
{
	words[1] = 1;
	syscall(SYS_futex, &words[1], FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
}

static void make_events(void)
{
	static struct iocb request;
	struct iocb *requests[] = {&request};

	make_pipe();
	request = (struct iocb){.aio_lio_opcode = IOCB_CMD_POLL,
		.aio_fildes = (uint32_t)ends[0],
		.aio_buf = POLLIN};
	events_context = 0;
	MUST(syscall(SYS_io_setup, 1, &events_context) == 0);
	MUST(syscall(SYS_io_submit, events_context, 1, requests) == 1);
}

static void end_events(void)
{
	MUST(syscall(SYS_io_destroy, events_context) == 0);
}

static void do_nothing(void)
{
}
