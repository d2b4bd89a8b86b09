/* EXPECT: abort runs<=200 needs=memory */
/*
 * Pattern: hash set (an element is searched and then added; the lock protects only the second step).
 *
 * Fails when: main.0 does not find the word in its chain; main.1 adds it; main.0 adds it as well, and
 * the set has an element twice.
 *
 * EXPECT-BOUNDS: c=1 v=1 t=2
 * EXPECT-TABLE: HashSet threads=200 schedules=813 -DTHREADS=199
 * EXPECT-PATTERN: R1-W2-W1 set.buckets[1] @first @add @add
 * EXPECT-PATTERN: R1-W2-R1 set.buckets[1] @first @add @next
 * EXPECT-VIOLATION: R1-W2-W1 set_add set_add @first @add @add
 * EXPECT-TIMES: HashSet threads=200 paper=0.07/0.078/0.090/0.098/0.269 -DTHREADS=199 -DROUNDS=30
 * EXPECT-BRANCH: while (entry && entry->key != key) [bug]
 */
#include <assert.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>

#define BUCKETS 4
#ifndef THREADS
#define THREADS 2
#endif
#ifndef ROUNDS
#define ROUNDS 1
#endif

struct entry {
	struct entry *next;
	unsigned key;
};

struct set {
	pthread_mutex_t lock;
	struct entry *buckets[BUCKETS]; /* guarded by lock */
	int size;			/* guarded by lock */
};

static struct set set = {.lock = PTHREAD_MUTEX_INITIALIZER};

static bool set_has(unsigned key)
{
	struct entry *entry = set.buckets[key % BUCKETS]; /* @first */

	while (entry && entry->key != key)
		entry = entry->next;
	return entry;
}

static void set_add(unsigned key)
{
	if (set_has(key))
		return;

	struct entry *entry = malloc(sizeof *entry);

	assert(entry);
	pthread_mutex_lock(&set.lock);
	entry->key = key;
	entry->next = set.buckets[key % BUCKETS]; /* @next */
	set.buckets[key % BUCKETS] = entry;	  /* @add */
	set.size++;
	pthread_mutex_unlock(&set.lock);
}

static void *add_even(void *unused)
{
	const unsigned keys[] = {2, 5, 4};

	for (int i = 0; i < 3 * ROUNDS; i++)
		set_add(keys[i % 3]);
	return unused;
}

/* Steps of its own that the second thread makes first: the first argument. */
static long steps_apart;

static void stay_apart(void)
{
	static pthread_mutex_t own = PTHREAD_MUTEX_INITIALIZER;
	const long steps = steps_apart;

	for (long left = steps; left > 0; left--) {
		pthread_mutex_lock(&own);
		pthread_mutex_unlock(&own);
	}
}

static void *add_odd(void *unused)
{
	const unsigned keys[] = {3, 5, 7};

	stay_apart();
	for (int i = 0; i < 3 * ROUNDS; i++)
		set_add(keys[i % 3]);
	return unused;
}

int main(int count, char **arguments)
{
	pthread_t threads[THREADS];

	steps_apart = count > 1 ? atol(arguments[1]) : 0;
	for (int i = 0; i < THREADS; i++)
		pthread_create(&threads[i], NULL, i % 2 ? add_odd : add_even, NULL);
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	assert(set.size == 5);
	for (unsigned key = 2; key < 8; key++)
		assert(set_has(key) == (key != 6));
	return 0;
}
