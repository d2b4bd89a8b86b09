/* A reader whose pointer leads to its own variable, until the writer changes the pointer. Only then do both threads access
 * `shared`, by an instruction that has been seen at memory of one thread: 1 order reads the own variable, 3 read `shared`
 * before, between and behind the writer's last two stores. */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

static _Atomic int has_changed;
static _Alignas(64) volatile long own = 2;
static _Alignas(64) volatile long shared = 2;
static volatile long *const cells[] = {&own, &shared};

static void *write_shared(void *unused)
{
	shared = 0;
	shared = 2;
	atomic_store(&has_changed, 1);
	shared = 1;
	shared = 2;
	return unused;
}

static void *read_cell(void *is_checked)
{
	long value = *cells[atomic_load(&has_changed)];

	own = value;
	assert(!is_checked || value == 2);
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t reader, writer;

	pthread_create(&reader, NULL, read_cell, argc > 2 ? argv : NULL);
	pthread_create(&writer, NULL, write_shared, NULL);
	pthread_join(reader, NULL);
	pthread_join(writer, NULL);
	return 0;
}
