/*
 * The cases of edges.c with locks of the program's own making, and with those of the library where
 * they are easily misjudged. `hard_locks CASE ordered|racy`.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>
#include <threads.h>
#include <time.h>

static bool is_racy;
static int value;
static _Thread_local volatile int seen; /* keeps reads of value from being optimised away */
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_rwlock_t rwlock = PTHREAD_RWLOCK_INITIALIZER;
static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
static pthread_barrier_t barrier;
static sem_t semaphore;
static atomic_int flags[2], turn, next, serving, version, count;

static void with_thread(void *(*body)(void *), void (*meanwhile)(void))
{
	pthread_t thread;

	pthread_create(&thread, NULL, body, NULL);
	meanwhile();
	pthread_join(thread, NULL);
}

/* ---- locks of its own making ---- */

/* A thread that finds the other's flag down enters; the flag is down after the other thread has left. */
static void dekker_once(int own)
{
	atomic_store(&flags[own], 1);
	if (!atomic_load(&flags[!own]))
		value++;
	atomic_store_explicit(
		&flags[own], 0, is_racy ? memory_order_relaxed : memory_order_release);
}

/* The same of fences and relaxed accesses; in the racy form the last store does not release. */
static void fences_once(int own)
{
	atomic_store_explicit(&flags[own], 1, memory_order_relaxed);
	atomic_thread_fence(memory_order_seq_cst);
	if (!atomic_load_explicit(&flags[!own], memory_order_relaxed)) {
		if (!is_racy)
			atomic_thread_fence(memory_order_acquire);
		value++;
		if (!is_racy)
			atomic_thread_fence(memory_order_release);
	}
	atomic_store_explicit(&flags[own], 0, memory_order_relaxed);
}

static void peterson_once(int own)
{
	atomic_store(&flags[own], 1);
	atomic_store(&turn, !own);
	while (!is_racy && atomic_load(&flags[!own]) && atomic_load(&turn) == !own)
		sched_yield();
	value++;
	atomic_store(&flags[own], 0);
}

static void ticket_once(int own)
{
	const int mine = atomic_fetch_add_explicit(&next, 1, memory_order_relaxed);

	(void)own;
	while (atomic_load_explicit(
		       &serving, is_racy ? memory_order_relaxed : memory_order_acquire) != mine)
		sched_yield();
	value++;
	atomic_store_explicit(&serving, mine + 1, memory_order_release);
}

struct waiter {
	_Atomic(struct waiter *) next;
	atomic_bool waits;
};

static _Atomic(struct waiter *) last;

/* A queue of waiters, each of which spins on its own stack. */
static void queue_once(int own)
{
	struct waiter waiter = {.waits = true};
	struct waiter *before = atomic_exchange_explicit(&last, &waiter, memory_order_acq_rel);
	struct waiter *expected = &waiter;

	(void)own;
	if (before) {
		atomic_store_explicit(&before->next, &waiter, memory_order_release);
		while (atomic_load_explicit(&waiter.waits, memory_order_acquire))
			sched_yield();
	}
	value++;
	if (atomic_compare_exchange_strong_explicit(
		    &last, &expected, NULL, memory_order_acq_rel, memory_order_relaxed))
		return;
	while (!atomic_load_explicit(&waiter.next, memory_order_acquire))
		sched_yield();
	atomic_store_explicit(&atomic_load_explicit(&waiter.next, memory_order_acquire)->waits,
		false, is_racy ? memory_order_relaxed : memory_order_release);
}

static atomic_flag bit = ATOMIC_FLAG_INIT;

static void flag_once(int own)
{
	(void)own;
	while (atomic_flag_test_and_set_explicit(
		&bit, is_racy ? memory_order_relaxed : memory_order_acquire))
		sched_yield();
	value++;
	atomic_flag_clear_explicit(&bit, memory_order_release);
}

