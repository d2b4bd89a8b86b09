/* EXPECT: passed runs=15 */
/* Message queues of POSIX and System V, and System V's semaphores, between threads and with a child. */
#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <mqueue.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <sys/ipc.h>
#include <sys/mman.h>
#include <sys/msg.h>
#include <sys/sem.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "check.h"

#define MESSAGE_BYTES 16

static mqd_t queue;
static int identifier;
static sem_t ready;
static volatile sig_atomic_t handled;

static mqd_t make_queue(long messages)
{
	struct mq_attr attributes = {.mq_maxmsg = messages, .mq_msgsize = MESSAGE_BYTES};
	char name[32];
	mqd_t made;

	snprintf(name, sizeof name, "/raddle-%d", (int)getpid());
	made = mq_open(name, O_CREAT | O_EXCL | O_RDWR, 0600, &attributes);
	mq_unlink(name);
	return made;
}

static void *receive_five(void *in_order)
{
	char message[MESSAGE_BYTES];

	*(int *)in_order = 1;
	for (int i = 0; i < 5; i++)
		*(int *)in_order &= mq_receive(queue, message, sizeof message, NULL) == 2 &&
				    message[0] == 'a' + i;
	return NULL;
}

static void test_messages(void)
{
	struct timespec soon;
	char message[MESSAGE_BYTES];
	pthread_t thread;
	int in_order, sent = 0;
	unsigned priority;

	MUST(pthread_create(&thread, NULL, receive_five, &in_order) == 0);
	for (int i = 0; i < 5; i++)
		sent += mq_send(queue, (char[]){(char)('a' + i), 0}, 2, 0) == 0;
	MUST(pthread_join(thread, NULL) == 0);
	CHECK(sent == 5 && in_order);
	CHECK(mq_send(queue, "low", 3, 1) == 0 && mq_send(queue, "high", 4, 7) == 0);
	soon = time_in(CLOCK_REALTIME, 20);
	CHECK(mq_timedsend(queue, "more", 4, 0, &soon) == -1 && errno == ETIMEDOUT);
	CHECK(is_reached(CLOCK_REALTIME, &soon));
	CHECK(mq_receive(queue, message, sizeof message, &priority) == 4 && priority == 7);
	CHECK(mq_receive(queue, message, sizeof message, &priority) == 3 && priority == 1);
	soon = time_in(CLOCK_REALTIME, 20);
	CHECK(mq_timedreceive(queue, message, sizeof message, NULL, &soon) == -1 &&
		errno == ETIMEDOUT);
	soon.tv_nsec = -1;
	CHECK(mq_timedreceive(queue, message, sizeof message, NULL, &soon) == -1 &&
		errno == EINVAL);
	CHECK(mq_send(queue, "long", MESSAGE_BYTES + 1, 0) == -1 && errno == EMSGSIZE);
	CHECK(mq_receive(queue, message, 1, NULL) == -1 && errno == EMSGSIZE);
}

/* ---- notification ---- */

static void note_handled(int signal)
{
	(void)signal;
	handled = 1;
}

static void post_ready(union sigval value)
{
	(void)value;
	sem_post(&ready);
}

static void test_notification(void)
{
	struct sigevent by_signal = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGUSR1};
	struct sigevent by_thread = {
		.sigev_notify = SIGEV_THREAD, .sigev_notify_function = post_ready};
	struct sigaction action = {.sa_handler = note_handled};
	char message[MESSAGE_BYTES];

	sigaction(SIGUSR1, &action, NULL);
	CHECK(mq_notify(queue, &by_signal) == 0);
	CHECK(mq_notify(queue, &by_signal) == -1 && errno == EBUSY);
	CHECK(mq_send(queue, "a", 1, 0) == 0 && handled);
	CHECK(mq_receive(queue, message, sizeof message, NULL) == 1);
	CHECK(mq_notify(queue, &by_thread) == 0);
	CHECK(mq_notify(queue, &by_thread) == -1 && errno == EBUSY);
	CHECK(mq_send(queue, "b", 1, 0) == 0 && sem_wait(&ready) == 0);
	CHECK(mq_receive(queue, message, sizeof message, NULL) == 1);
	CHECK(mq_notify(queue, &by_thread) == 0 && mq_notify(queue, NULL) == 0);
}

/* ---- System V ---- */

struct text {
	long type;
	char text[4];
};

static void *receive_second_type(void *result)
{
	struct text text;

	*(int *)result =
		msgrcv(identifier, &text, sizeof text.text, 2, 0) == 1 && text.text[0] == 'z';
	return NULL;
}

static void *take_two(void *result)
{
	struct sembuf two = {.sem_op = -2};

	*(int *)result = semop(identifier, &two, 1) == 0;
	return NULL;
}

static void test_system_v(void)
{
	struct text text = {.type = 1, .text = "a"};
	struct sembuf one = {.sem_op = 1};
	struct timespec moment = {.tv_nsec = 1000000};
	pthread_t thread;
	int result;

	identifier = msgget(IPC_PRIVATE, 0600);
	MUST(pthread_create(&thread, NULL, receive_second_type, &result) == 0);
	CHECK(msgsnd(identifier, &text, 1, 0) == 0);
	text = (struct text){.type = 2, .text = "z"};
	CHECK(msgsnd(identifier, &text, 1, 0) == 0);
	MUST(pthread_join(thread, NULL) == 0);
	CHECK(result);
	CHECK(msgrcv(identifier, &text, 4, 5, IPC_NOWAIT) == -1 && errno == ENOMSG);
	msgctl(identifier, IPC_RMID, NULL);
	identifier = semget(IPC_PRIVATE, 1, 0600);
	MUST(pthread_create(&thread, NULL, take_two, &result) == 0);
	CHECK(semop(identifier, &one, 1) == 0 && semop(identifier, &one, 1) == 0);
	MUST(pthread_join(thread, NULL) == 0);
	CHECK(result);
	one.sem_op = -1;
	CHECK(semtimedop(identifier, &one, 1, &moment) == -1 && errno == EAGAIN);
	semctl(identifier, 0, IPC_RMID);
}

/* ---- a child at the other end ---- */

static void wait_while_zero(atomic_int *word)
{
	while (!*word)
		syscall(SYS_futex, word, FUTEX_WAIT, 0, NULL, NULL, 0);
}

static void set(atomic_int *word)
{
	*word = 1;
	syscall(SYS_futex, word, FUTEX_WAKE, 1, NULL, NULL, 0);
}

static void test_child(void)
{
	atomic_int *words =
		mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	char message[MESSAGE_BYTES];
	int status;
	pid_t child = fork();

	if (!child) {
		set(words);
		wait_while_zero(words + 1);
		_exit(mq_send(queue, "child", 5, 0));
	}
	wait_while_zero(words);
	set(words + 1);
	CHECK(mq_receive(queue, message, sizeof message, NULL) == 5);
	CHECK(waitpid(child, &status, 0) == child && status == 0);
}

int main(void)
{
	sem_init(&ready, 0, 0);
	queue = make_queue(2);
	if (queue == (mqd_t)-1)
		return 0; /* this system has none */
	test_messages();
	test_notification();
	test_system_v();
	test_child();
	return check_status();
}
