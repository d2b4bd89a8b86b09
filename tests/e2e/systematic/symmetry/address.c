/* Three interchangeable threads, except for their stack addresses: the assertion fails only if the thread with the
 * middle address is the last one, behind the highest and the lowest. */
#include <assert.h>
#include <pthread.h>
#include <stdint.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static uintptr_t places[3];
static int count;

static void *enter(void *unused)
{
	char local;

	pthread_mutex_lock(&lock);
	places[count++] = (uintptr_t)&local;
	if (count == 3)
		assert(!(places[0] > places[2] && places[2] > places[1]));
	pthread_mutex_unlock(&lock);
	return unused;
}

int main(void)
{
	pthread_t threads[3];

	for (int i = 0; i < 3; i++)
		if (pthread_create(&threads[i], NULL, enter, NULL))
			return 2;
	for (int i = 0; i < 3; i++)
		pthread_join(threads[i], NULL);
	return 0;
}
