/* EXPECT: passed runs=20000 */
/*
 * Pattern: wait on a condition variable holding nothing but its mutex.
 *
 * A session delivers replies, and clients wait for them without holding it.
 *
 * Corrected: the client gives the session up before it waits. Cannot fail: no thread waits
 * while holding the session, so main always gets to deliver, and a delivered reply is seen or
 * heard.
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
	pthread_mutex_unlock(&session);
	queue_take();
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
