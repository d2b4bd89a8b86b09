/* EXPECT: abort runs<=2000 needs=memory */
/*
 * Region ownership: a region of objects belongs to one thread at a time, and passes to another with a
 * call. A closed region without owner and call is collected. The deepest bug of Bindal, Bansal and Lal,
 * "Variable and Thread Bounding for Systematic Testing of Multithreaded Programs", 2012, section 6, is
 * in a library of this kind, "that manages concurrency and coordination for objects communicating via
 * asynchronous procedure calls", with a test of one producer and one consumer, five threads and 41
 * variables. This program has a dispatcher for the calls, and a collector that examines the region.
 * Every call has places of its own, so that most variables are used by two threads a few times.
 *
 * Fails when: main.0 closes the region, makes a call and gives the region up; main.1, the
 * collector, sees that it has no owner; main.0 continues until the call is done; main.1 sees that
 * the region is in no call; main.0 makes the next call with a region that is collected. Each of the
 * two has to be stopped where what the other one sees is true for a moment only.
 *
 * EXPECT-BOUNDS: c=3 v=2 t=2
 * EXPECT-TABLE: RegionOwnership threads=5 schedules=47248
 */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

#ifndef CALLS
#define CALLS 2
#endif

enum { NOBODY, CALLER, CALLEE };

struct region {
	atomic_long owner;
	atomic_long calls; /* number of calls in transit */
	atomic_bool closed;
	atomic_bool collected;
};

static struct region shared;
/* Number of each call, or 0. */
static atomic_long inbox[CALLS], outbox[CALLS], handled[CALLS];

static void region_call(struct region *region)
{
	atomic_fetch_add(&region->calls, 1);
	atomic_store(&region->owner, NOBODY);
}

static void region_return(struct region *region)
{
	atomic_store(&region->owner, CALLEE);
	atomic_fetch_sub(&region->calls, 1);
}

static void region_collect(struct region *region)
{
	if (!atomic_load(&region->closed) || atomic_load(&region->owner) != NOBODY)
		return;
	if (atomic_load(&region->calls) == 0)
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

	atomic_store(&shared.owner, CALLER);
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
