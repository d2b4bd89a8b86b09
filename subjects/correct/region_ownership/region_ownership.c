/* EXPECT: passed runs=200 needs=memory */
/* The twin of region_ownership: owner and calls are one word, and read at once. */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

#ifndef CALLS
#define CALLS 2
#endif
#define SLOTS 4

enum { NOBODY, CALLER, CALLEE };

struct region {
	atomic_long state; /* calls on their way, times 4, plus owner */
	atomic_bool collected;
};

/* Calls on their way from one thread to the next. */
struct mailbox {
	pthread_mutex_t lock;
	int count;	   /* guarded by lock */
	long calls[SLOTS]; /* guarded by lock */
};

static struct region shared;
static struct mailbox inbox = {.lock = PTHREAD_MUTEX_INITIALIZER};
static struct mailbox outbox = {.lock = PTHREAD_MUTEX_INITIALIZER};
static struct {
	pthread_mutex_t lock;
	int sent, handled; /* guarded by lock */
} journal = {.lock = PTHREAD_MUTEX_INITIALIZER};

static bool mailbox_put(struct mailbox *box, long call)
{
	bool has_room;

	pthread_mutex_lock(&box->lock);
	has_room = box->count < SLOTS;
	if (has_room)
		box->calls[box->count++] = call;
	pthread_mutex_unlock(&box->lock);
	return has_room;
}

/* 0: it is empty. */
static long mailbox_take(struct mailbox *box)
{
	long call = 0;

	pthread_mutex_lock(&box->lock);
	if (box->count)
		call = box->calls[--box->count];
	pthread_mutex_unlock(&box->lock);
	return call;
}

static void note(int *number)
{
	pthread_mutex_lock(&journal.lock);
	++*number;
	pthread_mutex_unlock(&journal.lock);
}

static void region_call(struct region *region)
{
	atomic_fetch_add(&region->state, 4);
	atomic_fetch_sub(&region->state, atomic_load(&region->state) % 4);
}

static void region_return(struct region *region)
{
	atomic_fetch_add(&region->state, CALLEE);
	atomic_fetch_sub(&region->state, 4);
}

static void region_collect(struct region *region)
{
	if (atomic_load(&region->state) == NOBODY)
		atomic_store(&region->collected, true);
}

/* The last call returns when whoever takes it does, after this. */
static void *produce(void *unused)
{
	for (long call = 1; call <= CALLS; call++) {
		region_call(&shared);
		if (mailbox_put(&inbox, call))
			note(&journal.sent);
		if (call < CALLS)
			region_return(&shared);
	}
	return unused;
}

static void *dispatch(void *unused)
{
	for (int i = 0; i < CALLS; i++) {
		const long call = mailbox_take(&inbox);

		if (call)
			mailbox_put(&outbox, call);
	}
	return unused;
}

static void *consume(void *unused)
{
	for (int i = 0; i < CALLS; i++)
		if (mailbox_take(&outbox))
			note(&journal.handled);
	return unused;
}

static void *collect(void *unused)
{
	region_collect(&shared);
	return unused;
}

int main(void)
{
	static void *(*const parts[])(void *) = {produce, collect, dispatch, consume};
	pthread_t threads[sizeof parts / sizeof *parts];

	atomic_store(&shared.state, CALLER);
	for (unsigned i = 0; i < sizeof parts / sizeof *parts; i++)
		pthread_create(&threads[i], NULL, parts[i], NULL);
	for (unsigned i = 0; i < sizeof parts / sizeof *parts; i++)
		pthread_join(threads[i], NULL);
	assert(journal.handled <= journal.sent);
	assert(!atomic_load(&shared.collected));
	region_return(&shared);
	return 0;
}
