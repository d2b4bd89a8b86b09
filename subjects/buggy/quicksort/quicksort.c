/* EXPECT: abort runs<=5000 needs=memory */
/*
 * A parallel quicksort that counts its workers without a lock. Fails: main reads the count to add a
 * worker; main.0 reads it to take itself away; one of the two changes is lost, and the count is wrong
 * when all is done.
 */
#include <assert.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>

#define SIZE 6
#define WORKERS_MAX 2

static int numbers[SIZE] = {5, 2, 6, 1, 4, 3};
static volatile int workers; /* workers besides main */

struct part {
	int low, high;
	pthread_t thread;
};

static void sort(int low, int high);

static void *sort_part(void *argument)
{
	const struct part *part = argument;

	sort(part->low, part->high);
	workers = workers - 1;
	return NULL;
}

static int divide(int low, int high)
{
	const int pivot = numbers[high];
	int place = low;

	for (int i = low; i <= high; i++) {
		if (numbers[i] <= pivot) {
			const int other = numbers[place];

			numbers[place++] = numbers[i];
			numbers[i] = other;
		}
	}
	return place - 1;
}

static void sort(int low, int high)
{
	struct part left;
	int middle;

	if (low >= high)
		return;
	middle = divide(low, high);
	left = (struct part){.low = low, .high = middle - 1};
	if (workers >= WORKERS_MAX || left.low >= left.high) {
		sort(left.low, left.high);
		sort(middle + 1, high);
		return;
	}
	workers = workers + 1;
	pthread_create(&left.thread, NULL, sort_part, &left);
	sort(middle + 1, high);
	pthread_join(left.thread, NULL);
}

int main(void)
{
	sort(0, SIZE - 1);
	assert(workers == 0);
	for (int i = 0; i < SIZE; i++)
		assert(numbers[i] == i + 1);
	return 0;
}
