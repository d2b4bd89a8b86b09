/* Locals of main that lie next to each other, each given to other threads. */
#include <assert.h>
#include <pthread.h>

static void *add(void *argument)
{
	int *number = argument;
	const int before = *number;

	*number = before + 1;
	return NULL;
}

static void *add_both(void *argument)
{
	int *numbers = argument;

	numbers[0]++;
	numbers[1]++;
	return NULL;
}

static int read_one(const int *number)
{
	return *number;
}

int main(void)
{
	int one = 0, two[2] = {0};
	pthread_t threads[3];

	pthread_create(&threads[0], NULL, add, &one);
	pthread_create(&threads[1], NULL, add_both, two);
	pthread_create(&threads[2], NULL, add, two + 1);
	const int seen = read_one(&one) + read_one(&two[0]);

	for (int i = 0; i < 3; i++)
		pthread_join(threads[i], NULL);
	assert(two[1] >= 1 && seen >= 0);
	return 0;
}
