/* EXPECT: passed runs=100 needs=memory */
/* The twin of merge_sort_early: a flag is set when the half is sorted. */
#include <assert.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>

#define NUMBERS 8
#define HALF (NUMBERS / 2)

struct half {
	int numbers[HALF];
	atomic_bool is_sorted;
};

static struct half halves[2] = {{{7, 1, 5, 2}, false}, {{4, 8, 3, 6}, false}};

static void *sort(void *argument)
{
	struct half *const half = argument;

	for (int end = HALF - 1; end > 0; end--) {
		for (int i = 0; i < end; i++) {
			const int low = half->numbers[i], high = half->numbers[i + 1];

			if (low > high) {
				half->numbers[i] = high;
				half->numbers[i + 1] = low;
			}
		}
	}
	atomic_store(&half->is_sorted, true);
	return NULL;
}

static void merge(int *merged)
{
	int left = 0, right = 0;

	for (int i = 0; i < NUMBERS; i++) {
		const bool is_left =
			right == HALF ||
			(left < HALF && halves[0].numbers[left] <= halves[1].numbers[right]);

		merged[i] = is_left ? halves[0].numbers[left++] : halves[1].numbers[right++];
	}
}

int main(void)
{
	pthread_t sorters[2];
	int merged[NUMBERS];

	for (int i = 0; i < 2; i++)
		pthread_create(&sorters[i], NULL, sort, &halves[i]);
	for (int i = 0; i < 2; i++)
		while (!atomic_load(&halves[i].is_sorted))
			sched_yield();
	merge(merged);
	for (int i = 0; i < 2; i++)
		pthread_join(sorters[i], NULL);
	for (int i = 0; i < NUMBERS; i++)
		assert(merged[i] == i + 1);
	return 0;
}
