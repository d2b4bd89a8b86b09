/* Assembly that writes what another thread reads. */
#include <pthread.h>

static int flag, seen;

static void *set(void *unused)
{
	__asm__ volatile("movl $1, %0" : "=m"(flag));
	return unused;
}

int main(void)
{
	pthread_t thread;

	pthread_create(&thread, NULL, set, NULL);
	if (flag)
		seen++;
	pthread_join(thread, NULL);
	return seen > 5;
}
