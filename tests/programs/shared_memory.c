/* EXPECT: passed runs=30 */
/*
 * Shared memory of all kinds that the program has mapped before its first thread. Each run must
 * find the contents that main has stored, in spite of all writes of earlier runs.
 */
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/shm.h>
#include <unistd.h>

#include "check.h"

#define BYTES 8192

static int *areas[4];

static int *map_descriptor(int descriptor)
{
	void *start = MAP_FAILED;

	if (descriptor >= 0 && ftruncate(descriptor, BYTES) == 0)
		start = mmap(NULL, BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0);
	MUST(start != MAP_FAILED);
	close(descriptor);
	return start;
}

static int *map_file(void)
{
	char path[] = "/tmp/raddle-shared-XXXXXX";
	int descriptor = mkstemp(path);

	unlink(path);
	return map_descriptor(descriptor);
}

static int *attach_segment(void)
{
	int id = shmget(IPC_PRIVATE, BYTES, IPC_CREAT | 0600);
	void *start = shmat(id, NULL, 0);

	shmctl(id, IPC_RMID, NULL);
	MUST(start != (void *)-1);
	return start;
}

static void *add_one(void *unused)
{
	for (int i = 0; i < 4; i++) {
		areas[i][0]++;
		areas[i][BYTES / sizeof(int) - 1]++;
	}
	return unused;
}

int main(void)
{
	pthread_t thread;
	void *gone;

	areas[0] = mmap(NULL, BYTES, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	areas[1] = map_descriptor(memfd_create("shared", 0));
	areas[2] = map_file();
	areas[3] = attach_segment();
	gone = mmap(NULL, BYTES, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	MUST(munmap(gone, BYTES) == 0);
	for (int i = 0; i < 4; i++)
		areas[i][0] = 10 * i;
	MUST(pthread_create(&thread, NULL, add_one, NULL) == 0);
	MUST(pthread_join(thread, NULL) == 0);
	for (int i = 0; i < 4; i++) {
		CHECK(areas[i][0] == 10 * i + 1);
		CHECK(areas[i][BYTES / sizeof(int) - 1] == 1);
	}
	return check_status();
}
