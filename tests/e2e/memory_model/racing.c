/* racing NAME: threads that communicate by a flag under --memory-model c11, for the search for races.
 * "old_release": no race. A thread reads data only behind an acquiring load of the releasing store of 1, also while 2 is
 * the newest value, which a relaxed store wrote.
 * "old_flag": a race that sequential consistency forbids. A thread reads data only if it sees the later store `go`, but
 * not the store of the flag. */
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

int data, copy; /* not static: the compiler keeps the accesses */
static atomic_int flag, go;

static void *publish(void *unused)
{
	data = 1;
	atomic_store_explicit(&flag, 1, memory_order_release);
	atomic_store_explicit(&go, 1, memory_order_relaxed);
	return unused;
}

static void *overwrite(void *unused)
{
	atomic_store_explicit(&flag, 2, memory_order_relaxed);
	return unused;
}

static void *read_released(void *unused)
{
	if (atomic_load_explicit(&flag, memory_order_acquire) == 1)
		copy = data;
	return unused;
}

static void *read_unreleased(void *unused)
{
	if (atomic_load_explicit(&go, memory_order_relaxed) == 1 &&
		atomic_load_explicit(&flag, memory_order_acquire) == 0)
		copy = data;
	return unused;
}

int main(int argc, char **argv)
{
	pthread_t threads[3];
	const int is_released = argc > 1 && strcmp(argv[1], "old_release") == 0;

	pthread_create(&threads[0], NULL, publish, NULL);
	pthread_create(&threads[1], NULL, is_released ? read_released : read_unreleased, NULL);
	if (is_released)
		pthread_create(&threads[2], NULL, overwrite, NULL);
	for (int i = 0; i < 2 + is_released; i++)
		pthread_join(threads[i], NULL);
	return 0;
}
