/* EXPECT: passed runs=4 options=--strategy=pos */
/*
 * Waits for another thread by reading variables over and over, and never calls anything. A thread
 * that is always scheduled again, because the scheduler sees no change meanwhile, waits for ever.
 */
#include <pthread.h>
#include <stdatomic.h>

static volatile int is_ready;
static atomic_int is_complete;

static void *write_both(void *unused)
{
	is_ready = 1;
	atomic_store(&is_complete, 1);
	return unused;
}

static void *read_both(void *unused)
{
	while (!is_ready)
		continue;
	while (!atomic_load(&is_complete))
		continue;
	return unused;
}

int main(void)
{
	pthread_t reader;
	pthread_t writer;

	pthread_create(&reader, NULL, read_both, NULL);
	pthread_create(&writer, NULL, write_both, NULL);
	pthread_join(reader, NULL);
	pthread_join(writer, NULL);
	return 0;
}
