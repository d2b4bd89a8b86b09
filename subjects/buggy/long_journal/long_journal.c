/* EXPECT: abort runs<=2000 needs=memory */
/*
 * A program of some 80,000 steps with 21 accesses outside of the lock. Fails: one writer reads pages, another
 * one writes it, and the first writes its own result.
 */
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
		pthread_mutex_unlock(&journal_lock);
		if (i % PAGE == 0)
			pages++;
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
