/* EXPECT: passed runs=2000 needs=memory */
/* The twin of duplicate_key: keys only go to slots that were never used, so both threads want the same one. */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

#define SLOTS 4u
#define EMPTY 0
#define REMOVED -1
#define OLD_KEY 3
#define KEY 7

static atomic_int keys[SLOTS] = {OLD_KEY};

/* Returns a slot for the key; SLOTS: it is in the table. */
static unsigned find_slot(int wanted)
{
	for (unsigned i = 0; i < SLOTS; i++) {
		const int key = atomic_load(&keys[i]);

		if (key == wanted)
			return SLOTS;
		if (key == EMPTY)
			return i;
	}
	return SLOTS;
}

static void *insert(void *is_added)
{
	unsigned slot;

	while ((slot = find_slot(KEY)) < SLOTS) {
		int key = atomic_load(&keys[slot]);

		if (key <= 0 && atomic_compare_exchange_strong(&keys[slot], &key, KEY)) {
			*(int *)is_added = 1;
			break;
		}
	}
	return NULL;
}

static void *remove_old(void *unused)
{
	int key = OLD_KEY;

	atomic_compare_exchange_strong(&keys[0], &key, REMOVED);
	return unused;
}

int main(void)
{
	int is_added[2] = {0};
	pthread_t threads[3];

	pthread_create(&threads[0], NULL, insert, &is_added[0]);
	pthread_create(&threads[1], NULL, remove_old, NULL);
	pthread_create(&threads[2], NULL, insert, &is_added[1]);
	for (int i = 0; i < 3; i++)
		pthread_join(threads[i], NULL);
	assert(is_added[0] + is_added[1] == 1);
	return 0;
}
