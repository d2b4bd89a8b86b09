/* The branch that depends on the schedule is last, behind many accesses that several threads share in turn. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>

#ifndef ROUNDS
#define ROUNDS 100
#endif

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_barrier_t barrier;
static long totals[4], histories[2][4];
static atomic_int is_ready;
static int reported;

static void work(int own)
{
	for (int i = 0; i < ROUNDS; i++) {
		pthread_mutex_lock(&mutex);
		totals[i % 4] += i;
		histories[own][i % 4] = totals[i % 4];
		pthread_mutex_unlock(&mutex);
		pthread_barrier_wait(&barrier);
	}
}

static void *prepare(void *unused)
{
	work(0);
	atomic_store(&is_ready, 1);
	return unused;
}

static void *look(void *unused)
{
	work(1);
	if (atomic_load(&is_ready) && totals[1] > 0)
		reported += puts("ready");
	return unused;
}

int main(void)
{
	pthread_t threads[2];

	pthread_barrier_init(&barrier, NULL, 2);
	pthread_create(&threads[0], NULL, look, NULL);
	pthread_create(&threads[1], NULL, prepare, NULL);
	pthread_join(threads[0], NULL);
	pthread_join(threads[1], NULL);
	return 0;
}
