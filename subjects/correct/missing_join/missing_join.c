/* EXPECT: passed runs=20000 */
/*
 * Pattern: join what you started.
 *
 * A back-up program writes its index in a thread of its own while it copies files, one after the
 * other.
 *
 * Corrected: main joins the indexer too. Cannot fail: the index is written before its thread ends,
 * and main reads after it has ended.
 */
#include <assert.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>

#define FILES 2

static struct {
	pthread_mutex_t lock;
	bool has_index; /* guarded by lock */
	int files;	/* guarded by lock */
} archive = {.lock = PTHREAD_MUTEX_INITIALIZER};

static void *write_index(void *unused)
{
	(void)unused;
	pthread_mutex_lock(&archive.lock);
	archive.has_index = true;
	pthread_mutex_unlock(&archive.lock);
	return NULL;
}

static void *copy_file(void *unused)
{
	(void)unused;
	pthread_mutex_lock(&archive.lock);
	archive.files++;
	pthread_mutex_unlock(&archive.lock);
	return NULL;
}

int main(void)
{
	pthread_t indexer, copier;

	pthread_create(&indexer, NULL, write_index, NULL);
	for (int i = 0; i < FILES; i++) {
		pthread_create(&copier, NULL, copy_file, NULL);
		pthread_join(copier, NULL);
	}
	pthread_join(indexer, NULL);

	pthread_mutex_lock(&archive.lock);
	assert(archive.has_index);
	printf("%d files and the index\n", archive.files);
	pthread_mutex_unlock(&archive.lock);
	return 0;
}
