/* A thread computes for a while, and then loads the library whose path is the argument. */
#include <dlfcn.h>
#include <pthread.h>
#include <zstd.h>

static void *load(void *path)
{
	volatile unsigned value = ZSTD_versionNumber();

	for (unsigned i = 0; i < 200000000; i++)
		value += i;
	return dlopen(path, RTLD_NOW);
}

int main(int argc, char **argv)
{
	pthread_t thread;
	void *library;

	(void)argc;
	pthread_create(&thread, NULL, load, argv[1]);
	pthread_join(thread, &library);
	return library == NULL;
}
