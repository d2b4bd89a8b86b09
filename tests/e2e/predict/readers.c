/* Two read-write locks: each thread reads one and, still reading, wants to write the other. */
#include <pthread.h>

static pthread_rwlock_t names = PTHREAD_RWLOCK_INITIALIZER, places = PTHREAD_RWLOCK_INITIALIZER;

static void *work(void *is_other)
{
	pthread_rwlock_t *read = is_other ? &places : &names;
	pthread_rwlock_t *written = is_other ? &names : &places;

	pthread_rwlock_rdlock(read);
	pthread_rwlock_wrlock(written);
	pthread_rwlock_unlock(written);
	pthread_rwlock_unlock(read);
	return NULL;
}

/* Reading both in any order is no harm. */
static void *look(void *is_other)
{
	pthread_rwlock_rdlock(is_other ? &places : &names);
	pthread_rwlock_rdlock(is_other ? &names : &places);
	pthread_rwlock_unlock(&names);
	pthread_rwlock_unlock(&places);
	return NULL;
}

int main(int argc, char **argv)
{
	void *(*start)(void *) = argc > 1 ? look : work;
	pthread_t threads[2];

	(void)argv;
	pthread_create(&threads[0], NULL, start, NULL);
	pthread_create(&threads[1], NULL, start, &names);
	pthread_join(threads[0], NULL);
	pthread_join(threads[1], NULL);
	return 0;
}
