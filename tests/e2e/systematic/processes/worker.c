/*
 * A program that behaves differently under the first worker and under all others, in each of their processes. It stores the inode
 * of the first one's memory in FILE; a real program might lock a file. Under the first worker, threads use one lock. Under others,
 * each thread uses its own lock (WAY 0), or one thread makes two steps more (1), or all is the same (2).
 *
 * WAY 3: all is the same, too, but the first process of the other workers makes two steps more if a process of the first
 * worker holds the file's lock. That process locks the file when the other arrives, and keeps the lock until the other is
 * done. Processes therefore disturb each other exactly when the first run is compared.
 */
#include <fcntl.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define THREADS 5
static pthread_mutex_t locks[THREADS] = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER,
	PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER};
static int way, is_other, numbers[THREADS];

/* Inode of the memory that raddle shares with the processes of one worker. */
static unsigned long inode(void)
{
	char line[512];
	unsigned long found = 0;
	FILE *maps = fopen("/proc/self/maps", "r");

	while (maps && !found && fgets(line, sizeof line, maps))
		if (strstr(line, "/memfd:raddle-contract"))
			(void)sscanf(line, "%*s %*s %*s %*s %lu", &found);
	if (maps)
		(void)fclose(maps);
	return found;
}

static void *use(void *argument)
{
	const int number = *(int *)argument;
	pthread_mutex_t *lock = &locks[is_other && way == 0 ? number : 0];

	pthread_mutex_lock(lock);
	pthread_mutex_unlock(lock);
	if (is_other && way == 1 && !number) {
		pthread_mutex_lock(&locks[1]);
		pthread_mutex_unlock(&locks[1]);
	}
	return NULL;
}

static bool is_there(const char *name)
{
	return access(name, F_OK) == 0;
}

/* Creates the file, or appends a byte. */
static void make(const char *name)
{
	const int file = open(name, O_WRONLY | O_CREAT | O_APPEND, 0600);

	if (file >= 0 && write(file, "x", 1) == 1)
		(void)close(file);
}

/* The wait has a limit, in case the other process never arrives. */
static void wait_for(const char *name)
{
	const struct timespec moment = {.tv_nsec = 1000000};

	for (int i = 0; i < 10000 && !is_there(name); i++)
		(void)syscall(SYS_nanosleep, &moment, NULL);
}

static void be_in_each_others_way(const char *held)
{
	struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
	const struct timespec moment = {.tv_nsec = 5000000};
	const int file = open(held, O_RDWR);

	if (is_there("disturbed") || !is_there("begun")) {
		/* The first run, and all behind what is to happen. */
		make(is_other ? "others" : "begun");
	} else if (is_other) {
		make("came");
		wait_for("taken");
		if (fcntl(file, F_SETLK, &lock) != 0) {
			make("disturbed");
			pthread_mutex_lock(&locks[1]);
			pthread_mutex_unlock(&locks[1]);
		}
	} else if (is_there("came")) {
		(void)fcntl(file, F_SETLK, &lock);
		make("taken");
		wait_for("disturbed");
	} else { /* leaves runs for the time when the other process arrives */
		(void)syscall(SYS_nanosleep, &moment, NULL);
	}
	(void)close(file);
}

int main(int count, char **arguments)
{
	unsigned long first = 0, own = inode();
	pthread_t threads[THREADS];
	FILE *file;

	if (count != 3)
		return 2;
	way = atoi(arguments[2]);
	file = fopen(arguments[1], "r+");
	if (!file)
		return 2;
	if (fscanf(file, "%lu", &first) != 1) { /* it is empty */
		rewind(file);
		(void)fprintf(file, "%lu", first = own);
	}
	(void)fclose(file);
	is_other = first != own;
	for (int i = 0; i < THREADS; i++) {
		numbers[i] = i;
		if (pthread_create(&threads[i], NULL, use, &numbers[i]) != 0)
			return 2;
	}
	for (int i = 0; i < THREADS; i++)
		(void)pthread_join(threads[i], NULL);
	if (way == 3)
		be_in_each_others_way(arguments[1]);
	return 0;
}
