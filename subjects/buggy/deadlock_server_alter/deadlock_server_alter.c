/* EXPECT: deadlock strategy=rpro runs<=20000 */
/*
 * Pattern: lock-order deadlock of a read-write lock and a mutex.
 *
 * A database server whose clients move from statement to statement together, as a test suite drives
 * them. One alters a plain table: it must not hide a temporary one of the same name. Another alters
 * a temporary table, and tests whether a plain one is behind it. The rest only open tables.
 *
 * Fails when: main.1, altering the temporary table, has passed `catalog` and stops before
 * `temporaries`; main.0 takes `catalog` for as long as it alters, looks into `temporaries`, takes
 * `open_tables` for writing and stops before it takes `temporaries` again; main.1 takes
 * `temporaries` and waits to read `open_tables`, main.0 waits for `temporaries`.
 *
 * Arguments: steps, readers.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#define READERS_MOST 16
#define STEPS_PER_ALTER 4
#define ROWS_COPIED 8
#define COLUMNS 2

static pthread_mutex_t catalog = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t temporaries = PTHREAD_MUTEX_INITIALIZER;
static pthread_rwlock_t open_tables = PTHREAD_RWLOCK_INITIALIZER;
static pthread_mutex_t statistics = PTHREAD_MUTEX_INITIALIZER;
static pthread_barrier_t step_end;
static int steps = 24, readers = 3;
static int first_call = 1; /* first call, at the end of a shorter run */
static int versions, hidden, shadows, plain_tables = 1, statements; /* guarded in this order */

static void count_statements(int count)
{
	while (count--) {
		pthread_mutex_lock(&statistics);
		statements++;
		pthread_mutex_unlock(&statistics);
	}
}

static void open_table(void)
{
	pthread_rwlock_rdlock(&open_tables);
	count_statements(1);
	pthread_rwlock_unlock(&open_tables);
}

static void alter_plain_table(void)
{
	pthread_mutex_lock(&catalog);
	versions++;
	pthread_mutex_lock(&temporaries);
	hidden = shadows;
	pthread_mutex_unlock(&temporaries);
	count_statements(ROWS_COPIED);
	pthread_rwlock_wrlock(&open_tables);
	plain_tables++;
	count_statements(COLUMNS);
	pthread_mutex_lock(&temporaries);
	shadows++;
	pthread_mutex_unlock(&temporaries);
	plain_tables--;
	pthread_rwlock_unlock(&open_tables);
	pthread_mutex_unlock(&catalog);
}

static void alter_temporary_table(void)
{
	pthread_mutex_lock(&catalog);
	versions++;
	pthread_mutex_unlock(&catalog);
	count_statements(COLUMNS);
	pthread_mutex_lock(&temporaries);
	pthread_rwlock_rdlock(&open_tables);
	shadows += plain_tables;
	pthread_rwlock_unlock(&open_tables);
	pthread_mutex_unlock(&temporaries);
}

static void *client(void *alter)
{
	for (int step = 0; step < steps; step++) {
		open_table();
		if (step % STEPS_PER_ALTER == first_call && alter)
			(*(void (**)(void))alter)();
		else
			count_statements(1);
		pthread_barrier_wait(&step_end);
	}
	return NULL;
}

int main(int argc, char **argv)
{
	void (*alter[2])(void) = {alter_plain_table, alter_temporary_table};
	pthread_t threads[2 + READERS_MOST];

	steps = argc > 1 ? atoi(argv[1]) : steps;
	first_call = first_call < steps ? first_call : steps - 1;
	readers = argc > 2 && atoi(argv[2]) <= READERS_MOST ? atoi(argv[2]) : readers;
	pthread_barrier_init(&step_end, NULL, (unsigned)readers + 2);
	for (int i = 0; i < readers + 2; i++)
		pthread_create(&threads[i], NULL, client, i < 2 ? &alter[i] : NULL);
	for (int i = 0; i < readers + 2; i++)
		pthread_join(threads[i], NULL);
	printf("versions %d, shadows %d, plain tables %d, statements %d\n", versions, shadows,
		plain_tables, statements);
	pthread_barrier_destroy(&step_end);
	return hidden < 0;
}
