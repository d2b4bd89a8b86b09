/* EXPECT: passed runs=2000 needs=memory */
/* The twin of seqlock: the sequence is odd from before the first write until after the last. */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

static atomic_uint sequence; /* odd while a write is under way */
static atomic_int low, high; /* always equal between writes */

static void *write_both(void *unused)
{
	for (int i = 1; i <= 2; i++) {
		atomic_fetch_add(&sequence, 1);
		atomic_store(&low, i);
		atomic_store(&high, i);
		atomic_fetch_add(&sequence, 1);
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
