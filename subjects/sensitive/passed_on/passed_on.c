/*
 * EXPECT-BRANCH: if (outbox.size == 7) [benign]
 *
 * A message that one thread writes into the inbox, a second one moves to the outbox, and a third
 * one reads there: its value was copied twice.
 */
#include <pthread.h>
#include <stdio.h>

struct message {
	int is_ready, size;
	long total;
	char name[40];
};

static struct message inbox = {0, 1, 2, "none"}, outbox;
static const struct message fresh = {1, 7, 8, "fresh"};
static int passed;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static void *put_in(void *unused)
{
	pthread_mutex_lock(&mutex);
	inbox = fresh;
	pthread_mutex_unlock(&mutex);
	return unused;
}

static void *pass_on(void *unused)
{
	pthread_mutex_lock(&mutex);
	outbox = inbox;
	pthread_mutex_unlock(&mutex);
	return unused;
}

static void *look(void *unused)
{
	pthread_mutex_lock(&mutex);
	if (outbox.size == 7)
		passed = puts("passed on");
	pthread_mutex_unlock(&mutex);
	return unused;
}

int main(void)
{
	void *(*const parts[])(void *) = {pass_on, look, put_in};
	pthread_t threads[3];

	for (int i = 0; i < 3; i++)
		pthread_create(&threads[i], NULL, parts[i], NULL);
	for (int i = 0; i < 3; i++)
		pthread_join(threads[i], NULL);
	return 0;
}
