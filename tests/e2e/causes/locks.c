/* Locks that one side holds: locks race | freed | reader. */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_rwlock_t table_lock;
static int *entry, total;

static void *count(void *unused)
{
	pthread_mutex_lock(&lock);
	total++; /* GUARDED */
	pthread_mutex_unlock(&lock);
	return unused;
}

static void *count_unguarded(void *unused)
{
	total += 2; /* UNGUARDED */
	return unused;
}

static void *drop(void *unused)
{
	pthread_mutex_lock(&lock);
	free(entry); /* FREED */
	entry = NULL;
	pthread_mutex_unlock(&lock);
	return unused;
}

static void *use(void *unused)
{
	int *mine = entry;

	if (mine)
		++*mine; /* USED */
	return unused;
}

static void *read_twice(void *unused)
{
	pthread_rwlock_rdlock(&table_lock); /* OUTER */
	pthread_rwlock_rdlock(&table_lock); /* INNER */
	pthread_rwlock_unlock(&table_lock);
	pthread_rwlock_unlock(&table_lock);
	return unused;
}

static void *write_once(void *unused)
{
	pthread_rwlock_wrlock(&table_lock); /* WRITER */
	pthread_rwlock_unlock(&table_lock);
	return unused;
}

int main(int count_of, char **arguments)
{
	const char *scene = count_of > 1 ? arguments[1] : "";
	const int is_race = !strcmp(scene, "race"), is_freed = !strcmp(scene, "freed");
	pthread_rwlockattr_t kind;
	pthread_t one, other;

	pthread_rwlockattr_init(&kind);
	pthread_rwlockattr_setkind_np(&kind, PTHREAD_RWLOCK_PREFER_WRITER_NONRECURSIVE_NP);
	pthread_rwlock_init(&table_lock, &kind);
	entry = calloc(1, sizeof *entry);
	pthread_create(&one, NULL, is_race ? count : is_freed ? drop : read_twice, NULL);
	pthread_create(&other, NULL, is_race ? count_unguarded : is_freed ? use : write_once, NULL);
	pthread_join(one, NULL);
	pthread_join(other, NULL);
	return 0;
}
