/* EXPECT: abort strategy=surw runs<=500 */
/*
 * Pattern: a timeout taken for success.
 *
 * A clerk needs 60 ms for each form. Main waits for 100 ms at most, and treats every return from
 * the wait as the news that the form is ready.
 *
 * Fails when: main.1 (in no hurry) hands in its form before main does: then main's is ready after
 * 120 ms, its wait ends after 100 ms, and it uses a form that nobody has stamped.
 */
#include <assert.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <time.h>

#define CUSTOMERS 2

struct form {
	pthread_cond_t stamped;
	long patience_ms;
	bool is_stamped; /* guarded by counter_lock */
};

static pthread_mutex_t counter_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t form_arrived = PTHREAD_COND_INITIALIZER;
static struct form *queue[CUSTOMERS]; /* guarded by counter_lock */
static int queued;		      /* guarded by counter_lock */

static struct timespec milliseconds(long count)
{
	return (struct timespec){.tv_sec = count / 1000, .tv_nsec = count % 1000 * 1000000};
}

static void *clerk(void *unused)
{
	(void)unused;
	for (int done = 0; done < CUSTOMERS; done++) {
		struct timespec work = milliseconds(60);

		pthread_mutex_lock(&counter_lock);
		while (queued == done)
			pthread_cond_wait(&form_arrived, &counter_lock);
		struct form *form = queue[done];
		pthread_mutex_unlock(&counter_lock);

		nanosleep(&work, NULL);
		pthread_mutex_lock(&counter_lock);
		form->is_stamped = true;
		pthread_cond_signal(&form->stamped);
		pthread_mutex_unlock(&counter_lock);
	}
	return NULL;
}

static void *customer(void *argument)
{
	struct form *form = argument;
	struct timespec patience = milliseconds(form->patience_ms);
	struct timespec deadline;
	int result = 0;

	pthread_mutex_lock(&counter_lock);
	queue[queued++] = form;
	pthread_cond_signal(&form_arrived);
	clock_gettime(CLOCK_REALTIME, &deadline);
	deadline.tv_sec += patience.tv_sec + (deadline.tv_nsec + patience.tv_nsec) / 1000000000;
	deadline.tv_nsec = (deadline.tv_nsec + patience.tv_nsec) % 1000000000;
	while (!form->is_stamped && result == 0)
		result = pthread_cond_timedwait(&form->stamped, &counter_lock, &deadline);
	assert(form->is_stamped);
	pthread_mutex_unlock(&counter_lock);
	return NULL;
}

int main(void)
{
	struct form hurried = {.stamped = PTHREAD_COND_INITIALIZER, .patience_ms = 100};
	struct form patient = {.stamped = PTHREAD_COND_INITIALIZER, .patience_ms = 5000};
	pthread_t clerk_thread, customer_thread;

	pthread_create(&clerk_thread, NULL, clerk, NULL);
	pthread_create(&customer_thread, NULL, customer, &patient);
	customer(&hurried);
	pthread_join(customer_thread, NULL);
	pthread_join(clerk_thread, NULL);
	printf("the counter closes\n");
	return 0;
}
