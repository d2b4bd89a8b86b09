/* usage: unloads LIBRARY FUNCTION. A thread executes FUNCTION of LIBRARY, which main unloads at once. */
#include <dlfcn.h>
#include <pthread.h>

int main(int count, char **arguments)
{
	void *(*function)(void *);
	pthread_t thread;
	void *library;

	if (count < 3)
		return 2;
	library = dlopen(arguments[1], RTLD_NOW);
	if (!library)
		return 2;
	*(void **)&function = dlsym(library, arguments[2]);
	pthread_create(&thread, NULL, function, NULL);
	dlclose(library); /* LINE unload */
	return pthread_join(thread, NULL);
}
