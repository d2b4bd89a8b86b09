/*
 * usage: forking WHO WHAT. Children that make threads. WHO forks them: "main", or a "thread". WHAT they do:
 *   correct   two threads count under a lock
 *   order     two threads take two locks in opposite orders: some schedules deadlock
 *   update    a thread loses the other's update: an assertion fails in some schedules
 *   inherit   the child takes a lock that another thread of its parent may hold
 *   single    one thread: the child has a copy of the parent's only
 *   death     the child is to abort, as in a death test; the parent passes
 */
#include <assert.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static pthread_mutex_t first = PTHREAD_MUTEX_INITIALIZER, second = PTHREAD_MUTEX_INITIALIZER;
static int count;

static void *count_once(void *unused)
{
	pthread_mutex_lock(&first);
	count++;
	pthread_mutex_unlock(&first);
	return unused;
}

static void *take_in_order(void *unused)
{
	pthread_mutex_lock(&first);
	pthread_mutex_lock(&second);
	count++;
	pthread_mutex_unlock(&second);
	pthread_mutex_unlock(&first);
	return unused;
}

static void *take_in_reverse(void *unused)
{
	pthread_mutex_lock(&second);
	pthread_mutex_lock(&first);
	count++;
	pthread_mutex_unlock(&first);
	pthread_mutex_unlock(&second);
	return unused;
}

static void *update_in_two_steps(void *unused)
{
	int seen;

	pthread_mutex_lock(&first);
	seen = count;
	pthread_mutex_unlock(&first);
	pthread_mutex_lock(&first);
	count = seen + 1;
	pthread_mutex_unlock(&first);
	return unused;
}

static void run_two(void *(*one)(void *), void *(*other)(void *))
{
	pthread_t threads[2];

	pthread_create(&threads[0], NULL, one, NULL);
	pthread_create(&threads[1], NULL, other, NULL);
	pthread_join(threads[0], NULL);
	pthread_join(threads[1], NULL);
}

static void live_as_child(const char *what)
{
	if (!strcmp(what, "order"))
		run_two(take_in_order, take_in_reverse);
	else if (!strcmp(what, "update"))
		run_two(update_in_two_steps, update_in_two_steps);
	else
		run_two(count_once, count_once);
	assert(count == (strcmp(what, "death") ? 2 : 3));
}

static void *fork_and_wait(void *what)
{
	static int failed = 1;
	int status = -1;
	pid_t child = fork();

	if (child == 0) {
		if (!strcmp(what, "inherit") || !strcmp(what, "single"))
			count_once(NULL);
		else
			live_as_child(what);
		_exit(0);
	}
	waitpid(child, &status, 0);
	if (!strcmp(what, "death"))
		return WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT ? NULL : &failed;
	return status ? &failed : NULL;
}

/* The parent counts while it forks. */
static void *count_and_fork(void *what)
{
	pthread_t thread;
	void *failed;

	pthread_create(&thread, NULL, count_once, NULL);
	failed = fork_and_wait(what);
	pthread_join(thread, NULL);
	return failed;
}

int main(int count_of_arguments, char **arguments)
{
	pthread_t thread;
	void *failed;

	void *(*body)(void *);

	if (count_of_arguments != 3)
		return 2;
	body = strcmp(arguments[2], "inherit") ? fork_and_wait : count_and_fork;
	if (!strcmp(arguments[1], "main"))
		return body(arguments[2]) ? 1 : 0;
	pthread_create(&thread, NULL, body, arguments[2]);
	pthread_join(thread, &failed);
	return failed ? 1 : 0;
}
