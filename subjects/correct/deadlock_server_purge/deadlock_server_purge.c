/* EXPECT: passed runs=300 */
/*
 * Pattern: two maintenance commands of a busy server with one lock order.
 *
 * Sessions write to the binary log. When it is full it is rotated, and old files are purged by
 * command. Both read the list of dumping threads: a purge only in passing, a rotation for as long
 * as it lasts.
 *
 * Corrected: a purge takes `log_file` before `index_file`. Cannot fail: all locks are taken in the
 * order dumps, a session's, log_file, index_file; warnings is innermost.
 *
 * Arguments: transactions of each session, sessions that only write.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#define SESSIONS_MOST 32
#define TRANSACTIONS_PER_COMMAND 5
#define WARNINGS 4

static pthread_mutex_t dumps = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t index_file = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t log_file = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t warnings = PTHREAD_MUTEX_INITIALIZER;
static pthread_barrier_t transaction_end;
static int transactions = 30, writers = 10;
static int first_call = 3;     /* first call, at the end of a shorter run */
static int warned;	       /* guarded by warnings */
static int looks;	       /* guarded by dumps */
static int oldest, newest = 1; /* guarded by index_file */
static int events;	       /* guarded by log_file */

struct session {
	pthread_mutex_t lock; /* lock of the session's own cache of events */
	void (*command)(void);
	int cached;
};

static struct session sessions[SESSIONS_MOST + 2];

static void warn(int count)
{
	while (count--) {
		pthread_mutex_lock(&warnings);
		warned++;
		pthread_mutex_unlock(&warnings);
	}
}

static void rotate(void)
{
	pthread_mutex_lock(&dumps);
	looks++;
	pthread_mutex_lock(&index_file);
	newest++;
	pthread_mutex_unlock(&index_file);
	for (int i = 0; i < writers + 2; i++) {
		pthread_mutex_lock(&sessions[i].lock);
		sessions[i].cached++; /* the event that says where the next file is */
		pthread_mutex_unlock(&sessions[i].lock);
	}
	pthread_mutex_lock(&log_file);
	events++;
	warn(WARNINGS);
	pthread_mutex_lock(&index_file);
	newest++;
	pthread_mutex_unlock(&index_file);
	pthread_mutex_unlock(&log_file);
	pthread_mutex_unlock(&dumps);
}

static void purge(void)
{
	pthread_mutex_lock(&dumps);
	looks++;
	pthread_mutex_unlock(&dumps);
	warn(WARNINGS);
	pthread_mutex_lock(&log_file);
	events++;
	pthread_mutex_lock(&index_file);
	oldest++;
	pthread_mutex_unlock(&index_file);
	pthread_mutex_unlock(&log_file);
}

static void write_events(struct session *session)
{
	pthread_mutex_lock(&session->lock);
	session->cached++;
	pthread_mutex_unlock(&session->lock);
	pthread_mutex_lock(&session->lock);
	pthread_mutex_lock(&log_file);
	events += session->cached;
	session->cached = 0;
	pthread_mutex_unlock(&log_file);
	pthread_mutex_unlock(&session->lock);
}

static void *serve(void *argument)
{
	struct session *session = argument;

	for (int i = 0; i < transactions; i++) {
		write_events(session);
		if (session->command && i % TRANSACTIONS_PER_COMMAND == first_call)
			session->command();
		pthread_barrier_wait(&transaction_end);
	}
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t threads[SESSIONS_MOST + 2];

	transactions = argc > 1 ? atoi(argv[1]) : transactions;
	first_call = first_call < transactions ? first_call : transactions - 1;
	writers = argc > 2 && atoi(argv[2]) <= SESSIONS_MOST ? atoi(argv[2]) : writers;
	pthread_barrier_init(&transaction_end, NULL, (unsigned)writers + 2);
	sessions[0].command = rotate;
	sessions[1].command = purge;
	for (int i = 0; i < writers + 2; i++) {
		pthread_mutex_init(&sessions[i].lock, NULL);
		pthread_create(&threads[i], NULL, serve, &sessions[i]);
	}
	for (int i = 0; i < writers + 2; i++)
		pthread_join(threads[i], NULL);
	printf("newest file %d, purged %d, events %d, looks %d, warnings %d\n", newest, oldest,
		events, looks, warned);
	pthread_barrier_destroy(&transaction_end);
	return 0;
}
