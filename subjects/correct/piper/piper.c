/* EXPECT: passed runs=200 needs=memory */
/* The twin of piper: a woken thread tests again. */
#include <assert.h>
#include <pthread.h>

#define SEATS 2
#define FLIGHTS 4

struct pipe {
	pthread_mutex_t lock;
	pthread_cond_t changed;
	int first, count;      /* guarded by lock */
	int passengers[SEATS]; /* guarded by lock */
};

static struct pipe hall = {.lock = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER};
static volatile int boarded[FLIGHTS]; /* each written by one thread */

static void enter(int passenger)
{
	pthread_mutex_lock(&hall.lock);
	while (hall.count == SEATS)
		pthread_cond_wait(&hall.changed, &hall.lock);
	assert(hall.count < SEATS);
	hall.passengers[(hall.first + hall.count) % SEATS] = passenger;
	hall.count++;
	pthread_cond_broadcast(&hall.changed);
	pthread_mutex_unlock(&hall.lock);
}

static int leave(void)
{
	pthread_mutex_lock(&hall.lock);
	while (hall.count == 0)
		pthread_cond_wait(&hall.changed, &hall.lock);
	assert(hall.count > 0);
	const int passenger = hall.passengers[hall.first];

	hall.first = (hall.first + 1) % SEATS;
	hall.count--;
	pthread_cond_broadcast(&hall.changed);
	pthread_mutex_unlock(&hall.lock);
	return passenger;
}

static void *fill(void *argument)
{
	enter(*(int *)argument);
	return NULL;
}

static void *board(void *argument)
{
	boarded[*(int *)argument] = leave();
	return NULL;
}

int main(void)
{
	pthread_t fillers[FLIGHTS], boarders[FLIGHTS];
	int numbers[FLIGHTS], sum = 0;

	for (int i = 0; i < FLIGHTS; i++) {
		numbers[i] = i;
		pthread_create(&fillers[i], NULL, fill, &numbers[i]);
		pthread_create(&boarders[i], NULL, board, &numbers[i]);
	}
	for (int i = 0; i < FLIGHTS; i++) {
		pthread_join(fillers[i], NULL);
		pthread_join(boarders[i], NULL);
	}
	for (int i = 0; i < FLIGHTS; i++)
		sum += boarded[i];
	assert(sum == 0 + 1 + 2 + 3);
	return 0;
}
