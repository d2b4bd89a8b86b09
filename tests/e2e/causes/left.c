/* A request on the stack of a function that gives up waiting: left late | waited. */
#include <pthread.h>
#include <sched.h>
#include <string.h>

struct request {
	int value, answer, is_done;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static struct request *queued;
static int is_stopped, waits_for_answer;

static void *serve(void *unused)
{
	struct request *request;

	pthread_mutex_lock(&lock);
	while (!queued && !is_stopped)
		pthread_cond_wait(&changed, &lock);
	request = queued;
	pthread_mutex_unlock(&lock);
	if (!request)
		return unused;
	request->answer = request->value * 2; /* ANSWERED */
	pthread_mutex_lock(&lock);
	request->is_done = 1;
	pthread_cond_broadcast(&changed);
	pthread_mutex_unlock(&lock);
	return unused;
}

__attribute__((noinline)) static int ask(int value)
{
	struct request request = {.value = value}; /* ASKED */

	pthread_mutex_lock(&lock);
	queued = &request;
	pthread_cond_broadcast(&changed);
	while (waits_for_answer && !request.is_done)
		pthread_cond_wait(&changed, &lock);
	pthread_mutex_unlock(&lock);
	return 0;
}

int main(int argc, char **argv)
{
	pthread_t server;

	waits_for_answer = argc == 2 && !strcmp(argv[1], "waited");
	pthread_create(&server, NULL, serve, NULL);
	(void)ask(21);
	pthread_mutex_lock(&lock);
	is_stopped = 1;
	pthread_cond_broadcast(&changed);
	pthread_mutex_unlock(&lock);
	pthread_join(server, NULL); /* JOINED */
	return 0;
}
