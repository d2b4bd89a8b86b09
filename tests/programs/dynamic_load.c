/* EXPECT: passed runs=20 */
/* Libraries loaded at run time, by several threads at once, with thread-local objects of their own. */
#include <dlfcn.h>
#include <pthread.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

#include "check.h"

#define THREADS 3

static char path[4096];

static void *load_and_call(void *unused)
{
	void *library = dlopen(path, RTLD_NOW);
	int (*call)(void);

	(void)unused;
	if (!library)
		return NULL;
	*(void **)&call = dlsym(library, "plugin_call");
	return (void *)(intptr_t)(call && call() == 1 && call() == 2);
}

int main(void)
{
	ssize_t length = readlink("/proc/self/exe", path, sizeof(path) - 1);
	pthread_t threads[THREADS];
	double (*cosine)(double);
	int (*destroyed)(void);
	void *library;

	MUST(length > 0);
	path[length] = 0;
	strcpy(strrchr(path, '/'), "/plugin.so");
	for (int i = 0; i < THREADS; i++)
		MUST(pthread_create(&threads[i], NULL, load_and_call, NULL) == 0);
	for (int i = 0; i < THREADS; i++) {
		void *is_right;

		MUST(pthread_join(threads[i], &is_right) == 0);
		CHECK(is_right);
	}
	library = dlopen(path, RTLD_NOW | RTLD_NOLOAD);
	CHECK(library != NULL);
	*(void **)&destroyed = dlsym(library, "plugin_destroyed");
	CHECK(destroyed && destroyed() == THREADS);
	CHECK(dlclose(library) == 0);

	library = dlopen("libm.so.6", RTLD_LAZY);
	CHECK(library != NULL);
	*(void **)&cosine = dlsym(library, "cos");
	CHECK(cosine && cosine(0.0) == 1.0);
	CHECK(dlsym(library, "no_such_function") == NULL);
	CHECK(dlerror() != NULL);
	CHECK(dlopen("/no/such/library.so", RTLD_NOW) == NULL);
	return check_status();
}
