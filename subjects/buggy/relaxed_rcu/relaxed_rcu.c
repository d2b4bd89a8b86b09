/* EXPECT: abort runs<=2000 options=--memory-model=c11 needs=memory */
/*
 * A read-copy-update scheme whose reader enters its critical section without a fence: the updater does not
 * see the reader, and poisons the object that the reader uses.
 */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>

#define READERS 2

struct object {
	atomic_int value;
};

static struct object objects[2] = {{1}, {0}};
static struct object *_Atomic current = &objects[0];
static atomic_int is_reading[READERS];

static void read_lock(int reader)
{
	atomic_store_explicit(&is_reading[reader], 1, memory_order_relaxed);
}

static void read_unlock(int reader)
{
	atomic_store_explicit(&is_reading[reader], 0, memory_order_release);
}

static void wait_for_readers(void)
{
	atomic_thread_fence(memory_order_seq_cst);
	for (int reader = 0; reader < READERS; reader++)
		while (atomic_load_explicit(&is_reading[reader], memory_order_acquire))
			;
}

static void *reader(void *argument)
{
	atomic_int *own = argument;
	const int number = (int)(own - is_reading);
	struct object *object;

	read_lock(number);
	object = atomic_load_explicit(&current, memory_order_acquire);
	assert(atomic_load_explicit(&object->value, memory_order_relaxed) > 0);
	read_unlock(number);
	return NULL;
}

static void *updater(void *unused)
{
	atomic_store_explicit(&objects[1].value, 2, memory_order_relaxed);
	atomic_store_explicit(&current, &objects[1], memory_order_release);
	wait_for_readers();
	atomic_store_explicit(&objects[0].value, -1, memory_order_relaxed);
	return unused;
}

int main(void)
{
	pthread_t threads[READERS + 1];

	for (int i = 0; i < READERS; i++)
		pthread_create(&threads[i], NULL, reader, &is_reading[i]);
	pthread_create(&threads[READERS], NULL, updater, NULL);
	for (int i = 0; i <= READERS; i++)
		pthread_join(threads[i], NULL);
	return 0;
}
