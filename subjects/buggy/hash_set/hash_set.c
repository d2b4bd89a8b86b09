/* EXPECT: abort runs<=200 needs=memory */
/*
 * Pattern: hash set (an element is looked for and added; the lock is only around the second).
 *
 * Fails when: main.0 does not find the word in its chain; main.1 adds it; main.0 adds it as well, and
 * the set has an element twice.
 *
 * EXPECT-BOUNDS: c=1 v=1 t=2
 * EXPECT-PATTERN: R1-W2-W1 set.buckets[1] @first @add @add
 * EXPECT-PATTERN: R1-W2-R1 set.buckets[1] @first @add @next
 * EXPECT-VIOLATION: R1-W2-W1 set_add set_add @first @add @add
 */
#include <assert.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>

#define BUCKETS 4

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

	for (int i = 0; i < 3; i++)
		set_add(keys[i]);
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
	for (int i = 0; i < 3; i++)
		set_add(keys[i]);
	return unused;
}

int main(int count, char **arguments)
{
	pthread_t even, odd;

	steps_apart = count > 1 ? atol(arguments[1]) : 0;
	pthread_create(&even, NULL, add_even, NULL);
	pthread_create(&odd, NULL, add_odd, NULL);
	pthread_join(even, NULL);
	pthread_join(odd, NULL);
	assert(set.size == 5);
	for (unsigned key = 2; key < 8; key++)
		assert(set_has(key) == (key != 6));
	return 0;
}
