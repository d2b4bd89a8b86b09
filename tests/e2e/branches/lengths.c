/*
 * Copies, fills and comparisons whose length depends on the schedule. The marked conditions depend on the schedule, and the others do not.
 */
#include <pthread.h>
#include <string.h>

static unsigned long length = 12, filled = 9;
static char text[16] = "long as can", copy[16] = "the old text..", dots[16] = "0123456789";
static volatile int seen;

static void *shorten(void *unused)
{
	length = 4;
	length = 8;
	filled = 3;
	return unused;
}

/* The bytes written for printing are shared, because another thread reads them. */
static void *look(void *unused)
{
	if (copy[2] == 'n')
		seen++;
	if (copy[5] == 'a') /* sensitive */
		seen++;
	if (dots[1] == '1')
		seen++;
	if (dots[7] == '7') /* sensitive */
		seen++;
	return unused;
}

int main(void)
{
	pthread_t thread, other;
	char own[16] = {0};
	unsigned long bytes;

	if (pthread_create(&thread, NULL, shorten, NULL))
		return 1;
	bytes = length;
	memcpy(copy, text, bytes);
	memcpy(own, text, bytes);
	memset(dots, '.', filled);
	if (pthread_create(&other, NULL, look, NULL))
		return 1;
	if (bytes == 8) /* sensitive */
		seen++;
	if (memcmp(text, "long is not", bytes) == 0) /* sensitive */
		seen++;
	if (own[1] != 'o')
		seen++;
	(void)pthread_join(thread, NULL);
	(void)pthread_join(other, NULL);
	return 0;
}
