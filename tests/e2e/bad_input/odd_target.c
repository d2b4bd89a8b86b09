/* Programs that do what tools do not expect, one per word given as the argument. */
#include <aio.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

static void *nothing(void *argument)
{
	return argument;
}

/* Makes the program threaded. */
static void make_thread(void)
{
	pthread_t thread;

	if (pthread_create(&thread, NULL, nothing, NULL) != 0)
		exit(90);
	pthread_join(thread, NULL);
}

static volatile int sink;

static int overrun(int depth)
{
	volatile char frame[4096];

	frame[0] = (char)depth;
	return sink < 0 ? 0 : overrun(depth + 1) + frame[0];
}

static void *overrun_thread(void *argument)
{
	sink = overrun(0);
	return argument;
}

static int no_thread(void)
{
	return 0;
}

static int no_thread_fails(void)
{
	return 3;
}

static int closes_all(void)
{
	for (int i = 0; i < 1024; i++)
		close(i);
	make_thread();
	return 0;
}

static int closes_all_later(void)
{
	make_thread();
	for (int i = 0; i < 1024; i++)
		close(i);
	make_thread();
	return 0;
}

/* The C library makes a thread for it, past pthread_create(). */
static int reads_aside(void)
{
	char byte;
	struct aiocb request = {.aio_buf = &byte, .aio_nbytes = 1};
	const struct aiocb *all[1] = {&request};

	make_thread();
	request.aio_fildes = open("/proc/self/exe", O_RDONLY);
	if (aio_read(&request) != 0)
		return 93;
	while (aio_error(&request) == EINPROGRESS)
		aio_suspend(all, 1, NULL);
	return aio_return(&request) == 1 ? 0 : 94;
}

static int forks(void)
{
	int status;
	pid_t pid;

	make_thread();
	pid = fork();
	if (pid == 0) {
		make_thread();
		_exit(7);
	}
	if (waitpid(pid, &status, 0) != pid)
		return 91;
	return WEXITSTATUS(status) == 7 ? 0 : 92;
}

static int daemonises(void)
{
	make_thread();
	if (daemon(1, 1) != 0)
		return 93;
	for (;;)
		pause();
}

static int overruns_stack(void)
{
	pthread_t thread;

	pthread_create(&thread, NULL, overrun_thread, NULL);
	pthread_join(thread, NULL);
	return 0;
}

static int prints_a_gigabyte(void)
{
	static char block[1 << 20];

	make_thread();
	memset(block, 'x', sizeof block);
	block[sizeof block - 1] = '\n';
	for (int i = 0; i < 1024; i++)
		fwrite(block, 1, sizeof block, stdout);
	puts("the last line");
	return 1;
}

static int spins(void)
{
	make_thread();
	while (sink >= 0)
		sink = 1;
	return 0;
}

static int spins_first(void)
{
	while (sink >= 0)
		sink = 1;
	return 0;
}

static int kills_itself(void)
{
	make_thread();
	return kill(getpid(), SIGKILL);
}

static int waits_for_ever(void)
{
	int ends[2];
	char byte;

	if (pipe(ends) != 0)
		return 94;
	make_thread();
	return read(ends[0], &byte, 1) == 1;
}

static int pauses(void)
{
	make_thread();
	return pause();
}

static volatile int is_written;

static void *write_flag(void *argument)
{
	is_written = 1;
	return argument;
}

static int waits_blindly(void)
{
	pthread_t thread;

	pthread_create(&thread, NULL, write_flag, NULL);
	while (!is_written)
		continue;
	pthread_join(thread, NULL);
	return 0;
}

static int reads_input(void)
{
	char word[16] = "";

	make_thread();
	if (!fgets(word, sizeof word, stdin))
		return 0;
	return strcmp(word, "fail\n") == 0 ? 5 : 0;
}

static int fails(void)
{
	make_thread();
	return 4;
}

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static int is_first;

