/* EXPECT: passed runs=500 needs=memory */
/* The twin of bubble_sort: two neighbours are compared and exchanged under a lock. */
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
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void put_in_order(int left)
{
	pthread_mutex_lock(&lock);
	const int low = numbers[left];
	const int high = numbers[left + 1];

	if (low > high) {
		numbers[left] = high;
		numbers[left + 1] = low;
	}
	pthread_mutex_unlock(&lock);
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
