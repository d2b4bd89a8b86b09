/* EXPECT: passed runs=2000 options=--memory-model=c11 needs=memory */
/* The twin of relaxed_left_right: the arrival and the choice of the copy are sequentially consistent. */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>

#define ARRIVE_ORDER memory_order_seq_cst
#define CHOOSE_ORDER memory_order_seq_cst

struct pair {
	atomic_int first, second; /* equal but during a change */
};

static struct pair copies[2];
static atomic_int side, version;
static atomic_int readers[2]; /* by version */

static void *reader(void *unused)
{
	const int entered = atomic_load(&version);
	struct pair *copy;
	int first;

	atomic_fetch_add_explicit(&readers[entered], 1, ARRIVE_ORDER);
	copy = &copies[atomic_load_explicit(&side, CHOOSE_ORDER)];
	first = atomic_load_explicit(&copy->first, memory_order_relaxed);
	assert(first == atomic_load_explicit(&copy->second, memory_order_relaxed));
	atomic_fetch_sub_explicit(&readers[entered], 1, memory_order_release);
	return unused;
}

static void change(struct pair *copy, int value)
{
	atomic_store_explicit(&copy->first, value, memory_order_relaxed);
	atomic_store_explicit(&copy->second, value, memory_order_relaxed);
}

static void *writer(void *unused)
{
	const int old_side = atomic_load(&side), old_version = atomic_load(&version);

	change(&copies[!old_side], 1);
	atomic_store(&side, !old_side);
	while (atomic_load(&readers[!old_version]))
		;
	atomic_store(&version, !old_version);
	while (atomic_load(&readers[old_version]))
		;
	change(&copies[old_side], 1);
	return unused;
}

int main(void)
{
	pthread_t threads[2];

	pthread_create(&threads[0], NULL, reader, NULL);
	pthread_create(&threads[1], NULL, writer, NULL);
	pthread_join(threads[0], NULL);
	pthread_join(threads[1], NULL);
	return 0;
}