static void *look_who_is_first(void *argument)
{
	pthread_mutex_lock(&mutex);
	is_first = sink == 0;
	pthread_mutex_unlock(&mutex);
	return argument;
}

static int order_matters(void)
{
	pthread_t thread;

	pthread_create(&thread, NULL, look_who_is_first, NULL);
	pthread_mutex_lock(&mutex);
	sink = 1;
	pthread_mutex_unlock(&mutex);
	pthread_join(thread, NULL);
	return is_first ? 6 : 0;
}

static int passes(void)
{
	make_thread();
	return 0;
}

static void *lock_often(void *lock)
{
	for (int i = 0; i < 4; i++) {
		pthread_mutex_lock(lock);
		pthread_mutex_unlock(lock);
	}
	return lock;
}

static void *post_often(void *semaphore)
{
	for (int i = 0; i < 4; i++)
		sem_post(semaphore);
	return semaphore;
}

static int run_twice(void *(*work)(void *), void *argument)
{
	pthread_t threads[2];

	for (int i = 0; i < 2; i++)
		if (pthread_create(&threads[i], NULL, work, argument) != 0)
			exit(90);
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	return 0;
}

static int takes_locks(void)
{
	static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

	return run_twice(lock_often, &lock);
}

static int takes_no_lock(void)
{
	sem_t semaphore;

	sem_init(&semaphore, 0, 0);
	return run_twice(post_often, &semaphore);
}

static void *lock_for_ever(void *lock)
{
	while (sink == 0) {
		pthread_mutex_lock(lock);
		pthread_mutex_unlock(lock);
	}
	return lock;
}

static int never_ends(void)
{
	static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

	return run_twice(lock_for_ever, &lock);
}

/* Lies in a file, so it is not put back before a run. */
static volatile int *run_count;

static void *lock_in_some_runs(void *locks)
{
	pthread_mutex_t *lock = locks;

	for (int i = 0; i < 2; i++) {
		pthread_mutex_lock(&lock[*run_count % 8 < 4]);
		pthread_mutex_unlock(&lock[*run_count % 8 < 4]);
	}
	return locks;
}

/* Four runs use one lock, four another: repeated runs do not find theirs. */
static int changes_with_time(void)
{
	static pthread_mutex_t locks[2] = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER};
	const int file = open("run_count", O_RDWR | O_CREAT, 0600);

	if (file < 0 || ftruncate(file, sizeof *run_count) != 0)
		exit(91);
	make_thread();
	/* Called behind the first thread creation: memory shared before it is restored after each run, a file is not. */
	run_count = mmap(NULL, sizeof *run_count, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
	if (run_count == MAP_FAILED)
		exit(92);
	++*run_count;
	return run_twice(lock_in_some_runs, locks);
}

static const struct {
	const char *word;
	int (*act)(void);
} acts[] = {
	{"no_thread", no_thread},
	{"no_thread_fails", no_thread_fails},
	{"closes_all", closes_all},
	{"closes_all_later", closes_all_later},
	{"reads_aside", reads_aside},
	{"forks", forks},
	{"daemonises", daemonises},
	{"overruns_stack", overruns_stack},
	{"prints_a_gigabyte", prints_a_gigabyte},
	{"spins", spins},
	{"spins_first", spins_first},
	{"kills_itself", kills_itself},
	{"waits_for_ever", waits_for_ever},
	{"pauses", pauses},
	{"waits_blindly", waits_blindly},
	{"reads_input", reads_input},
	{"fails", fails},
	{"order_matters", order_matters},
	{"passes", passes},
	{"takes_locks", takes_locks},
	{"takes_no_lock", takes_no_lock},
	{"never_ends", never_ends},
	{"changes_with_time", changes_with_time},
};

int main(int argc, char **argv)
{
	for (size_t i = 0; argc > 1 && i < sizeof acts / sizeof *acts; i++)
		if (strcmp(argv[1], acts[i].word) == 0)
			return acts[i].act();
	return 99;
}
