/*
 * read_locks KIND [x]: two readers hold a lock at the same time, and both change a variable. KIND 1: alone; 2: with a writer;
 * 3: with a writer that waiting readers let go first. With x the program fails if a reader has overwritten the other's change.
 */
#include <pthread.h>
#include <stdlib.h>

static pthread_rwlock_t lock;
static int value;

static void *read_and_change(void *unused)
{
	pthread_rwlock_rdlock(&lock);
	value++;
	pthread_rwlock_unlock(&lock);
	return unused;
}

static void *write_alone(void *unused)
{
	pthread_rwlock_wrlock(&lock);
	value += 10;
	pthread_rwlock_unlock(&lock);
	return unused;
}

int main(int argc, char **argv)
{
	const int kind = atoi(argv[1]);
	pthread_t readers[2], writer;
	pthread_rwlockattr_t attributes;

	pthread_rwlockattr_init(&attributes);
	if (kind == 3)
		pthread_rwlockattr_setkind_np(
			&attributes, PTHREAD_RWLOCK_PREFER_WRITER_NONRECURSIVE_NP);
	pthread_rwlock_init(&lock, &attributes);
	for (int i = 0; i < 2; i++)
		pthread_create(&readers[i], NULL, read_and_change, NULL);
	if (kind > 1)
		pthread_create(&writer, NULL, write_alone, NULL);
	for (int i = 0; i < 2; i++)
		pthread_join(readers[i], NULL);
	if (kind > 1)
		pthread_join(writer, NULL);
	return argc > 2 && value % 10 == 1;
}
