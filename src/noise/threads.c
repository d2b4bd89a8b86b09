/*
 * Threads and locks. Every function calls the next definition, glibc's, and may delay the thread
 * before or after it. Threads get numbers and rings.
 */
#include <dlfcn.h>
#include <pthread.h>
#include <semaphore.h>
#include <threads.h>

#include "base/hash.h"
#include "noise/noise.h"
#include "noise/startup.h"
#include "runtime/interpose.h"

__thread struct noise_thread noise_thread;

/* Start function of a new thread. The index of the task is the thread's number. */
struct task {
	void *(*start)(void *);
	thrd_start_t start_c11; /* used instead of `start` by thrd_create */
	void *argument;
};

static struct {
	struct task tasks[THREAD_CAPACITY]; /* written by the creator */
	pthread_key_t key;		    /* created before threads exist */
} threads;

/* ---- numbers and rings ---- */

static struct noise_ring *threads_take_ring(struct contract_noise *log)
{
	for (uint32_t i = 0; i < NOISE_RINGS; i++)
		if (!__atomic_exchange_n(&log->rings[i].is_taken, 1, __ATOMIC_ACQUIRE))
			return &log->rings[i];
	return NULL;
}

/* Runs at the thread's end. Later accesses of the thread are not reported. */
static void threads_leave(void *ring)
{
	noise_thread.state = NOISE_ENDED;
	/* Pairs with threads_take_ring(): the next owner of the ring appends to it. */
	__atomic_store_n(&((struct noise_ring *)ring)->is_taken, 0, __ATOMIC_RELEASE);
}

static uint32_t threads_next_number(void)
{
	return __atomic_fetch_add(&noise_log()->thread_count, 1, __ATOMIC_RELAXED);
}

static void threads_meet(uint32_t number)
{
	struct contract_noise *log = noise_log();
	struct noise_thread *self = &noise_thread;

	if (!log) {
		self->state = NOISE_ENDED;
		return;
	}
	self->state = NOISE_ALIVE;
	self->number = (uint16_t)(number < THREAD_CAPACITY ? number : THREAD_CAPACITY - 1);
	self->ring = number < THREAD_CAPACITY ? threads_take_ring(log) : NULL;
	rng_seed(&self->rng, hash_pair(noise_seed(), number));
	noise_draw_delay();
	/* Fails without memory: the ring stays taken */
	if (self->ring)
		(void)pthread_setspecific(threads.key, self->ring);
}

void noise_meet_thread(void)
{
	threads_meet(threads_next_number());
}

/* ---- creation ---- */

/*
 * Before the first thread creation: main becomes number 0, and accesses are reported from here
 * on.
 */
static void prepare_create(void)
{
	if (noise_thread.state != NOISE_UNKNOWN || noise_log()->thread_count)
		return;
	/* Fails without free keys: rings stay taken */
	(void)pthread_key_create(&threads.key, threads_leave);
	noise_meet_thread();
	noise_go_live();
}

static void *run_task(void *argument)
{
	const struct task *task = argument;

	threads_meet((uint32_t)(task - threads.tasks));
	noise_maybe_delay();
	return task->start(task->argument);
}

static int run_task_c11(void *argument)
{
	const struct task *task = argument;

	threads_meet((uint32_t)(task - threads.tasks));
	noise_maybe_delay();
	return task->start_c11(task->argument);
}

/* NULL: no number is left. The thread is registered at its first access. */
static struct task *new_task(void *argument, uint64_t role)
{
	uint32_t number;

	if (!noise_log())
		return NULL;
	prepare_create();
	number = threads_next_number();
	if (number >= THREAD_CAPACITY)
		return NULL;
	noise_log()->roles[number] = role;
	threads.tasks[number].argument = argument;
	return &threads.tasks[number];
}

EXPORT int pthread_create(pthread_t *restrict handle, const pthread_attr_t *restrict attributes,
	void *(*start)(void *), void *restrict argument)
{
	struct task *task;
	int error;

	ENTER();
	task = new_task(argument, (uint64_t)(uintptr_t)start);
	if (!task)
		return REAL(pthread_create)(handle, attributes, start, argument);
	task->start = start;
	error = REAL(pthread_create)(handle, attributes, run_task, task);
	noise_maybe_delay();
	return error;
}

EXPORT int thrd_create(thrd_t *handle, thrd_start_t start, void *argument)
{
	struct task *task;
	int error;

	ENTER();
	task = new_task(argument, (uint64_t)(uintptr_t)start);
	if (!task)
		return REAL(thrd_create)(handle, start, argument);
	task->start_c11 = start;
	error = REAL(thrd_create)(handle, run_task_c11, task);
	noise_maybe_delay();
	return error;
}

/* ---- locks ---- */

static void delay(void)
{
	if (noise_thread.state == NOISE_ALIVE)
		noise_maybe_delay();
}

#define BEFORE(result, name, type)                                                                 \
	EXPORT result name(type *object)                                                           \
	{                                                                                          \
		delay();                                                                           \
		return REAL(name)(object);                                                         \
	}
#define AFTER(result, name, type)                                                                  \
	EXPORT result name(type *object)                                                           \
	{                                                                                          \
		const result status = REAL(name)(object);                                          \
                                                                                                   \
		delay();                                                                           \
		return status;                                                                     \
	}

BEFORE(int, pthread_mutex_lock, pthread_mutex_t)
BEFORE(int, pthread_mutex_trylock, pthread_mutex_t)
AFTER(int, pthread_mutex_unlock, pthread_mutex_t)
BEFORE(int, pthread_rwlock_rdlock, pthread_rwlock_t)
BEFORE(int, pthread_rwlock_wrlock, pthread_rwlock_t)
AFTER(int, pthread_rwlock_unlock, pthread_rwlock_t)
BEFORE(int, pthread_cond_signal, pthread_cond_t)
BEFORE(int, pthread_cond_broadcast, pthread_cond_t)
BEFORE(int, sem_wait, sem_t)
BEFORE(int, sem_post, sem_t)
BEFORE(int, mtx_lock, mtx_t)
AFTER(int, mtx_unlock, mtx_t)
