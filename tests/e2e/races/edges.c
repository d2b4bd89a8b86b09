/*
 * Two threads and one variable: `edges CASE ordered|racy`. Each case orders the accesses by one means,
 * and in its racy form just fails to.
 */
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

static bool is_racy;
static int value;
static _Thread_local volatile int seen; /* keeps reads of value from being optimised away */
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER, other = PTHREAD_MUTEX_INITIALIZER;
static pthread_rwlock_t rwlock = PTHREAD_RWLOCK_INITIALIZER;
static pthread_spinlock_t spin;
static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
static pthread_barrier_t barrier;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static sem_t semaphore;
static int descriptors[2];
static atomic_int flag;

/* ---- each case: what the thread does, and what main does meanwhile ---- */

static void *write_value(void *argument)
{
	value++;
	return argument;
}

static void case_join(void)
{
	pthread_t thread;

	pthread_create(&thread, NULL, write_value, NULL);
	if (is_racy)
		seen = value;
	pthread_join(thread, NULL);
	seen = value;
}

static void with_thread(void *(*body)(void *), void (*meanwhile)(void))
{
	pthread_t thread;

	pthread_create(&thread, NULL, body, NULL);
	meanwhile();
	pthread_join(thread, NULL);
}

static void *mutex_body(void *argument)
{
	pthread_mutex_t *mine = is_racy ? &other : &mutex;

	pthread_mutex_lock(mine);
	value++;
	pthread_mutex_unlock(mine);
	return argument;
}

static void mutex_main(void)
{
	pthread_mutex_lock(&mutex);
	seen = value;
	pthread_mutex_unlock(&mutex);
}

/* The same access once more: behind the unlock it is another one. */
static void *again_body(void *argument)
{
	pthread_mutex_lock(&mutex);
	value = 1;
	pthread_mutex_unlock(&mutex);
	if (is_racy)
		value = 1;
	return argument;
}

static void trylock_main(void)
{
	bool has_lock = pthread_mutex_trylock(&other) == 0;

	if (has_lock || is_racy)
		seen = value;
	if (has_lock)
		pthread_mutex_unlock(&other);
}

static void *trylock_body(void *argument)
{
	pthread_mutex_lock(&other);
	value++;
	pthread_mutex_unlock(&other);
	return argument;
}

static void *spin_body(void *argument)
{
	pthread_spin_lock(&spin);
	value++;
	pthread_spin_unlock(&spin);
	if (is_racy)
		value++;
	return argument;
}

static void spin_main(void)
{
	pthread_spin_lock(&spin);
	seen = value;
	pthread_spin_unlock(&spin);
}

static void *rwlock_body(void *argument)
{
	if (is_racy)
		pthread_rwlock_rdlock(&rwlock);
	else
		pthread_rwlock_wrlock(&rwlock);
	value++;
	pthread_rwlock_unlock(&rwlock);
	return argument;
}

static void rwlock_main(void)
{
	pthread_rwlock_rdlock(&rwlock);
	seen = value;
	pthread_rwlock_unlock(&rwlock);
}

static bool is_done; /* guarded by mutex */

static void *condition_body(void *argument)
{
	pthread_mutex_lock(&mutex);
	value++;
	is_done = true;
	pthread_cond_signal(&condition);
	pthread_mutex_unlock(&mutex);
	if (is_racy)
		value++;
	return argument;
}

static void condition_main(void)
{
	pthread_mutex_lock(&mutex);
	while (!is_done)
		pthread_cond_wait(&condition, &mutex);
	seen = value;
	pthread_mutex_unlock(&mutex);
}

static void *barrier_body(void *argument)
{
	value++;
	pthread_barrier_wait(&barrier);
	if (!is_racy)
		pthread_barrier_wait(&barrier);
	value++;
	return argument;
}

static void barrier_main(void)
{
	pthread_barrier_wait(&barrier);
	seen = value;
	if (!is_racy)
		pthread_barrier_wait(&barrier);
}

static void *semaphore_body(void *argument)
{
	if (is_racy)
		sem_post(&semaphore);
	value++;
	if (!is_racy)
		sem_post(&semaphore);
	return argument;
}

static void semaphore_main(void)
{
	sem_wait(&semaphore);
	seen = value;
}

static void once_routine(void)
{
	value = 1;
}

static void *once_body(void *argument)
{
	pthread_once(&once, once_routine);
	return argument;
}

static void once_main(void)
{
	if (!is_racy)
		pthread_once(&once, once_routine);
	seen = value;
}

static void *descriptor_body(void *argument)
{
	const uint64_t one = 1;

	if (is_racy)
		(void)!write(descriptors[1], &one, sizeof one);
	value++;
	if (!is_racy)
		(void)!write(descriptors[1], &one, sizeof one);
	return argument;
}

