/* One thread uses a block, another one removes and frees it. Only the free makes the block's field shared. With the
 * argument "x" the use follows the critical section in which the thread has read the pointer. */
#include <pthread.h>
#include <stdlib.h>

struct timer {
	int expirations;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct timer *active;
static int uses_late;

static void *expire(void *unused)
{
	struct timer *timer;

	(void)unused;
	pthread_mutex_lock(&lock);
	timer = active;
	if (timer && !uses_late)
		timer->expirations++;
	pthread_mutex_unlock(&lock);
	if (timer && uses_late)
		timer->expirations++;
	return NULL;
}

int main(int count, char **arguments)
{
	pthread_t thread;
	struct timer *timer = calloc(1, sizeof *timer);

	active = timer;
	uses_late = count > 2 && arguments[2][0] == 'x';
	pthread_create(&thread, NULL, expire, NULL);
	pthread_mutex_lock(&lock);
	active = NULL;
	pthread_mutex_unlock(&lock);
	free(timer);
	pthread_join(thread, NULL);
	return 0;
}
