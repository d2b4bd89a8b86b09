/* EXPECT: exit(7) runs<=1 */
/* Ends with a status other than 0 in every schedule. */
#include <pthread.h>

static void *work(void *unused)
{
	return unused;
}

int main(void)
{
	pthread_t thread;

	pthread_create(&thread, NULL, work, NULL);
	pthread_join(thread, NULL);
	return 7;
}