/* Readers try again where a writer was about; what they read then must be atomic all the same. */
static atomic_int guarded[2];
static int plain[2];

static void sequence_once(int own)
{
	int first, before, after;

	if (own) {
		atomic_fetch_add_explicit(&version, 1, memory_order_relaxed);
		atomic_thread_fence(memory_order_release);
		atomic_store_explicit(&guarded[0], 1, memory_order_relaxed);
		if (is_racy)
			plain[0] = 1;
		atomic_store_explicit(&guarded[1], 1, memory_order_relaxed);
		atomic_fetch_add_explicit(&version, 1, memory_order_release);
		return;
	}
	do {
		before = atomic_load_explicit(&version, memory_order_acquire);
		first = atomic_load_explicit(&guarded[0], memory_order_relaxed);
		if (is_racy)
			first = plain[0];
		seen = first + atomic_load_explicit(&guarded[1], memory_order_relaxed);
		atomic_thread_fence(memory_order_acquire);
		after = atomic_load_explicit(&version, memory_order_relaxed);
	} while (before % 2 || before != after);
}

/* Updates by others carry what the first store has released. */
static void *chain_body(void *argument)
{
	int expected = 1;

	while (!atomic_compare_exchange_weak_explicit(
		&count, &expected, 2, memory_order_relaxed, memory_order_relaxed)) {
		expected = 1;
		sched_yield();
	}
	if (is_racy)
		atomic_store_explicit(&count, 3, memory_order_relaxed);
	else
		atomic_fetch_add_explicit(&count, 1, memory_order_relaxed);
	return argument;
}

static void chain_main(void)
{
	pthread_t thread;

	pthread_create(&thread, NULL, chain_body, NULL);
	value = 1;
	atomic_store_explicit(&count, 1, memory_order_release);
	pthread_join(thread, NULL);
}

static void *chain_reader(void *argument)
{
	while (atomic_load_explicit(&count, memory_order_acquire) != 3)
		sched_yield();
	seen = value;
	return argument;
}

static void case_chain(void)
{
	with_thread(chain_reader, chain_main);
}

static void (*once_each)(int own);

static void *once_body(void *argument)
{
	once_each(1);
	once_each(1);
	return argument;
}

static void once_main(void)
{
	once_each(0);
	once_each(0);
}

static void both(void (*once)(int own))
{
	once_each = once;
	with_thread(once_body, once_main);
}

/* ---- locks and waits of the library ---- */

static void readers_once(int own)
{
	if (own) {
		if (pthread_rwlock_trywrlock(&rwlock) != 0)
			return;
		value++;
		pthread_rwlock_unlock(&rwlock);
		return;
	}
	pthread_rwlock_rdlock(&rwlock);
	pthread_rwlock_rdlock(&rwlock);
	seen = value;
	pthread_rwlock_unlock(&rwlock);
	if (is_racy)
		value++; /* still a reader only */
	pthread_rwlock_unlock(&rwlock);
	if (is_racy)
		seen = value;
}

static bool is_ready;

static void *timed_body(void *argument)
{
	value++;
	pthread_mutex_lock(&mutex);
	is_ready = true;
	pthread_cond_broadcast(&condition);
	pthread_mutex_unlock(&mutex);
	return argument;
}

/* The racy form treats a time-out as a signal. */
static void timed_main(void)
{
	struct timespec until;
	bool is_late = false;

	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_sec += is_racy ? 0 : 1000000;
	pthread_mutex_lock(&mutex);
	while (!is_ready && !is_late)
		is_late = pthread_cond_timedwait(&condition, &mutex, &until) != 0;
	pthread_mutex_unlock(&mutex);
	seen = value;
}

/* Rounds: the writes of one round are read in the next, and the serial thread resets the barrier's data. */
static void *rounds_body(void *argument)
{
	static int sums[2];

	for (int round = 0; round < 3; round++) {
		if (pthread_barrier_wait(&barrier) == PTHREAD_BARRIER_SERIAL_THREAD || is_racy)
			sums[round % 2] += round;
		pthread_barrier_wait(&barrier);
		seen = sums[round % 2];
	}
	return argument;
}

