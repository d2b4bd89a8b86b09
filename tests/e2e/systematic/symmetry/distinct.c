/* distinct HOW: two threads of one function enter two critical sections each, and something tells them apart. */
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static const char *how;
static int turn, entered;
static atomic_bool is_open;
static volatile pthread_t last;

static int is_how(const char *word)
{
	return !strcmp(how, word);
}

static void enter(void)
{
	pthread_mutex_lock(&lock);
	entered++;
	if (is_how("id"))
		last = pthread_self();
	pthread_mutex_unlock(&lock);
}

static void *enter_twice(void *argument)
{
	long first;

	(void)argument;
	if (is_how("time"))
		usleep(1);
	while (is_how("yield") && !is_open)
		sched_yield();
	pthread_mutex_lock(&lock);
	first = ++turn;
	pthread_mutex_unlock(&lock);
	enter();
	return is_how("result") ? (void *)first : NULL; /* NOLINT */
}

int main(int argc, char **argv)
{
	pthread_attr_t attributes;
	pthread_t threads[2];
	void *result = NULL;

	how = argc > 1 ? argv[1] : "";
	pthread_attr_init(&attributes);
	pthread_attr_setstacksize(&attributes, 1 << 20);
	for (long i = 0; i < 2; i++) {
		if (i && is_how("step"))
			enter();
		if (pthread_create(&threads[i], i && is_how("attributes") ? &attributes : NULL,
			    enter_twice, is_how("argument") ? (void *)i : NULL)) /* NOLINT */
			return 2;
	}
	if (is_how("yield"))
		is_open = true;
	for (int i = 0; i < 2; i++) {
		if (is_how("detach"))
			pthread_detach(threads[i]);
		else
			pthread_join(threads[i], &result);
		if (!i && is_how("join"))
			enter();
	}
	return 0;
}
