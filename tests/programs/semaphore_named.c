/* EXPECT: passed runs=20 */
/* Named semaphores: one object per name in a process, life after unlink, errors of sem_open, rights as of files. Closed ones, and
 * those of ended processes, take no place: a program may make any number of them, also after a fork. */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <semaphore.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "check.h"

static void *post_twice(void *sem)
{
	sem_post(sem);
	sem_post(sem);
	return NULL;
}

#define NOBODY 65534

/* Runs in a child of an ordinary user. Each bit is a right that differs from that of a file with this mode. */
static int lacks_rights(const char *public, const char *own)
{
	int wrong = 0;

	if (geteuid() == 0 && seteuid(NOBODY))
		return 0; /* no other user exists here */
	wrong |= sem_open(own, O_CREAT, 0444, 1) == SEM_FAILED;
	wrong |= (sem_open(own, 0) != SEM_FAILED || errno != EACCES) << 1;
	wrong |= (sem_unlink(own) != 0) << 2;
	if (getuid() != 0)
		return wrong;
	wrong |= (sem_open(public, 0) == SEM_FAILED) << 3;
	wrong |= (sem_unlink(public) != -1 || errno != EACCES) << 4;
	return wrong;
}

static void check_rights(void)
{
	char public[64], own[64];
	int status = -1;

	snprintf(public, sizeof public, "/raddle-public-%d", (int)getpid());
	snprintf(own, sizeof own, "/raddle-own-%d", (int)getpid());
	umask(0);
	MUST(sem_open(public, O_CREAT, 0666, 1) != SEM_FAILED);
	if (fork() == 0)
		_exit(lacks_rights(public, own));
	wait(&status);
	CHECK(status == 0);
	MUST(sem_unlink(public) == 0);
}

#define PLACES                                                                                     \
	128 /* the runtime has so many at a time; check_rights() keeps one, and the caller another */

static sem_t *open_unlinked(void)
{
	sem_t *sem;
	char name[64];

	snprintf(name, sizeof name, "/raddle-place-%d", (int)getpid());
	sem = sem_open(name, O_CREAT | O_EXCL, 0600, 1);
	CHECK(sem != SEM_FAILED);
	CHECK(sem_unlink(name) == 0);
	return sem;
}

static void check_places(void)
{
	sem_t *shared = open_unlinked(), *many[PLACES - 2];
	int status = -1;

	for (int i = 0; i < 2 * PLACES; i++)
		CHECK(sem_close(open_unlinked()) == 0);
	if (fork() == 0) {
		for (int i = 0; i < PLACES - 2; i++)
			open_unlinked();
		_exit(sem_trywait(shared) != 0 || sem_close(shared) != 0);
	}
	wait(&status);
	CHECK(status == 0);
	for (int i = 0; i < PLACES - 2; i++)
		many[i] = open_unlinked();
	CHECK(sem_trywait(shared) == -1 &&
		errno == EAGAIN); /* the child's operation, and no new owner of its place */
	for (int i = 0; i < PLACES - 2; i++)
		CHECK(many[i] != shared && sem_close(many[i]) == 0);
	CHECK(sem_close(shared) == 0 && sem_close(shared) == -1 && errno == EINVAL);
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
	check_rights();
	check_places();
	return check_status();
}
