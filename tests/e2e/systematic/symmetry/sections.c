/* sections THREADS SECTIONS PLACE: interchangeable threads enter critical sections of one mutex: (n*m)!/(m!^n * n!)
 * traces up to an exchange of the threads. PLACE of the mutex: static, heap or stack. */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#define THREADS_MOST 8

struct shared {
	pthread_mutex_t lock;
	int entered, sections;
};

static void *enter(void *argument)
{
	struct shared *shared = argument;

	for (int i = 0; i < shared->sections; i++) {
		pthread_mutex_lock(&shared->lock);
		shared->entered++;
		pthread_mutex_unlock(&shared->lock);
	}
	return NULL;
}

int main(int argc, char **argv)
{
	static struct shared fixed;
	const int threads = argc > 3 ? atoi(argv[1]) : 0;
	struct shared on_stack, *shared = &fixed;
	pthread_t thread[THREADS_MOST];

	if (threads < 1 || threads > THREADS_MOST)
		return 2;
	if (!strcmp(argv[3], "stack"))
		shared = &on_stack;
	else if (!strcmp(argv[3], "heap"))
		shared = malloc(sizeof *shared);
	if (!shared)
		return 2;
	*shared = (struct shared){.lock = PTHREAD_MUTEX_INITIALIZER, .sections = atoi(argv[2])};
	for (int i = 0; i < threads; i++)
		if (pthread_create(&thread[i], NULL, enter, shared))
			return 2;
	for (int i = 0; i < threads; i++)
		pthread_join(thread[i], NULL);
	return shared->entered != threads * shared->sections;
}
