/*
 * long_runs none|counter|stale|unlocked: runs of more than a hundred thousand steps, most of them accesses under a lock.
 * none: correct. counter: two threads also count without a lock. stale: a thread uses a block under the lock after
 * another one has freed it there, which is no race. unlocked: the use needs no lock, and races. In both, each section
 * frees the message of an earlier one.
 */
#include <assert.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#define SECTIONS 400
#define SHARED 100
#define OWN 200

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static long table[SHARED];
static long counter, *latest, *message;
static const char *mode;

static void pass_message(long number)
{
	pthread_mutex_lock(&lock);
	if (message)
		table[1] += message[2];
	free(message);
	message = calloc(4, sizeof *message);
	message[2] = number;
	pthread_mutex_unlock(&lock);
}

static void replace_latest(void)
{
	free(latest);
	latest = calloc(4, sizeof *latest);
}

static void section(long *own, int number)
{
	long *kept;

	pthread_mutex_lock(&lock);
	for (int i = 0; i < SHARED; i++)
		table[i] += own[i];
	kept = latest;
	pthread_mutex_unlock(&lock);
	if (mode[0] == 'c' && number % 100 == 50)
		counter++;
	if (mode[0] == 's' || mode[0] == 'u')
		pass_message(number);
	if (mode[0] == 's' && number % 4 == 2) {
		pthread_mutex_lock(&lock);
		table[0] += kept[1];
		replace_latest();
		pthread_mutex_unlock(&lock);
	}
	if (mode[0] == 'u' && number % 4 == 2) {
		own[0] += latest[1];
		pthread_mutex_lock(&lock);
		replace_latest();
		pthread_mutex_unlock(&lock);
	}
}

static void *work(void *unused)
{
	long *own = calloc(OWN, sizeof *own);

	for (int number = 0; number < SECTIONS; number++) {
		for (int i = 0; i < OWN; i++)
			own[i] += number ^ i;
		section(own, number);
	}
	free(own);
	return unused;
}

int main(int argc, char **argv)
{
	pthread_t thread;

	mode = argc > 1 ? argv[1] : "none";
	latest = calloc(4, sizeof *latest);
	pthread_create(&thread, NULL, work, NULL);
	(void)work(NULL);
	pthread_join(thread, NULL);
	assert(counter == (mode[0] == 'c' ? 8 : 0));
	return 0;
}
