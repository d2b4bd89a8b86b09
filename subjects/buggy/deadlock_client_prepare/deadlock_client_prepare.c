/* EXPECT: deadlock strategy=rpro runs<=20000 */
/*
 * Pattern: lock-order deadlock behind a lock that passes between threads.
 *
 * The client library of a database: one thread executes a statement while another prepares one on
 * the same connection. Both work through a result page by page, in step, so the two calls meet
 * at every sixth page.
 *
 * Fails when: main.1 has passed `statement` and stops before `connection`; main.0 then takes
 * `statement`, passes `connection`, takes `parameters` and `types` and stops before it takes
 * `connection` again; main.1 takes `connection` and waits for `parameters`, main.0 waits for
 * `connection`. Had main.0 taken `statement` first, main.1 could not pass: so three orders are
 * needed where two would do without that lock.
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
	pthread_mutex_lock(&connection);
	bytes_sent += 32;
	pthread_mutex_lock(&parameters);
	bound++;
	pthread_mutex_unlock(&parameters);
	pthread_mutex_unlock(&connection);
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
