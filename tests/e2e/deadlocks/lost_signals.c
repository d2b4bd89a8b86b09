/* The main thread waits for a signal that arrived, or whose cause happened, before the wait. */
#include <fcntl.h>
#include <mqueue.h>
#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

static volatile sig_atomic_t reloads;
static pthread_t main_thread;
static mqd_t queue;

static void reload(int signal)
{
	(void)signal;
	reloads = 1;
}

static void *send_signal(void *unused)
{
	pthread_kill(main_thread, SIGHUP);
	return unused;
}

static void *send_message(void *unused)
{
	mq_send(queue, "job", 3, 0);
	return unused;
}

/* pause() in place of sigsuspend(): the signal may arrive between the test and the wait. */
static void wait_for_reload(int is_right)
{
	sigset_t hup, none;
	pthread_t thread;

	signal(SIGHUP, reload);
	sigemptyset(&none);
	sigemptyset(&hup);
	sigaddset(&hup, SIGHUP);
	if (is_right)
		pthread_sigmask(SIG_BLOCK, &hup, NULL);
	pthread_create(&thread, NULL, send_signal, NULL);
	while (!reloads)
		(void)(is_right ? sigsuspend(&none) : pause());
	pthread_join(thread, NULL);
}

/* mq_notify() after the test that the queue is empty: a message may arrive before it. */
static void wait_for_message(int is_right)
{
	struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGUSR1};
	struct mq_attr attributes = {.mq_maxmsg = 4, .mq_msgsize = 8};
	char name[32], message[8];
	sigset_t usr1;
	pthread_t thread;
	int signal;

	sigemptyset(&usr1);
	sigaddset(&usr1, SIGUSR1);
	pthread_sigmask(SIG_BLOCK, &usr1, NULL);
	(void)snprintf(name, sizeof name, "/lost_signals_%d", getpid());
	queue = mq_open(name, O_CREAT | O_RDWR | O_NONBLOCK, 0600, &attributes);
	mq_unlink(name);
	pthread_create(&thread, NULL, send_message, NULL);
	if (is_right)
		mq_notify(queue, &event);
	while (mq_receive(queue, message, sizeof message, NULL) < 0) {
		if (!is_right)
			mq_notify(queue, &event);
		sigwait(&usr1, &signal);
	}
	pthread_join(thread, NULL);
}

static void *wait_for_term(void *set)
{
	int signal;

	return sigwait(set, &signal) ? set : NULL;
}

/* The signal is sent before it is blocked: its handler takes it in every run. */
static void wait_for_sent(int is_right)
{
	sigset_t term;
	pthread_t thread;

	signal(SIGTERM, reload);
	sigemptyset(&term);
	sigaddset(&term, SIGTERM);
	if (is_right)
		pthread_sigmask(SIG_BLOCK, &term, NULL);
	kill(getpid(), SIGTERM);
	pthread_sigmask(SIG_BLOCK, &term, NULL);
	pthread_create(&thread, NULL, wait_for_term, &term);
	pthread_join(thread, NULL);
}

/* The main thread does not block the signal of the timer, and may handle it although a thread waits. */
static void wait_for_timer(int is_right)
{
	sigset_t alarms;
	pthread_t thread;

	signal(SIGALRM, reload);
	sigemptyset(&alarms);
	sigaddset(&alarms, SIGALRM);
	pthread_sigmask(SIG_BLOCK, &alarms, NULL);
	pthread_create(&thread, NULL, wait_for_term, &alarms);
	if (!is_right)
		pthread_sigmask(SIG_UNBLOCK, &alarms, NULL);
	alarm(1);
	pthread_join(thread, NULL);
}

static void *end_at_once(void *unused)
{
	return unused;
}

/* The child's signal arrives before its byte or its end, and no other process sends one. Only main
 * takes it. */
static void wait_for_child(int is_right, int reads)
{
	int ends[2] = {-1, -1};
	char byte;
	sigset_t hup, before;
	pthread_t thread;
	pid_t child;

	signal(SIGHUP, reload);
	sigemptyset(&hup);
	sigaddset(&hup, SIGHUP);
	pthread_sigmask(SIG_BLOCK, &hup, &before);
	pthread_create(&thread, NULL, end_at_once, NULL);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	if (pipe(ends) != 0)
		return;
	child = fork();
	if (child == 0) {
		kill(getppid(), SIGHUP);
		_exit(write(ends[1], "x", 1) != 1);
	}
	while (reads ? read(ends[0], &byte, 1) != 1 : waitpid(child, NULL, 0) != child)
		;
	while (!is_right || !reloads)
		pause();
	pthread_join(thread, NULL);
}

static void *send_number(void *number)
{
	kill(getpid(), *(int *)number);
	return number;
}

/* Two standard signals become one if both are sent before the first is read. Real-time signals are queued. */
static void wait_for_two(int is_right)
{
	int number = is_right ? SIGRTMIN : SIGUSR1;
	struct signalfd_siginfo information;
	pthread_t threads[2];
	sigset_t signals;
	int descriptor;

	sigemptyset(&signals);
	sigaddset(&signals, number);
	pthread_sigmask(SIG_BLOCK, &signals, NULL);
	descriptor = signalfd(-1, &signals, 0);
	for (int i = 0; i < 2; i++)
		pthread_create(&threads[i], NULL, send_number, &number);
	for (int i = 0; i < 2; i++)
		if (read(descriptor, &information, sizeof information) != sizeof information)
			_exit(2);
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
}

int main(int count, char **arguments)
{
	main_thread = pthread_self();
	if (count > 1 && !strcmp(arguments[1], "sent"))
		wait_for_sent(count > 2);
	else if (count > 1 && !strncmp(arguments[1], "child", 5))
		wait_for_child(count > 2, !strcmp(arguments[1], "child_byte"));
	else if (count > 1 && !strcmp(arguments[1], "timer"))
		wait_for_timer(count > 2);
	else if (count > 1 && !strcmp(arguments[1], "message"))
		wait_for_message(count > 2);
	else if (count > 1 && !strcmp(arguments[1], "two"))
		wait_for_two(count > 2);
	else
		wait_for_reload(count > 2);
	return 0;
}
