/* EXPECT: abort runs<=200 needs=memory */
/*
 * Bubble sort, another bug: a thread for each pass, which receives its range after its creation.
 * After Eytani and others' collection of concurrent programs with bugs.
 *
 * Fails when: main.0 runs before main has written where its pass ends, and takes it for an empty one.
 *
 * EXPECT-BOUNDS: c=1 v=1 t=2
 * EXPECT-TABLE: BubbleSort2 threads=101 schedules=2 -DSORTERS=100
 */
#include <assert.h>
#include <pthread.h>

#ifndef SORTERS
#define SORTERS 4
#endif
#define NUMBERS (SORTERS + 1)

struct pass {
	pthread_t thread;
	int end; /* guarded by lock */
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int numbers[NUMBERS]; /* guarded by lock */
static struct pass passes[SORTERS];

static void *sort(void *argument)
{
	const struct pass *const pass = argument;

	pthread_mutex_lock(&lock);
	for (int i = 0; i < pass->end; i++) {
		const int low = numbers[i], high = numbers[i + 1];

		if (low > high) {
			numbers[i] = high;
			numbers[i + 1] = low;
		}
	}
	pthread_mutex_unlock(&lock);
	return NULL;
}

static void begin_pass(struct pass *pass, int end)
{
	pthread_create(&pass->thread, NULL, sort, pass);
	pthread_mutex_lock(&lock);
	pass->end = end;
	pthread_mutex_unlock(&lock);
}

int main(void)
{
	for (int i = 0; i < NUMBERS; i++)
		numbers[i] = NUMBERS - i;
	for (int i = 0; i < SORTERS; i++)
		begin_pass(&passes[i], NUMBERS - 1);
	for (int i = 0; i < SORTERS; i++)
		pthread_join(passes[i].thread, NULL);
	for (int i = 0; i < NUMBERS; i++)
		assert(numbers[i] == i + 1);
	return 0;
}
