/*
 * A thread that finds the session closed reads unmapped memory: a run that should show the other side of
 * `if (was_closed)` crashes before that branch. This is a failure of the program, and reported as one.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <sys/mman.h>

static volatile int *session;
static atomic_int is_closed;

static void *close_it(void *unused)
{
	(void)munmap((void *)session, sizeof *session);
	is_closed = 1;
	return unused;
}

int main(void)
{
	pthread_t closer;
	int user = 0;

	session = mmap(
		NULL, sizeof *session, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (session == MAP_FAILED || pthread_create(&closer, NULL, close_it, NULL))
		return 1;
	const int was_closed = is_closed;

	user = *session;
	if (was_closed)
		user++;
	pthread_join(closer, NULL);
	return user > 1;
}
