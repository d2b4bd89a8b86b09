/*
 * A client of SQLite with several threads, linked to the system's own library. All threads share one connection, and
 * each has one of its own, to a database in memory with a shared cache. The library takes many locks, also recursive
 * ones, and tries some of them against its usual order.
 *
 * Arguments: threads, rounds of each. Prints the final contents of the tables, which are the same under every
 * schedule.
 */
#include <pthread.h>
#include <sched.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>

#define THREADS_MOST 16
#define PLACE "file:shop?mode=memory&cache=shared"

static sqlite3 *common;
static int rounds = 6;

static void die(sqlite3 *connection, const char *statement)
{
	(void)fprintf(stderr, "%s: %s\n", statement, sqlite3_errmsg(connection));
	exit(2);
}

static sqlite3 *connect_to_shop(void)
{
	sqlite3 *connection;
	const int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_URI |
			  SQLITE_OPEN_FULLMUTEX | SQLITE_OPEN_SHAREDCACHE;

	if (sqlite3_open_v2(PLACE, &connection, flags, NULL) != SQLITE_OK)
		die(connection, "open");
	return connection;
}

/* Tables of a shared cache are locked by the thread that works on them: then it is tried again. */
static void perform(sqlite3 *connection, const char *statement)
{
	int status;

	while ((status = sqlite3_exec(connection, statement, NULL, NULL, NULL)) != SQLITE_OK) {
		if ((status & 0xff) != SQLITE_LOCKED && (status & 0xff) != SQLITE_BUSY)
			die(connection, statement);
		sched_yield();
	}
}

static void *trade(void *unused)
{
	sqlite3 *own = connect_to_shop();

	for (int i = 0; i < rounds; i++) {
		perform(own, "INSERT INTO orders(item, amount) VALUES (1, 2)");
		perform(common, "UPDATE stock SET amount = amount - 2 WHERE item = 1");
		perform(own, "SELECT sum(amount) FROM orders");
		perform(common, "SELECT amount FROM stock WHERE item = 1");
	}
	sqlite3_close(own);
	return unused;
}

static int print_row(void *what, int count, char **values, char **names)
{
	(void)count;
	(void)names;
	(void)printf("%s %s\n", (const char *)what, values[0]);
	return 0;
}

int main(int argc, char **argv)
{
	pthread_t threads[THREADS_MOST];
	int count = argc > 1 ? atoi(argv[1]) : 3;

	rounds = argc > 2 ? atoi(argv[2]) : rounds;
	count = count > THREADS_MOST ? THREADS_MOST : count;
	common = connect_to_shop();
	perform(common, "CREATE TABLE stock(item INTEGER PRIMARY KEY, amount INTEGER)");
	perform(common,
		"CREATE TABLE orders(number INTEGER PRIMARY KEY, item INTEGER, amount INTEGER)");
	perform(common, "INSERT INTO stock VALUES (1, 1000)");
	for (int i = 0; i < count; i++)
		pthread_create(&threads[i], NULL, trade, NULL);
	for (int i = 0; i < count; i++)
		pthread_join(threads[i], NULL);
	sqlite3_exec(common, "SELECT amount FROM stock", print_row, "stock", NULL);
	sqlite3_exec(common, "SELECT count(*) FROM orders", print_row, "orders", NULL);
	sqlite3_close(common);
	return 0;
}
