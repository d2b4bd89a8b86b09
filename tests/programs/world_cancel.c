/* EXPECT: passed runs=20 */
/* Cancellation of calls that wait for the world outside the thread: clean-up handlers run, once. */
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "check.h"

static int ends[2];
static int cleaned;
static sem_t is_there; /* the thread can be cancelled */
static sem_t is_asked; /* it has been */

static void clean(void *unused)
{
	(void)unused;
	cleaned++;
}

static void call_read(void)
{
	char byte;

	MUST(read(ends[0], &byte, 1) == 1);
}

static void call_write(void)
{
	static char much[200000];

	MUST(write(ends[1], much, sizeof much) == sizeof much);
}

static void call_poll(void)
{
	struct pollfd poll_end = {.fd = ends[0], .events = POLLIN};

	MUST(poll(&poll_end, 1, -1) == 1);
}

static void call_sleep(void)
{
	MUST(sleep(1000) == 0);
}

static void call_sigwait(void)
{
	sigset_t set;
	int signal;

	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	MUST(pthread_sigmask(SIG_BLOCK, &set, NULL) == 0);
	MUST(sigwait(&set, &signal) == 0);
}

static void call_pause(void)
{
	MUST(pause() == -1);
}

static void call_waitpid(void)
{
	MUST(waitpid(-1, NULL, 0) > 0);
}

/* Cancelled while it must not be: it acts at the next call after that. */
static void call_close_late(void)
{
	MUST(pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, NULL) == 0);
	MUST(sem_wait(&is_asked) == 0);
	MUST(pthread_setcancelstate(PTHREAD_CANCEL_ENABLE, NULL) == 0);
	MUST(close(-1) == -1);
	MUST(!"close() is a cancellation point");
}

static void *run_call(void *call)
{
	pthread_cleanup_push(clean, NULL);
	MUST(sem_post(&is_there) == 0);
	(*(void (**)(void))call)();
	pthread_cleanup_pop(0);
	return NULL;
}

static int cancelled_in(void (*call)(void))
{
	pthread_t thread;
	void *result = NULL;

	cleaned = 0;
	MUST(sem_init(&is_there, 0, 0) == 0 && sem_init(&is_asked, 0, 0) == 0);
	MUST(pthread_create(&thread, NULL, run_call, &call) == 0);
	MUST(sem_wait(&is_there) == 0);
	usleep(5000); /* usually the thread waits by now; the result is the same if it does not */
	MUST(pthread_cancel(thread) == 0);
	MUST(sem_post(&is_asked) == 0);
	MUST(pthread_join(thread, &result) == 0);
	return result == PTHREAD_CANCELED && cleaned == 1;
}

int main(void)
{
	pid_t child = fork();

	if (child == 0)
		for (;;)
			pause();
	MUST(pipe(ends) == 0);
	CHECK(cancelled_in(call_read));
	CHECK(cancelled_in(call_poll));
	CHECK(cancelled_in(call_sleep));
	CHECK(cancelled_in(call_sigwait));
	CHECK(cancelled_in(call_pause));
	CHECK(cancelled_in(call_waitpid));
	CHECK(cancelled_in(call_close_late));
	CHECK(cancelled_in(call_write));
	MUST(kill(child, SIGKILL) == 0);
	CHECK(waitpid(child, NULL, 0) == child);
	return check_status();
}
