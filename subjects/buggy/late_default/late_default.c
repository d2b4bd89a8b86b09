/* EXPECT: abort runs<=200 needs=memory */
/*
 * A default is set when the thread that changes it may already run: an order violation.
 *
 * Fails when: main.0 reads the user's settings and sets the limit; main sets the default afterwards, and
 * what the user wanted is lost.
 *
 * EXPECT-PATTERN: W1-W2 settings.limit @user @default
 */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

#define DEFAULT_LIMIT 100

struct settings {
	atomic_int limit;
	atomic_int verbose;
	atomic_int lines_read;
};

static struct settings settings;

static void settings_parse(const char *text)
{
	for (; *text; text++) {
		if (*text == 'v')
			atomic_store(&settings.verbose, 1);
		else if (*text >= '0' && *text <= '9')
			atomic_store(&settings.limit, *text - '0'); /* @user */
		atomic_fetch_add(&settings.lines_read, 1);
	}
}

static void *read_settings(void *argument)
{
	settings_parse(argument);
	return NULL;
}

int main(void)
{
	pthread_t reader;

	pthread_create(&reader, NULL, read_settings, "v7");
	atomic_store(&settings.limit, DEFAULT_LIMIT); /* @default */
	atomic_store(&settings.verbose, 1);
	pthread_join(reader, NULL);
	assert(atomic_load(&settings.lines_read) == 2);
	assert(atomic_load(&settings.limit) == 7);
	return 0;
}
