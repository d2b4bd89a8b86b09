/* EXPECT: passed runs=200 needs=memory */
/* The twin of molecular_dynamics: the barrier waits for all. */
#include <assert.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>

#ifndef THREADS
#define THREADS 3
#endif
#ifndef SHARE
#define SHARE 2
#endif
#define MOLECULES (THREADS * SHARE)
#ifndef STEPS
#define STEPS 2
#endif

struct molecule {
	long position;
	long velocity;
	long force;
};

static struct molecule molecules[MOLECULES];
static atomic_int phases[THREADS];

static void barrier_wait(int thread)
{
	const int phase = atomic_fetch_add(&phases[thread], 1) + 1;

	for (int i = 0; i < THREADS; i++)
		while (atomic_load(&phases[i]) < phase)
			sched_yield();
}

static void compute_force(int number)
{
	struct molecule *const own = &molecules[number];

	own->force = 0;
	for (int i = 0; i < MOLECULES; i++)
		own->force += molecules[i].position - own->position;
}

static void move(int number)
{
	struct molecule *const own = &molecules[number];

	own->velocity += own->force;
	own->position += own->velocity;
}

static void *simulate(void *argument)
{
	const int thread = *(int *)argument;

	for (int step = 0; step < STEPS; step++) {
		for (int i = 0; i < SHARE; i++)
			compute_force(thread * SHARE + i);
		barrier_wait(thread);
		for (int i = 0; i < SHARE; i++)
			move(thread * SHARE + i);
		barrier_wait(thread);
	}
	return NULL;
}

int main(void)
{
	pthread_t threads[THREADS];
	int numbers[THREADS];
	long momentum = 0;

	for (int i = 0; i < MOLECULES; i++)
		molecules[i].position = 10 * i;
	for (int i = 0; i < THREADS; i++) {
		numbers[i] = i;
		pthread_create(&threads[i], NULL, simulate, &numbers[i]);
	}
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	for (int i = 0; i < MOLECULES; i++)
		momentum += molecules[i].velocity;
	assert(momentum == 0);
	return 0;
}
