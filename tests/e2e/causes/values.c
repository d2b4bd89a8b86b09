/* Failures at a value that another thread has written: values lost | gone | early | certain | joined |
 * published | ring | unset | argument | posted |
 * started. */
#include <assert.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stddef.h>
#include <string.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int balance; /* guarded by lock, but not from the read to the write */
static _Atomic(const char *) name = "session";
static atomic_int state;
static int uses; /* guarded by lock */

static int balance_now(void)
{
	int seen;

	pthread_mutex_lock(&lock);
	seen = balance; /* READ */
	pthread_mutex_unlock(&lock);
	return seen;
}

static void *deposit(void *unused)
{
	const int seen = balance_now();

	pthread_mutex_lock(&lock);
	balance = seen + 1; /* WRITTEN */
	pthread_mutex_unlock(&lock);
	return unused;
}

static void *use_name(void *unused)
{
	if (atomic_load(&name))			    /* TESTED */
		assert(*atomic_load(&name) == 's'); /* USED */
	return unused;
}

static void *drop_name(void *unused)
{
	atomic_store(&name, NULL); /* DROPPED */
	return unused;
}

static void *use_dropped(void *unused)
{
	assert(*atomic_load(&name) == 's'); /* FAILS */
	return unused;
}

static void *begin(void *unused)
{
	pthread_mutex_lock(&lock);
	uses++;
	pthread_mutex_unlock(&lock);
	atomic_store(&state, 1); /* BEGUN */
	return unused;
}

static void *expect_idle(void *unused)
{
	const int seen = atomic_load(&state); /* SEEN */

	pthread_mutex_lock(&lock);
	uses++;
	pthread_mutex_unlock(&lock);
	assert(seen == 0); /* EXPECTED */
	return unused;
}

struct settings {
	int level;
};

static struct settings first;
static _Atomic(struct settings *) current;

static void *publish(void *unused)
{
	atomic_store(&current, &first); /* PUBLISHED */
	first.level = 7;		/* FILLED */
	return unused;
}

static void *read_level(void *seen)
{
	const struct settings *settings = atomic_load(&current);

	*(int *)seen = settings ? settings->level : 7; /* EARLY */
	return NULL;
}

/* Both also access a variable that says nothing of the failure. */
static void *publish_and_look(void *unused)
{
	const int before = atomic_load(&state);

	atomic_store(&current, &first); /* PUBLISHED_FIRST */
	first.level = 7;		/* FILLED_LAST */
	return atomic_load(&state) < before ? NULL : unused;
}

static void *read_level_and_note(void *seen)
{
	const struct settings *settings = atomic_load(&current);

	*(int *)seen = settings ? settings->level : 7; /* EMPTY */
	atomic_store(&state, 1);
	return NULL;
}

static void *read_level_untested(void *seen)
{
	const struct settings *settings = atomic_load(&current); /* LOADED */

	*(int *)seen = settings->level;
	return NULL;
}

static struct request {
	int *seen;
} request;

/* The argument was written before this thread existed. */
static void *answer(void *argument)
{
	int *seen = ((struct request *)argument)->seen;
	const struct settings *settings = atomic_load(&current); /* NEVER_SET */

	*seen = settings->level; /* ANSWERED */
	return NULL;
}

static sem_t done;
static int results[2];

static void *compute(void *result)
{
	sem_post(&done); /* POSTED */
	*(int *)result = 1;
	return NULL;
}

static void add_results(void)
{
	pthread_t threads[2];

	sem_init(&done, 0, 0);
	for (int i = 0; i < 2; i++)
		pthread_create(&threads[i], NULL, compute, &results[i]);
	for (int i = 0; i < 2; i++)
		sem_wait(&done);
	assert(results[0] + results[1] == 2); /* ADDED */
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
}

/* The second one gets the argument. */
static void run_both_of(void *(*one)(void *), void *(*other)(void *), void *argument)
{
	pthread_t threads[2];

	pthread_create(&threads[0], NULL, one, NULL);
	pthread_create(&threads[1], NULL, other, argument);
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
}

static void run_both(void *(*one)(void *), void *(*other)(void *))
{
	run_both_of(one, other, NULL);
}

int main(int argc, char **argv)
{
	const char *scene = argc > 1 ? argv[1] : "";

	if (!strcmp(scene, "lost")) {
		run_both(deposit, deposit);
		assert(balance_now() == 2); /* SUM */
	} else if (!strcmp(scene, "gone")) {
		run_both(use_name, drop_name);
	} else if (!strcmp(scene, "early")) {
		run_both(expect_idle, begin);
	} else if (!strcmp(scene, "certain")) {
		pthread_t thread;

		pthread_create(&thread, NULL, drop_name, NULL);
		pthread_join(thread, NULL);
		pthread_create(&thread, NULL, use_dropped, NULL);
		pthread_join(thread, NULL);
	} else if (!strcmp(scene, "published")) {
		int seen;

		run_both_of(publish, read_level, &seen);
		assert(seen == 7);
	} else if (!strcmp(scene, "ring")) {
		int seen;

		run_both_of(publish_and_look, read_level_and_note, &seen);
		assert(seen == 7);
	} else if (!strcmp(scene, "unset")) {
		int seen;

		run_both_of(publish, read_level_untested, &seen);
	} else if (!strcmp(scene, "argument")) {
		pthread_t threads[2];
		int seen;

		pthread_create(&threads[0], NULL, publish, NULL);
		request.seen = &seen;
		pthread_create(&threads[1], NULL, answer, &request);
		for (int i = 0; i < 2; i++)
			pthread_join(threads[i], NULL);
	} else if (!strcmp(scene, "started")) {
		pthread_t thread;
		int seen;

		atomic_store(&current, &first);
		pthread_create(&thread, NULL, read_level, &seen); /* STARTED */
		first.level = 7;				  /* SET */
		pthread_join(thread, NULL);
		assert(seen == 7);
	} else if (!strcmp(scene, "posted")) {
		add_results();
	} else {
		run_both(begin, begin);
		assert(atomic_load(&state) == 2);
	}
	return 0;
}
