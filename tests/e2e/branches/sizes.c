/*
 * Comparisons whose length depends on the schedule may be longer than they were, to the end of a word, and allocated blocks smaller. The
 * marked conditions depend on the schedule, and the others do not.
 */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

struct text {
	size_t length;
	char letters[24];
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct text name = {5, "first"}, other = {5, "first"};
static size_t numbers = 4;
static volatile int seen;

static void set(struct text *text, const char *letters)
{
	text->length = strlen(letters);
	memcpy(text->letters, letters, text->length);
}

/* Compares the beginnings, as long as the shorter one. */
static int compare(const struct text *text, const char *letters)
{
	const size_t length = strlen(letters);
	int result;

	pthread_mutex_lock(&lock);
	result = memcmp(text->letters, letters, length < text->length ? length : text->length);
	pthread_mutex_unlock(&lock);
	return result;
}

static void *serve(void *unused)
{
	pthread_mutex_lock(&lock);
	set(&name, "second");
	set(&other, "fir");
	numbers = 2;
	pthread_mutex_unlock(&lock);
	return unused;
}

int main(void)
{
	pthread_t thread;
	void *block;

	pthread_create(&thread, NULL, serve, NULL);
	if (compare(&name, "second") == 0) /* sensitive */
		seen = 1;
	if (compare(&name, "firsts") == 0) /* sensitive */
		seen = 2;
	if (compare(&name, "third one") == 0)
		seen = 3;
	if (compare(&other, "firsts") != 0)
		seen = 4;
	pthread_mutex_lock(&lock);
	block = malloc(numbers * sizeof(long));
	if (numbers == 2 && block) /* sensitive */
		seen = 5;
	pthread_mutex_unlock(&lock);
	free(block);
	pthread_join(thread, NULL);
	return 0;
}
