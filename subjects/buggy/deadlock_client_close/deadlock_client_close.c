/* EXPECT: deadlock strategy=rpro runs<=20000 */
/*
 * Pattern: lock-order deadlock in one branch of several, behind a lock that is handed over.
 *
 * The client library of a database, used by three threads: two prepare statements on a connection,
 * a third closes the oldest one. Every eighth preparation of the first finds the cache of prepared
 * statements full and evicts one: only then locks meet in opposite orders.
 *
 * Fails when: main.2, closing, has passed `list` and stops before `statement`; main.0 takes `list` to
 * keep it through its preparation, passes `statement`, takes `connection` and stops before it takes
 * `statement` again; main.2 takes `statement` and waits for `connection`, main.0 waits for
 * `statement`.
 *
 * Argument: rounds of calls.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#define ROUNDS_PER_EVICTION 8
#define CALLERS 2
#define USES_LOGGED 8

static pthread_mutex_t list = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t connection = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t statement = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t log_file = PTHREAD_MUTEX_INITIALIZER;
static int rounds = 72;
static int first_call = 4; /* first call, at the end of a shorter run */
static pthread_barrier_t round_end;
static int listed, uses, prepared, evicted, closed, lines;

static void write_log(void)
{
	pthread_mutex_lock(&log_file);
	lines++;
	pthread_mutex_unlock(&log_file);
}

static void prepare_statement(int is_full)
{
	pthread_mutex_lock(&list);
	listed++;
	if (is_full) {
		pthread_mutex_lock(&statement);
		uses++; /* is the oldest statement the one to remove? */
		pthread_mutex_unlock(&statement);
		for (int i = 0; i < USES_LOGGED; i++)
			write_log();
	}
	pthread_mutex_lock(&connection);
	prepared++;
	if (is_full) {
		pthread_mutex_lock(&statement);
		evicted++;
		pthread_mutex_unlock(&statement);
	}
	pthread_mutex_unlock(&connection);
	pthread_mutex_unlock(&list);
}

static void close_statement(void)
{
	pthread_mutex_lock(&list);
	listed--;
	pthread_mutex_unlock(&list);
	pthread_mutex_lock(&statement);
	write_log();
	pthread_mutex_lock(&connection);
	closed++;
	pthread_mutex_unlock(&connection);
	pthread_mutex_unlock(&statement);
}

static void *prepare(void *number)
{
	for (int round = 0; round < rounds; round++) {
		write_log();
		prepare_statement(round % ROUNDS_PER_EVICTION == first_call && *(int *)number == 0);
		write_log();
		pthread_barrier_wait(&round_end);
	}
	return NULL;
}

static void *clean_up(void *unused)
{
	(void)unused;
	for (int round = 0; round < rounds; round++) {
		write_log();
		if (round % 2 == 0)
			close_statement();
		pthread_barrier_wait(&round_end);
	}
	return NULL;
}

int main(int argc, char **argv)
{
	int numbers[CALLERS];
	pthread_t callers[CALLERS], cleaner;

	rounds = argc > 1 ? atoi(argv[1]) : rounds;
	first_call = first_call < rounds ? first_call : rounds - 1;
	pthread_barrier_init(&round_end, NULL, CALLERS + 1);
	for (int i = 0; i < CALLERS; i++) {
		numbers[i] = i;
		pthread_create(&callers[i], NULL, prepare, &numbers[i]);
	}
	pthread_create(&cleaner, NULL, clean_up, NULL);
	for (int i = 0; i < CALLERS; i++)
		pthread_join(callers[i], NULL);
	pthread_join(cleaner, NULL);
	printf("listed %d, used %d, prepared %d, evicted %d, closed %d, lines %d\n", listed, uses,
		prepared, evicted, closed, lines);
	pthread_barrier_destroy(&round_end);
	return 0;
}
