/* EXPECT: passed runs=20 */
/* dlsym() that fails, again and again in a thread, and the text of dlerror() across calls of the C library. */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "check.h"

#define UNKNOWN "no_library_has_this_function"

static void *fail_twice(void *unused)
{
	(void)unused;
	for (int i = 0; i < 2; i++)
		MUST(dlsym(RTLD_DEFAULT, UNKNOWN) == NULL);
	return NULL;
}

static int names_symbol(const char *text)
{
	return text && strstr(text, UNKNOWN) != NULL;
}

/* Calls of several families, each of which may be the first of its kind in this process. */
static void call_others(void)
{
	struct timespec time;
	sigset_t set;
	jmp_buf place;
	char *block = malloc(100);

	free(block);
	clock_gettime(CLOCK_MONOTONIC, &time);
	MUST(pthread_sigmask(SIG_BLOCK, NULL, &set) == 0);
	if (setjmp(place) == 0)
		longjmp(place, 1);
	errno = 0;
	MUST(close(-1) == -1 && errno == EBADF);
	MUST(open("/", O_WRONLY) == -1);
}

static void *keep_own_error(void *unused)
{
	(void)unused;
	MUST(dlerror() == NULL);
	call_others();
	MUST(dlerror() == NULL);
	MUST(dlsym(RTLD_DEFAULT, UNKNOWN) == NULL);
	call_others();
	MUST(names_symbol(dlerror()));
	MUST(dlerror() == NULL);
	return NULL;
}

static void run(void *(*function)(void *))
{
	pthread_t threads[2];

	for (int i = 0; i < 2; i++)
		MUST(pthread_create(&threads[i], NULL, function, NULL) == 0);
	for (int i = 0; i < 2; i++)
		MUST(pthread_join(threads[i], NULL) == 0);
}

int main(void)
{
	CHECK(dlerror() == NULL);
	CHECK(dlsym(RTLD_DEFAULT, UNKNOWN) == NULL);
	run(fail_twice); /* makes the first thread */
	CHECK(names_symbol(dlerror()));
	CHECK(dlerror() == NULL);
	run(keep_own_error);
	CHECK(dlerror() == NULL);
	return check_status();
}
