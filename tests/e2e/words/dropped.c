/* Two threads drop their reference to a message, but one of them never took one: both free it. */
#include <pthread.h>
#include <stdlib.h>

struct message {
	int id;
	char text[20];
};

static struct message *message;
static int users = 1;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void *drop(void *unused)
{
	int left;

	pthread_mutex_lock(&lock);
	left = users > 0 ? --users : 0;
	pthread_mutex_unlock(&lock);
	if (left == 0)
		free(message);
	return unused;
}

int main(void)
{
	pthread_t threads[2];

	message = calloc(1, sizeof *message);
	if (!message)
		return 0;
	for (int i = 0; i < 2; i++)
		if (pthread_create(&threads[i], NULL, drop, NULL))
			return 0;
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	return 0;
}
