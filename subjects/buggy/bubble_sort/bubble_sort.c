/* EXPECT: abort runs<=500 needs=memory */
/*
 * Pattern: bubble sort (two sorters, each with a half; the halves have the middle number in common).
 *
 * Fails when: main.0 compares the numbers at the end of its half; main.1 exchanges the common one with
 * its neighbour; main.0 exchanges the two that it had compared, and writes a number a second time over
 * the one that main.1 had put there.
 *
 * EXPECT-BOUNDS: c=1 v=1 t=2
 * EXPECT-TABLE: BubbleSort threads=9 schedules=1 -DSORTERS=8
 * EXPECT-PATTERN: R1-W2-W1 numbers[4] @high @to_left @to_right
 * EXPECT-PATTERN: R1-W2-W1 numbers[4] @low @to_right @to_left
 * EXPECT-BRANCH: assert(sum == NUMBERS * (NUMBERS - 1) / 2); [bug]
 */
#include <assert.h>
#include <pthread.h>

#ifndef SORTERS
#define SORTERS 2
#endif
#define SHARE 4 /* numbers of a sorter; one more number is shared with the next sorter */
#define NUMBERS (SORTERS * SHARE + 1)

struct share {
	int begin, end; /* the last one included */
};

static int numbers[NUMBERS];

static void put_in_order(int left)
{
	const int low = numbers[left];	    /* @low */
	const int high = numbers[left + 1]; /* @high */

	if (low > high) {
		numbers[left] = high;	 /* @to_left */
		numbers[left + 1] = low; /* @to_right */
	}
}

static void *sort_share(void *argument)
{
	const struct share *const share = argument;

	for (int end = share->end; end > share->begin; end--)
		for (int i = share->begin; i < end; i++)
			put_in_order(i);
	return NULL;
}

int main(void)
{
	struct share shares[SORTERS];
	pthread_t sorters[SORTERS];
	int sum = 0;

	for (int i = 0; i < NUMBERS; i++)
		numbers[i] = NUMBERS - 1 - i;
	for (int i = 0; i < SORTERS; i++) {
		shares[i] = (struct share){i * SHARE, (i + 1) * SHARE};
		pthread_create(&sorters[i], NULL, sort_share, &shares[i]);
	}
	for (int i = 0; i < SORTERS; i++)
		pthread_join(sorters[i], NULL);
	for (int i = 0; i < NUMBERS; i++)
		sum += numbers[i];
	assert(sum == NUMBERS * (NUMBERS - 1) / 2);
	return 0;
}
