/* EXPECT: passed runs=3000 needs=memory */
/*
 * The corrected twin of log_reservation: each record has its own mark, which its writer sets after the record. The
 * reader stops at the first place without a mark, so it reads no record that is not complete.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

#define WRITERS 2
#define RECORDS 2

static atomic_int reserved, complete[WRITERS * RECORDS];
static int records[WRITERS * RECORDS];

static void *write_records(void *unused)
{
	(void)unused;
	for (int i = 0; i < RECORDS; i++) {
		const int place = atomic_fetch_add(&reserved, 1);

		records[place] = 1;
		atomic_store(&complete[place], 1);
	}
	return NULL;
}

static void *read_records(void *unused)
{
	(void)unused;
	for (int i = 0; i < WRITERS * RECORDS && atomic_load(&complete[i]); i++)
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
