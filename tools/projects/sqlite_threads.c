/*
 * Three threads with one database in memory, through one connection, and each with a file of its own: for
 * tools/real-projects. Prints nothing; 0: every row is there.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include "sqlite3.h"

#define THREADS 3
#define ROWS 8

static sqlite3 *shared;

static void must(int result, int expected, sqlite3 *db)
{
	if (result == expected)
		return;
	(void)fprintf(stderr, "sqlite_threads: %s\n", sqlite3_errmsg(db));
	exit(1);
}

static void execute(sqlite3 *db, const char *text)
{
	must(sqlite3_exec(db, text, NULL, NULL, NULL), SQLITE_OK, db);
}

static int count(sqlite3 *db)
{
	sqlite3_stmt *statement;
	int rows;

	must(sqlite3_prepare_v2(db, "select count(*) from t", -1, &statement, NULL), SQLITE_OK, db);
	must(sqlite3_step(statement), SQLITE_ROW, db);
	rows = sqlite3_column_int(statement, 0);
	must(sqlite3_finalize(statement), SQLITE_OK, db);
	return rows;
}

static void *work(void *argument)
{
	const long own = (long)argument;
	char text[100];
	sqlite3 *db;

	must(sqlite3_open(":memory:", &db), SQLITE_OK, db);
	execute(db, "create table t(thread, number)");
	for (int i = 0; i < ROWS; i++) {
		(void)snprintf(text, sizeof text, "insert into t values (%ld, %d)", own, i);
		execute(db, text);
		execute(shared, text);
	}
	must(count(db), ROWS, db);
	must(sqlite3_close(db), SQLITE_OK, db);
	return NULL;
}

int main(void)
{
	pthread_t threads[THREADS];

	must(sqlite3_open(":memory:", &shared), SQLITE_OK, shared);
	execute(shared, "create table t(thread, number)");
	for (long i = 0; i < THREADS; i++)
		if (pthread_create(&threads[i], NULL, work, (void *)i) != 0)
			return 1;
	for (int i = 0; i < THREADS; i++)
		(void)pthread_join(threads[i], NULL);
	return count(shared) == THREADS * ROWS ? 0 : 1;
}
