/*
 * EXPECT-BRANCH: to->written++; [bug]
 * EXPECT-BRANCH: if (!atomic_load(&connection.is_closed)) { [benign|bug]
 *
 * An FTP-like server: the timer closes an idle connection and removes its writer while a command of
 * that connection is being answered.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

struct writer {
	int written;
};

struct connection {
	_Atomic(struct writer *) writer;
	atomic_bool is_closed;
};

static struct writer writer;
static struct connection connection = {.writer = &writer};

static void *close_idle(void *unused)
{
	atomic_store(&connection.is_closed, true);
	atomic_store(&connection.writer, NULL);
	return unused;
}

static void *answer(void *unused)
{
	if (!atomic_load(&connection.is_closed)) {
		struct writer *const to = atomic_load(&connection.writer);

		to->written++;
	}
	return unused;
}

int main(void)
{
	pthread_t session, timer;

	pthread_create(&session, NULL, answer, NULL);
	pthread_create(&timer, NULL, close_idle, NULL);
	pthread_join(session, NULL);
	pthread_join(timer, NULL);
	return 0;
}
