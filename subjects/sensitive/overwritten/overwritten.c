/*
 * EXPECT-BRANCH: if (level > 3) [benign]
 *
 * A copy of a shared value that code without bitcode replaces (sscanf), and one that it leaves
 * alone: a branch on the first does not depend on the schedule, whatever value it had before.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

struct settings {
	int level, width;
};

static atomic_int shared_level = 1;

static void *raise_level(void *unused)
{
	atomic_store(&shared_level, 5);
	return unused;
}

int main(void)
{
	struct settings *settings = calloc(1, sizeof *settings);
	pthread_t thread;
	int level;

	pthread_create(&thread, NULL, raise_level, NULL);
	settings->level = atomic_load(&shared_level);
	settings->width = settings->level;
	level = settings->level;
	if (level > 3)
		puts("high");
	if (sscanf("2", "%d", &settings->width) != 1)
		return 1;
	if (settings->width > 3)
		puts("wide");
	pthread_join(thread, NULL);
	free(settings);
	return 0;
}
