/*
 * Settings are exchanged and given back at once, while who reads them may still have the old ones: the run that leads there is the
 * second one that is analysed (check-freed).
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

struct settings {
	int version;
	int limits[6];
};

static struct settings *_Atomic current;
static atomic_int is_over;

static struct settings *load(int version)
{
	struct settings *settings = calloc(1, sizeof *settings);

	if (!settings)
		exit(2);
	settings->version = version;
	for (int i = 0; i < 6; i++)
		settings->limits[i] = version * i;
	return settings;
}

static void *reload(void *unused)
{
	for (int version = 2; version < 5; version++)
		free(atomic_exchange(&current, load(version)));
	is_over = 1;
	return unused;
}

static void *serve(void *unused)
{
	int served = 0;

	while (!is_over && served < 4) { /* sensitive */
		struct settings *settings = current;

		if (settings->version == 3)
			served++;
		if (settings->limits[5] > 0)
			served++;
		served++;
	}
	return unused;
}

int main(void)
{
	pthread_t threads[2];

	current = load(1);
	if (pthread_create(&threads[0], NULL, reload, NULL) ||
		pthread_create(&threads[1], NULL, serve, NULL))
		return 2;
	pthread_join(threads[0], NULL);
	pthread_join(threads[1], NULL);
	free(current);
	return 0;
}
