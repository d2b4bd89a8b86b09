/* EXPECT: passed runs=2000 options=--memory-model=c11 needs=memory */
/* The twin of relaxed_singleton: the first check is an acquire load. */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>

struct settings {
	int limit;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct settings storage;
static struct settings *_Atomic settings;

static struct settings *get(void)
{
	struct settings *found = atomic_load_explicit(&settings, memory_order_acquire);

	if (found)
		return found;
	pthread_mutex_lock(&lock);
	found = atomic_load_explicit(&settings, memory_order_relaxed);
	if (!found) {
		storage.limit = 10;
		found = &storage;
		atomic_store_explicit(&settings, found, memory_order_release);
	}
	pthread_mutex_unlock(&lock);
	return found;
}

static void *use(void *unused)
{
	assert(get()->limit == 10);
	return unused;
}

int main(void)
{
	pthread_t threads[2];

	pthread_create(&threads[0], NULL, use, NULL);
	pthread_create(&threads[1], NULL, use, NULL);
	pthread_join(threads[0], NULL);
	pthread_join(threads[1], NULL);
	return 0;
}
