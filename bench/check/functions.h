/* The functions that bench/check measures: schedules of threads that add under one lock. */
#pragma once

#include <pthread.h>
#include <stddef.h>

struct shared {
	pthread_mutex_t lock;
	int count;
};

static void add(struct shared *shared)
{
	pthread_mutex_lock(&shared->lock);
	shared->count++;
	pthread_mutex_unlock(&shared->lock);
}

static void *add_twice(void *shared)
{
	add(shared);
	add(shared);
	return NULL;
}

static void *add_five_times(void *shared)
{
	for (int i = 0; i < 5; i++)
		add(shared);
	return NULL;
}

/* Main is the third thread. Two operations of its own, four of each of the others. */
static inline int ten_in_all(void *unused)
{
	struct shared shared = {PTHREAD_MUTEX_INITIALIZER, 0};
	pthread_t threads[2];

	(void)unused;
	for (int i = 0; i < 2; i++)
		pthread_create(&threads[i], NULL, add_twice, &shared);
	add(&shared);
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	return shared.count != 5;
}

static inline int ten_each(void *unused)
{
	struct shared shared = {PTHREAD_MUTEX_INITIALIZER, 0};
	pthread_t threads[3];

	(void)unused;
	for (int i = 0; i < 3; i++)
		pthread_create(&threads[i], NULL, add_five_times, &shared);
	for (int i = 0; i < 3; i++)
		pthread_join(threads[i], NULL);
	return shared.count != 15;
}
