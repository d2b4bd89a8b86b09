/* EXPECT: deadlock strategy=rpro runs<=20000 */
/*
 * Pattern: three lock orders that close a cycle, behind a lock that passes between threads.
 *
 * Clients insert into a table while one truncates it, and a thread of the storage engine writes what
 * has been committed; a queue with a condition variable moves it along. No two of them take the same
 * two locks in opposite orders.
 *
 * Fails when: main.1, inserting, has passed `gate` and stops before `section`; main.2, truncating,
 * takes `gate`, passes `section`, takes `table` and stops before it takes `section` again; the writer
 * main.0 takes `transactions` and waits for `table`; main.1 takes `section` and waits for
 * `transactions`, main.2 waits for `section`.
 *
 * Arguments: statements of each client, clients that insert.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#define CLIENTS_MOST 16
#define STATEMENTS_PER_TRUNCATE 6
#define PAGES_FREED 4
#define PAGES_FILLED 2

static pthread_mutex_t gate = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t table = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t section = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t transactions = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t pages = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t queue = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t queue_filled = PTHREAD_COND_INITIALIZER;
static pthread_barrier_t statement_end;
static int statements = 30, clients = 6;
static int first_call = 2;	    /* first call, at the end of a shorter run */
static int queued, is_ending;	    /* guarded by queue */
static int passed;		    /* guarded by gate */
static int truncated, written_upto; /* guarded by table */
static int records, inserted;	    /* guarded by section */
static int committed, written;	    /* guarded by transactions */
static int reads;		    /* guarded by pages */

static void read_pages(int count)
{
	while (count--) {
		pthread_mutex_lock(&pages);
		reads++;
		pthread_mutex_unlock(&pages);
	}
}

static void enqueue(int ends)
{
	pthread_mutex_lock(&queue);
	queued++;
	is_ending |= ends;
	pthread_cond_signal(&queue_filled);
	pthread_mutex_unlock(&queue);
}

static void insert(void)
{
	pthread_mutex_lock(&gate);
	passed++;
	pthread_mutex_unlock(&gate);
	read_pages(PAGES_FILLED);
	pthread_mutex_lock(&section);
	records++;
	inserted++;
	pthread_mutex_lock(&transactions);
	committed++;
	pthread_mutex_unlock(&transactions);
	pthread_mutex_unlock(&section);
}

static void truncate_table(void)
{
	pthread_mutex_lock(&gate);
	passed++;
	pthread_mutex_lock(&section);
	records = 0;
	pthread_mutex_unlock(&section);
	read_pages(PAGES_FREED);
	pthread_mutex_lock(&table);
	truncated++;
	read_pages(PAGES_FILLED);
	pthread_mutex_lock(&section);
	records = 0; /* the section protected these records */
	pthread_mutex_unlock(&section);
	pthread_mutex_unlock(&table);
	pthread_mutex_unlock(&gate);
}

static void *write_committed(void *unused)
{
	int ends = 0;

	(void)unused;
	while (!ends) {
		pthread_mutex_lock(&queue);
		while (!queued)
			pthread_cond_wait(&queue_filled, &queue);
		queued = 0;
		ends = is_ending;
		pthread_mutex_unlock(&queue);
		pthread_mutex_lock(&transactions);
		written = committed;
		pthread_mutex_lock(&table);
		written_upto = truncated;
		pthread_mutex_unlock(&table);
		pthread_mutex_unlock(&transactions);
	}
	return NULL;
}

static void *client(void *truncates)
{
	for (int statement = 0; statement < statements; statement++) {
		read_pages(2);
		if (!truncates)
			insert();
		else if (statement % STATEMENTS_PER_TRUNCATE == first_call)
			truncate_table();
		if (truncates)
			enqueue(0);
		pthread_barrier_wait(&statement_end);
	}
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t writer, threads[CLIENTS_MOST + 1];

	statements = argc > 1 ? atoi(argv[1]) : statements;
	first_call = first_call < statements ? first_call : statements - 1;
	clients = argc > 2 && atoi(argv[2]) <= CLIENTS_MOST ? atoi(argv[2]) : clients;
	pthread_barrier_init(&statement_end, NULL, (unsigned)clients + 1);
	pthread_create(&writer, NULL, write_committed, NULL);
	for (int i = 0; i <= clients; i++)
		pthread_create(&threads[i], NULL, client, i == 1 ? &truncated : NULL);
	for (int i = 0; i <= clients; i++)
		pthread_join(threads[i], NULL);
	enqueue(1);
	pthread_join(writer, NULL);
	printf("truncated %d times, inserted %d, written %d, pages read %d\n", written_upto,
		inserted, written, reads);
	pthread_barrier_destroy(&statement_end);
	return 0;
}
