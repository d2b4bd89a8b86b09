/* Loads a library whose calls prefer its own dependencies to what was loaded before. */
#include <dlfcn.h>
#include <pthread.h>

static void *nothing(void *unused)
{
	return unused;
}

int main(void)
{
	void *library = dlopen("libm.so.6", RTLD_LAZY | RTLD_DEEPBIND);
	pthread_t thread;

	pthread_create(&thread, NULL, nothing, NULL);
	pthread_join(thread, NULL);
	return !library || dlclose(library);
}
