/* EXPECT: passed runs=200 */
/*
 * Pattern: a report about all threads, and no lock of theirs held while they ask for its own.
 *
 * A server of twenty sessions. One prints the engine's status: it holds `engine` and takes the data
 * lock of each thread to print its statement. A session that has waited for a row lock asks the engine
 * how long, and then begins its statement. Both pass `threads` first, the list of who is connected,
 * and the session keeps it.
 *
 * Corrected: a session has asked the engine before it takes its data lock. Cannot fail: a thread
 * with a data lock takes no lock but open_tables, which is innermost.
 *
 * Arguments: statements of each session, sessions that never wait.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#define SESSIONS_MOST 32
#define STATEMENTS_PER_WAIT 5
#define TABLES_LOCKED 16
#define TABLES_NAMED 4

struct session {
	pthread_mutex_t data_lock;
	int statement; /* guarded by data_lock */
	void (*special)(struct session *session);
};

static pthread_mutex_t threads = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t engine = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t open_tables = PTHREAD_MUTEX_INITIALIZER;
static pthread_barrier_t statement_end;
static struct session sessions[SESSIONS_MOST + 2];
static int statements = 50, others = 18;
static int first_call = 2;		 /* first call, at the end of a shorter run */
static int connected, row_waits, opened; /* guarded by threads, engine, open_tables */
static long printed;

static void open_some_tables(int count)
{
	while (count--) {
		pthread_mutex_lock(&open_tables);
		opened++;
		pthread_mutex_unlock(&open_tables);
	}
}

static void print_status(struct session *session)
{
	(void)session;
	pthread_mutex_lock(&threads);
	connected = others + 2;
	pthread_mutex_unlock(&threads);
	open_some_tables(TABLES_NAMED);
	pthread_mutex_lock(&engine);
	for (int i = 0; i < others + 2; i++) {
		pthread_mutex_lock(&sessions[i].data_lock);
		printed += sessions[i].statement >= 0;
		pthread_mutex_unlock(&sessions[i].data_lock);
	}
	pthread_mutex_unlock(&engine);
}

static void wait_for_row(struct session *session)
{
	pthread_mutex_lock(&threads);
	connected++;
	pthread_mutex_lock(&engine);
	row_waits++;
	pthread_mutex_unlock(&engine);
	open_some_tables(TABLES_LOCKED);
	pthread_mutex_lock(&engine);
	row_waits++;
	pthread_mutex_unlock(&engine);
	pthread_mutex_lock(&session->data_lock);
	session->statement++;
	open_some_tables(TABLES_NAMED);
	pthread_mutex_unlock(&session->data_lock);
	pthread_mutex_unlock(&threads);
}

static void run_statement(struct session *session)
{
	pthread_mutex_lock(&session->data_lock);
	session->statement++;
	pthread_mutex_unlock(&session->data_lock);
	open_some_tables(1);
}

static void *serve(void *argument)
{
	struct session *session = argument;

	for (int i = 0; i < statements; i++) {
		run_statement(session);
		if (session->special && i % STATEMENTS_PER_WAIT == first_call)
			session->special(session);
		pthread_barrier_wait(&statement_end);
	}
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t handles[SESSIONS_MOST + 2];

	statements = argc > 1 ? atoi(argv[1]) : statements;
	first_call = first_call < statements ? first_call : statements - 1;
	others = argc > 2 && atoi(argv[2]) <= SESSIONS_MOST ? atoi(argv[2]) : others;
	pthread_barrier_init(&statement_end, NULL, (unsigned)others + 2);
	sessions[0].special = wait_for_row;
	sessions[1].special = print_status;
	for (int i = 0; i < others + 2; i++)
		pthread_mutex_init(&sessions[i].data_lock, NULL);
	for (int i = 0; i < others + 2; i++)
		pthread_create(&handles[i], NULL, serve, &sessions[i]);
	for (int i = 0; i < others + 2; i++)
		pthread_join(handles[i], NULL);
	printf("row waits %d, opened %d, printed %ld\n", row_waits, opened, printed);
	pthread_barrier_destroy(&statement_end);
	return 0;
}
