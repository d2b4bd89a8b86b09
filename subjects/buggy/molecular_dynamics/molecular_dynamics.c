/* EXPECT: abort runs<=200 needs=memory */
/*
 * Molecules on a line that attract each other, a share for each thread; between computing the
 * forces and moving, threads wait at a hand-made barrier, which waits for the next thread only.
 * After the program of that name in the Java Grande benchmarks.
 *
 * Fails when: main.0 has seen that main.1 has computed its forces, and moves; main.2 still computes, and
 * reads a position of the next step.
 *
 * (Its only violations of atomic sets are those of the barrier, in every run; the bug is one of order.)
 *
 * EXPECT-BOUNDS: c=0 v=0 t=3
 * EXPECT-TIMES: Moldyn threads=8 paper=0.39/3.15/11.6/19.9/1240 -DTHREADS=7 -DSHARE=40 -DSTEPS=6
 */
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

	while (atomic_load(&phases[(thread + 1) % THREADS]) < phase)
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
