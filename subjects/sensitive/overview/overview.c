/*
 * EXPECT-BRANCH: if (b > y) [benign]
 *
 * The overview example of the paper on schedule-sensitive branches: three branches, one of them
 * sensitive. The first is decided before there is a second thread. The second compares what only
 * its own thread writes. The third depends on the thread that takes the lock first.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

static int x, y;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void *second(void *unused)
{
	int b;

	pthread_mutex_lock(&lock);
	b = x + 1;
	if (b > y)
		x = b;
	pthread_mutex_unlock(&lock);
	return unused;
}

int main(int argc, char **argv)
{
	pthread_t thread;
	int a;

	x = argc > 1 ? atoi(argv[1]) : 1;
	y = argc > 2 ? atoi(argv[2]) : 1;
	if (x > y)
		return 0;
	a = x + 1;
	pthread_create(&thread, NULL, second, NULL);
	pthread_mutex_lock(&lock);
	if (a > y)
		y = a;
	pthread_mutex_unlock(&lock);
	pthread_join(thread, NULL);
	printf("%d %d\n", x, y);
	return 0;
}
