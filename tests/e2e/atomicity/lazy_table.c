/*
 * A correct table that is made at its first use. Its pointer is tested without the lock, tested
 * again under the lock, and published (release) when the table is complete; readers acquire it.
 */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

struct table {
	int rows;
	int columns;
};

static pthread_mutex_t making = PTHREAD_MUTEX_INITIALIZER;
static _Atomic(struct table *) known;

static struct table *table_find(void)
{
	struct table *table = atomic_load_explicit(&known, memory_order_acquire);

	if (table)
		return table;
	pthread_mutex_lock(&making);
	table = atomic_load_explicit(&known, memory_order_acquire);
	if (!table) {
		table = calloc(1, sizeof *table);
		assert(table);
		table->rows = 3;
		table->columns = 4;
		atomic_store_explicit(&known, table, memory_order_release);
	}
	pthread_mutex_unlock(&making);
	return table;
}

static void *use(void *cells)
{
	const struct table *table = table_find();

	*(int *)cells = table->rows * table->columns;
	return NULL;
}

int main(void)
{
	pthread_t users[3];
	int cells[3];

	for (int i = 0; i < 3; i++)
		pthread_create(&users[i], NULL, use, &cells[i]);
	for (int i = 0; i < 3; i++) {
		pthread_join(users[i], NULL);
		assert(cells[i] == 12);
	}
	free(known);
	return 0;
}
