/* EXPECT: crash(SIGSEGV) runs<=100 */
/* A thread uses a pointer in a block that another thread has freed between its two critical sections. The old contents
 * would still be there, so that the program passes natively. */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

struct session {
	long number, requests;
	const char *name;
};
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct session *session;

static void *use(void *argument)
{
	struct session *own;

	pthread_mutex_lock(&lock);
	own = session;
	pthread_mutex_unlock(&lock);
	if (!own)
		return argument;
	pthread_mutex_lock(&lock);
	own->requests++;
	pthread_mutex_unlock(&lock);
	return strlen(own->name) == 5 ? argument : NULL;
}

static void *end(void *argument)
{
	struct session *own;

	pthread_mutex_lock(&lock);
	own = session;
	session = NULL;
	pthread_mutex_unlock(&lock);
	free(own);
	return argument;
}

int main(void)
{
	pthread_t threads[2];

	session = calloc(1, sizeof *session);
	session->name = "first";
	pthread_create(&threads[0], NULL, use, NULL);
	pthread_create(&threads[1], NULL, end, NULL);
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	return 0;
}
