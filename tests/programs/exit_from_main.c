/* EXPECT: passed runs=50 */
/*
 * pthread_exit in main: the process lives until its last thread has ended, and main can be joined.
 * Main's cleanup handlers and destructors run; the exit handlers run once at the end, with status 0.
 */
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <unistd.h>

#include "check.h"

static pthread_t main_thread;
static pthread_key_t key;
static int handlers_run, destructors_run;

static void note_handler(void *unused)
{
	(void)unused;
	handlers_run++;
}

static void note_destructor(void *unused)
{
	(void)unused;
	destructors_run++;
}

static void at_exit(void)
{
	CHECK(handlers_run == 1);
	CHECK(destructors_run == 2);
	if (check_status() != 0)
		_exit(1);
}

static void *outlive_main(void *unused)
{
	void *result;

	(void)unused;
	CHECK(pthread_join(main_thread, &result) == 0);
	CHECK((intptr_t)result == 7);
	CHECK(handlers_run == 1);
	CHECK(destructors_run == 1);
	pthread_setspecific(key, &key);
	return NULL;
}

int main(void)
{
	pthread_t thread;

	main_thread = pthread_self();
	MUST(atexit(at_exit) == 0);
	MUST(pthread_key_create(&key, note_destructor) == 0);
	MUST(pthread_setspecific(key, &key) == 0);
	MUST(pthread_create(&thread, NULL, outlive_main, NULL) == 0);
	MUST(pthread_detach(thread) == 0);
	pthread_cleanup_push(note_handler, NULL);
	pthread_exit((void *)(intptr_t)7);
	pthread_cleanup_pop(0);
	return 1;
}
