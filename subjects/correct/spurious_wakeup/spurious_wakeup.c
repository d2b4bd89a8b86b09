/* EXPECT: passed runs=20000 options=--spurious-wakeups */
/*
 * Pattern: a wait that tests again (POSIX allows wake-ups without a signal).
 *
 * One reader, one writer, one event.
 *
 * Corrected: the wait stands in a loop. Cannot fail: main continues only after it has seen the
 * answer.
 */
#include <assert.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>

static struct {
	pthread_mutex_t lock;
	pthread_cond_t arrived;
	bool has_arrived; /* guarded by lock */
	int value;	  /* guarded by lock */
} answer = {.lock = PTHREAD_MUTEX_INITIALIZER, .arrived = PTHREAD_COND_INITIALIZER};

static int answer_await(void)
{
	pthread_mutex_lock(&answer.lock);
	while (!answer.has_arrived)
		pthread_cond_wait(&answer.arrived, &answer.lock);
	assert(answer.has_arrived);
	int value = answer.value;
	pthread_mutex_unlock(&answer.lock);
	return value;
}

static void *compute(void *unused)
{
	(void)unused;
	pthread_mutex_lock(&answer.lock);
	answer.value = 42;
	answer.has_arrived = true;
	pthread_cond_signal(&answer.arrived);
	pthread_mutex_unlock(&answer.lock);
	return NULL;
}

int main(void)
{
	pthread_t thread;

	pthread_create(&thread, NULL, compute, NULL);
	printf("answer %d\n", answer_await());
	pthread_join(thread, NULL);
	return 0;
}
