/* Static pointers that main sets once: the one that the command line names after the threads began, so that a thread
 * may find it null, and the other ones before. */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

struct session {
	long kind;
	long uses;
};
static struct session *block, *table;
static struct session first_table;

static void *use(void *argument)
{
	block->uses++;
	table->uses++;
	return argument;
}

static __attribute__((noinline)) void set_block(void)
{
	block = calloc(1, sizeof *block);
}

static __attribute__((noinline)) void set_table(void)
{
	table = &first_table;
}

int main(int argc, char **argv)
{
	const int is_block_late = argc > 1 && !strcmp(argv[1], "block");
	const int is_table_late = argc > 1 && !strcmp(argv[1], "table");
	pthread_t threads[2];

	if (!is_block_late)
		set_block();
	if (!is_table_late)
		set_table();
	for (int i = 0; i < 2; i++)
		pthread_create(&threads[i], NULL, use, NULL);
	if (is_block_late)
		set_block();
	if (is_table_late)
		set_table();
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	free(block);
	return 0;
}
