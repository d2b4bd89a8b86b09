/* EXPECT: passed runs=200 needs=memory */
/* The twin of region_ownership: owner and calls are one word, and read at once. */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

#ifndef CALLS
#define CALLS 2
#endif

enum { NOBODY, CALLER, CALLEE };

struct region {
	atomic_long state; /* calls on their way, times 4, plus owner */
	atomic_bool closed;
	atomic_bool collected;
};

static struct region shared;
/* Number of each call, or 0. */
static atomic_long inbox[CALLS], outbox[CALLS], handled[CALLS];

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
	if (atomic_load(&region->closed) && atomic_load(&region->state) == NOBODY)
		atomic_store(&region->collected, true);
}

/* The last call returns later, when its receiver returns it. */
static void *produce(void *unused)
{
	for (long call = 1; call <= CALLS; call++) {
		if (call == CALLS - 1)
			atomic_store(&shared.closed, true);
		region_call(&shared);
		atomic_store(&inbox[call - 1], call);
		if (call < CALLS)
			region_return(&shared);
	}
	return unused;
}

static void *dispatch(void *unused)
{
	for (int i = 0; i < CALLS; i++) {
		const long call = atomic_exchange(&inbox[i], 0);

		if (call)
			atomic_store(&outbox[i], call);
	}
	return unused;
}

static void *consume(void *unused)
{
	for (int i = 0; i < CALLS; i++) {
		const long call = atomic_exchange(&outbox[i], 0);

		if (call)
			atomic_store(&handled[i], call);
	}
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
	for (long call = 1; call <= CALLS; call++)
		assert(atomic_load(&handled[call - 1]) % call == 0);
	assert(!atomic_load(&shared.collected));
	region_return(&shared);
	return 0;
}
