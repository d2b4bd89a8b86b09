/* Loads a library with sites while threads run, uses it in two of them, and unloads it. */
#include <assert.h>
#include <dlfcn.h>
#include <pthread.h>

static void *library;

static void *add(void *unused)
{
	void (*plugin_add)(void) = (void (*)(void))dlsym(library, "plugin_add");

	plugin_add();
	return unused;
}

static void *rest(void *unused)
{
	return unused;
}

int main(int argc, char **argv)
{
	pthread_t threads[2];
	int count;

	assert(argc == 2);
	pthread_create(&threads[0], NULL, rest, NULL);
	pthread_join(threads[0], NULL);
	for (int round = 0; round < 2; round++) {
		library = dlopen(argv[1], RTLD_NOW);
		assert(library);
		for (int i = 0; i < 2; i++)
			pthread_create(&threads[i], NULL, add, NULL);
		for (int i = 0; i < 2; i++)
			pthread_join(threads[i], NULL);
		count = *(int *)dlsym(library, "plugin_count");
		dlclose(library);
		assert(count == 2);
	}
	return 0;
}
