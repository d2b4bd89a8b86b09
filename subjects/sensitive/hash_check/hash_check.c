/*
 * EXPECT-BRANCH: if (seen == wanted) [benign]
 *
 * The hash-check program of the paper on schedule-sensitive branches. Random schedules hardly ever
 * leave the value with the wanted hash; a solver finds the necessary write.
 */
#include <pthread.h>
#include <stdio.h>

#define WORDS 12
#define WANTED 9

static unsigned current = 1;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static unsigned hash(unsigned word)
{
	word = (word ^ 61) ^ (word >> 16);
	word = word + (word << 3);
	return (word ^ (word >> 4)) * 0x27d4eb2du;
}

static void *change(void *unused)
{
	for (unsigned i = 2; i < WORDS; i++) {
		pthread_mutex_lock(&lock);
		current = i * i;
		pthread_mutex_unlock(&lock);
	}
	return unused;
}

int main(void)
{
	const unsigned wanted = hash(WANTED * WANTED);
	pthread_t thread;
	unsigned seen;

	pthread_create(&thread, NULL, change, NULL);
	pthread_mutex_lock(&lock);
	seen = hash(current);
	pthread_mutex_unlock(&lock);
	if (seen == wanted)
		puts("found");
	pthread_join(thread, NULL);
	return 0;
}
