/* EXPECT: abort strategy=pos runs<=1000 */
/*
 * Pattern: a hand-made readers-writers lock.
 *
 * The first reader in takes the room for all readers and the last one out gives it back. The count
 * is guarded, but the first reader takes the room after it has released the count.
 *
 * Fails when: the writer is in the room, half done (it takes the journal's lock between its two
 * stores); reader main.1 counts itself as first and waits for the room; reader main.2 counts
 * itself as second and walks in.
 */
#include <assert.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>

static pthread_mutex_t count_lock = PTHREAD_MUTEX_INITIALIZER;
static int reader_count; /* guarded by count_lock */
static sem_t room;	 /* taken by one writer, or by the first of many readers */

static pthread_mutex_t journal_lock = PTHREAD_MUTEX_INITIALIZER;
static int journal_entries; /* guarded by journal_lock */

static int price, price_with_tax; /* guarded by room: always 100 and 119 per unit */

static void begin_reading(void)
{
	pthread_mutex_lock(&count_lock);
	int readers = ++reader_count;
	pthread_mutex_unlock(&count_lock);
	if (readers == 1)
		sem_wait(&room);
}

static void end_reading(void)
{
	pthread_mutex_lock(&count_lock);
	if (--reader_count == 0)
		sem_post(&room);
	pthread_mutex_unlock(&count_lock);
}

static void write_journal(void)
{
	pthread_mutex_lock(&journal_lock);
	journal_entries++;
	pthread_mutex_unlock(&journal_lock);
}

static void *writer(void *unused)
{
	(void)unused;
	sem_wait(&room);
	price += 100;
	write_journal();
	price_with_tax += 119;
	sem_post(&room);
	return NULL;
}

static void *reader(void *unused)
{
	(void)unused;
	begin_reading();
	assert(price_with_tax * 100 == price * 119);
	end_reading();
	return NULL;
}

int main(void)
{
	pthread_t threads[3];

	sem_init(&room, 0, 1);
	pthread_create(&threads[0], NULL, writer, NULL);
	pthread_create(&threads[1], NULL, reader, NULL);
	pthread_create(&threads[2], NULL, reader, NULL);
	for (int i = 0; i < 3; i++)
		pthread_join(threads[i], NULL);
	printf("price %d, with tax %d\n", price, price_with_tax);
	sem_destroy(&room);
	return 0;
}
