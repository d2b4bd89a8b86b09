/* EXPECT: abort runs<=500 needs=memory */
/*
 * Merge sort: a thread for each half as long as there are threads left; their number is read and
 * changed without a lock. After Eytani and others' collection of concurrent programs with bugs.
 *
 * Fails when: a thread sees that two are left; another one takes them; the first takes two as well, and
 * there are more sorters than there may be.
 *
 * EXPECT-BOUNDS: c=1 v=1 t=2
 * EXPECT-TABLE: MergeSort threads=100 schedules=651 -DSORTERS=98
 * EXPECT-PATTERN: R1-W2-W1 sorters_left @left @take @take
 */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <string.h>

#ifndef SORTERS
#define SORTERS 4
#endif
#define NUMBERS (4 * SORTERS)

struct part {
	int *numbers;
	int count;
};

static int numbers[NUMBERS];
static atomic_int sorters_left = SORTERS;
static atomic_int sorters_begun;

static bool take_two_sorters(void)
{
	if (atomic_load(&sorters_left) < 2) /* @left */
		return false;
	atomic_fetch_sub(&sorters_left, 2); /* @take */
	return true;
}

static void merge(int *all, int left_count, int count)
{
	int merged[NUMBERS];
	int left = 0, right = left_count;

	for (int i = 0; i < count; i++) {
		if (right == count || (left < left_count && all[left] <= all[right]))
			merged[i] = all[left++];
		else
			merged[i] = all[right++];
	}
	memcpy(all, merged, (unsigned)count * sizeof *all);
}

static void *sort(void *argument)
{
	const struct part *const part = argument;
	struct part left = {part->numbers, part->count / 2};
	struct part right = {part->numbers + left.count, part->count - left.count};

	if (part->count < 2)
		return NULL;
	if (take_two_sorters()) {
		pthread_t sorters[2];

		atomic_fetch_add(&sorters_begun, 2);
		pthread_create(&sorters[0], NULL, sort, &left);
		pthread_create(&sorters[1], NULL, sort, &right);
		for (int i = 0; i < 2; i++)
			pthread_join(sorters[i], NULL);
	} else {
		sort(&left);
		sort(&right);
	}
	merge(part->numbers, left.count, part->count);
	return NULL;
}

int main(void)
{
	struct part all = {numbers, NUMBERS};
	pthread_t sorter;

	for (int i = 0; i < NUMBERS; i++)
		numbers[i] = (i * 5 + 3) % NUMBERS;
	pthread_create(&sorter, NULL, sort, &all);
	pthread_join(sorter, NULL);
	for (int i = 0; i < NUMBERS; i++)
		assert(numbers[i] == i);
	assert(atomic_load(&sorters_begun) <= SORTERS);
	return 0;
}
