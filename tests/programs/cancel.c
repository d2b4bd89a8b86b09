/* EXPECT: passed runs=50 */
/*
 * Cancellation: deferred, disabled and asynchronous, the order of cleanup handlers, and what the
 * state functions answer.
 */
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <stdint.h>
#include <string.h>

#include "check.h"

static char order[16];
static sem_t ready, go;
static int passed_while_disabled;

static void note(void *text)
{
	strcat(order, text);
}

static void *nest_handlers(void *unused)
{
	(void)unused;
	pthread_cleanup_push(note, "a");
	pthread_cleanup_push(note, "b");
	pthread_cleanup_push(note, "x");
	pthread_cleanup_pop(0);
	pthread_cleanup_push(note, "c");
	pthread_cleanup_pop(1);
	sem_post(&ready);
	for (;;) {
		pthread_testcancel();
		sched_yield();
	}
	pthread_cleanup_pop(0);
	pthread_cleanup_pop(0);
	return NULL;
}

static void *exit_through_handlers(void *unused)
{
	(void)unused;
	pthread_cleanup_push(note, "1");
	pthread_cleanup_push(note, "2");
	pthread_exit((void *)(intptr_t)5);
	pthread_cleanup_pop(0);
	pthread_cleanup_pop(0);
	return NULL;
}

static void *disable_first(void *unused)
{
	int state, type;

	(void)unused;
	CHECK(pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &state) == 0);
	CHECK(state == PTHREAD_CANCEL_ENABLE);
	CHECK(pthread_setcancelstate(99, NULL) == EINVAL);
	CHECK(pthread_setcanceltype(PTHREAD_CANCEL_DEFERRED, &type) == 0);
	CHECK(type == PTHREAD_CANCEL_DEFERRED);
	CHECK(pthread_setcanceltype(99, NULL) == EINVAL);
	sem_post(&ready);
	sem_wait(&go); /* the request is pending, and is not acted on */
	pthread_testcancel();
	passed_while_disabled++;
	pthread_setcancelstate(PTHREAD_CANCEL_ENABLE, &state);
	passed_while_disabled += state == PTHREAD_CANCEL_DISABLE;
	pthread_testcancel();
	return NULL;
}

static void *spin_asynchronously(void *unused)
{
	(void)unused;
	pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, NULL);
	sem_post(&ready);
	for (;;)
		sched_yield(); /* sched_yield() is no cancellation point */
	return NULL;
}

static void *cancel_self(void *unused)
{
	(void)unused;
	MUST(pthread_cancel(pthread_self()) == 0);
	passed_while_disabled = 10; /* deferred: not yet */
	pthread_testcancel();
	passed_while_disabled = 20;
	return NULL;
}

static void *return_at_once(void *unused)
{
	sem_post(&ready);
	return unused;
}

static void *end_of(pthread_t thread)
{
	void *result;

	MUST(pthread_join(thread, &result) == 0);
	return result;
}

static pthread_t begin(void *(*start)(void *))
{
	pthread_t thread;

	order[0] = 0;
	MUST(pthread_create(&thread, NULL, start, NULL) == 0);
	return thread;
}

int main(void)
{
	pthread_t thread;

	MUST(sem_init(&ready, 0, 0) == 0 && sem_init(&go, 0, 0) == 0);
	thread = begin(nest_handlers);
	MUST(sem_wait(&ready) == 0);
	CHECK(pthread_cancel(thread) == 0);
	CHECK(end_of(thread) == PTHREAD_CANCELED);
	CHECK(strcmp(order, "cba") == 0);

	CHECK((intptr_t)end_of(begin(exit_through_handlers)) == 5);
	CHECK(strcmp(order, "21") == 0);

	thread = begin(disable_first);
	MUST(sem_wait(&ready) == 0);
	CHECK(pthread_cancel(thread) == 0);
	MUST(sem_post(&go) == 0);
	CHECK(end_of(thread) == PTHREAD_CANCELED);
	CHECK(passed_while_disabled == 2);

	thread = begin(spin_asynchronously);
	MUST(sem_wait(&ready) == 0);
	CHECK(pthread_cancel(thread) == 0);
	CHECK(end_of(thread) == PTHREAD_CANCELED);

	CHECK(end_of(begin(cancel_self)) == PTHREAD_CANCELED);
	CHECK(passed_while_disabled == 10);

	/* A thread that has ended, or is about to, does not mind. */
	thread = begin(return_at_once);
	MUST(sem_wait(&ready) == 0);
	CHECK(pthread_cancel(thread) == 0);
	CHECK(end_of(thread) == NULL);
	return check_status();
}
