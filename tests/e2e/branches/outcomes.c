/*
 * Results of operations, and the order that operations guarantee: the marked conditions depend on the schedule,
 * the others do not. Each condition stands for a defect of the constraints that random programs have shown.
 */
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <string.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_rwlock_t rwlock = PTHREAD_RWLOCK_INITIALIZER;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static pthread_barrier_t barrier;
static sem_t given, taken;
static int ready, first = 3, second = 5, begun, own = 1;
static char text[16] = "ab";

static void begin(void)
{
	begun++;
}

static void *work(void *unused)
{
	int seen = own;

	pthread_mutex_lock(&mutex);
	pthread_rwlock_rdlock(&rwlock);
	ready = 1;
	pthread_rwlock_unlock(&rwlock);
	pthread_mutex_unlock(&mutex);
	/* A value written before a fill that is a scheduling point is known behind the fill. */
	own = seen;
	memset(text, 'b', 3);
	seen = own;
	second = 7;
	sem_post(&given);
	sem_wait(&taken);
	if (first == 3 && seen == 1) /* sensitive */
		seen = 2;
	pthread_once(&once, begin);
	sched_yield();
	if (pthread_barrier_wait(&barrier) != 0) /* sensitive */
		seen++;
	return unused;
}

int main(void)
{
	pthread_t thread;
	int found = 0;

	pthread_barrier_init(&barrier, NULL, 2);
	sem_init(&given, 0, 0);
	sem_init(&taken, 0, 2);
	if (pthread_create(&thread, NULL, work, NULL))
		return 1;
	if (pthread_mutex_trylock(&mutex) == 0) { /* sensitive */
		if (ready)			  /* sensitive */
			found++;
		pthread_mutex_unlock(&mutex);
	}
	if (pthread_rwlock_tryrdlock(&rwlock) == 0) { /* others only read */
		found++;
		pthread_rwlock_unlock(&rwlock);
	}
	if (pthread_rwlock_trywrlock(&rwlock) == 0) /* sensitive */
		pthread_rwlock_unlock(&rwlock);
	text[1] = 'c';
	if (first * second == 18) /* it is 15 or 21 */
		found++;
	if (first * second > 20) /* sensitive */
		found++;
	if (sem_trywait(&given) == 0) /* sensitive */
		sem_post(&given);
	if (sem_trywait(&taken) == 0) /* a unit is available for each */
		found++;
	pthread_once(&once, begin);
	first = 4;
	sched_yield();
	if (begun != 1)
		found++;
	pthread_barrier_wait(&barrier);
	pthread_join(thread, NULL);
	return found > 20;
}
