/* EXPECT: passed runs=50 */
/*
 * The heap begins at the first thread at the latest, as in the C library, whose pthread_create() allocates. If it
 * began in each run, each would make the system calls of that again.
 */
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

#include "check.h"

static void *work(void *unused)
{
	return unused;
}

int main(void)
{
	pthread_t thread;
	void *end, *block;

	CHECK(pthread_create(&thread, NULL, work, NULL) == 0);
	end = sbrk(0);
	block = malloc(100);
	CHECK(block != NULL);
	CHECK(sbrk(0) == end);
	free(block);
	CHECK(pthread_join(thread, NULL) == 0);
	return 0;
}
