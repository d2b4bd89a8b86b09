/* EXPECT: abort runs<=2000 needs=memory */
/*
 * Region ownership: a region of objects belongs to one thread at a time, and passes to another with a
 * call; one that belongs to nobody and is not in a call is collected. The deepest bug of Bindal, Bansal and
 * Lal, "Variable and Thread Bounding for Systematic Testing of Multithreaded Programs", 2012, section 6,
 * is of this kind.
 *
 * Fails when: main.0 makes a call and gives the region up; main.1, the collector, sees that nobody owns it;
 * main.0 goes on until the call is done; main.1 sees that the region is in no call; main.0 makes the next
 * call with a region that is collected. Each of the two has to be stopped where what the other one sees is
 * true for a moment only.
 *
 * EXPECT-BOUNDS: c=3 v=2 t=2
 * EXPECT-TABLE: RegionOwnership threads=5 schedules=47248
 */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

#define CALLS 3
#define CLIENTS 2

enum { NOBODY, CALLER, CALLEE };

struct region {
	atomic_long owner;
	atomic_long calls; /* that are on their way */
	atomic_bool collected;
};

static struct region shared;
static struct region private_regions[CLIENTS];

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
	if (atomic_load(&region->owner) != NOBODY)
		return;
	if (atomic_load(&region->calls) == 0)
		atomic_store(&region->collected, true);
}

/* The last call returns when whoever takes it does, after this. */
static void make_calls(struct region *region)
{
	for (int i = 1; i < CALLS; i++) {
		region_call(region);
		region_return(region);
	}
	region_call(region);
}

static void *produce(void *unused)
{
	make_calls(&shared);
	return unused;
}

static void *collect(void *unused)
{
	region_collect(&shared);
	return unused;
}

static void *be_client(void *argument)
{
	make_calls(argument);
	return NULL;
}

int main(void)
{
	pthread_t producer, collector, clients[CLIENTS];

	atomic_store(&shared.owner, CALLER);
	pthread_create(&producer, NULL, produce, NULL);
	pthread_create(&collector, NULL, collect, NULL);
	for (int i = 0; i < CLIENTS; i++)
		pthread_create(&clients[i], NULL, be_client, &private_regions[i]);
	for (int i = 0; i < CLIENTS; i++)
		pthread_join(clients[i], NULL);
	pthread_join(collector, NULL);
	pthread_join(producer, NULL);
	assert(!atomic_load(&shared.collected));
	region_return(&shared);
	return 0;
}