static void rounds_main(void)
{
	(void)rounds_body(NULL);
}

static void *attempts_body(void *argument)
{
	value++;
	sem_post(&semaphore);
	return argument;
}

static void attempts_main(void)
{
	int posted = 0;

	while (is_racy ? !posted : sem_trywait(&semaphore) != 0) {
		sem_getvalue(&semaphore, &posted);
		sched_yield();
	}
	seen = value;
}

static pthread_mutex_t robust;

static void *dying_body(void *argument)
{
	pthread_mutex_lock(&robust);
	value++;
	if (is_racy)
		pthread_mutex_unlock(&robust);
	if (is_racy)
		value++;
	return argument;
}

/* A lock whose holder has died: the thread that takes it over sees the dead owner's writes. */
static void dying_main(void)
{
	if (pthread_mutex_lock(&robust) == EOWNERDEAD)
		pthread_mutex_consistent(&robust);
	value++;
	pthread_mutex_unlock(&robust);
}

static void case_owner_death(void)
{
	pthread_mutexattr_t attributes;

	pthread_mutexattr_init(&attributes);
	pthread_mutexattr_setrobust(&attributes, PTHREAD_MUTEX_ROBUST);
	pthread_mutex_init(&robust, &attributes);
	with_thread(dying_body, dying_main);
}

static mtx_t standard_mutex;
static once_flag standard_once = ONCE_FLAG_INIT;

static void standard_init(void)
{
	mtx_init(&standard_mutex, mtx_plain);
}

static int standard_body(void *argument)
{
	call_once(&standard_once, standard_init);
	if (!is_racy)
		mtx_lock(&standard_mutex);
	value++;
	if (!is_racy)
		mtx_unlock(&standard_mutex);
	return argument != NULL;
}

static void case_standard(void)
{
	thrd_t thread;

	thrd_create(&thread, standard_body, NULL);
	(void)standard_body(NULL);
	thrd_join(thread, NULL);
	seen = value;
}

static void case_dekker(void)
{
	both(dekker_once);
}

static void case_fences(void)
{
	both(fences_once);
}

static void case_peterson(void)
{
	both(peterson_once);
}

static void case_ticket(void)
{
	both(ticket_once);
}

static void case_queue(void)
{
	both(queue_once);
}

static void case_flag(void)
{
	both(flag_once);
}

static void case_sequence(void)
{
	both(sequence_once);
}

static void case_readers(void)
{
	both(readers_once);
}

static void case_timed(void)
{
	with_thread(timed_body, timed_main);
}

static void case_rounds(void)
{
	with_thread(rounds_body, rounds_main);
}

static void case_attempts(void)
{
	with_thread(attempts_body, attempts_main);
}

static const struct {
	const char *name;
	void (*run)(void);
} cases[] = {
	{"dekker", case_dekker},
	{"fences", case_fences},
	{"peterson", case_peterson},
	{"ticket", case_ticket},
	{"queue", case_queue},
	{"flag", case_flag},
	{"sequence", case_sequence},
	{"chain", case_chain},
	{"readers", case_readers},
	{"timed", case_timed},
	{"rounds", case_rounds},
	{"attempts", case_attempts},
	{"standard", case_standard},
	{"owner_death", case_owner_death},
};

int main(int argument_count, char **arguments)
{
	pthread_barrier_init(&barrier, NULL, 2);
	sem_init(&semaphore, 0, 0);
	is_racy = argument_count > 2 && strcmp(arguments[2], "racy") == 0;
	for (size_t i = 0; argument_count > 1 && i < sizeof cases / sizeof *cases; i++)
		if (strcmp(cases[i].name, arguments[1]) == 0) {
			cases[i].run();
			return 0;
		}
	return 2;
}
