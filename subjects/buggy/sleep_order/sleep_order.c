/* EXPECT: abort runs<=4000 */
/*
 * Pattern: sleeps of different lengths as an order of threads.
 *
 * A test wants the writer to write before the reader reads, so the reader sleeps longer.
 *
 * Fails when: main.0 is stalled for 1 ms after its sleep of 1 ms: the sleep of main.1 ends, and
 * main.1 reads before the write.
 */
#include <assert.h>
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int value; /* guarded by lock */

static void *write_value(void *unused)
{
	(void)unused;
	usleep(1000);
	pthread_mutex_lock(&lock);
	value = 42;
	pthread_mutex_unlock(&lock);
	return NULL;
}

static void *read_value(void *unused)
{
	(void)unused;
	usleep(2000);
	pthread_mutex_lock(&lock);
	assert(value == 42);
	pthread_mutex_unlock(&lock);
	return NULL;
}

int main(void)
{
	pthread_t writer, reader;

	pthread_create(&writer, NULL, write_value, NULL);
	pthread_create(&reader, NULL, read_value, NULL);
	pthread_join(writer, NULL);
	pthread_join(reader, NULL);
	puts("read");
	return 0;
}
