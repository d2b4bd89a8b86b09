/* Failures that the program reports by its status, in one preemption each: preempted lost | clobbered | changed | seen. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int value; /* guarded by lock, but not from one access to the next */
static int failed;

static void set(int to)
{
	pthread_mutex_lock(&lock);
	value = to; /* SET */
	pthread_mutex_unlock(&lock);
}

static int get(void)
{
	int seen;

	pthread_mutex_lock(&lock);
	seen = value; /* GET */
	pthread_mutex_unlock(&lock);
	return seen;
}

static void *add(void *unused)
{
	const int seen = get();

	set(seen + 1);
	return unused;
}

static void *set_and_check(void *unused)
{
	set(3);
	failed |= get() != 3;
	return unused;
}

static void *get_twice(void *unused)
{
	int again;
	const int seen = get();

	pthread_mutex_lock(&lock);
	again = value; /* AGAIN */
	pthread_mutex_unlock(&lock);
	failed |= seen != again;
	return unused;
}

static void *set_twice(void *unused)
{
	set(-1);
	set(1);
	return unused;
}

static void *check_sign(void *unused)
{
	failed |= get() < 0;
	return unused;
}

static void *set_four(void *unused)
{
	set(4);
	return unused;
}

static const struct {
	const char *name;
	void *(*one)(void *), *(*other)(void *);
	int sum; /* 0: any */
} modes[] = {
	{"lost", add, add, 2},
	{"clobbered", set_and_check, set_four, 0},
	{"changed", get_twice, set_four, 0},
	{"seen", set_twice, check_sign, 0},
};

int main(int count, char **arguments)
{
	pthread_t one, other;

	for (size_t i = 0; count > 1 && i < sizeof modes / sizeof *modes; i++) {
		if (strcmp(arguments[1], modes[i].name) != 0)
			continue;
		pthread_create(&one, NULL, modes[i].one, NULL);
		pthread_create(&other, NULL, modes[i].other, NULL);
		pthread_join(one, NULL);
		pthread_join(other, NULL);
		return failed || (modes[i].sum && value != modes[i].sum);
	}
	return 2;
}
