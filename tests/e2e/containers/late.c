/* A thread loads a library whose function fails if another thread runs in between. */
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static char path[4096];

static void *load_and_call(void *unused)
{
	void *library = dlopen(path, RTLD_NOW);
	void (*call)(void) = NULL;

	if (library)
		*(void **)&call = dlsym(library, "late_call");
	if (!call)
		puts(dlerror());
	else
		call();
	return unused;
}

int main(void)
{
	const ssize_t length = readlink("/proc/self/exe", path, sizeof path - 1);
	pthread_t threads[2];

	if (length < 0)
		return 1;
	strcpy(strrchr(path, '/'), "/late_library.so");
	for (int i = 0; i < 2; i++)
		if (pthread_create(&threads[i], NULL, load_and_call, NULL))
			return 1;
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	return 0;
}
