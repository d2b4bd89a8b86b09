/* EXPECT: abort runs<=200000 needs=memory sizes=12,13,14,22,23,24,32,33,34 */
/*
 * Bugs that need a preemption at each of v variables, and t threads in one order: N is 10 v + t.
 * One thread reads each variable twice. The t - 1 others add to the variables in turn; if there are
 * fewer threads than variables, each adds to several, one after the other.
 *
 * Fails when: all threads that add to a variable run between its two reads, for each variable.
 *
 * EXPECT-BOUNDS: N=12 c=1 v=1 t=2
 * EXPECT-BOUNDS: N=13 c=1 v=1 t=3
 * EXPECT-BOUNDS: N=14 c=1 v=1 t=4
 * EXPECT-BOUNDS: N=22 c=3 v=2 t=2
 * EXPECT-BOUNDS: N=23 c=2 v=2 t=3
 * EXPECT-BOUNDS: N=24 c=2 v=2 t=4
 * EXPECT-BOUNDS: N=32 c=5 v=3 t=2
 * EXPECT-BOUNDS: N=33 c=4 v=3 t=3
 * EXPECT-BOUNDS: N=34 c=3 v=3 t=4
 */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

#define VARIABLES (N / 10)
#define WRITERS (N % 10 - 1)
#define ADDITIONS (WRITERS > VARIABLES ? WRITERS : VARIABLES)

static volatile long first, second, third;
static volatile long *const variables[] = {&first, &second, &third};
static atomic_long begun, ended; /* threads; what the program does besides */

static void *add(void *argument)
{
	atomic_fetch_add(&begun, 1);
	for (long i = *(long *)argument; i < ADDITIONS; i += WRITERS)
		*variables[i % VARIABLES] += 1;
	atomic_fetch_add(&ended, 1);
	return NULL;
}

static void *look(void *unused)
{
	int changed = 0;

	atomic_fetch_add(&begun, 1);
	for (int i = 0; i < VARIABLES; i++) {
		const int additions = (ADDITIONS - i + VARIABLES - 1) / VARIABLES;
		const long before = *variables[i];

		changed += *variables[i] == before + additions;
	}
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