static void descriptor_main(void)
{
	uint64_t got;

	(void)!read(descriptors[0], &got, sizeof got);
	seen = value;
}

static void *release_body(void *argument)
{
	value++;
	if (is_racy)
		atomic_store_explicit(&flag, 1, memory_order_relaxed);
	else
		atomic_store_explicit(&flag, 1, memory_order_release);
	return argument;
}

static void release_main(void)
{
	if (atomic_load_explicit(&flag, memory_order_acquire))
		seen = value;
}

/* The value that a compare-exchange expects is no operand of a later fence. */
static void exchange_unrelated(int expected)
{
	static atomic_int unrelated;

	atomic_compare_exchange_strong_explicit(
		&unrelated, &expected, 1, memory_order_relaxed, memory_order_relaxed);
}

static void *fence_body(void *argument)
{
	value++;
	exchange_unrelated(7);
	if (!is_racy)
		atomic_thread_fence(memory_order_release);
	atomic_store_explicit(&flag, 1, memory_order_relaxed);
	return argument;
}

static void fence_main(void)
{
	exchange_unrelated(9);
	if (!atomic_load_explicit(&flag, memory_order_relaxed))
		return;
	atomic_thread_fence(memory_order_acquire);
	seen = value;
}

/* A lock of the program's own. */
static void *lock_body(void *argument)
{
	int expected = 0;

	while (!atomic_compare_exchange_weak(&flag, &expected, 1))
		expected = 0;
	value++;
	if (is_racy)
		atomic_store_explicit(&flag, 0, memory_order_relaxed);
	else
		atomic_store(&flag, 0);
	return argument;
}

static void lock_main(void)
{
	(void)lock_body(NULL);
}

/* An exchange that fails is no release. */
static atomic_int exchanged;

static void *exchange_body(void *argument)
{
	int expected = is_racy;

	value++;
	atomic_compare_exchange_strong_explicit(
		&flag, &expected, 2, memory_order_release, memory_order_relaxed);
	atomic_store_explicit(&exchanged, 1, memory_order_relaxed);
	return argument;
}

static void exchange_main(void)
{
	while (!atomic_load_explicit(&exchanged, memory_order_relaxed))
		sched_yield();
	if (atomic_load_explicit(&flag, memory_order_acquire) == (is_racy ? 0 : 2))
		seen = value;
}

/* A failed exchange acquires nevertheless, if its failure order says so. */
static void *failure_body(void *argument)
{
	value++;
	atomic_store_explicit(&flag, 1, memory_order_release);
	return argument;
}

static void failure_main(void)
{
	int expected = 7;

	while (expected != 1)
		atomic_compare_exchange_strong_explicit(&flag, &expected, 7, memory_order_relaxed,
			is_racy ? memory_order_relaxed : memory_order_acquire);
	seen = value;
}

static volatile int polled;

static void *volatile_body(void *argument)
{
	value++;
	if (is_racy)
		polled = 1;
	else
		atomic_store(&flag, 1);
	return argument;
}

static void volatile_main(void)
{
	if (is_racy ? polled : atomic_load(&flag))
		seen = value;
}

static pthread_t main_thread;

static void on_signal(int number)
{
	(void)number;
	seen = value;
	atomic_store(&flag, 1);
}

static void *signal_body(void *argument)
{
	if (!is_racy)
		value++;
	pthread_kill(main_thread, SIGUSR1);
	if (is_racy)
		value++;
	return argument;
}

static void signal_main(void)
{
	while (!atomic_load(&flag))
		sched_yield();
}

static char bytes[64];

static void *bytes_body(void *argument)
{
	bytes[is_racy ? 2 : 3]++;
	return argument;
}

static void bytes_main(void)
{
	bytes[2]++;
}

static void *range_body(void *argument)
{
	memset(bytes, 1, is_racy ? 41 : 40);
	return argument;
}

static void range_main(void)
{
	bytes[40]++;
}

/* A long range is examined everywhere: the beginning is the thread's in none of the two forms. */
static char copied[1 << 20], copy[1 << 20];

static void *middle_body(void *argument)
{
	memset(copied + 600000, 1, 20000);
	return argument;
}

static void middle_main(void)
{
	memcpy(copy, copied, is_racy ? sizeof copy : 600000);
	seen += copy[0];
}

static void *end_body(void *argument)
{
	memset(copied + sizeof copied - 9600, 1, 9600);
	return argument;
}

static void end_main(void)
{
	seen += memcmp(copy, copied, is_racy ? sizeof copy : sizeof copy - 9600) == 0;
}

static int *shared;

