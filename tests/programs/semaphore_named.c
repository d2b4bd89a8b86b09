/* EXPECT: passed runs=20 */
/* Named semaphores: one object per name in a process, life after unlink, errors of sem_open. */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <semaphore.h>
#include <unistd.h>

#include "check.h"

static void *post_twice(void *sem)
{
	sem_post(sem);
	sem_post(sem);
	return NULL;
}

int main(void)
{
	char name[64];
	pthread_t thread;
	sem_t *first, *second;
	int value;

	snprintf(name, sizeof(name), "/raddle-test-%d", (int)getpid());
	sem_unlink(name);
	CHECK(sem_open(name, 0) == SEM_FAILED && errno == ENOENT);
	first = sem_open(name, O_CREAT | O_EXCL, 0600, 1);
	CHECK(first != SEM_FAILED);
	CHECK(sem_open(name, O_CREAT | O_EXCL, 0600, 1) == SEM_FAILED && errno == EEXIST);
	second = sem_open(name, O_CREAT, 0600, 7);
	CHECK(second == first);
	CHECK(sem_getvalue(second, &value) == 0 && value == 1);

	MUST(pthread_create(&thread, NULL, post_twice, second) == 0);
	for (int i = 0; i < 3; i++)
		CHECK(sem_wait(first) == 0);
	MUST(pthread_join(thread, NULL) == 0);
	CHECK(sem_trywait(first) == -1 && errno == EAGAIN);

	CHECK(sem_close(second) == 0);
	CHECK(sem_unlink(name) == 0);
	CHECK(sem_unlink(name) == -1 && errno == ENOENT);
	CHECK(sem_post(first) == 0);
	CHECK(sem_getvalue(first, &value) == 0 && value == 1);
	CHECK(sem_close(first) == 0);
	CHECK(sem_open(name, 0) == SEM_FAILED && errno == ENOENT);
	CHECK(sem_unlink("/raddle/two") == -1);
	return check_status();
}
