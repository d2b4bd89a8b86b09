/*
 * kinds [NAME [ROUNDS]]: two threads that mostly do the named work. If NAME is missing: prints all names.
 */
#include <pthread.h>
#include <semaphore.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { THREADS = 2, ENTRIES = 4096, NODES = 1023 };

static pthread_mutex_t mutexes[THREADS][16] __attribute__((aligned(64)));
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t cond = PTHREAD_COND_INITIALIZER;
static pthread_barrier_t barrier;
static pthread_rwlock_t rwlock = PTHREAD_RWLOCK_INITIALIZER;
static sem_t semaphores[THREADS];
static long shared, turn, rounds;
static atomic_long counter, flag;
static _Atomic(uint32_t) sequence;
static atomic_long pair_low, pair_high;
static int table[ENTRIES];
static long sums[THREADS][16] __attribute__((aligned(64)));
static _Thread_local long own;
static _Thread_local long owns[8];

/* The function is not inlined into its caller. */
#define WORK __attribute__((noinline))

static long mutex_alone(int me)
{
	pthread_mutex_t *mine = &mutexes[me][0];
	long *sum = &sums[me][0];

	for (long i = 0; i < rounds; i++) {
		pthread_mutex_lock(mine);
		*sum += i;
		pthread_mutex_unlock(mine);
	}
	return *sum;
}

static long mutex_both(int me)
{
	(void)me;
	for (long i = 0; i < rounds; i++) {
		pthread_mutex_lock(&mutex);
		shared += i;
		pthread_mutex_unlock(&mutex);
	}
	return shared;
}

/* A mutex around some work. */
static long mutex_work(int me)
{
	for (long i = 0; i < rounds; i++) {
		pthread_mutex_lock(&mutex);
		for (int k = 0; k < 64; k++)
			table[(i + k) % ENTRIES] += k ^ me;
		pthread_mutex_unlock(&mutex);
	}
	return table[5];
}

static long cond_turns(int me)
{
	for (long i = 0; i < rounds; i++) {
		pthread_mutex_lock(&mutex);
		while (turn % THREADS != me)
			pthread_cond_wait(&cond, &mutex);
		turn++;
		pthread_cond_signal(&cond);
		pthread_mutex_unlock(&mutex);
	}
	return turn;
}

static long barrier_phases(int me)
{
	for (long i = 0; i < rounds; i++) {
		sums[me][0] += sums[1 - me][1];
		pthread_barrier_wait(&barrier);
		sums[me][1] += sums[me][0] + i;
		pthread_barrier_wait(&barrier);
	}
	return sums[me][0];
}

static long add_both(int me)
{
	(void)me;
	for (long i = 0; i < rounds; i++)
		atomic_fetch_add(&counter, i);
	return counter;
}

static long exchange_loop(int me)
{
	for (long i = 0; i < rounds; i++) {
		long old = atomic_load(&counter);

		while (!atomic_compare_exchange_weak(&counter, &old, old * 3 + me))
			;
	}
	return counter;
}

static long sequence_lock(int me)
{
	long result = 0;

	for (long i = 0; i < rounds; i++) {
		uint32_t before;
		long low, high;

		if (me == 0 && i % 16 == 0) {
			atomic_fetch_add_explicit(&sequence, 1, memory_order_acq_rel);
			atomic_store_explicit(&pair_low, i, memory_order_relaxed);
			atomic_store_explicit(&pair_high, -i, memory_order_relaxed);
			atomic_fetch_add_explicit(&sequence, 1, memory_order_release);
			continue;
		}
		do {
			before = atomic_load_explicit(&sequence, memory_order_acquire);
			low = atomic_load_explicit(&pair_low, memory_order_relaxed);
			high = atomic_load_explicit(&pair_high, memory_order_relaxed);
			atomic_thread_fence(memory_order_acquire);
		} while (before % 2 ||
			 before != atomic_load_explicit(&sequence, memory_order_relaxed));
		result += low + high;
	}
	return result;
}

/* Taken in turns through an atomic flag, waiting by spinning. */
static long spin_turns(int me)
{
	for (long i = 0; i < rounds; i++) {
		while (atomic_load_explicit(&flag, memory_order_acquire) != me)
			;
		shared += i;
		atomic_store_explicit(&flag, 1 - me, memory_order_release);
	}
	return shared;
}

static long reads_shared(int me)
{
	long sum = me;

	for (long i = 0; i < rounds; i++)
		for (int k = 0; k < ENTRIES; k++)
			sum += table[(k * 7 + (sum & 1)) % ENTRIES];
	return sum;
}

static long strides(int me)
{
	long sum = 0;

	for (long i = 0; i < rounds; i++)
		for (int k = me; k < ENTRIES; k += 2)
			sum += table[k * 17 % ENTRIES]++;
	return sum;
}

