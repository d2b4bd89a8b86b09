/* The reader uses settings after the lock, while the writer frees them and allocates new ones of the same size, which
 * the allocator would place in the same memory. */
#include <pthread.h>
#include <stdlib.h>

struct settings {
	int limit;
	char name[28];
};
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct settings *settings;

static void *use(void *argument)
{
	struct settings *own;

	pthread_mutex_lock(&lock);
	own = settings;
	pthread_mutex_unlock(&lock);
	return own->limit ? argument : NULL;
}

static void *replace(void *argument)
{
	pthread_mutex_lock(&lock);
	free(settings);
	settings = malloc(sizeof *settings);
	settings->limit = 2;
	pthread_mutex_unlock(&lock);
	return argument;
}

int main(void)
{
	pthread_t threads[2];

	settings = malloc(sizeof *settings);
	settings->limit = 1;
	pthread_create(&threads[0], NULL, use, NULL);
	pthread_create(&threads[1], NULL, replace, NULL);
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	return 0;
}
