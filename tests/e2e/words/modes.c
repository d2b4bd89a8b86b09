/* Two threads lock two mutexes in opposite orders, by a function that can also try to lock. */
#include <pthread.h>
#include <stddef.h>

static int guard_lock(unsigned is_try, void *guard)
{
	pthread_mutex_t *mutex = guard;

	if (is_try)
		return pthread_mutex_trylock(mutex);
	else
		return pthread_mutex_lock(mutex);
}

static int (*volatile lock)(unsigned, void *) = guard_lock;
static pthread_mutex_t left = PTHREAD_MUTEX_INITIALIZER, right = PTHREAD_MUTEX_INITIALIZER;

static void *move_right(void *unused)
{
	lock(0, &left);
	lock(0, &right);
	pthread_mutex_unlock(&right);
	pthread_mutex_unlock(&left);
	return unused;
}

static void *move_left(void *unused)
{
	lock(0, &right);
	lock(0, &left);
	pthread_mutex_unlock(&left);
	pthread_mutex_unlock(&right);
	return unused;
}

int main(void)
{
	pthread_t thread;

	pthread_create(&thread, NULL, move_right, NULL);
	lock(0, &left);
	pthread_mutex_unlock(&left);
	move_left(NULL);
	pthread_join(thread, NULL);
	return 0;
}
