/* EXPECT: abort runs<=200 needs=memory */
/*
 * Merge sort, another bug: shares are merged when a flag says that they are sorted, and one flag is set
 * too early. After Eytani and others' collection of concurrent programs with bugs.
 *
 * Fails when: main.0 sets its flag; main takes its share for sorted and merges; main.0 writes what is last
 * in its share.
 *
 * EXPECT-BOUNDS: c=1 v=1 t=2
 * EXPECT-TABLE: MergeSortBug threads=29 schedules=89 -DSORTERS=28
 */
#include <assert.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>

#ifndef SORTERS
#define SORTERS 2
#endif
#define SHARE 4
#define NUMBERS (SORTERS * SHARE)

struct share {
	int numbers[SHARE];
	atomic_bool is_sorted;
};

static struct share shares[SORTERS];

static void *sort(void *argument)
{
	struct share *const share = argument;

	for (int end = SHARE - 1; end > 0; end--) {
		for (int i = 0; i < end; i++) {
			const int low = share->numbers[i], high = share->numbers[i + 1];

			if (low > high) {
				share->numbers[i] = high;
				share->numbers[i + 1] = low;
			}
		}
		if (end == 1 || share == &shares[0])
			atomic_store(&share->is_sorted, true);
	}
	return NULL;
}

static void merge(int *merged)
{
	int taken[SORTERS] = {0};

	for (int i = 0; i < NUMBERS; i++) {
		int least = -1;

		for (int j = 0; j < SORTERS; j++)
			if (taken[j] < SHARE &&
				(least < 0 || shares[j].numbers[taken[j]] <
						      shares[least].numbers[taken[least]]))
				least = j;
		merged[i] = shares[least].numbers[taken[least]++];
	}
}

int main(void)
{
	pthread_t sorters[SORTERS];
	int merged[NUMBERS];

	for (int i = 0; i < NUMBERS; i++)
		shares[i / SHARE].numbers[i % SHARE] = NUMBERS - i;
	for (int i = 0; i < SORTERS; i++)
		pthread_create(&sorters[i], NULL, sort, &shares[i]);
	for (int i = 0; i < SORTERS; i++)
		while (!atomic_load(&shares[i].is_sorted))
			sched_yield();
	merge(merged);
	for (int i = 0; i < SORTERS; i++)
		pthread_join(sorters[i], NULL);
	for (int i = 0; i < NUMBERS; i++)
		assert(merged[i] == i + 1);
	return 0;
}
