/* EXPECT: passed runs=2000 needs=memory */
/* The twin of double_collect: no value returns. */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

static atomic_int low, high;

/* high follows low: 0 0, 1 0, 1 1, 2 1, ... */
static void *write_pairs(void *unused)
{
	for (int i = 1; i <= 6; i++) {
		atomic_store(&low, i);
		atomic_store(&high, i);
	}
	return unused;
}

static void *read_pair(void *unused)
{
	int first_low, first_high, second_low, second_high;
	int tries = 0;

	do {
		first_low = atomic_load(&low);
		first_high = atomic_load(&high);
		second_low = atomic_load(&low);
		second_high = atomic_load(&high);
	} while ((first_low != second_low || first_high != second_high) && ++tries < 2);
	if (first_low == second_low && first_high == second_high)
		assert(first_low == first_high || first_low == first_high + 1);
	return unused;
}

int main(void)
{
	pthread_t threads[3];

	pthread_create(&threads[0], NULL, write_pairs, NULL);
	pthread_create(&threads[1], NULL, read_pair, NULL);
	pthread_create(&threads[2], NULL, read_pair, NULL);
	for (int i = 0; i < 3; i++)
		pthread_join(threads[i], NULL);
	return 0;
}
