/* EXPECT: passed runs=20 */
/* Children: fork from threads, waiting, pipes to them, spawned programs, locks that they share. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/wait.h>
#include <unistd.h>

#include "check.h"

extern char **environ;

/* ---- fork and wait ---- */

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void *add_one(void *sum)
{
	for (int i = 0; i < 10; i++) {
		pthread_mutex_lock(&lock);
		++*(int *)sum;
		pthread_mutex_unlock(&lock);
	}
	return NULL;
}

/* A child is a whole process: it may have threads of its own. */
static int threads_in_child(void)
{
	pthread_t threads[2];
	int sum = 0;

	for (int i = 0; i < 2; i++)
		if (pthread_create(&threads[i], NULL, add_one, &sum))
			return 1;
	for (int i = 0; i < 2; i++)
		if (pthread_join(threads[i], NULL))
			return 2;
	return sum == 20 ? 42 : 3;
}

static void *fork_and_wait(void *status)
{
	pid_t child = fork();

	if (child == 0)
		_exit(threads_in_child());
	MUST(child > 0);
	while (waitpid(child, status, 0) == -1 && errno == EINTR)
		;
	return NULL;
}

static void test_fork_in_thread(void)
{
	pthread_t threads[2];
	int statuses[2] = {-1, -1};

	for (int i = 0; i < 2; i++)
		MUST(pthread_create(&threads[i], NULL, fork_and_wait, &statuses[i]) == 0);
	for (int i = 0; i < 2; i++)
		MUST(pthread_join(threads[i], NULL) == 0);
	CHECK(WIFEXITED(statuses[0]) && WEXITSTATUS(statuses[0]) == 42);
	CHECK(WIFEXITED(statuses[1]) && WEXITSTATUS(statuses[1]) == 42);
}

static void test_waiting(void)
{
	siginfo_t information = {0};
	int status;
	pid_t child = fork();

	if (child == 0)
		for (;;)
			pause();
	CHECK(waitpid(child, &status, WNOHANG) == 0);
	CHECK(kill(child, 0) == 0);
	CHECK(kill(child, SIGTERM) == 0);
	CHECK(waitid(P_PID, (id_t)child, &information, WEXITED | WNOWAIT) == 0);
	CHECK(information.si_pid == child && information.si_code == CLD_KILLED);
	CHECK(wait(&status) == child && WIFSIGNALED(status) && WTERMSIG(status) == SIGTERM);
	errno = 0;
	CHECK(wait(&status) == -1 && errno == ECHILD);
	child = vfork();
	if (child == 0)
		_exit(7);
	CHECK(waitpid(child, &status, 0) == child && WEXITSTATUS(status) == 7);
}

/* ---- the handlers around a fork ---- */

static int before, in_parent, in_child;

static void on_before(void)
{
	before++;
}

static void on_parent(void)
{
	in_parent++;
}

static void on_child(void)
{
	in_child++;
}

static void test_handlers(void)
{
	int status;
	pid_t child;

	MUST(pthread_atfork(on_before, on_parent, on_child) == 0);
	child = fork();
	if (child == 0)
		_exit(before == 1 && in_child == 1 && in_parent == 0 ? 0 : 1);
	CHECK(before == 1 && in_parent == 1 && in_child == 0);
	CHECK(waitpid(child, &status, 0) == child && status == 0);
}

/* ---- pipes to children ---- */

static int ends[2];
static ssize_t received;

static void *read_from_child(void *buffer)
{
	received = read(ends[0], buffer, 16);
	return NULL;
}

static void test_pipe(void)
{
	char buffer[16] = {0};
	pthread_t reader;
	int status;
	pid_t child;

	MUST(pipe(ends) == 0);
	MUST(pthread_create(&reader, NULL, read_from_child, buffer) == 0);
	child = fork();
	if (child == 0) {
		usleep(5000);
		_exit(write(ends[1], "hello", 5) == 5 ? 0 : 1);
	}
	MUST(pthread_join(reader, NULL) == 0);
	CHECK(received == 5 && memcmp(buffer, "hello", 5) == 0);
	CHECK(waitpid(child, &status, 0) == child && status == 0);
	close(ends[0]);
	close(ends[1]);
}