/* The same memory serves both threads, one after the other. */
static void *heap_body(void *argument)
{
	for (int i = 0; i < 2; i++) {
		int *mine = is_racy ? shared : malloc(sizeof *mine);

		*mine = i;
		seen += *mine < 0;
		if (!is_racy)
			free(mine);
	}
	return argument;
}

static void heap_main(void)
{
	(void)heap_body(NULL);
}

/* The same stack and thread-local memory serve one thread after the other. */
static _Thread_local int own;

static void touch(int *where)
{
	*where += 1;
}

static void *stack_body(void *argument)
{
	int local = 0;

	touch(&local);
	touch(&own);
	if (is_racy)
		touch(&value);
	sem_post(&semaphore);
	return argument;
}

static void case_stack(void)
{
	pthread_attr_t attributes;

	pthread_attr_init(&attributes);
	pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
	for (int i = 0; i < 3; i++) {
		pthread_t thread;

		pthread_create(&thread, &attributes, stack_body, NULL);
		if (i == 1)
			sem_wait(&semaphore);
	}
	sem_wait(&semaphore);
	sem_wait(&semaphore);
}

/* ---- */

static void case_mutex(void)
{
	with_thread(mutex_body, mutex_main);
}
static void case_again(void)
{
	with_thread(again_body, mutex_main);
}
static void case_trylock(void)
{
	with_thread(trylock_body, trylock_main);
}
static void case_spin(void)
{
	with_thread(spin_body, spin_main);
}
static void case_rwlock(void)
{
	with_thread(rwlock_body, rwlock_main);
}
static void case_condition(void)
{
	with_thread(condition_body, condition_main);
}
static void case_barrier(void)
{
	with_thread(barrier_body, barrier_main);
}
static void case_semaphore(void)
{
	with_thread(semaphore_body, semaphore_main);
}
static void case_once(void)
{
	with_thread(once_body, once_main);
}
static void case_release(void)
{
	with_thread(release_body, release_main);
}
static void case_fence(void)
{
	with_thread(fence_body, fence_main);
}
static void case_lock(void)
{
	with_thread(lock_body, lock_main);
}
static void case_exchange(void)
{
	with_thread(exchange_body, exchange_main);
}
static void case_failure(void)
{
	with_thread(failure_body, failure_main);
}
static void case_volatile(void)
{
	with_thread(volatile_body, volatile_main);
}
static void case_bytes(void)
{
	with_thread(bytes_body, bytes_main);
}
static void case_range(void)
{
	with_thread(range_body, range_main);
}

static void case_middle(void)
{
	with_thread(middle_body, middle_main);
}

static void case_end(void)
{
	with_thread(end_body, end_main);
}

static void case_heap(void)
{
	shared = malloc(sizeof *shared);
	with_thread(heap_body, heap_main);
	free(shared);
}

static void case_signal(void)
{
	signal(SIGUSR1, on_signal);
	main_thread = pthread_self();
	with_thread(signal_body, signal_main);
}

static void case_pipe(void)
{
	(void)!pipe(descriptors);
	with_thread(descriptor_body, descriptor_main);
}

static void case_socket(void)
{
	(void)!socketpair(AF_UNIX, SOCK_STREAM, 0, descriptors);
	with_thread(descriptor_body, descriptor_main);
}

static void case_event(void)
{
	descriptors[0] = descriptors[1] = eventfd(0, 0);
	with_thread(descriptor_body, descriptor_main);
}

static const struct {
	const char *name;
	void (*run)(void);
} cases[] = {
	{"join", case_join},
	{"mutex", case_mutex},
	{"again", case_again},
	{"trylock", case_trylock},
	{"spin", case_spin},
	{"rwlock", case_rwlock},
	{"condition", case_condition},
	{"barrier", case_barrier},
	{"semaphore", case_semaphore},
	{"once", case_once},
	{"pipe", case_pipe},
	{"socket", case_socket},
	{"event", case_event},
	{"release", case_release},
	{"fence", case_fence},
	{"lock", case_lock},
	{"exchange", case_exchange},
	{"failure", case_failure},
	{"volatile", case_volatile},
	{"signal", case_signal},
	{"bytes", case_bytes},
	{"range", case_range},
	{"middle", case_middle},
	{"end", case_end},
	{"heap", case_heap},
	{"stack", case_stack},
};

int main(int count, char **arguments)
{
	pthread_spin_init(&spin, 0);
	pthread_barrier_init(&barrier, NULL, 2);
	sem_init(&semaphore, 0, 0);
	is_racy = count > 2 && strcmp(arguments[2], "racy") == 0;
	for (size_t i = 0; count > 1 && i < sizeof cases / sizeof *cases; i++)
		if (strcmp(cases[i].name, arguments[1]) == 0) {
			cases[i].run();
			return 0;
		}
	return 2;
}
