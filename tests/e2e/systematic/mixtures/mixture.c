/*
 * mixture FILE THREAD...: each thread executes the operations that the letters of its argument name. The program appends to FILE
 * the results of all operations, and the final values of the variables.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#define THREADS_MOST 4
#define OPERATIONS_MOST 8

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_rwlock_t rwlock = PTHREAD_RWLOCK_INITIALIZER;
static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static pthread_barrier_t barrier;
static sem_t semaphore;
static pthread_t threads[THREADS_MOST];
static char results[THREADS_MOST][OPERATIONS_MOST + 1];
static int pipe_ends[2], thread_count;
static volatile int x, y, flag, handled;

static void initialise(void)
{
	y += 3;
}

static void handle(int signal)
{
	handled += signal == SIGUSR1;
}

static int with_mutex(int has_mutex)
{
	if (has_mutex) {
		x = x * 2 + 1;
		pthread_mutex_unlock(&mutex);
	}
	return has_mutex;
}

static int read_section(void)
{
	int seen;

	pthread_rwlock_rdlock(&rwlock);
	seen = y++;
	pthread_rwlock_unlock(&rwlock);
	return seen;
}

static int write_section(int has_lock)
{
	if (has_lock) {
		y += 10;
		pthread_rwlock_unlock(&rwlock);
	}
	return has_lock;
}

static int wait_or_signal(int waits)
{
	pthread_mutex_lock(&mutex);
	if (waits && !flag)
		pthread_cond_wait(&condition, &mutex);
	flag = !waits;
	pthread_cond_signal(&condition);
	pthread_mutex_unlock(&mutex);
	return 0;
}

static int ask(unsigned long request, int setting)
{
	return ioctl(pipe_ends[0], request, &setting) ? 9 : setting;
}

static int execute(char operation, int self)
{
	char byte;

	switch (operation) {
	case 'r':
		return x;
	case 'w':
		return x = 4;
	case 'i':
		return __atomic_fetch_add(&y, 1, __ATOMIC_SEQ_CST);
	case 'm':
		return with_mutex(!pthread_mutex_lock(&mutex));
	case 't':
		return with_mutex(!pthread_mutex_trylock(&mutex));
	case 'R':
		return read_section();
	case 'W':
		return write_section(!pthread_rwlock_wrlock(&rwlock));
	case 'T':
		return write_section(!pthread_rwlock_trywrlock(&rwlock));
	case 'b':
		return pthread_barrier_wait(&barrier) ? 1 : 0;
	case 'p':
		return sem_post(&semaphore);
	case 's':
		return sem_wait(&semaphore);
	case 'S':
		return sem_trywait(&semaphore) ? 1 : 0;
	case 'o':
		return pthread_once(&once, initialise);
	case 'c':
		return wait_or_signal(1);
	case 'C':
		return wait_or_signal(0);
	case 'k':
		return self ? pthread_kill(threads[0], SIGUSR1) ? 1 : 0 : handled;
	case 'f':
		return fcntl(pipe_ends[0], F_SETFL, 0);
	case 'F':
		return ask(FIONREAD, 0);
	case 'd':
		return (int)read(pipe_ends[0], &byte, 1) & 7;
	case 'D':
		return (int)write(pipe_ends[1], "d", 1);
	default:
		return 9;
	}
}

static void *body(void *operations)
{
	int self = 0;

	while (!pthread_equal(threads[self], pthread_self()))
		self++;
	for (int i = 0; ((char *)operations)[i]; i++)
		results[self][i] = (char)('0' + execute(((char *)operations)[i], self) % 10);
	return NULL;
}

static void *start(void *operations)
{
	pthread_mutex_lock(&mutex); /* all ids are known */
	pthread_mutex_unlock(&mutex);
	return body(operations);
}

int main(int argc, char **argv)
{
	char line[99];
	int file, length = 0;

	thread_count = argc - 2;
	signal(SIGUSR1, handle);
	pthread_barrier_init(&barrier, NULL, 2);
	sem_init(&semaphore, 0, 1);
	if (pipe2(pipe_ends, O_NONBLOCK) || thread_count > THREADS_MOST)
		return 2;
	pthread_mutex_lock(&mutex);
	for (int i = 0; i < thread_count; i++)
		pthread_create(&threads[i], NULL, start, argv[i + 2]);
	pthread_mutex_unlock(&mutex);
	for (int i = 0; i < thread_count; i++)
		pthread_join(threads[i], NULL);
	for (int i = 0; i < thread_count; i++)
		length += sprintf(line + length, "%s ", results[i]);
	length += sprintf(line + length, "%d %d %d\n", x, y, handled);
	file = open(argv[1], O_WRONLY | O_APPEND | O_CREAT, 0600);
	return write(file, line, (size_t)length) != length || close(file);
}
