/*
 * A program that does one thing under the first worker and another under all others, in each of their processes: it
 * notes the inode of the first one's memory in FILE, where a real program might lock a file. Under the first one
 * threads use one lock, in others each its own (WAY 0), or one makes two steps more (1), or all is the same (2).
 */
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define THREADS 5
static pthread_mutex_t locks[THREADS] = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER,
	PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER};
static int way, is_other, numbers[THREADS];

/* Of the memory that raddle shares with the processes of one worker. */
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
	return 0;
}
