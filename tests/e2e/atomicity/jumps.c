/* Units of work that are left by longjmp; later code is correct. */
#include <pthread.h>
#include <setjmp.h>
#include <stdlib.h>

struct pair {
	pthread_mutex_t lock;
	long first, second; /* guarded by lock, and equal */
};

static struct pair pair = {.lock = PTHREAD_MUTEX_INITIALIZER};

static __attribute__((noinline)) void pair_add(struct pair *to, long much)
{
	pthread_mutex_lock(&to->lock);
	to->first += much;
	to->second += much;
	pthread_mutex_unlock(&to->lock);
}

/* Reads one half, and leaves by a jump without returning. */
static __attribute__((noinline, noreturn)) void pair_leave(struct pair *from, jmp_buf *to)
{
	pthread_mutex_lock(&from->lock);
	const long first = from->first; /* @left */

	pthread_mutex_unlock(&from->lock);
	longjmp(*to, first == 0 ? 2 : 1);
}

static __attribute__((noinline)) long pair_second(struct pair *of)
{
	pthread_mutex_lock(&of->lock);
	const long second = of->second;

	pthread_mutex_unlock(&of->lock);
	return second;
}

/* Each half is read in a unit of its own: nothing that has to agree. */
static void *jump(void *unused)
{
	jmp_buf back;

	for (int i = 0; i < 2; i++)
		if (!setjmp(back))
			pair_leave(&pair, &back);
		else if (pair_second(&pair) < 0)
			abort();
	return unused;
}

static void *add(void *unused)
{
	pair_add(&pair, 1);
	return unused;
}

int main(void)
{
	pthread_t jumper, adder;

	pthread_create(&jumper, NULL, jump, NULL);
	pthread_create(&adder, NULL, add, NULL);
	pthread_join(jumper, NULL);
	pthread_join(adder, NULL);
	return 0;
}
