/*
 * Programs with a watchdog, one for each argument WATCHDOG:WORK.
 *
 * WATCHDOG: alarm (SIGALRM by default), handler (of SIGALRM, which exits), thread (sleeps, then aborts), main (waits with
 * a limit, then exits).
 * WORK: cycle (two locks), lost (a signal without a waiter), slow (a sleep that is longer than the watchdog's),
 * busy (many steps, and no waiting), recovers (the watchdog wakes the workers, and all is well), idle (waits for work
 * that the watchdog itself should give).
 */
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static pthread_mutex_t left = PTHREAD_MUTEX_INITIALIZER, right = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER, finished = PTHREAD_COND_INITIALIZER;
static int ended, wakes_workers;

static int begins(const char *text, const char *word)
{
	return !strncmp(text, word, strlen(word));
}

static void note_end(void)
{
	pthread_mutex_lock(&mutex);
	ended++;
	pthread_cond_signal(&finished);
	pthread_mutex_unlock(&mutex);
}

static void *lock_left_first(void *unused)
{
	pthread_mutex_lock(&left);
	pthread_mutex_lock(&right);
	pthread_mutex_unlock(&right);
	pthread_mutex_unlock(&left);
	note_end();
	return unused;
}

static void *lock_right_first(void *unused)
{
	pthread_mutex_lock(&right);
	pthread_mutex_lock(&left);
	pthread_mutex_unlock(&left);
	pthread_mutex_unlock(&right);
	note_end();
	return unused;
}

static void *wait_once(void *unused)
{
	pthread_mutex_lock(&mutex);
	pthread_cond_wait(&changed, &mutex);
	pthread_mutex_unlock(&mutex);
	note_end();
	return unused;
}

static void *signal_once(void *unused)
{
	pthread_mutex_lock(&mutex);
	pthread_cond_signal(&changed);
	pthread_mutex_unlock(&mutex);
	note_end();
	return unused;
}

static void *sleep_long(void *unused)
{
	sleep(60);
	note_end();
	return unused;
}

static void *lock_often(void *unused)
{
	for (int i = 0; i < 60000; i++) {
		pthread_mutex_lock(&left);
		pthread_mutex_unlock(&left);
	}
	note_end();
	return unused;
}

static void *do_nothing(void *unused)
{
	note_end();
	return unused;
}

static void *watch(void *unused)
{
	sleep(30);
	if (!wakes_workers)
		abort();
	pthread_mutex_lock(&mutex);
	pthread_cond_broadcast(&changed);
	pthread_mutex_unlock(&mutex);
	return unused;
}

static void give_up(int signal)
{
	(void)signal;
	_exit(3);
}

static void wait_for_end_with_limit(void)
{
	struct timespec limit;

	clock_gettime(CLOCK_REALTIME, &limit);
	limit.tv_sec += 30;
	pthread_mutex_lock(&mutex);
	while (ended < 2)
		if (pthread_cond_timedwait(&finished, &mutex, &limit) != 0)
			exit(4);
	pthread_mutex_unlock(&mutex);
}

int main(int count, char **arguments)
{
	const char *const watchdog = count > 1 ? arguments[1] : "";
	const char *const colon = strchr(watchdog, ':');
	const char *const work = colon ? colon + 1 : "";
	void *(*first)(void *) = wait_once, *(*second)(void *) = do_nothing;
	pthread_t threads[3];

	if (begins(work, "cycle")) {
		first = lock_left_first;
		second = lock_right_first;
	} else if (begins(work, "lost")) {
		second = signal_once;
	} else if (begins(work, "slow")) {
		first = sleep_long;
	} else if (begins(work, "busy")) {
		first = second = lock_often;
	}
	wakes_workers = begins(work, "recovers");
	if (begins(watchdog, "handler"))
		signal(SIGALRM, give_up);
	if (begins(watchdog, "alarm") || begins(watchdog, "handler"))
		alarm(30);
	if (begins(watchdog, "thread")) {
		pthread_create(&threads[2], NULL, watch, NULL);
		pthread_detach(threads[2]);
	}
	pthread_create(&threads[0], NULL, first, NULL);
	pthread_create(&threads[1], NULL, second, NULL);
	if (begins(watchdog, "main"))
		wait_for_end_with_limit();
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	return 0;
}
