/*
 * A thread that finds the session closed reads it once more, after the free. Under every schedule,
 * a run that shows the other side of the condition uses freed memory (check-freed).
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

struct session {
	volatile int user; /* otherwise this field would not be written before the free */
	char name[60];
};

static struct session *session;
static atomic_int is_closed;

static void *close_it(void *unused)
{
	session->user = 0;
	free(session);
	is_closed = 1;
	return unused;
}

__attribute__((noinline)) static int look(const struct session *at)
{
	return at->user;
}

int main(void)
{
	pthread_t closer;
	int user;

	session = calloc(1, sizeof *session);
	if (!session || pthread_create(&closer, NULL, close_it, NULL))
		return 1;
	user = look(session);
	if (is_closed) /* sensitive */
		user += look(session);
	pthread_join(closer, NULL);
	return user != 0;
}
