/*
 * 200 test cases: `many_cases --names` lists them, `many_cases --only NAME` runs one. 150 cases
 * create no thread, one of these always fails. 50 create threads, and five of these fail in some
 * schedules only.
 */
#include <assert.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static pthread_mutex_t first = PTHREAD_MUTEX_INITIALIZER, second = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static int value;
static int *shared;

static void run_pair(void *(*one)(void *), void *(*other)(void *))
{
	pthread_t threads[2];

	pthread_create(&threads[0], NULL, one, NULL);
	pthread_create(&threads[1], NULL, other, NULL);
	pthread_join(threads[0], NULL);
	pthread_join(threads[1], NULL);
}

static void change(int by)
{
	pthread_mutex_lock(&first);
	value += by;
	pthread_mutex_unlock(&first);
}

static int get(void)
{
	int got;

	pthread_mutex_lock(&first);
	got = value;
	pthread_mutex_unlock(&first);
	return got;
}

static void *add_locked(void *nothing)
{
	for (int i = 0; i < 5; i++)
		change(1);
	return nothing;
}

static void *lock_forwards(void *nothing)
{
	pthread_mutex_lock(&first);
	pthread_mutex_lock(&second);
	value++;
	pthread_mutex_unlock(&second);
	pthread_mutex_unlock(&first);
	return nothing;
}

static void *lock_backwards(void *nothing)
{
	pthread_mutex_lock(&second);
	pthread_mutex_lock(&first);
	value++;
	pthread_mutex_unlock(&first);
	pthread_mutex_unlock(&second);
	return nothing;
}

static void *wait_without_test(void *nothing)
{
	const int was_set = get();

	pthread_mutex_lock(&first);
	if (!was_set)
		pthread_cond_wait(&changed, &first);
	pthread_mutex_unlock(&first);
	return nothing;
}

static void *set_and_signal(void *nothing)
{
	change(1);
	pthread_cond_signal(&changed);
	return nothing;
}

static void *add_in_two_sections(void *nothing)
{
	const int got = get();

	pthread_mutex_lock(&first);
	value = got + 1;
	pthread_mutex_unlock(&first);
	return nothing;
}

static void *publish_late(void *nothing)
{
	change(1);
	pthread_mutex_lock(&second);
	shared = &value;
	pthread_mutex_unlock(&second);
	return nothing;
}

static void *use_published(void *nothing)
{
	if (get()) {
		pthread_mutex_lock(&second);
		*shared = 2;
		pthread_mutex_unlock(&second);
	}
	return nothing;
}

static void *step_in_turn(void *nothing)
{
	for (int i = 0; i < 3; i++)
		change(1);
	return nothing;
}

static void *watch_turns(void *nothing)
{
	int seen = 0;

	for (int i = 0; i < 3; i++)
		seen += get() == i + 1;
	assert(seen < 3);
	return nothing;
}

static const struct {
	const char *name;
	void *(*one)(void *), *(*other)(void *);
	int result;
} sensitive[] = {
	{"locks/opposite order", lock_forwards, lock_backwards, 2},
	{"queue/wait for change", wait_without_test, set_and_signal, 1},
	{"account/two sections", add_in_two_sections, add_in_two_sections, 2},
	{"cache/publish late", publish_late, use_published, -1},
	{"turns/in step", step_in_turn, watch_turns, 3},
};

static void list(void)
{
	for (int i = 0; i < 150; i++)
		printf(i == 75 ? "plain/always fails\n" : "plain/case %d\n", i);
	for (int i = 0; i < 45; i++) {
		printf("threads/case %d\n", i);
		if (i % 9 == 4)
			puts(sensitive[i / 9].name);
	}
}

int main(int count, char **arguments)
{
	const char *name = count > 2 ? arguments[2] : "";

	if (count == 2 && !strcmp(arguments[1], "--names")) {
		list();
		return 0;
	}
	if (!strncmp(name, "plain/", 6))
		return !strcmp(name, "plain/always fails");
	if (!strncmp(name, "threads/", 8)) {
		run_pair(add_locked,
			atoi(name + strlen("threads/case ")) % 2 ? lock_forwards : add_locked);
		return 0;
	}
	for (size_t i = 0; i < sizeof sensitive / sizeof *sensitive; i++)
		if (!strcmp(name, sensitive[i].name)) {
			run_pair(sensitive[i].one, sensitive[i].other);
			assert(sensitive[i].result < 0 || value == sensitive[i].result);
			return 0;
		}
	return 3;
}
