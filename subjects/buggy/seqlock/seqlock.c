/* EXPECT: abort runs<=1000 needs=memory */
/*
 * A sequence lock whose writer counts up only when it is done. Fails: main.0 writes low; main reads the
 * sequence, both values and the sequence again before main.0 writes high.
 */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

static atomic_uint sequence; /* odd while a write is under way */
static atomic_int low, high; /* always equal between writes */

static void *write_both(void *unused)
{
	for (int i = 1; i <= 2; i++) {
		atomic_store(&low, i);
		atomic_store(&high, i);
		atomic_fetch_add(&sequence, 2);
	}
	return unused;
}

static void *read_both(void *unused)
{
	const unsigned before = atomic_load(&sequence);
	const int first = atomic_load(&low);
	const int second = atomic_load(&high);

	if (before % 2 == 0 && atomic_load(&sequence) == before)
		assert(first == second);
	return unused;
}

int main(void)
{
	pthread_t writer;

	pthread_create(&writer, NULL, write_both, NULL);
	read_both(NULL);
	pthread_join(writer, NULL);
	return 0;
}
