/* Conditions on what functions of the library read in shared memory; of what only one thread has nothing is said. */
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
	int found = strlen(own) == 2;

	(void)arguments;
	pthread_create(&thread, NULL, serve, NULL);
	own[0] = (char)('a' + count);
	found += strcmp(own, "own") == 0;
	found += strcmp(request, "POST") == 0;
	found += memcmp(request, "HEAD", (size_t)(3 + count)) == 0;
	pthread_join(thread, NULL);
	return found;
}
