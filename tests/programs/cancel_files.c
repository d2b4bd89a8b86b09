/* EXPECT: passed runs=50 */
/*
 * Operations on files wait for no thread, but are cancellation points. A thread that makes only
 * such calls until it is stopped lets other threads run. Each case runs twice: with the request
 * before the call, and in a loop that the request ends. The last loops end by a plain flag.
 */
#include <fcntl.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/uio.h>
#include <unistd.h>

#include "check.h"

static int file;
static char *page;
static sem_t begun;
static int cleaned_up, came_back;
static volatile int is_over;

static void do_open(void)
{
	(void)!open("/", O_WRONLY); /* fails: nothing to close, which would be one, too */
}

static void do_openat(void)
{
	(void)!openat(AT_FDCWD, "/", O_WRONLY);
}

static void do_creat(void)
{
	(void)!creat("/", 0600);
}

static void do_read(void)
{
	char byte;

	(void)!read(file, &byte, 1);
}

static void do_write(void)
{
	(void)!write(file, "", 0);
}

static void do_pread(void)
{
	char byte;

	(void)!pread(file, &byte, 1, 0);
}

static void do_pwrite(void)
{
	(void)!pwrite(file, "x", 1, 0);
}

static void do_preadv(void)
{
	char byte;
	struct iovec vector = {&byte, 1};

	(void)!preadv(file, &vector, 1, 0);
}

static void do_pwritev(void)
{
	struct iovec vector = {"x", 1};

	(void)!pwritev(file, &vector, 1, 0);
}

static void do_fsync(void)
{
	fsync(file);
}

static void do_fdatasync(void)
{
	fdatasync(file);
}

static void do_msync(void)
{
	msync(page, 4096, MS_ASYNC);
}

static void do_close(void)
{
	close(-1);
}

static void note_clean_up(void *unused)
{
	(void)unused;
	cleaned_up++;
}

static void *call_with_request(void *call)
{
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, NULL);
	pthread_cancel(pthread_self());
	pthread_cleanup_push(note_clean_up, NULL);
	pthread_setcancelstate(PTHREAD_CANCEL_ENABLE, NULL);
	((void (*)(void))call)();
	came_back++;
	pthread_cleanup_pop(0);
	return NULL;
}

static void *call_in_loop(void *call)
{
	pthread_cleanup_push(note_clean_up, NULL);
	sem_post(&begun);
	for (;;)
		((void (*)(void))call)();
	pthread_cleanup_pop(0);
}

static int is_cancelled(pthread_t thread)
{
	void *result;

	MUST(pthread_join(thread, &result) == 0);
	return result == PTHREAD_CANCELED && cleaned_up == 1 && !came_back;
}

static void check_call(const char *name, void (*call)(void))
{
	pthread_t thread;

	cleaned_up = came_back = 0;
	MUST(pthread_create(&thread, NULL, call_with_request, (void *)call) == 0);
	printf("%s with a request: %s\n", name, is_cancelled(thread) ? "cancelled" : "FAILED");

	cleaned_up = came_back = 0;
	MUST(pthread_create(&thread, NULL, call_in_loop, (void *)call) == 0);
	sem_wait(&begun);
	MUST(pthread_cancel(thread) == 0);
	printf("%s in a loop: %s\n", name, is_cancelled(thread) ? "cancelled" : "FAILED");
}

static void *write_until_over(void *unused)
{
	while (!is_over)
		(void)!pwrite(file, "x", 1, 0);
	return unused;
}

static void *look_until_over(void *unused)
{
	while (!is_over)
		(void)!access("/", R_OK);
	return unused;
}

int main(void)
{
	pthread_t writer, looker;

	MUST((file = memfd_create("file", 0)) >= 0);
	MUST(ftruncate(file, 4096) == 0);
	page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
	MUST(page != MAP_FAILED);
	sem_init(&begun, 0, 0);

	check_call("open", do_open);
	check_call("openat", do_openat);
	check_call("creat", do_creat);
	check_call("read", do_read);
	check_call("write", do_write);
	check_call("pread", do_pread);
	check_call("pwrite", do_pwrite);
	check_call("preadv", do_preadv);
	check_call("pwritev", do_pwritev);
	check_call("fsync", do_fsync);
	check_call("fdatasync", do_fdatasync);
	check_call("msync", do_msync);
	check_call("close", do_close);

	MUST(pthread_create(&writer, NULL, write_until_over, NULL) == 0);
	MUST(pthread_create(&looker, NULL, look_until_over, NULL) == 0);
	is_over = 1;
	MUST(pthread_join(writer, NULL) == 0);
	MUST(pthread_join(looker, NULL) == 0);
	puts("ok loops that a flag ends");
	return check_status();
}
