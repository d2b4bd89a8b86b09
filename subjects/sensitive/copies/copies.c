/*
 * EXPECT-BRANCH: if (own.size == 8) [benign]
 * EXPECT-BRANCH: if (!own.is_ready) [benign]
 *
 * A struct that one thread clears, another one sets and a third one copies, each as a whole. The
 * branches test the copy.
 */
#include <pthread.h>
#include <stdio.h>
#include <string.h>

struct settings {
	int is_ready, size;
	long total;
	char name[40];
};

static struct settings settings = {1, 2, 3, "first"};
static const struct settings fresh = {7, 8, 9, "fresh"};
static int copied, cleared;

static void *clear(void *unused)
{
	memset(&settings, 0, sizeof settings);
	return unused;
}

static void *set(void *unused)
{
	settings = fresh;
	return unused;
}

static void *look(void *unused)
{
	const struct settings own = settings;

	if (own.size == 8)
		copied = puts("it is set");
	if (!own.is_ready)
		cleared = puts("it is cleared");
	return unused;
}

int main(void)
{
	void *(*const bodies[])(void *) = {look, clear, set};
	pthread_t threads[3];

	for (int i = 0; i < 3; i++)
		pthread_create(&threads[i], NULL, bodies[i], NULL);
	for (int i = 0; i < 3; i++)
		pthread_join(threads[i], NULL);
	return copied && cleared;
}
