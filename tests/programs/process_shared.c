/* EXPECT: passed runs=20 */
/*
 * Objects with PTHREAD_PROCESS_SHARED between a process and its forked child. Both see the holder,
 * both wake each other, and a robust mutex outlives its holder.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "check.h"

struct shared {
	pthread_mutex_t mutex, robust;
	pthread_cond_t cond;
	pthread_barrier_t barrier;
	pthread_rwlock_t rwlock;
	pthread_spinlock_t spin;
	sem_t semaphore, back;
	int turn, count;
};

static struct shared *shared;
static sem_t *named;

static void make_mutex(pthread_mutex_t *mutex, int robustness)
{
	pthread_mutexattr_t attributes;

	pthread_mutexattr_init(&attributes);
	pthread_mutexattr_setpshared(&attributes, PTHREAD_PROCESS_SHARED);
	pthread_mutexattr_setrobust(&attributes, robustness);
	MUST(pthread_mutex_init(mutex, &attributes) == 0);
}

static void make_shared(void)
{
	pthread_condattr_t cond;
	pthread_barrierattr_t barrier;
	pthread_rwlockattr_t rwlock;

	shared = mmap(
		NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	MUST(shared != MAP_FAILED);
	make_mutex(&shared->mutex, PTHREAD_MUTEX_STALLED);
	make_mutex(&shared->robust, PTHREAD_MUTEX_ROBUST);
	pthread_condattr_init(&cond);
	pthread_condattr_setpshared(&cond, PTHREAD_PROCESS_SHARED);
	MUST(pthread_cond_init(&shared->cond, &cond) == 0);
	pthread_barrierattr_init(&barrier);
	pthread_barrierattr_setpshared(&barrier, PTHREAD_PROCESS_SHARED);
	MUST(pthread_barrier_init(&shared->barrier, &barrier, 4) == 0);
	pthread_rwlockattr_init(&rwlock);
	pthread_rwlockattr_setpshared(&rwlock, PTHREAD_PROCESS_SHARED);
	MUST(pthread_rwlock_init(&shared->rwlock, &rwlock) == 0);
	MUST(pthread_spin_init(&shared->spin, PTHREAD_PROCESS_SHARED) == 0);
	MUST(sem_init(&shared->semaphore, 1, 0) == 0 && sem_init(&shared->back, 1, 0) == 0);
}

/* The child runs `function`; what it returns is its exit status. */
static pid_t child_of(int (*function)(void))
{
	pid_t child = fork();

	if (!child)
		_exit(function());
	return child;
}

static int status_of(pid_t child)
{
	int status = -1;

	waitpid(child, &status, 0);
	return status;
}

/* ---- holders ---- */

static int finds_all_held(void)
{
	if (pthread_mutex_trylock(&shared->mutex) != EBUSY ||
		pthread_rwlock_tryrdlock(&shared->rwlock) != EBUSY ||
		pthread_spin_trylock(&shared->spin) != EBUSY)
		return 1;
	sem_post(&shared->back);
	pthread_mutex_lock(&shared->mutex);
	pthread_rwlock_rdlock(&shared->rwlock);
	pthread_spin_lock(&shared->spin);
	shared->count++;
	pthread_spin_unlock(&shared->spin);
	pthread_rwlock_unlock(&shared->rwlock);
	pthread_mutex_unlock(&shared->mutex);
	return 0;
}

static void test_exclusion(void)
{
	pid_t child;

	pthread_mutex_lock(&shared->mutex);
	pthread_rwlock_wrlock(&shared->rwlock);
	pthread_spin_lock(&shared->spin);
	child = child_of(finds_all_held);
	CHECK(sem_wait(&shared->back) == 0 && shared->count == 0);
	pthread_spin_unlock(&shared->spin);
	pthread_rwlock_unlock(&shared->rwlock);
	pthread_mutex_unlock(&shared->mutex);
	CHECK(status_of(child) == 0 && shared->count == 1);
}

