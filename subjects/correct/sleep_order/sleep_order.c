/* EXPECT: passed runs=20000 */
/*
 * Pattern: a semaphore as an order of threads.
 *
 * A test wants the writer to write before the reader reads. Both sleep, as if they worked.
 *
 * Corrected: the reader waits for the writer's post. Cannot fail: the post follows the write.
 */
#include <assert.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <unistd.h>

static sem_t written;
static int value; /* written before `written` is posted */

static void *write_value(void *unused)
{
	(void)unused;
	usleep(1000);
	value = 42;
	sem_post(&written);
	return NULL;
}

static void *read_value(void *unused)
{
	(void)unused;
	usleep(2000);
	sem_wait(&written);
	assert(value == 42);
	return NULL;
}

int main(void)
{
	pthread_t writer, reader;

	sem_init(&written, 0, 0);
	pthread_create(&writer, NULL, write_value, NULL);
	pthread_create(&reader, NULL, read_value, NULL);
	pthread_join(writer, NULL);
	pthread_join(reader, NULL);
	sem_destroy(&written);
	puts("read");
	return 0;
}
