/* EXPECT: use-after-free runs<=500 */
/*
 * Pattern: a signal after the unlock, to whom it may concern no more.
 *
 * A request carries its own lock and condition. Its creator frees it after reading the answer,
 * which is possible without a wait.
 *
 * Fails when: main.0 unlocks; main locks, finds the answer and frees the request; main.0 signals a
 * condition in memory that is no more the request's.
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
	pthread_mutex_unlock(&request->lock);
	pthread_cond_signal(&request->answered);
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
