/* EXPECT: passed runs=20 */
/*
 * fork in a program with threads: the child has one thread and may make more, fork handlers run in
 * their order, and parents wait for children in all usual manners.
 */
#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdint.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "check.h"

static char order[64];
static sem_t may_end;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static int counter;

static void prepare_first(void)
{
	strcat(order, "p");
}

static void prepare_second(void)
{
	strcat(order, "P");
}

static void parent_first(void)
{
	strcat(order, "a");
}

static void parent_second(void)
{
	strcat(order, "A");
}

static void child_first(void)
{
	strcat(order, "c");
}

static void child_second(void)
{
	strcat(order, "C");
}

static void *wait_for_end(void *unused)
{
	sem_wait(&may_end);
	return unused;
}

static void *add(void *amount)
{
	pthread_mutex_lock(&mutex);
	counter += (int)(intptr_t)amount;
	pthread_mutex_unlock(&mutex);
	return NULL;
}

/* The child's whole life; its status says what went wrong. */
static int live_as_child(void)
{
	pthread_t threads[2];

	if (strcmp(order, "PpcC") != 0)
		return 1;
	for (int i = 0; i < 2; i++)
		if (pthread_create(&threads[i], NULL, add, (void *)(intptr_t)(10 * i + 10)) != 0)
			return 2;
	for (int i = 0; i < 2; i++)
		if (pthread_join(threads[i], NULL) != 0)
			return 3;
	return counter == 30 ? 42 : 4;
}

static int status_of(pid_t child)
{
	int status;

	if (waitpid(child, &status, 0) != child)
		return -1;
	return WIFEXITED(status) ? WEXITSTATUS(status) : -2;
}

static void check_child(void)
{
	pid_t child;

	fflush(stdout);
	order[0] = 0;
	child = fork();
	if (child == 0)
		_exit(live_as_child());
	CHECK(child > 0);
	CHECK(strcmp(order, "PpaA") == 0);
	CHECK(status_of(child) == 42);
	CHECK(waitpid(child, NULL, 0) == -1 && errno == ECHILD);
	CHECK(counter == 0);
}

static void *fork_and_wait(void *status)
{
	pid_t child = fork();

	if (child == 0)
		_exit((int)(intptr_t)status);
	return (void *)(intptr_t)status_of(child);
}

/* Two threads fork and wait for their own child at the same time. */
static void check_forking_threads(void)
{
	pthread_t threads[2];
	void *status;

	for (int i = 0; i < 2; i++)
		MUST(pthread_create(&threads[i], NULL, fork_and_wait, (void *)(intptr_t)(i + 5)) ==
			0);
	MUST(pthread_join(threads[0], &status) == 0);
	CHECK((intptr_t)status == 5);
	MUST(pthread_join(threads[1], &status) == 0);
	CHECK((intptr_t)status == 6);
}

static void check_killed_child(void)
{
	int ends[2], status;
	siginfo_t information;
	pid_t child;
	char byte;

	MUST(pipe(ends) == 0);
	child = fork();
	if (child == 0) {
		close(ends[1]);
		if (read(ends[0], &byte, 1) < 0)
			_exit(1);
		_exit(3);
	}
	CHECK(waitpid(child, &status, WNOHANG) == 0);
	usleep(20000); /* usually the child waits by now; it must end in either case */
	close(ends[0]);
	close(ends[1]);
	CHECK(waitid(P_PID, (id_t)child, &information, WEXITED | WNOWAIT) == 0);
	CHECK(information.si_pid == child && information.si_status == 3);
	CHECK(wait(&status) == child);
	CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 3);
	child = fork();
	if (child == 0)
		for (;;)
			pause();
	MUST(kill(child, SIGKILL) == 0);
	CHECK(waitpid(child, &status, 0) == child);
	CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
	child = vfork();
	if (child == 0)
		_exit(9);
	CHECK(status_of(child) == 9);
}

int main(void)
{
	pthread_t thread;

	MUST(sem_init(&may_end, 0, 0) == 0);
	MUST(pthread_create(&thread, NULL, wait_for_end, NULL) == 0);
	CHECK(pthread_atfork(prepare_first, parent_first, child_first) == 0);
	CHECK(pthread_atfork(prepare_second, parent_second, child_second) == 0);
	check_child();
	order[0] = 0;
	check_killed_child();
	MUST(sem_post(&may_end) == 0);
	MUST(pthread_join(thread, NULL) == 0);
	check_forking_threads();
	return check_status();
}
