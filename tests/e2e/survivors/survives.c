/*
 * survives [FAIL]: leaves a process behind that has a session of its own, ignores SIGTERM, SIGHUP and SIGINT, and executes
 * another program. Two threads then lock a mutex in turn. If FAIL is given, one schedule fails.
 * survives --long: the same with many turns.
 * survives --stay: that process.
 */
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static int turns, turns_wanted = 50;
static char must_fail;

static void leave_process(const char *program)
{
	const pid_t child = fork();

	if (child != 0) {
		(void)waitpid(child, NULL, 0);
		return;
	}
	(void)setsid();
	if (fork() != 0)
		_exit(0);
	(void)signal(SIGTERM, SIG_IGN);
	(void)signal(SIGHUP, SIG_IGN);
	(void)signal(SIGINT, SIG_IGN);
	(void)execl(program, program, "--stay", (char *)NULL);
	_exit(1);
}

static void *take_turns(void *first)
{
	for (int i = 0; i < turns_wanted; i++) {
		(void)pthread_mutex_lock(&mutex);
		if (must_fail && first && turns == 1)
			abort();
		turns++;
		(void)pthread_mutex_unlock(&mutex);
	}
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t threads[2];

	if (argc > 1 && strcmp(argv[1], "--stay") == 0) {
		for (;;)
			(void)pause();
	}
	if (argc > 1 && strcmp(argv[1], "--long") == 0)
		turns_wanted = 20000;
	else
		must_fail = argc > 1;
	leave_process(argv[0]);
	(void)pthread_create(&threads[0], NULL, take_turns, NULL);
	(void)pthread_create(&threads[1], NULL, take_turns, &mutex);
	(void)pthread_join(threads[0], NULL);
	(void)pthread_join(threads[1], NULL);
	return 0;
}
