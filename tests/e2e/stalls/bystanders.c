/* main sleeps in the hope that main.0 opens the service. The other two threads do unrelated work, so
 * the failure does not need them to be stalled. */
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <unistd.h>

#define BYSTANDERS 2

static pthread_mutex_t service_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t locks[BYSTANDERS] = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER};
static bool is_open; /* guarded by service_lock */

static void *open_service(void *unused)
{
	pthread_mutex_lock(&service_lock);
	is_open = true;
	pthread_mutex_unlock(&service_lock);
	return unused;
}

static void *work(void *lock)
{
	for (int i = 0; i < 3; i++) {
		pthread_mutex_lock(lock);
		pthread_mutex_unlock(lock);
	}
	return NULL;
}

int main(void)
{
	pthread_t threads[1 + BYSTANDERS];

	pthread_create(&threads[0], NULL, open_service, NULL);
	for (int i = 1; i <= BYSTANDERS; i++)
		pthread_create(&threads[i], NULL, work, &locks[i - 1]);
	usleep(10000);
	pthread_mutex_lock(&service_lock);
	if (!is_open)
		abort();
	pthread_mutex_unlock(&service_lock);
	for (int i = 0; i <= BYSTANDERS; i++)
		pthread_join(threads[i], NULL);
	return 0;
}
