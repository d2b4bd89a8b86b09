/* EXPECT: abort|use-after-free runs<=500 needs=memory */
/*
 * An entry is freed while a thread still reads it. Fails: main takes the address of the entry;
 * main.0 puts another in its place, wipes the old one and frees it; main reads it.
 */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

struct entry {
	char key[16];
	long check;
};

static _Atomic(struct entry *) current;

static struct entry *make(void)
{
	struct entry *entry = malloc(sizeof *entry);

	assert(entry);
	memset(entry->key, 'k', sizeof entry->key);
	entry->check = 7;
	return entry;
}

static void *replace(void *unused)
{
	struct entry *fresh = make();
	struct entry *old;

	old = atomic_exchange(&current, fresh);
	old->check = 0;
	free(old);
	return unused;
}

int main(void)
{
	pthread_t other;

	atomic_store(&current, make());
	pthread_create(&other, NULL, replace, NULL);
	{
		const struct entry *entry = atomic_load(&current);

		assert(entry->check == 7);
	}
	pthread_join(other, NULL);
	free(atomic_load(&current));
	return 0;
}
