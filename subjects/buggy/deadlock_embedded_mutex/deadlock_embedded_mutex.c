/* EXPECT: deadlock strategy=rpro runs<=20000 */
/*
 * Pattern: a recursive mutex made of two plain ones, which are taken in both orders.
 *
 * An embedded database wraps its work in enter and leave, which may be nested. `inner` guards the
 * owner and the count, `outer` is the mutex proper. Entering when no thread is inside "cannot
 * wait", and takes `outer` while it holds `inner`; if a thread is inside, it releases `inner` first
 * and takes it after `outer`.
 *
 * Fails when: main.0 is inside; main.1 sees that, lets `inner` go and waits for `outer`; main.0
 * leaves; main.1 takes `outer` and stops before `inner`; main.0 enters again: it takes `inner`,
 * sees no thread inside and waits for `outer`, while main.1 waits for `inner`.
 */
#include <pthread.h>
#include <stdio.h>

#define NOBODY (-1)

static pthread_mutex_t inner = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t outer = PTHREAD_MUTEX_INITIALIZER;
static int owner = NOBODY, depth; /* guarded by inner */
static int pages;		  /* guarded by outer */

static void enter(int self)
{
	pthread_mutex_lock(&inner);
	if (owner == NOBODY) {
		pthread_mutex_lock(&outer);
	} else if (owner != self) {
		pthread_mutex_unlock(&inner);
		pthread_mutex_lock(&outer);
		pthread_mutex_lock(&inner);
	}
	owner = self;
	depth++;
	pthread_mutex_unlock(&inner);
}

static void leave(void)
{
	pthread_mutex_lock(&inner);
	if (--depth == 0) {
		owner = NOBODY;
		pthread_mutex_unlock(&outer);
	}
	pthread_mutex_unlock(&inner);
}

static void *write_pages(void *self)
{
	for (int i = 0; i < 2; i++) {
		enter(*(int *)self);
		enter(*(int *)self); /* the pager calls the file layer */
		pages++;
		leave();
		leave();
	}
	return NULL;
}

int main(void)
{
	int numbers[2] = {0, 1};
	pthread_t threads[2];

	for (int i = 0; i < 2; i++)
		pthread_create(&threads[i], NULL, write_pages, &numbers[i]);
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	printf("pages %d\n", pages);
	return 0;
}
