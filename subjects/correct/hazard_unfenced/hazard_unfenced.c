/* EXPECT: passed runs=2000 options=--memory-model=tso needs=memory */
/* The twin of hazard_unfenced: the announcement is an exchange, which empties the store buffer. */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>

struct object {
	atomic_int value;
};

static struct object first = {1}, second = {1};
static struct object *_Atomic current = &first;
static struct object *_Atomic hazard;

static void *reader(void *unused)
{
	struct object *object;

	do {
		object = atomic_load_explicit(&current, memory_order_acquire);
		(void)atomic_exchange(&hazard, object);
	} while (object != atomic_load_explicit(&current, memory_order_acquire));
	assert(atomic_load_explicit(&object->value, memory_order_relaxed) == 1);
	atomic_store_explicit(&hazard, NULL, memory_order_release);
	return unused;
}

static void *writer(void *unused)
{
	struct object *old = atomic_exchange(&current, &second);

	if (atomic_load_explicit(&hazard, memory_order_acquire) != old)
		atomic_store_explicit(&old->value, 0, memory_order_relaxed);
	return unused;
}

int main(void)
{
	pthread_t threads[2];

	pthread_create(&threads[0], NULL, reader, NULL);
	pthread_create(&threads[1], NULL, writer, NULL);
	pthread_join(threads[0], NULL);
	pthread_join(threads[1], NULL);
	return 0;
}
