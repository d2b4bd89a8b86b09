/* EXPECT: passed runs=20000 */
/*
 * Pattern: a signal before the unlock.
 *
 * A request carries its own lock and condition. Its creator frees it after reading the answer,
 * which is possible without a wait.
 *
 * Corrected: the signal is sent inside the lock. Cannot fail: no thread sees the answer before the
 * server has left the lock, which is the last that it does with the request.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

struct request {
	pthread_mutex_t lock;
	pthread_cond_t answered;
	int has_answer; /* guarded by lock */
};

static void *answer(void *argument)
{
	struct request *request = argument;

	pthread_mutex_lock(&request->lock);
	request->has_answer = 1;
	pthread_cond_signal(&request->answered);
	pthread_mutex_unlock(&request->lock);
	return NULL;
}

int main(void)
{
	struct request *request = calloc(1, sizeof *request);
	pthread_t server;

	if (!request)
		return 2;
	pthread_mutex_init(&request->lock, NULL);
	pthread_cond_init(&request->answered, NULL);
	pthread_create(&server, NULL, answer, request);

	pthread_mutex_lock(&request->lock);
	while (!request->has_answer)
		pthread_cond_wait(&request->answered, &request->lock);
	pthread_mutex_unlock(&request->lock);
	pthread_cond_destroy(&request->answered);
	pthread_mutex_destroy(&request->lock);
	free(request);
	pthread_join(server, NULL);
	puts("answered");
	return 0;
}
