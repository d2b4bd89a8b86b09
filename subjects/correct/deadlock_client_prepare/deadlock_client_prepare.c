/* EXPECT: passed runs=1000 */
/*
 * Pattern: one lock order behind a lock that passes between threads.
 *
 * The client library of a database: one thread executes a statement while another prepares one on
 * the same connection. Both work through a result page by page, in step, so the two calls meet
 * at every sixth page.
 *
 * Corrected: a statement is prepared with the parameters bound before the connection is taken.
 * Cannot fail: a thread that takes two of statement, parameters, types and connection takes them in
 * this order.
 *
 * Argument: pages of the result.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#define PAGES_PER_CALL 6
#define ROWS 3

static pthread_mutex_t cache = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t statement = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t connection = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t parameters = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t types = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t network = PTHREAD_MUTEX_INITIALIZER;
static int pages = 48;
static int first_call = 2; /* first call, at the end of a shorter run */
static pthread_barrier_t page_end;
static int cached, executions, bytes_sent, bound, prepared, rows_read;

static void read_page(void)
{
	for (int row = 0; row < ROWS; row++) {
		pthread_mutex_lock(&network);
		rows_read++;
		pthread_mutex_unlock(&network);
	}
}

static void execute_query(void)
{
	pthread_mutex_lock(&cache);
	cached++;
	pthread_mutex_unlock(&cache);
	pthread_mutex_lock(&statement);
	executions++;
	pthread_mutex_lock(&connection);
	bytes_sent += 8; /* data that the connection still had to send */
	pthread_mutex_unlock(&connection);
	read_page(); /* the answer */
	pthread_mutex_lock(&parameters);
	pthread_mutex_lock(&types);
	bound += 2;
	pthread_mutex_lock(&connection);
	bytes_sent += 64;
	pthread_mutex_unlock(&connection);
	pthread_mutex_unlock(&types);
	pthread_mutex_unlock(&parameters);
	pthread_mutex_unlock(&statement);
}

static void prepare_statement(void)
{
	pthread_mutex_lock(&statement);
	prepared++;
	pthread_mutex_unlock(&statement);
	pthread_mutex_lock(&parameters);
	bound++;
	pthread_mutex_lock(&connection);
	bytes_sent += 32;
	pthread_mutex_unlock(&connection);
	pthread_mutex_unlock(&parameters);
}

static void *work(void *call)
{
	for (int page = 0; page < pages; page++) {
		read_page();
		if (page % PAGES_PER_CALL == first_call)
			call == &executions ? execute_query() : prepare_statement();
		pthread_barrier_wait(&page_end);
	}
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t threads[2];

	pages = argc > 1 ? atoi(argv[1]) : pages;
	first_call = first_call < pages ? first_call : pages - 1;
	pthread_barrier_init(&page_end, NULL, 2);
	pthread_create(&threads[0], NULL, work, &executions);
	pthread_create(&threads[1], NULL, work, NULL);
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	printf("rows %d, sent %d bytes, bound %d, executed %d, prepared %d\n", rows_read,
		bytes_sent, bound, executions, prepared);
	pthread_barrier_destroy(&page_end);
	return 0;
}
