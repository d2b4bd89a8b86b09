/*
 * usage: loops LOOP. When the thread repeats its loop, no other thread of the program can run.
 * Endless: reads, yields, sections, tries, swaps. Ending: the thread counts its tries (counts), draws
 * numbers (draws), reads the clock (clock), or a child writes shared memory (child).
 */
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define TRIES 100000

static pthread_mutex_t held = PTHREAD_MUTEX_INITIALIZER, lock = PTHREAD_MUTEX_INITIALIZER;
/* Not static: the compiler must not know that no function changes them. */
atomic_int never, one = 1;
static const char *loop;
static int is_done;

static int section(void)
{
	int seen;

	pthread_mutex_lock(&lock);
	seen = is_done;
	pthread_mutex_unlock(&lock);
	return seen;
}

static long seconds(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec;
}

static void wait_for_child(void)
{
	atomic_int *shared = mmap(
		NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	const pid_t child = fork();

	if (child == 0) {
		usleep(100000);
		atomic_store(shared, 1);
		_exit(0);
	}
	while (!atomic_load(shared))
		sched_yield();
	waitpid(child, NULL, 0);
}

static void *work(void *unused)
{
	const long begin = seconds();
	int tries = 0;

	if (!strcmp(loop, "reads"))
		while (!atomic_load(&never))
			;
	if (!strcmp(loop, "yields"))
		while (!atomic_load(&never))
			sched_yield();
	if (!strcmp(loop, "sections"))
		while (!section())
			;
	if (!strcmp(loop, "tries"))
		while (pthread_mutex_trylock(&held))
			;
	if (!strcmp(loop, "swaps"))
		while (atomic_exchange(&one, 1))
			;
	if (!strcmp(loop, "counts"))
		while (pthread_mutex_trylock(&held) && ++tries < TRIES)
			;
	if (!strcmp(loop, "draws"))
		while (random() % TRIES)
			sched_yield();
	if (!strcmp(loop, "clock"))
		while (seconds() < begin + 100)
			sched_yield();
	if (!strcmp(loop, "child"))
		wait_for_child();
	return unused;
}

int main(int count, char **arguments)
{
	pthread_t thread;

	if (count < 2)
		return 2;
	loop = arguments[1];
	pthread_mutex_lock(&held);
	pthread_create(&thread, NULL, work, NULL);
	pthread_join(thread, NULL);
	return 0;
}
