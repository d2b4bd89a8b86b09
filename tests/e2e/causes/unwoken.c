/* A loop that waits for an event descriptor is stopped by another thread: without a wake-up, or before it runs. */
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

static atomic_bool is_running;
static int wake, other[2];

static void *stop(void *unused)
{
	atomic_store(&is_running, 0);
	return unused;
}

static void *stop_and_wake(void *unused)
{
	const uint64_t one = 1;

	atomic_store(&is_running, 0);
	if (write(wake, &one, sizeof one) < 0) /* WOKEN */
		_exit(2);
	return unused;
}

/* Waits for a descriptor to which main does not write, because main waits for another one. */
static void *wait_too(void *unused)
{
	char byte;

	return read(other[0], &byte, 1) < 0 ? NULL : unused;
}

static void loop(void)
{
	while (atomic_load(&is_running)) {
		struct pollfd woken = {wake, POLLIN, 0};
		uint64_t count;

		poll(&woken, 1, -1);			  /* POLLED */
		if (read(wake, &count, sizeof count) < 0) /* EMPTIED */
			continue;
	}
}

/* `silent`: the stopping thread does not wake the loop. `early`: the loop may begin after it was stopped. `both`: as
 * `silent`, while a third thread waits, too. */
int main(int argc, char **argv)
{
	const char *mode = argc > 1 ? argv[1] : "";
	pthread_t thread, waiter;

	wake = eventfd(0, EFD_NONBLOCK);
	if (strcmp(mode, "early"))
		atomic_store(&is_running, 1);
	if (!strcmp(mode, "both") && pipe(other) == 0)
		pthread_create(&waiter, NULL, wait_too, NULL);
	pthread_create(&thread, NULL, *mode && strcmp(mode, "early") ? stop : stop_and_wake, NULL);
	if (!strcmp(mode, "early"))
		atomic_store(&is_running, 1);
	loop();
	pthread_join(thread, NULL);
	return 0;
}