/* ---- programs ---- */

static void test_programs(void)
{
	char *const arguments[] = {(char *)"sh", (char *)"-c", (char *)"exit 5", NULL};
	char line[32] = {0};
	FILE *stream;
	pid_t child;
	int status;

	CHECK(posix_spawn(&child, "/bin/sh", NULL, NULL, arguments, environ) == 0);
	CHECK(waitpid(child, &status, 0) == child && WEXITSTATUS(status) == 5);
	status = system("exit 3");
	CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 3);
	stream = popen("echo from a child", "r");
	CHECK(stream && fgets(line, sizeof line, stream) && strcmp(line, "from a child\n") == 0);
	CHECK(pclose(stream) == 0);
	child = fork();
	if (child == 0) {
		execl("/bin/sh", "sh", "-c", "exit 9", (char *)NULL);
		_exit(1);
	}
	CHECK(waitpid(child, &status, 0) == child && WEXITSTATUS(status) == 9);
}

/* ---- the death of a child as a signal ---- */

static volatile sig_atomic_t deaths;

static void on_death(int signal)
{
	(void)signal;
	deaths++;
}

static void test_death_signal(void)
{
	struct sigaction action = {.sa_handler = on_death};
	int status;
	pid_t child;

	MUST(sigaction(SIGCHLD, &action, NULL) == 0);
	child = fork();
	if (child == 0)
		_exit(0);
	while (!deaths)
		usleep(1000);
	CHECK(deaths == 1);
	CHECK(waitpid(child, &status, 0) == child);
	MUST(signal(SIGCHLD, SIG_DFL) != SIG_ERR);
}

/* ---- file locks ---- */

static char path[] = "/tmp/world-process-XXXXXX";
static int inside;
static int overlaps;

static void *lock_file(void *unused)
{
	int file = open(path, O_RDWR);

	(void)unused;
	for (int i = 0; i < 5; i++) {
		MUST(flock(file, LOCK_EX) == 0);
		overlaps += inside++ != 0;
		usleep(10);
		inside--;
		MUST(flock(file, LOCK_UN) == 0);
	}
	close(file);
	return NULL;
}

static void test_locks(void)
{
	struct flock whole = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
	pthread_t threads[2];
	int file = mkstemp(path);
	int status;
	pid_t child;

	MUST(file >= 0);
	for (int i = 0; i < 2; i++)
		MUST(pthread_create(&threads[i], NULL, lock_file, NULL) == 0);
	for (int i = 0; i < 2; i++)
		MUST(pthread_join(threads[i], NULL) == 0);
	CHECK(overlaps == 0);
	/* Held by a child for a while. */
	MUST(pipe(ends) == 0);
	child = fork();
	if (child == 0) {
		if (fcntl(file, F_SETLK, &whole) || write(ends[1], "x", 1) != 1)
			_exit(1);
		usleep(20000);
		_exit(0);
	}
	MUST(read(ends[0], path, 1) == 1);
	CHECK(fcntl(file, F_SETLKW, &whole) == 0);
	CHECK(waitpid(child, &status, 0) == child && status == 0);
	path[0] = '/';
	unlink(path);
	close(file);
}

/* ---- a child by clone() ---- */

static int end_with(void *status)
{
	_exit(*(int *)status);
}

static void *clone_one(void *unused)
{
	static char stack[65536];
	int wanted = 12, status;
	pid_t child = clone(end_with, stack + sizeof stack, SIGCHLD, &wanted);

	CHECK(waitpid(child, &status, 0) == child && WEXITSTATUS(status) == wanted);
	return unused;
}

static void test_clone(void)
{
	pthread_t thread;

	(void)clone_one(NULL);
	MUST(pthread_create(&thread, NULL, clone_one, NULL) == 0);
	MUST(pthread_join(thread, NULL) == 0);
}

int main(void)
{
	test_clone();
	test_waiting();
	test_fork_in_thread();
	test_handlers();
	test_pipe();
	test_programs();
	test_death_signal();
	test_locks();
	return check_status();
}
