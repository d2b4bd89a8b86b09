/* A lost wake-up in a program whose own functions wrap those of the library. Most of them are called from one or two
 * lines only. */
#include <pthread.h>
#include <stdlib.h>

static void section_enter(pthread_mutex_t *mutex)
{
	if (pthread_mutex_lock(mutex))
		abort();
}

static void section_leave(pthread_mutex_t *mutex)
{
	if (pthread_mutex_unlock(mutex))
		abort();
}

static void bell_await(pthread_cond_t *bell, pthread_mutex_t *mutex)
{
	if (pthread_cond_wait(bell, mutex))
		abort();
}

static void bell_ring(pthread_cond_t *bell)
{
	if (pthread_cond_signal(bell))
		abort();
}

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t bell = PTHREAD_COND_INITIALIZER;

static long rings;
static pthread_mutex_t rings_lock = PTHREAD_MUTEX_INITIALIZER;
/* A whole critical section is no wrapper, although it has one line. */
/* clang-format off */
static void count_ring(void) { pthread_mutex_lock(&rings_lock); rings++; pthread_mutex_unlock(&rings_lock); }
/* clang-format on */

static void *ring(void *argument)
{
	count_ring();
	section_enter(&lock);
	bell_ring(&bell);
	section_leave(&lock);
	return argument;
}

int main(void)
{
	pthread_t thread;

	pthread_create(&thread, NULL, ring, NULL);
	section_enter(&lock);
	bell_await(&bell, &lock);
	section_leave(&lock);
	pthread_join(thread, NULL);
	return 0;
}
