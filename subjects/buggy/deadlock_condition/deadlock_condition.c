/* EXPECT: deadlock strategy=pct runs<=500 */
/*
 * Pattern: deadlock through a condition variable (waiting while holding another lock).
 *
 * A session delivers replies. A thread that waits for a reply releases the lock of the queue,
 * because the wait on a condition variable does so, but holds the lock of the session.
 *
 * Fails when: main.0 locks the session and the queue, finds it empty and waits; main needs the
 * session to deliver the reply that would wake main.0.
 */
#include <pthread.h>
#include <stdio.h>

static pthread_mutex_t session = PTHREAD_MUTEX_INITIALIZER;
static int requests; /* guarded by session */

static struct {
	pthread_mutex_t lock;
	pthread_cond_t not_empty;
	int replies; /* guarded by lock */
} queue = {.lock = PTHREAD_MUTEX_INITIALIZER, .not_empty = PTHREAD_COND_INITIALIZER};

static void queue_put(void)
{
	pthread_mutex_lock(&queue.lock);
	queue.replies++;
	pthread_cond_signal(&queue.not_empty);
	pthread_mutex_unlock(&queue.lock);
}

static void queue_take(void)
{
	pthread_mutex_lock(&queue.lock);
	while (queue.replies == 0)
		pthread_cond_wait(&queue.not_empty, &queue.lock);
	queue.replies--;
	pthread_mutex_unlock(&queue.lock);
}

static void *client(void *unused)
{
	(void)unused;
	pthread_mutex_lock(&session);
	requests++;
	queue_take();
	pthread_mutex_unlock(&session);
	return NULL;
}

int main(void)
{
	pthread_t thread;

	pthread_create(&thread, NULL, client, NULL);
	pthread_mutex_lock(&session);
	queue_put();
	pthread_mutex_unlock(&session);
	pthread_join(thread, NULL);
	printf("%d request answered\n", requests);
	return 0;
}
