/* EXPECT: passed runs=20 */
/* Stacks: deep recursion, large frames, alloca across scheduling points, many small stacks. */
#include <alloca.h>
#include <pthread.h>
#include <stdint.h>
#include <string.h>

#include "check.h"

#define THREADS 3

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static void pass_point(void)
{
	pthread_mutex_lock(&mutex);
	pthread_mutex_unlock(&mutex);
}

static unsigned __attribute__((noinline)) recurse(unsigned depth)
{
	volatile char frame[1000];

	frame[0] = (char)depth;
	frame[999] = (char)(depth + 1);
	if (depth == 0)
		return 0;
	if (depth % 500 == 0)
		pass_point();
	unsigned below = recurse(depth - 1);
	return below + (frame[0] == (char)depth && frame[999] == (char)(depth + 1));
}

static void *recurse_deep(void *unused)
{
	(void)unused;
	return (void *)(intptr_t)(recurse(3000) == 3000);
}

static void *use_alloca(void *unused)
{
	int right = 1;

	(void)unused;
	for (size_t size = 1000; size <= 1000000; size *= 10) {
		char *block = alloca(size);

		memset(block, (int)(size / 1000), size);
		pass_point();
		right = right && block[0] == (char)(size / 1000) &&
			block[size - 1] == (char)(size / 1000);
	}
	return (void *)(intptr_t)right;
}

static void *use_little(void *unused)
{
	(void)unused;
	pass_point();
	return (void *)(intptr_t)(recurse(5) == 5);
}

static int all_succeed(void *(*start)(void *), const pthread_attr_t *attributes, int count)
{
	pthread_t threads[16];
	void *result;
	int all = 1;

	for (int i = 0; i < count; i++)
		MUST(pthread_create(&threads[i], attributes, start, NULL) == 0);
	for (int i = 0; i < count; i++) {
		MUST(pthread_join(threads[i], &result) == 0);
		all = all && result;
	}
	return all;
}

int main(void)
{
	pthread_attr_t small, large;

	MUST(pthread_attr_init(&small) == 0 && pthread_attr_init(&large) == 0);
	MUST(pthread_attr_setstacksize(&small, 32 * 1024) == 0);
	MUST(pthread_attr_setstacksize(&large, 32 * 1024 * 1024) == 0);
	CHECK(all_succeed(recurse_deep, NULL, THREADS));
	CHECK(all_succeed(use_alloca, NULL, THREADS));
	CHECK(all_succeed(use_little, &small, 16));
	CHECK(all_succeed(recurse_deep, &large, THREADS));
	CHECK(recurse(3000) == 3000);
	return check_status();
}
