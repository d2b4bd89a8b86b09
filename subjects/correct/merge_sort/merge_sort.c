/* EXPECT: passed runs=100 needs=memory */
/* The twin of merge_sort: threads are counted in one step. */
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
	int left = atomic_load(&sorters_left);

	while (left >= 2)
		if (atomic_compare_exchange_weak(&sorters_left, &left, left - 2))
			return true;
	return false;
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