static long array_own(int me)
{
	int own_table[256] = {me};

	for (long i = 0; i < rounds; i++)
		for (int k = 1; k < 256; k++)
			own_table[k] = own_table[k - 1] * 5 + own_table[(k * 3) & 255];
	return own_table[17];
}

static long heap(int me)
{
	long sum = me;

	for (long i = 0; i < rounds; i++) {
		long *block = malloc(16 + (size_t)(i % 7) * 16);

		*block = i;
		sum += *block;
		__asm__ volatile("" : : "r"(block) : "memory");
		free(block);
	}
	return sum;
}

static long copies(int me)
{
	static char from[THREADS][256], to[THREADS][256];

	for (long i = 0; i < rounds; i++) {
		from[me][i % 256]++;
		memcpy(to[me], from[me], 64 + (size_t)(i % 128));
	}
	return to[me][3];
}

static long lengths(int me)
{
	char text[THREADS][64] = {"the first of both", "and another, a little longer"};
	long sum = 0;

	for (long i = 0; i < rounds; i++) {
		text[me][3] = (char)('a' + i % 26);
		__asm__ volatile("" : : "r"(text) : "memory");
		sum += (long)strlen(text[me]) + (strcmp(text[0], text[1]) < 0);
	}
	return sum;
}

static int compare_ints(const void *a, const void *b)
{
	return *(const int *)a - *(const int *)b;
}

static long sorts(int me)
{
	int order[256];

	for (long i = 0; i < rounds; i++) {
		for (int k = 0; k < 256; k++)
			order[k] = (k * 7919 + (int)i * 31) % 257 + me;
		qsort(order, 256, sizeof *order, compare_ints);
	}
	return order[9];
}

struct entry {
	struct entry *next;
	long count;
	char key[16];
};

WORK static struct entry *find_entry(struct entry **slots, const char *key)
{
	unsigned long hash = 5381;
	struct entry **at;

	for (const char *c = key; *c; c++)
		hash = hash * 33 + (unsigned char)*c;
	for (at = &slots[hash % 1024]; *at; at = &(*at)->next)
		if (strcmp((*at)->key, key) == 0)
			return *at;
	*at = calloc(1, sizeof **at);
	return strcpy((*at)->key, key), *at;
}

/* A hash table of texts, counted. */
static long texts(int me)
{
	static struct entry *slots[THREADS][1024];
	long sum = 0;

	for (long i = 0; i < rounds; i++) {
		unsigned number = (unsigned)i * 2654435761u % 2000;
		char key[16] = {'k', (char)('a' + me)};
		int length = 2;

		do
			key[length++] = (char)('0' + number % 10);
		while (number /= 10);
		key[length] = 0;
		sum += ++find_entry(slots[me], key)->count;
	}
	return sum;
}

/* The compiler makes vector instructions from this loop. */
static long floats(int me)
{
	static float x[THREADS][ENTRIES], y[THREADS][ENTRIES];

	for (long i = 0; i < rounds; i++)
		for (int k = 0; k < ENTRIES; k++)
			y[me][k] = y[me][k] * 0.5f + x[me][k] + 1;
	return (long)y[me][7];
}

struct tree {
	struct tree *left, *right;
	long key;
};

static struct tree nodes[NODES];

WORK static long tree_sum(const struct tree *tree)
{
	return tree ? tree->key + tree_sum(tree->left) + tree_sum(tree->right) : 0;
}

static long tree_walk(int me)
{
	long sum = me;

	for (long i = 0; i < rounds; i++)
		sum += tree_sum(&nodes[0]);
	return sum;
}

static void *nothing(void *arg)
{
	*(long *)arg += 1;
	return NULL;
}

static long short_threads(int me)
{
	long sum = 0;

	for (long i = 0; i < rounds; i++) {
		pthread_t thread;

		if (pthread_create(&thread, NULL, nothing, &sum) == 0)
			pthread_join(thread, NULL);
	}
	return sum + me;
}

static long locals_of_threads(int me)
{
	for (long i = 0; i < rounds; i++) {
		own += i;
		owns[i & 7] ^= own + me;
	}
	return own + owns[3];
}

WORK static long sum_of(int count, ...)
{
	va_list list;
	long sum = 0;

	va_start(list, count);
	for (int i = 0; i < count; i++)
		sum += va_arg(list, long);
	va_end(list);
	return sum;
}

static long varargs(int me)
{
	long sum = me;

	for (long i = 0; i < rounds; i++)
		sum += sum_of(4, i, sum, 3L, 4L);
	return sum;
}

static long readers(int me)
{
	long sum = 0;

	for (long i = 0; i < rounds; i++) {
		if (i % 64 == 0) {
			pthread_rwlock_wrlock(&rwlock);
			table[i % ENTRIES] = me;
		} else {
			pthread_rwlock_rdlock(&rwlock);
			sum += table[i % ENTRIES];
		}
		pthread_rwlock_unlock(&rwlock);
	}
	return sum;
}