/* ---- waking each other ---- */

static void take_turns(int own)
{
	pthread_mutex_lock(&shared->mutex);
	for (int i = 0; i < 4; i++) {
		while (shared->turn != own)
			pthread_cond_wait(&shared->cond, &shared->mutex);
		shared->turn = !own;
		pthread_cond_signal(&shared->cond);
	}
	pthread_mutex_unlock(&shared->mutex);
}

static int takes_turns(void)
{
	take_turns(1);
	return 0;
}

static int answers(void)
{
	for (int i = 0; i < 4; i++) {
		sem_wait(&shared->semaphore);
		sem_post(i % 2 ? named : &shared->back);
	}
	return 0;
}

static void test_waking(void)
{
	pid_t child = child_of(takes_turns);
	int waits = 0;

	take_turns(0);
	CHECK(status_of(child) == 0);
	child = child_of(answers);
	for (int i = 0; i < 4; i++)
		waits += sem_post(&shared->semaphore) == 0 &&
			 sem_wait(i % 2 ? named : &shared->back) == 0;
	CHECK(waits == 4 && status_of(child) == 0);
}

static void *arrive(void *unused)
{
	pthread_mutex_lock(&shared->mutex);
	shared->count++;
	pthread_mutex_unlock(&shared->mutex);
	for (int i = 0; i < 3; i++)
		if (pthread_barrier_wait(&shared->barrier) == PTHREAD_BARRIER_SERIAL_THREAD)
			sem_post(&shared->back);
	return unused;
}

static int arrives_twice(void)
{
	pthread_t thread;

	if (pthread_create(&thread, NULL, arrive, NULL))
		return 1;
	(void)arrive(NULL);
	return pthread_join(thread, NULL) != 0;
}

static void test_threads_of_both(void)
{
	pid_t child;

	shared->count = 0;
	child = child_of(arrives_twice);
	CHECK(arrives_twice() == 0 && status_of(child) == 0);
	CHECK(shared->count == 4);
	CHECK(sem_wait(&shared->back) == 0 && sem_wait(&shared->back) == 0 &&
		sem_wait(&shared->back) == 0);
	CHECK(sem_trywait(&shared->back) == -1 && errno == EAGAIN);
}

/* ---- holders that end ---- */

static int ends_with_it(void)
{
	pthread_mutex_lock(&shared->robust);
	sem_post(&shared->back);
	return 0;
}

static int is_killed_with_it(void)
{
	(void)ends_with_it();
	return pause();
}

static void test_holder_ends(void)
{
	pid_t child = child_of(ends_with_it);

	CHECK(sem_wait(&shared->back) == 0);
	CHECK(pthread_mutex_lock(&shared->robust) == EOWNERDEAD);
	CHECK(pthread_mutex_consistent(&shared->robust) == 0);
	CHECK(pthread_mutex_unlock(&shared->robust) == 0 && status_of(child) == 0);
	child = child_of(is_killed_with_it);
	CHECK(sem_wait(&shared->back) == 0);
	CHECK(pthread_mutex_trylock(&shared->robust) == EBUSY);
	kill(child, SIGKILL);
	CHECK(pthread_mutex_lock(&shared->robust) == EOWNERDEAD);
	CHECK(pthread_mutex_consistent(&shared->robust) == 0);
	CHECK(pthread_mutex_unlock(&shared->robust) == 0 && status_of(child) == SIGKILL);
	CHECK(pthread_mutex_destroy(&shared->robust) == 0);
}

int main(void)
{
	char name[32];

	make_shared();
	snprintf(name, sizeof name, "/raddle-%d", (int)getpid());
	named = sem_open(name, O_CREAT | O_EXCL, 0600, 0);
	MUST(named != SEM_FAILED && sem_unlink(name) == 0);
	test_exclusion();
	test_waking();
	test_threads_of_both();
	test_holder_ends();
	return check_status();
}
