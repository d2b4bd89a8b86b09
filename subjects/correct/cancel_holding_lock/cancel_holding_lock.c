/* EXPECT: passed runs=20000 */
/*
 * Pattern: cancellation with a cleanup handler.
 *
 * An indexer waits for its quota inside the table's lock. sem_wait is a cancellation point: a
 * cancelled indexer ends there.
 *
 * Corrected: a cleanup handler unlocks. Cannot fail: whether the indexer continues or ends in
 * sem_wait, the handler runs exactly once and the table is unlocked.
 */
#include <pthread.h>
#include <semaphore.h>
#include <stdbool.h>
#include <stdio.h>
#define ENTRIES 3

static sem_t quota;
static struct {
	pthread_mutex_t lock;
	int entries; /* guarded by lock */
} table = {.lock = PTHREAD_MUTEX_INITIALIZER};
static struct {
	pthread_mutex_t lock;
	bool is_closed; /* guarded by lock */
} window = {.lock = PTHREAD_MUTEX_INITIALIZER};
static void table_unlock(void *unused)
{
	(void)unused;
	pthread_mutex_unlock(&table.lock);
}

static void table_add(void)
{
	pthread_mutex_lock(&table.lock);
	pthread_cleanup_push(table_unlock, NULL);
	sem_wait(&quota);
	table.entries++;
	pthread_cleanup_pop(1);
}

static void *indexer(void *unused)
{
	(void)unused;
	for (int i = 0; i < ENTRIES; i++)
		table_add();
	return NULL;
}

static void *show_window(void *unused)
{
	(void)unused;
	pthread_mutex_lock(&window.lock);
	window.is_closed = true; /* the user is quick */
	pthread_mutex_unlock(&window.lock);
	return NULL;
}
int main(void)
{
	pthread_t index_thread, window_thread;

	sem_init(&quota, 0, ENTRIES);
	pthread_create(&index_thread, NULL, indexer, NULL);
	pthread_create(&window_thread, NULL, show_window, NULL);
	pthread_join(window_thread, NULL);
	pthread_cancel(index_thread);
	pthread_join(index_thread, NULL);
	pthread_mutex_lock(&table.lock);
	int entries = table.entries;
	pthread_mutex_unlock(&table.lock);
	printf("%s\n", entries == ENTRIES ? "complete" : "incomplete");
	sem_destroy(&quota);
	return 0;
}
