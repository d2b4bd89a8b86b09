/* EXPECT: abort runs<=500 needs=memory */
/*
 * Pattern: bubble sort (two sorters, each with a half; the halves have the middle number in common).
 *
 * Fails when: main.0 compares the numbers at the end of its half; main.1 exchanges the common one with
 * its neighbour; main.0 exchanges the two that it had compared, and writes a number a second time over
 * the one that main.1 had put there.
 *
 * EXPECT-BOUNDS: c=1 v=1 t=2
 * EXPECT-PATTERN: R1-W2-W1 numbers[4] @high @to_left @to_right
 * EXPECT-PATTERN: R1-W2-W1 numbers[4] @low @to_right @to_left
 */
#include <assert.h>
#include <pthread.h>

#define NUMBERS 9
#define MIDDLE 4

struct half {
	int begin, end; /* the last one included */
};

static int numbers[NUMBERS] = {5, 9, 4, 8, 6, 1, 7, 2, 3};

static void put_in_order(int left)
{
	const int low = numbers[left];	    /* @low */
	const int high = numbers[left + 1]; /* @high */

	if (low > high) {
		numbers[left] = high;	 /* @to_left */
		numbers[left + 1] = low; /* @to_right */
	}
}

static void *sort_half(void *argument)
{
	const struct half *const half = argument;

	for (int end = half->end; end > half->begin; end--)
		for (int i = half->begin; i < end; i++)
			put_in_order(i);
	return NULL;
}

int main(void)
{
	struct half left = {0, MIDDLE}, right = {MIDDLE, NUMBERS - 1};
	pthread_t sorters[2];
	int sum = 0;

	pthread_create(&sorters[0], NULL, sort_half, &left);
	pthread_create(&sorters[1], NULL, sort_half, &right);
	for (int i = 0; i < 2; i++)
		pthread_join(sorters[i], NULL);
	for (int i = 0; i < NUMBERS; i++)
		sum += numbers[i];
	assert(sum == 45);
	return 0;
}
