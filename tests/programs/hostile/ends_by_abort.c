/* EXPECT: abort runs<=1 */
/* A failed assertion in every schedule. */
#include <assert.h>
#include <pthread.h>

static void *work(void *unused)
{
	assert(unused);
	return unused;
}

int main(void)
{
	pthread_t thread;

	pthread_create(&thread, NULL, work, NULL);
	pthread_join(thread, NULL);
	return 0;
}