static long semaphore_turns(int me)
{
	for (long i = 0; i < rounds; i++) {
		sem_wait(&semaphores[me]);
		shared += i;
		sem_post(&semaphores[1 - me]);
	}
	return shared;
}

WORK static long one_more(long n)
{
	return n + 1;
}

WORK static long one_less(long n)
{
	return n - 1;
}

static long (*volatile choices[2])(long) = {one_more, one_less};

static long pointers_to_functions(int me)
{
	long sum = me;

	for (long i = 0; i < rounds; i++)
		sum = choices[(i >> 2) & 1](sum);
	return sum;
}

/* Bytes that another thread fills, through a queue. */
static long queue(int me)
{
	static int ring[256];
	static int head, tail;
	static pthread_cond_t filled = PTHREAD_COND_INITIALIZER, emptied = PTHREAD_COND_INITIALIZER;
	long sum = 0;

	for (long i = 0; i < rounds; i++) {
		pthread_mutex_lock(&mutex);
		if (me == 0) {
			while (head - tail == 256)
				pthread_cond_wait(&emptied, &mutex);
			ring[head++ & 255] = (int)(i * 77);
			pthread_cond_signal(&filled);
		} else {
			while (head == tail)
				pthread_cond_wait(&filled, &mutex);
			sum += ring[tail++ & 255];
			pthread_cond_signal(&emptied);
		}
		pthread_mutex_unlock(&mutex);
	}
	return sum;
}

/* Every value is another's, and new. */
static long exchange_data(int me)
{
	unsigned long x = 88172645463325252ul + (unsigned long)me;
	static unsigned long values[2][ENTRIES];

	for (long i = 0; i < rounds; i++) {
		for (int k = 0; k < ENTRIES; k++) {
			x ^= x << 13;
			x ^= x >> 7;
			x ^= x << 17;
			values[me][k] = x;
		}
		pthread_barrier_wait(&barrier);
		for (int k = 0; k < ENTRIES; k++)
			x += values[1 - me][k];
		pthread_barrier_wait(&barrier);
	}
	return (long)x;
}

static const struct kind {
	const char *name;
	long (*work)(int);
	long rounds;
} kinds[] = {
#define KIND(name, rounds)                                                                         \
	{                                                                                          \
#name, name, rounds                                                                \
	}
	KIND(mutex_alone, 300000),
	KIND(mutex_both, 200000),
	KIND(mutex_work, 20000),
	KIND(cond_turns, 2000),
	KIND(barrier_phases, 2000),
	KIND(add_both, 500000),
	KIND(exchange_loop, 200000),
	KIND(sequence_lock, 1000000),
	KIND(spin_turns, 10),
	KIND(reads_shared, 500),
	KIND(strides, 300),
	KIND(array_own, 20000),
	KIND(heap, 400000),
	KIND(copies, 400000),
	KIND(lengths, 300000),
	KIND(sorts, 600),
	KIND(texts, 200000),
	KIND(floats, 5000),
	KIND(tree_walk, 2000),
	KIND(short_threads, 150),
	KIND(locals_of_threads, 5000000),
	KIND(varargs, 800000),
	KIND(readers, 200000),
	KIND(semaphore_turns, 2000),
	KIND(pointers_to_functions, 1500000),
	KIND(queue, 60000),
	KIND(exchange_data, 200),
};

static const struct kind *chosen;

static void *run(void *arg)
{
	return (void *)chosen->work((int)(intptr_t)arg);
}

static void prepare(void)
{
	for (int i = 0; i < ENTRIES; i++)
		table[i] = (int)((unsigned)i * 2654435u >> 3);
	for (int i = 0; i < NODES; i++)
		nodes[i] = (struct tree){2 * i + 1 < NODES ? &nodes[2 * i + 1] : NULL,
			2 * i + 2 < NODES ? &nodes[2 * i + 2] : NULL, i};
	for (int i = 0; i < THREADS; i++) {
		pthread_mutex_init(&mutexes[i][0], NULL);
		sem_init(&semaphores[i], 0, i == 0);
	}
	pthread_barrier_init(&barrier, NULL, THREADS);
}

int main(int argc, char **argv)
{
	pthread_t threads[THREADS];
	void *result;
	long sum = 0;

	for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
		if (argc < 2)
			puts(kinds[i].name);
		else if (strcmp(argv[1], kinds[i].name) == 0)
			chosen = &kinds[i];
	}
	if (!chosen)
		return argc < 2 ? 0 : 2;
	rounds = argc > 2 ? atol(argv[2]) : chosen->rounds;
	prepare();
	for (int i = 0; i < THREADS; i++)
		if (pthread_create(&threads[i], NULL, run, (void *)(intptr_t)i) != 0)
			return 1;
	for (int i = 0; i < THREADS; i++) {
		pthread_join(threads[i], &result);
		sum ^= (long)result;
	}
	printf("%ld\n", sum);
	return 0;
}
