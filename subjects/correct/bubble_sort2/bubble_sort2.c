/* EXPECT: passed runs=100 needs=memory */
/* The twin of bubble_sort2: how far a thread has to go is written before there is one. */
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
	pthread_mutex_lock(&lock);
	pass->end = end;
	pthread_mutex_unlock(&lock);
	pthread_create(&pass->thread, NULL, sort, pass);
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
