/* EXPECT: lost-wakeup strategy=random runs<=5000 */
/*
 * Pattern: one condition variable for two roles, and a signal that wakes the wrong one.
 *
 * A mailbox for one letter. Writers wait for it to be empty and readers for it to be full, all on
 * the same condition variable; each change wakes one of them.
 *
 * Fails when: both readers wait on the empty box; main.0 puts its letter and wakes reader main.2;
 * main.1 finds the box full and waits; main.2 takes the letter, and its signal goes to reader
 * main.3, who has waited longer than writer main.1. main.3 finds the box empty and waits again: no
 * thread is left to signal.
 *
 * EXPECT-TABLE: ProducerConsumer threads=7 schedules=1 -DPAIRS=3
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
	pthread_cond_signal(&mailbox.changed);
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
	pthread_cond_signal(&mailbox.changed);
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
