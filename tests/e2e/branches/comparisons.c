/* Comparisons of long memory. The marked conditions depend on the schedule, and the others do not. */
#include <pthread.h>
#include <string.h>

static char left[6000], right[6000], odd[6001];
static const char zeros[6000];
static volatile int seen;

static void *serve(void *unused)
{
	left[5003] = 1;
	right[1000] = 2;
	return unused;
}

int main(void)
{
	char own[6000];
	pthread_t thread;

	memset(own, 0, sizeof own);
	if (pthread_create(&thread, NULL, serve, NULL))
		return 1;
	if (memcmp(left, zeros, sizeof left) == 0) /* sensitive */
		seen++;
	if (memcmp(left, zeros, 5003) == 0)
		seen++;
	if (memcmp(left + 4, own + 4, 5000) == 0) /* sensitive */
		seen++;
	if (memcmp(left, own, 5003) == 0)
		seen++;
	if (memcmp(left, right, sizeof left) < 0) /* sensitive */
		seen++;
	if (memcmp(left, right, 1000) < 0)
		seen++;
	if (memcmp(right, left, 3000) > 1000)
		seen++;
	if (memcmp(left, odd + 1, 4000) == 0)
		seen++;
	(void)pthread_join(thread, NULL);
	return 0;
}
