/* EXPECT: passed runs=2000 needs=memory */
/* The twin of use_after_free: the reader holds a lock from taking the address to the last read. */
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
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

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

	pthread_mutex_lock(&lock);
	old = atomic_exchange(&current, fresh);
	old->check = 0;
	free(old);
	pthread_mutex_unlock(&lock);
	return unused;
}

int main(void)
{
	pthread_t other;

	atomic_store(&current, make());
	pthread_create(&other, NULL, replace, NULL);
	pthread_mutex_lock(&lock);
	assert(atomic_load(&current)->check == 7);
	pthread_mutex_unlock(&lock);
	pthread_join(other, NULL);
	free(atomic_load(&current));
	return 0;
}
