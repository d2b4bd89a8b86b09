/* A program that is another one from its second start on: a file named "next" takes its place. */
#include <pthread.h>
#include <stdio.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static volatile int first, second; /* guarded by lock */

static __attribute__((noinline)) int both(void)
{
	pthread_mutex_lock(&lock);
	const int a = first;

	pthread_mutex_unlock(&lock);
	pthread_mutex_lock(&lock);
	const int b = second;

	pthread_mutex_unlock(&lock);
	return a == b;
}

static __attribute__((noinline)) void change(void)
{
	pthread_mutex_lock(&lock);
	first++;
	second++;
	pthread_mutex_unlock(&lock);
}

static void *look(void *unused)
{
	(void)both();
	return unused;
}

static void *write_both(void *unused)
{
	change();
	return unused;
}

int main(int count, char **arguments)
{
	pthread_t looker, writer;

	/* Fails when it has been done. */
	if (count > 1)
		(void)rename("next", arguments[0]);
	pthread_create(&looker, NULL, look, NULL);
	pthread_create(&writer, NULL, write_both, NULL);
	pthread_join(looker, NULL);
	pthread_join(writer, NULL);
	return 0;
}
