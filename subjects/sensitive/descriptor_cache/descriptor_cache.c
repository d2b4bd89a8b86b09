/*
 * EXPECT-BRANCH: sum = *atomic_load(&descriptor.referenced); [bug]
 * EXPECT-BRANCH: if (atomic_load(&descriptor.referenced)) [benign|bug]
 *
 * A cache of table descriptors of a database, as in a bug report about columns that became null.
 * One statement tests the referenced columns and uses them; another one resets them in between.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>

#define COLUMNS 4

struct descriptor {
	pthread_mutex_t lock;
	_Atomic(int *) referenced;
};

static int columns[COLUMNS] = {1, 2, 3, 4};
static struct descriptor descriptor = {PTHREAD_MUTEX_INITIALIZER, columns};

static void *compile(void *unused)
{
	pthread_mutex_lock(&descriptor.lock);
	atomic_store(&descriptor.referenced, NULL);
	pthread_mutex_unlock(&descriptor.lock);
	pthread_mutex_lock(&descriptor.lock);
	atomic_store(&descriptor.referenced, columns);
	pthread_mutex_unlock(&descriptor.lock);
	return unused;
}

int main(void)
{
	pthread_t thread;
	int sum = 0;

	pthread_create(&thread, NULL, compile, NULL);
	if (atomic_load(&descriptor.referenced))
		sum = *atomic_load(&descriptor.referenced);
	pthread_join(thread, NULL);
	return sum > COLUMNS;
}
