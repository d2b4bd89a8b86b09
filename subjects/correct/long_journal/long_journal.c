/* EXPECT: passed runs=20 needs=memory */
/* The twin of long_journal: pages are counted under the lock. */
#include <assert.h>
#include <pthread.h>

#define WRITERS 3
#define ENTRIES 7000
#define PAGE 1000

static pthread_mutex_t journal_lock = PTHREAD_MUTEX_INITIALIZER;
static long entries, pages;

static void *write_journal(void *unused)
{
	for (int i = 1; i <= ENTRIES; i++) {
		pthread_mutex_lock(&journal_lock);
		entries++;
		if (i % PAGE == 0)
			pages++;
		pthread_mutex_unlock(&journal_lock);
	}
	return unused;
}

int main(void)
{
	pthread_t writers[WRITERS];

	for (int i = 0; i < WRITERS; i++)
		pthread_create(&writers[i], NULL, write_journal, NULL);
	for (int i = 0; i < WRITERS; i++)
		pthread_join(writers[i], NULL);
	assert(entries == WRITERS * ENTRIES);
	assert(pages == WRITERS * ENTRIES / PAGE);
	return 0;
}
