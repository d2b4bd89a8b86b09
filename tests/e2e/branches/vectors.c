/*
 * Built with -O2. Shared memory is read and written in vectors, one access each: the marked
 * conditions depend on the schedule, the others do not.
 */
#include <pthread.h>

typedef int four __attribute__((vector_size(16)));
typedef unsigned char many __attribute__((vector_size(256)));

static volatile int seen;
int numbers[16];
unsigned char letters[64];
volatile four whole = {1, 1, 1, 1};
volatile many long_one;

__attribute__((noinline)) static int sum(void)
{
	int result = 0;

	for (int i = 0; i < 16; i++)
		result += numbers[i];
	return result;
}

__attribute__((noinline)) static int count(void)
{
	int result = 0;

	for (int i = 0; i < 64; i++)
		result += letters[i] == 'x';
	return result;
}

static void *serve(void *unused)
{
	const four other = {2, 2, 2, 2};

	numbers[5] = 9;
	letters[40] = 'x';
	whole = other;
	((volatile unsigned char *)&long_one)[200] = 7;
	return unused;
}

int main(void)
{
	pthread_t thread;
	four mine;
	many all;

	if (pthread_create(&thread, NULL, serve, NULL))
		return 1;
	if (sum() > 5) /* sensitive */
		seen++;
	if (sum() > 9)
		seen++;
	if (count()) /* sensitive */
		seen++;
	mine = whole;
	if (mine[0] != mine[3])
		seen++;
	if (mine[1] == 2) /* sensitive */
		seen++;
	all = long_one;
	if (all[200] == 7) /* sensitive */
		seen++;
	if (all[201] == 7)
		seen++;
	return pthread_join(thread, NULL);
}
