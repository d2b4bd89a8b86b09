/* EXPECT: passed runs=1000 */
/*
 * Pattern: locks handed over crosswise, and none taken inside another of the two that matter.
 *
 * The client library of a database: one thread asks a statement for its warnings, and another
 * closes and reopens the connection with each batch. Each call first passes a lock that the other
 * call then holds.
 *
 * Corrected: the statement is released before the connection is locked. Cannot fail: closing holds
 * `open_calls` and one more lock, and the thread that asks for warnings does not hold `open_calls`
 * when it takes another.
 *
 * Argument: batches of rows.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#define BATCHES_PER_CLOSE 3
#define FETCHES 4

static pthread_mutex_t open_calls = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t list = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t statement = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t connection = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t network = PTHREAD_MUTEX_INITIALIZER;
static int batches = 30;
static int first_call = 1; /* first call, at the end of a shorter run */
static pthread_barrier_t batch_end;
static int calls, statements_open = 1, warnings, times_closed, rows;

static void fetch(int count)
{
	while (count--) {
		pthread_mutex_lock(&network);
		rows++;
		pthread_mutex_unlock(&network);
	}
}

static void get_warnings(void)
{
	pthread_mutex_lock(&open_calls);
	calls++;
	pthread_mutex_unlock(&open_calls);
	pthread_mutex_lock(&list); /* keeps the statement open meanwhile */
	pthread_mutex_lock(&statement);
	pthread_mutex_lock(&connection);
	warnings++;
	pthread_mutex_unlock(&connection);
	pthread_mutex_unlock(&statement);
	pthread_mutex_unlock(&list);
}

static void close_connection(void)
{
	pthread_mutex_lock(&list);
	statements_open--;
	pthread_mutex_unlock(&list);
	pthread_mutex_lock(&open_calls); /* keeps others from beginning a call */
	fetch(FETCHES + 1);		 /* reads the rows still in transit */
	pthread_mutex_lock(&statement);
	statements_open++; /* it is kept for the next connection */
	pthread_mutex_unlock(&statement);
	pthread_mutex_lock(&connection);
	times_closed++;
	pthread_mutex_unlock(&connection);
	pthread_mutex_unlock(&open_calls);
}

static void *read_rows(void *unused)
{
	(void)unused;
	for (int batch = 0; batch < batches; batch++) {
		fetch(FETCHES);
		if (batch % BATCHES_PER_CLOSE == first_call)
			get_warnings();
		pthread_barrier_wait(&batch_end);
	}
	return NULL;
}

static void *serve_pool(void *unused)
{
	(void)unused;
	for (int batch = 0; batch < batches; batch++) {
		if (batch % BATCHES_PER_CLOSE == first_call)
			close_connection();
		fetch(FETCHES / 2);
		pthread_barrier_wait(&batch_end);
	}
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t reader, pool;

	batches = argc > 1 ? atoi(argv[1]) : batches;
	first_call = first_call < batches ? first_call : batches - 1;
	pthread_barrier_init(&batch_end, NULL, 2);
	pthread_create(&reader, NULL, read_rows, NULL);
	pthread_create(&pool, NULL, serve_pool, NULL);
	pthread_join(reader, NULL);
	pthread_join(pool, NULL);
	printf("calls %d, warnings %d, closed %d times, statements %d, rows %d\n", calls, warnings,
		times_closed, statements_open, rows);
	pthread_barrier_destroy(&batch_end);
	return 0;
}
