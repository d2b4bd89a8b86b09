/* A copy whose length depends on the schedule: it is what it was. */
#include <pthread.h>
#include <string.h>

static unsigned long length = 2;
static char text[16] = "a text", copy[16];

static void *lengthen(void *unused)
{
	length = 6;
	return unused;
}

int main(void)
{
	pthread_t thread;

	pthread_create(&thread, NULL, lengthen, NULL);
	memcpy(copy, text, length);
	pthread_join(thread, NULL);
	return 0;
}
