/* Conditions on what functions of the library read in shared memory; of what only one thread has nothing is said. */
#define _GNU_SOURCE
#include <pthread.h>
#include <string.h>

static char request[16] = "GET";
static char own[16] = "own";

static void *serve(void *unused)
{
	memcpy(request, "PUT", 4);
	return unused;
}

int main(int count, char **arguments)
{
	pthread_t thread;
	int found = memrchr(own, 2, 3) == own;

	(void)arguments;
	pthread_create(&thread, NULL, serve, NULL);
	own[0] = (char)('a' + count);
	found += strcoll(own, "own") == 0;
	found += strcoll(request, "POST") == 0;
	found += memrchr(request, count, 3) == request;
	pthread_join(thread, NULL);
	return found;
}
