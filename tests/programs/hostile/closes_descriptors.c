/* EXPECT: passed runs=20 */
/* Closes every descriptor it finds, as daemons do, and continues with threads. */
#include <pthread.h>
#include <unistd.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static int count;

static void *work(void *unused)
{
	pthread_mutex_lock(&mutex);
	count++;
	pthread_mutex_unlock(&mutex);
	return unused;
}

int main(void)
{
	pthread_t threads[2];

	for (int fd = 3; fd < 1024; fd++)
		close(fd);
	for (int fd = 0; fd < 3; fd++)
		close(fd);
	for (int i = 0; i < 2; i++)
		pthread_create(&threads[i], NULL, work, NULL);
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	return count == 2 ? 0 : 1;
}
