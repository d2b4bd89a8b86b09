/*
 * Deadlocks of several kinds, one for each argument: semaphores, refused, refused_last, readers, condition, nobody (can
 * signal), join. Two threads of each kind wait for each other, or for no thread.
 */
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <string.h>

static sem_t paper, ink;
static int sheets = 3;
static pthread_rwlock_t names = PTHREAD_RWLOCK_INITIALIZER, places = PTHREAD_RWLOCK_INITIALIZER;
static pthread_mutex_t session = PTHREAD_MUTEX_INITIALIZER, queue = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t filled = PTHREAD_COND_INITIALIZER;
static int jobs, done;

static void *write_with_semaphores(void *is_other)
{
	sem_wait(is_other ? &ink : &paper);
	sem_wait(is_other ? &paper : &ink);
	sem_post(&ink);
	sem_post(&paper);
	return NULL;
}

static void *read_then_write(void *is_other)
{
	pthread_rwlock_rdlock(is_other ? &places : &names);
	pthread_rwlock_wrlock(is_other ? &names : &places);
	pthread_rwlock_unlock(&names);
	pthread_rwlock_unlock(&places);
	return NULL;
}

/* Waits while it holds a lock that the signalling thread needs. */
static void *wait_in_session(void *is_other)
{
	pthread_mutex_lock(&session);
	pthread_mutex_lock(&queue);
	if (is_other) {
		jobs = 1;
		pthread_cond_signal(&filled);
	}
	while (!is_other && !jobs)
		pthread_cond_wait(&filled, &queue);
	pthread_mutex_unlock(&queue);
	pthread_mutex_unlock(&session);
	return NULL;
}

/* Both wait for the other's news. */
static void *wait_for_news(void *is_other)
{
	pthread_mutex_lock(&queue);
	if (is_other && done)
		pthread_cond_signal(&filled);
	done = 1;
	while (!jobs && is_other)
		pthread_cond_wait(&filled, &queue);
	jobs = 1;
	pthread_mutex_unlock(&queue);
	return NULL;
}

static void *take_session(void *unused)
{
	pthread_mutex_lock(&session);
	pthread_mutex_unlock(&session);
	return unused;
}

static void run_two(void *(*start)(void *))
{
	pthread_t threads[2];

	pthread_create(&threads[0], NULL, start, NULL);
	pthread_create(&threads[1], NULL, start, &session);
	pthread_join(threads[0], NULL);
	pthread_join(threads[1], NULL);
}

static void join_in_session(void)
{
	pthread_t thread;

	pthread_create(&thread, NULL, take_session, NULL);
	pthread_mutex_lock(&session);
	pthread_join(thread, NULL);
	pthread_mutex_unlock(&session);
}

/* The semaphore is a lock, and the thread whose order is refused does not release it. */
static void *order_paper(void *unused)
{
	for (int tries = 0; tries < (unused ? 3 : 1); tries++) {
		sem_wait(&paper);
		if (sheets < 2)
			continue;
		sheets -= 2;
		sem_post(&paper);
	}
	return unused;
}

int main(int argc, char **argv)
{
	const char *kind = argc > 1 ? argv[1] : "";

	sem_init(&paper, 0, 1);
	sem_init(&ink, 0, 1);
	if (!strcmp(kind, "semaphores"))
		run_two(write_with_semaphores);
	else if (!strcmp(kind, "refused"))
		run_two(order_paper);
	else if (!strcmp(kind, "refused_last"))
		sheets = 0, run_two(order_paper);
	else if (!strcmp(kind, "readers"))
		run_two(read_then_write);
	else if (!strcmp(kind, "condition"))
		run_two(wait_in_session);
	else if (!strcmp(kind, "nobody"))
		run_two(wait_for_news);
	else if (!strcmp(kind, "join"))
		join_in_session();
	return 0;
}
