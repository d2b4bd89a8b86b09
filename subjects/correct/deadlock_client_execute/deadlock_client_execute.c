/* EXPECT: passed runs=1000 */
/*
 * Pattern: one lock order in all cases.
 *
 * The client library of a database: one thread executes a statement, another closes the connection.
 * The closing thread tests whether a statement is being executed, and only then takes the
 * parameters away. The executing thread tests whether the connection is being closed, and only then
 * returns them.
 *
 * Corrected: the closing thread takes the parameters before the connection. Cannot fail: both take
 * the two in this order.
 *
 * Argument: sessions one after the other.
 */
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#define FETCHES 2

static pthread_mutex_t statement = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t connection = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t parameters = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t network = PTHREAD_MUTEX_INITIALIZER;
static int sessions = 24;
static pthread_barrier_t session_begin, session_end;
static bool is_executing;  /* guarded by statement */
static bool is_closing;	   /* guarded by connection */
static int bound, packets; /* guarded by parameters, network */

static void send_packets(int count)
{
	while (count--) {
		pthread_mutex_lock(&network);
		packets++;
		pthread_mutex_unlock(&network);
	}
}

static bool begins_to_execute(bool begins)
{
	bool before;

	pthread_mutex_lock(&statement);
	before = is_executing;
	is_executing = begins || before;
	pthread_mutex_unlock(&statement);
	return before;
}

static bool begins_to_close(bool begins)
{
	bool before;

	pthread_mutex_lock(&connection);
	before = is_closing;
	is_closing = begins || before;
	pthread_mutex_unlock(&connection);
	return before;
}

static void execute(void)
{
	begins_to_execute(true);
	if (begins_to_close(false)) {
		pthread_mutex_lock(&parameters);
		pthread_mutex_lock(&connection);
		bound++;
		pthread_mutex_unlock(&connection);
		pthread_mutex_unlock(&parameters);
	}
	send_packets(1);
}

static void close_connection(void)
{
	if (begins_to_execute(false)) {
		begins_to_close(true);
		pthread_mutex_lock(&parameters);
		pthread_mutex_lock(&connection);
		bound--;
		pthread_mutex_unlock(&connection);
		pthread_mutex_unlock(&parameters);
	}
	send_packets(1);
}

static void *work(void *call)
{
	for (int session = 0; session < sessions; session++) {
		if (pthread_barrier_wait(&session_begin) == PTHREAD_BARRIER_SERIAL_THREAD)
			is_executing = is_closing = false;
		send_packets(FETCHES);
		pthread_barrier_wait(&session_end);
		call ? execute() : close_connection();
	}
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t executing, closing;

	sessions = argc > 1 ? atoi(argv[1]) : sessions;
	pthread_barrier_init(&session_begin, NULL, 2);
	pthread_barrier_init(&session_end, NULL, 2);
	pthread_create(&executing, NULL, work, &bound);
	pthread_create(&closing, NULL, work, NULL);
	pthread_join(executing, NULL);
	pthread_join(closing, NULL);
	printf("packets %d\n", packets);
	pthread_barrier_destroy(&session_begin);
	pthread_barrier_destroy(&session_end);
	return 0;
}
