/* EXPECT: passed runs=200 needs=memory */
/* The twin of region_ownership: owner and calls are one word, and read at once. */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

#define CALLS 3
#define CLIENTS 2

enum { NOBODY, CALLER, CALLEE };

struct region {
	atomic_long state; /* calls on their way, times 4, plus owner */
	atomic_bool collected;
};

static struct region shared;
static struct region private_regions[CLIENTS];

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

	atomic_store(&shared.state, CALLER);
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
