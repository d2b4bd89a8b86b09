/* EXPECT: passed runs=300 needs=memory */
/* The twin of late_default: the defaults are set before there is another thread. */
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
			atomic_store(&settings.limit, *text - '0');
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

	atomic_store(&settings.limit, DEFAULT_LIMIT);
	pthread_create(&reader, NULL, read_settings, "v7");
	atomic_store(&settings.verbose, 1);
	pthread_join(reader, NULL);
	assert(atomic_load(&settings.lines_read) == 2);
	assert(atomic_load(&settings.limit) == 7);
	return 0;
}
