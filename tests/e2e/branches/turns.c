/*
 * Threads that compute for long let others run in the recorded run; a schedule without these
 * switches works, too. The marked conditions depend on the schedule.
 */
#include <pthread.h>

#define ROUNDS 300000

static int ready, done;
static unsigned numbers[64], sum;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static void *look(void *unused)
{
	if (ready) /* sensitive */
		sum++;
	if (done) /* sensitive */
		sum++;
	return unused;
}

static unsigned compute(void)
{
	unsigned result = 0;

	for (unsigned i = 0; i < ROUNDS; i++)
		result += numbers[i & 63];
	return result;
}

int main(void)
{
	pthread_t thread;
	unsigned own;

	for (unsigned i = 0; i < 64; i++)
		numbers[i] = i;
	if (pthread_create(&thread, NULL, look, NULL))
		return 1;
	own = compute();
	ready = 1;
	pthread_mutex_lock(&mutex);
	pthread_mutex_unlock(&mutex);
	own += compute();
	done = 1;
	pthread_join(thread, NULL);
	return own == 0;
}
