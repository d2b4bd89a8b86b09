/* EXPECT: livelock runs<=1 options=--max-steps=2000 */
/* Two polite threads that let each other go first, for ever. */
#include <pthread.h>
#include <sched.h>

static volatile int is_polite = 1;

static void *be_polite(void *unused)
{
	while (is_polite)
		sched_yield();
	return unused;
}

int main(void)
{
	pthread_t threads[2];

	for (int i = 0; i < 2; i++)
		pthread_create(&threads[i], NULL, be_polite, NULL);
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	return 0;
}
