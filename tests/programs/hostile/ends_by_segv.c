/* EXPECT: crash(SIGSEGV) runs<=1 */
/* A call through a null pointer in every schedule. */
#include <pthread.h>

static void *(*volatile missing)(void *);

static void *work(void *unused)
{
	return missing(unused);
}

int main(void)
{
	pthread_t thread;

	pthread_create(&thread, NULL, work, NULL);
	pthread_join(thread, NULL);
	return 0;
}
