/* sqlite_clients THREADS OPERATIONS: threads insert and count rows of one table through one connection. */
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>

#include "sqlite3.h"

static sqlite3 *database;
static int operations;

static void *work(void *number)
{
	sqlite3_stmt *insert, *count;

	if (sqlite3_prepare_v2(database, "INSERT INTO pairs VALUES (?1, ?2)", -1, &insert, NULL) ||
		sqlite3_prepare_v2(database, "SELECT max(rowid) FROM pairs WHERE rowid > ?1", -1,
			&count, NULL))
		exit(2);
	for (int i = 0; i < operations; i++) {
		sqlite3_stmt *statement = i % 4 ? insert : count;

		sqlite3_bind_int(statement, 1, i);
		if (statement == insert)
			sqlite3_bind_int64(statement, 2, (intptr_t)number);
		while (sqlite3_step(statement) == SQLITE_ROW)
			if (sqlite3_column_int(statement, 0) > operations * 4)
				exit(3);
		sqlite3_reset(statement);
	}
	sqlite3_finalize(insert);
	sqlite3_finalize(count);
	return NULL;
}

int main(int argc, char **argv)
{
	const int thread_count = argc > 1 ? atoi(argv[1]) : 3;
	pthread_t threads[16];

	operations = argc > 2 ? atoi(argv[2]) : 40;
	if (thread_count > 16 || sqlite3_open(":memory:", &database) ||
		sqlite3_exec(database, "CREATE TABLE pairs (key INTEGER, value INTEGER)", NULL,
			NULL, NULL))
		return 2;
	for (int i = 0; i < thread_count; i++)
		if (pthread_create(&threads[i], NULL, work, (void *)(intptr_t)(i + 1)) != 0)
			return 2;
	for (int i = 0; i < thread_count; i++)
		pthread_join(threads[i], NULL);
	return sqlite3_close(database) != SQLITE_OK;
}
