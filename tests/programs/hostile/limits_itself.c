/* EXPECT: passed runs=5 */
/* Forbids itself further descriptors and core files, clears its environment and leaves its folder. */
#include <pthread.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

static void *work(void *unused)
{
	return unused;
}

int main(void)
{
	struct rlimit none = {.rlim_cur = 0, .rlim_max = 0};
	pthread_t thread;

	if (setrlimit(RLIMIT_NOFILE, &none) != 0 || setrlimit(RLIMIT_CORE, &none) != 0)
		return 1;
	clearenv();
	if (chdir("/") != 0)
		return 1;
	pthread_create(&thread, NULL, work, NULL);
	pthread_join(thread, NULL);
	return 0;
}
