/* EXPECT: passed runs=50 */
/* Functions of threads that are looked up by dlsym() and dlvsym() are those that the program is linked with. */
#include <dlfcn.h>
#include <pthread.h>

#include "check.h"

typedef int create_function(pthread_t *thread, const pthread_attr_t *attributes,
	void *(*start)(void *), void *argument);
typedef int lock_function(pthread_mutex_t *mutex);

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static lock_function *lock_by_name;
static int total;

static void *add(void *unused)
{
	for (int i = 0; i < 3; i++) {
		lock_by_name(&lock);
		total++;
		pthread_mutex_unlock(&lock);
	}
	return unused;
}

static void run_two(create_function *create)
{
	pthread_t threads[2];

	total = 0;
	for (int i = 0; i < 2; i++)
		MUST(create(&threads[i], NULL, add, &total) == 0);
	for (int i = 0; i < 2; i++) {
		void *result;

		MUST(pthread_join(threads[i], &result) == 0 && result == &total);
	}
}

int main(void)
{
	void *libc = dlopen("libc.so.6", RTLD_LAZY);
	create_function *create;

	MUST(libc);
	*(void **)&lock_by_name = dlsym(libc, "pthread_mutex_lock");
	*(void **)&create = dlsym(libc, "pthread_create");
	CHECK(lock_by_name == pthread_mutex_lock);
	CHECK(create == pthread_create);
	run_two(create);
	CHECK(total == 6);

	*(void **)&create = dlvsym(libc, "pthread_create", "GLIBC_2.2.5");
	run_two(create);
	CHECK(total == 6);

	*(void **)&create = dlsym(RTLD_NEXT, "pthread_create");
	run_two(create);
	CHECK(total == 6);
	*(void **)&create = dlsym(RTLD_DEFAULT, "pthread_create");
	CHECK(create == pthread_create);

	CHECK(dlsym(libc, "no_library_has_this_function") == NULL);
	CHECK(dlvsym(libc, "pthread_create", "GLIBC_0.0") == NULL);
	MUST(dlclose(libc) == 0);
	return check_status();
}
