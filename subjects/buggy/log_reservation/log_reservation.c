/* EXPECT: abort runs<=2000 needs=memory */
/*
 * A log without locks: a writer reserves a place, writes its record, and counts the record as complete. The reader takes
 * the number of complete records for the number of the first places that are filled. It fails when main.1 reserves
 * after main.0, and completes its record first: place 0 is still empty.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

#define WRITERS 2
#define RECORDS 2

static atomic_int reserved, complete;
static int records[WRITERS * RECORDS];

static void *write_records(void *unused)
{
	(void)unused;
	for (int i = 0; i < RECORDS; i++) {
		const int place = atomic_fetch_add(&reserved, 1);

		records[place] = 1;
		atomic_fetch_add(&complete, 1);
	}
	return NULL;
}

static void *read_records(void *unused)
{
	const int count = atomic_load(&complete);

	(void)unused;
	for (int i = 0; i < count; i++)
		if (!records[i])
			abort();
	return NULL;
}

int main(void)
{
	pthread_t threads[WRITERS + 1];

	for (int i = 0; i < WRITERS; i++)
		pthread_create(&threads[i], NULL, write_records, NULL);
	pthread_create(&threads[WRITERS], NULL, read_records, NULL);
	for (int i = 0; i <= WRITERS; i++)
		pthread_join(threads[i], NULL);
	return 0;
}
