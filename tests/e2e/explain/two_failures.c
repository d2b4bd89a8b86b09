/* Two bugs: an update that gets lost, and a flag that is read too early. */
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>

static int count;
static int is_ready;

static void add(void)
{
	int seen = count; /* the update that gets lost */

	count = seen + 1;
}

static void *work(void *unused)
{
	is_ready = 1;
	add();
	return unused;
}

int main(void)
{
	pthread_t thread;
	bool is_early;

	if (pthread_create(&thread, NULL, work, NULL))
		return 2;
	is_early = !is_ready; /* read too early */
	add();
	(void)pthread_join(thread, NULL); /* it exists */
	if (is_early)
		exit(3);
	if (count != 2)
		abort();
	return 0;
}
