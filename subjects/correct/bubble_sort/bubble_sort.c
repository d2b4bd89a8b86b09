/* EXPECT: passed runs=500 needs=memory */
/* The twin of bubble_sort: two neighbours are compared and exchanged under a lock. */
#include <assert.h>
#include <pthread.h>

#define NUMBERS 9
#define MIDDLE 4

struct half {
	int begin, end; /* the last one included */
};

static int numbers[NUMBERS] = {5, 9, 4, 8, 6, 1, 7, 2, 3};
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
