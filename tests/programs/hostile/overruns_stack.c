/* EXPECT: crash(SIGSEGV) runs<=1 */
/* A thread that calls itself until its stack is used up. */
#include <pthread.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static volatile int depth_limit = 1 << 30;

static int descend(int depth)
{
	volatile char frame[4000];

	frame[0] = (char)depth;
	if (depth % 100 == 0) {
		pthread_mutex_lock(&mutex);
		pthread_mutex_unlock(&mutex);
	}
	return depth < depth_limit ? descend(depth + 1) + frame[0] : 0;
}

static void *work(void *unused)
{
	descend(0);
	return unused;
}

int main(void)
{
	pthread_t thread;

	pthread_create(&thread, NULL, work, NULL);
	pthread_join(thread, NULL);
	return 0;
}
