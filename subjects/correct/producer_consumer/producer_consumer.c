/* EXPECT: passed runs=20000 */
/*
 * Pattern: one condition variable for two roles.
 *
 * A mailbox for one letter. Writers wait for it to be empty and readers for it to be full, all on
 * the same condition variable; each change wakes them.
 *
 * Corrected: every change wakes all waiting threads. Cannot fail: a waiting thread tests the box
 * again after each change. As long as writers and readers are left in equal numbers (a full box:
 * one reader more), one of them finds the awaited state.
 */
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>

#ifndef PAIRS
#define PAIRS 2
#endif

static struct {
	pthread_mutex_t lock;
	pthread_cond_t changed;
	bool is_full;
	int letter;
} mailbox = {.lock = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER};

static int letters[PAIRS];
static int received[PAIRS];

static void *writer(void *letter)
{
	pthread_mutex_lock(&mailbox.lock);
	while (mailbox.is_full)
		pthread_cond_wait(&mailbox.changed, &mailbox.lock);
	mailbox.letter = *(int *)letter;
	mailbox.is_full = true;
	pthread_cond_broadcast(&mailbox.changed);
	pthread_mutex_unlock(&mailbox.lock);
	return NULL;
}

static void *reader(void *letter)
{
	pthread_mutex_lock(&mailbox.lock);
	while (!mailbox.is_full)
		pthread_cond_wait(&mailbox.changed, &mailbox.lock);
	*(int *)letter = mailbox.letter;
	mailbox.is_full = false;
	pthread_cond_broadcast(&mailbox.changed);
	pthread_mutex_unlock(&mailbox.lock);
	return NULL;
}

int main(void)
{
	pthread_t writers[PAIRS], readers[PAIRS];

	for (int i = 0; i < PAIRS; i++) {
		letters[i] = i + 1;
		pthread_create(&writers[i], NULL, writer, &letters[i]);
	}
	for (int i = 0; i < PAIRS; i++)
		pthread_create(&readers[i], NULL, reader, &received[i]);
	for (int i = 0; i < PAIRS; i++) {
		pthread_join(writers[i], NULL);
		pthread_join(readers[i], NULL);
	}
	printf("letters received: %d\n", received[0] + received[1]);
	return 0;
}
