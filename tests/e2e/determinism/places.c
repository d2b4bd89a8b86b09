/*
 * Threads whose numbers of steps depend on the addresses of their memory: stacks, thread-local blocks, small
 * and large blocks of the heap, mappings, a loaded library, the environment. The program has more threads
 * than stacks are made in advance, and one with a large stack. It fails unless the first thread ends first.
 */
#include <dlfcn.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <unistd.h>

#define THREADS 11
#define LARGE_STACK ((size_t)32 * 1024 * 1024)

extern char **environ;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static __thread int thread_local_variable;
static int done[THREADS], done_count;

static void steps_by(const void *address)
{
	const uint64_t hash = (uint64_t)(uintptr_t)address * UINT64_C(0x9e3779b97f4a7c15);

	for (uint64_t i = hash >> 62; i > 0; i--) {
		pthread_mutex_lock(&mutex);
		pthread_mutex_unlock(&mutex);
	}
}

static void steps_by_memory(void)
{
	int local;
	void *freed = malloc(100);

	steps_by(&local);
	steps_by(&thread_local_variable);
	steps_by((const void *)pthread_self());
	steps_by(freed);
	free(freed);
	steps_by(malloc(24));
	steps_by(calloc(1, 1500));
	steps_by(malloc(300000));
	steps_by(mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
}

static void *work(void *which)
{
	steps_by_memory();
	pthread_mutex_lock(&mutex);
	done[done_count++] = (int)(intptr_t)which;
	pthread_mutex_unlock(&mutex);
	return NULL;
}

int main(int argument_count, char **arguments)
{
	pthread_t threads[THREADS];
	void *before = malloc(700);
	pthread_attr_t large;

	(void)argument_count;
	pthread_attr_init(&large);
	pthread_attr_setstacksize(&large, LARGE_STACK);
	for (int i = 0; i < THREADS; i++)
		pthread_create(&threads[i], i == 4 ? &large : NULL, work, (void *)(intptr_t)i);
	steps_by(before);
	steps_by(arguments[0]);
	steps_by(environ[0]);
	steps_by((const void *)getauxval(AT_RANDOM));
	steps_by(sbrk(0));
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	pthread_create(&threads[0], NULL, work, NULL);
	steps_by(dlsym(dlopen("libm.so.6", RTLD_NOW), "sin"));
	steps_by_memory();
	pthread_join(threads[0], NULL);
	if (done[0] != 0)
		abort();
	return 0;
}
