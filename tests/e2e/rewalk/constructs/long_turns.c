/* Two threads that read each other's progress make no operation for several time slices: the switches determine the values. */
#include <pthread.h>
#include <stdio.h>

#define ROUNDS 60000

static volatile long progress[2], seen[2];
static volatile long table[64];

static void *work(void *argument)
{
	const int own = argument != NULL;

	for (long i = 0; i < ROUNDS; i++) {
		table[i % 64] = i;
		table[(i + 7) % 64] = own;
		table[(i + 9) % 64] = -i;
		progress[own] = i;
		for (long other = progress[!own]; other % 3; other--)
			seen[own] += table[other & 63] + progress[!own];
	}
	return NULL;
}

int main(void)
{
	pthread_t other;

	if (pthread_create(&other, NULL, work, (void *)&table))
		return 1;
	work(NULL);
	pthread_join(other, NULL);
	printf("%ld %ld\n", seen[0], seen[1]);
	return 0;
}
