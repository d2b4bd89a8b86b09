/* A loop that empties its event descriptor after it has taken the work, and misses the wake-up for later work. */
#include <poll.h>
#include <pthread.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/eventfd.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int queued, wake;

static void *loop(void *unused)
{
	int handled = 0;

	while (handled < 2) {
		struct pollfd woken = {wake, POLLIN, 0};
		uint64_t count;

		poll(&woken, 1, -1);
		pthread_mutex_lock(&lock);
		handled += queued;
		queued = 0;
		pthread_mutex_unlock(&lock);		  /* TAKEN */
		if (read(wake, &count, sizeof count) < 0) /* EMPTIED */
			continue;
	}
	return unused;
}

static void post(void)
{
	const uint64_t one = 1;

	pthread_mutex_lock(&lock);
	queued++;
	pthread_mutex_unlock(&lock);
	if (write(wake, &one, sizeof one) < 0) /* POSTED */
		_exit(2);
}

int main(void)
{
	pthread_t thread;

	wake = eventfd(0, EFD_NONBLOCK);
	pthread_create(&thread, NULL, loop, NULL);
	post();
	post();
	pthread_join(thread, NULL);
	return 0;
}
