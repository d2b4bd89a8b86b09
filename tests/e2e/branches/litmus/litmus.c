/*
 * Litmus tests of memory models (names as in Owens, Sarkar and Sewell, "A Better x86 Memory Model: x86-TSO", and in the herd tools). SHAPE says
 * which; the last branch is taken in the outcome that no order of all accesses gives. FENCE stands between what a thread does, STORE writes.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>

enum shape { SB, SB_ONE, SB_RFI, MP, LB, IRIW, WRC, R, S, TWO_WRITES, N4B, N5, N6, AMD3, CORR };

static atomic_int x, y, other;
static int r[4];
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

#define NO_FENCE (void)0
#define FULL atomic_thread_fence(memory_order_seq_cst)
#define LIGHT atomic_thread_fence(memory_order_acq_rel)
#define LOCKED atomic_fetch_add_explicit(&other, 1, memory_order_relaxed)
#define SECTION (pthread_mutex_lock(&mutex), pthread_mutex_unlock(&mutex))
#define RELAXED(place, value) atomic_store_explicit(&place, value, memory_order_relaxed)
#define RELEASE(place, value) atomic_store_explicit(&place, value, memory_order_release)
#define ORDERED(place, value) atomic_store(&place, value)
#define EXCHANGE(place, value) (void)atomic_exchange_explicit(&place, value, memory_order_relaxed)
#define SEE(place) atomic_load_explicit(&place, memory_order_relaxed)

/* The threads of each shape, and its final values. */
#define AS(name) ((SHAPE) == (name))

static void *first(void *unused)
{
	if (AS(SB) || AS(SB_ONE))
		STORE(x, 1), FENCE, r[0] = SEE(y);
	else if (AS(SB_RFI))
		STORE(x, 1), r[0] = SEE(x), FENCE, r[1] = SEE(y);
	else if (AS(MP))
		STORE(x, 1), FENCE, STORE(y, 1);
	else if (AS(LB))
		r[0] = SEE(x), FENCE, STORE(y, 1);
	else if (AS(IRIW) || AS(WRC) || AS(CORR))
		STORE(x, 1);
	else if (AS(R))
		STORE(x, 1), FENCE, STORE(y, 1);
	else if (AS(S))
		STORE(x, 2), FENCE, STORE(y, 1);
	else if (AS(TWO_WRITES))
		STORE(x, 1), FENCE, STORE(y, 2);
	else if (AS(N4B))
		r[0] = SEE(x), STORE(x, 1);
	else if (AS(N5))
		STORE(x, 1), r[0] = SEE(x);
	else if (AS(N6))
		STORE(x, 1), r[0] = SEE(x), FENCE, r[1] = SEE(y);
	else if (AS(AMD3))
		STORE(x, 1), STORE(x, 2), FENCE, r[0] = SEE(y);
	return unused;
}

static void *second(void *unused)
{
	if (AS(SB))
		STORE(y, 1), FENCE, r[1] = SEE(x);
	else if (AS(SB_ONE))
		STORE(y, 1), r[1] = SEE(x);
	else if (AS(SB_RFI))
		STORE(y, 1), r[2] = SEE(y), FENCE, r[3] = SEE(x);
	else if (AS(MP))
		r[0] = SEE(y), FENCE, r[1] = SEE(x);
	else if (AS(LB))
		r[1] = SEE(y), FENCE, STORE(x, 1);
	else if (AS(IRIW))
		STORE(y, 1);
	else if (AS(WRC))
		r[0] = SEE(x), FENCE, STORE(y, 1);
	else if (AS(R))
		STORE(y, 2), FENCE, r[0] = SEE(x);
	else if (AS(S))
		r[0] = SEE(y), FENCE, STORE(x, 1);
	else if (AS(TWO_WRITES))
		STORE(y, 1), FENCE, STORE(x, 2);
	else if (AS(N4B))
		r[1] = SEE(x), STORE(x, 2);
	else if (AS(N5))
		STORE(x, 2), r[1] = SEE(x);
	else if (AS(N6))
		STORE(y, 2), STORE(x, 2);
	else if (AS(AMD3))
		STORE(y, 1), STORE(y, 2), FENCE, r[1] = SEE(x);
	else if (AS(CORR))
		r[0] = SEE(x), r[1] = SEE(x);
	return unused;
}

static void *third(void *unused)
{
	if (AS(IRIW))
		r[0] = SEE(x), FENCE, r[1] = SEE(y);
	else if (AS(WRC))
		r[1] = SEE(y), FENCE, r[2] = SEE(x);
	return unused;
}

static void *fourth(void *unused)
{
	if (AS(IRIW))
		r[2] = SEE(y), FENCE, r[3] = SEE(x);
	return unused;
}

static int is_relaxed(void)
{
	return AS(SB) || AS(SB_ONE) ? (r[0] | r[1]) == 0
	       : AS(SB_RFI)	    ? (r[0] & r[2] & ~r[1] & ~r[3]) == 1
	       : AS(MP)		    ? (r[0] & ~r[1]) == 1
	       : AS(LB)		    ? (r[0] & r[1]) == 1
	       : AS(IRIW)	    ? (r[0] & ~r[1] & r[2] & ~r[3]) == 1
	       : AS(WRC)	    ? (r[0] & r[1] & ~r[2]) == 1
	       : AS(R)		    ? ((SEE(y) ^ 2) | r[0]) == 0
	       : AS(S)		    ? ((SEE(x) ^ 2) | (r[0] ^ 1)) == 0
	       : AS(TWO_WRITES)	    ? ((SEE(x) ^ 1) | (SEE(y) ^ 1)) == 0
	       : AS(N4B) || AS(N5)  ? ((r[0] ^ 2) | (r[1] ^ 1)) == 0
	       : AS(N6)		    ? ((r[0] ^ 1) | r[1] | (SEE(x) ^ 1)) == 0
	       : AS(AMD3)	    ? ((r[0] ^ 1) | (r[1] ^ 1)) == 0
				    : (r[0] & ~r[1]) == 1;
}

int main(void)
{
	void *(*const functions[])(void *) = {first, second, third, fourth};
	const int count = AS(IRIW) ? 4 : AS(WRC) ? 3 : 2;
	pthread_t threads[4];

	for (int i = 0; i < count; i++)
		pthread_create(&threads[i], NULL, functions[i], NULL);
	for (int i = 0; i < count; i++)
		pthread_join(threads[i], NULL);
	if (is_relaxed())
		puts("no order of all accesses gives this");
	return 0;
}
