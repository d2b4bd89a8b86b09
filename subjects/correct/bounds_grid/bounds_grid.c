/* EXPECT: passed runs=200 needs=memory sizes=12,23,34 */
/* The twin of bounds_grid: the reading thread holds a lock that the writing threads take. */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

#define VARIABLES (N / 10)
#define WRITERS (N % 10 - 1)
#define ADDITIONS (WRITERS > VARIABLES ? WRITERS : VARIABLES)

static volatile long first, second, third;
static volatile long *const variables[] = {&first, &second, &third};
static atomic_long begun, ended; /* threads; what the program does besides */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void *add(void *argument)
{
	atomic_fetch_add(&begun, 1);
	pthread_mutex_lock(&lock);
	for (long i = *(long *)argument; i < ADDITIONS; i += WRITERS)
		*variables[i % VARIABLES] += 1;
	pthread_mutex_unlock(&lock);
	atomic_fetch_add(&ended, 1);
	return NULL;
}

static void *look(void *unused)
{
	int changed = 0;

	atomic_fetch_add(&begun, 1);
	pthread_mutex_lock(&lock);
	for (int i = 0; i < VARIABLES; i++) {
		const int additions = (ADDITIONS - i + VARIABLES - 1) / VARIABLES;
		const long before = *variables[i];

		changed += *variables[i] == before + additions;
	}
	pthread_mutex_unlock(&lock);
	assert(changed < VARIABLES);
	atomic_fetch_add(&ended, 1);
	return unused;
}

int main(void)
{
	pthread_t reader, writers[WRITERS];
	long numbers[WRITERS];

	pthread_create(&reader, NULL, look, NULL);
	for (int i = 0; i < WRITERS; i++) {
		numbers[i] = i;
		pthread_create(&writers[i], NULL, add, &numbers[i]);
	}
	for (int i = 0; i < WRITERS; i++)
		pthread_join(writers[i], NULL);
	pthread_join(reader, NULL);
	assert(atomic_load(&begun) == WRITERS + 1 && atomic_load(&ended) == WRITERS + 1);
	return 0;
}
