/*
 * counted HOW: threads take and drop references to an object, which the last one to drop frees. HOW: unlocked (no count is
 * guarded), half (only taking is guarded), atomic (loads and stores are atomic, the update is not), locked (all counts are
 * guarded, but a thread takes its reference too late).
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

struct object {
	int users;
	atomic_int pins;
	int value;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct object *object;
static const char *how;

static int is(const char *word)
{
	return !strcmp(how, word);
}

static __attribute__((noinline)) void take_locked(struct object *taken)
{
	pthread_mutex_lock(&lock);
	taken->users++; /* TAKE LOCKED */
	pthread_mutex_unlock(&lock);
}

static __attribute__((noinline)) void take(struct object *taken)
{
	if (is("half") || is("locked")) {
		take_locked(taken);
	} else if (is("atomic")) {
		int pins = atomic_load(&taken->pins);

		atomic_store(&taken->pins, pins + 1);
	} else {
		taken->users++; /* TAKE */
	}
}

static __attribute__((noinline)) int drop_locked(struct object *dropped)
{
	int left;

	pthread_mutex_lock(&lock);
	left = --dropped->users;
	pthread_mutex_unlock(&lock);
	return left;
}

static __attribute__((noinline)) int drop_pin(struct object *dropped)
{
	int pins = atomic_load(&dropped->pins) - 1; /* PIN READ */

	atomic_store(&dropped->pins, pins);
	return pins;
}

static __attribute__((noinline)) int drop_one(struct object *dropped)
{
	return --dropped->users; /* DROP */
}

static __attribute__((noinline)) void drop(struct object *dropped)
{
	int left = is("locked")	  ? drop_locked(dropped)
		   : is("atomic") ? drop_pin(dropped)
				  : drop_one(dropped);

	if (left <= 0)
		free(dropped); /* FREE */
}

static void *work(void *unused)
{
	struct object *mine = object;

	take(mine);
	mine->value = 1;
	drop(mine);
	return unused;
}

int main(int argc, char **argv)
{
	pthread_t one, two;

	how = argc > 1 ? argv[1] : "unlocked";
	object = calloc(1, sizeof *object);
	if (!object)
		return 0;
	object->users = object->pins = 1;
	if (pthread_create(&one, NULL, work, NULL) || pthread_create(&two, NULL, work, NULL))
		return 0;
	if (is("locked"))
		drop(object);
	pthread_join(one, NULL);
	pthread_join(two, NULL);
	if (!is("locked"))
		drop(object);
	return 0;
}
