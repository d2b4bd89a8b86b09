/* Numbers that are read of shared strings: the conditions that are marked depend on the schedule, and the others do not. */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

static char number[16] = "17", negative[16] = " -17", mixed[16] = "5x", empty[16] = "";
static char list[24] = "10,20";
static volatile int seen;

static void *serve(void *unused)
{
	number[2] = '3';
	negative[3] = '0';
	mixed[1] = '2';
	empty[0] = '7';
	list[4] = '9';
	return unused;
}

int main(void)
{
	pthread_t thread;
	char *end;

	if (pthread_create(&thread, NULL, serve, NULL))
		return 1;
	if (atoi(number) > 100) /* sensitive */
		seen++;
	if (atoi(number) > 200)
		seen++;
	if (strtol(negative, NULL, 10) == -10) /* sensitive */
		seen++;
	if (atol(negative) > 0)
		seen++;
	if (strtoul(mixed, NULL, 10) == 52) /* sensitive */
		seen++;
	if (strtoul(mixed, NULL, 10) == 50)
		seen++;
	if (strtoll(empty, NULL, 10) == 7) /* sensitive */
		seen++;
	if (strtoull(empty, NULL, 10) == 1)
		seen++;
	if (strtol(list, &end, 10) == 11)
		seen++;
	if (*end == ',' && strtol(end + 1, NULL, 10) == 29) /* sensitive */
		seen++;
	(void)pthread_join(thread, NULL);
	return 0;
}
