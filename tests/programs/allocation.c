/* EXPECT: passed runs=50 */
/*
 * Allocation behaves like glibc's, whatever observes it: results, errno, alignment, corner cases; from
 * constructors, threads, signal handlers and forked children. The program claims to be instrumented
 * (weakly, so that it also links without raddle), which makes a loaded runtime observe all allocations.
 */
#include <errno.h>
#include <malloc.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>
#include <wchar.h>

#include "../../src/abi/instrument_abi.h"
#include "check.h"

#pragma weak raddle_module_loaded

/* More than any machine has; volatile, so that the compiler does not know. */
static volatile size_t too_much = PTRDIFF_MAX - 4096;
static volatile size_t no_bytes;
static char *early;
static char *volatile kept; /* hides from the compiler that the block is the same */

__attribute__((constructor(101))) static void claim(void)
{
	static const struct instrumented_module module = {
		INSTRUMENT_MAGIC, INSTRUMENT_ABI_VERSION, NULL, NULL};

	if (raddle_module_loaded)
		raddle_module_loaded(&module);
	early = malloc(100);
}

static int is_aligned(const void *block, size_t alignment)
{
	return block && (uintptr_t)block % alignment == 0;
}

static int is_zero(const char *block, size_t bytes)
{
	for (size_t i = 0; i < bytes; i++)
		if (block[i])
			return 0;
	return 1;
}

static void check_malloc(void)
{
	char *a, *b;

	CHECK(early);
	free(early);
	a = malloc(no_bytes);
	b = malloc(no_bytes);
	CHECK(a && b && a != b);
	free(a);
	free(b);
	free(NULL);
	a = malloc(24);
	CHECK(malloc_usable_size(a) == 24);
	b = a;
	free(a);
	a = malloc(24);
	CHECK(a == b); /* glibc gives out what it got back last */
	free(a);
	errno = 0;
	CHECK(!malloc(too_much) && errno == ENOMEM);
	errno = 77;
	a = malloc(1 << 20);
	free(a);
	CHECK(errno == 77);
	a = calloc(300, 1000);
	CHECK(a && is_zero(a, 300000));
	free(a);
	errno = 0;
	CHECK(!calloc(too_much, 16) && errno == ENOMEM);
}

static void check_realloc(void)
{
	char *a = realloc(NULL, 10);

	CHECK(a);
	strcpy(a, "contents");
	a = realloc(a, 100000);
	CHECK(a && !strcmp(a, "contents"));
	a = realloc(a, 10000000); /* now it is a mapping of its own */
	CHECK(a && !strcmp(a, "contents"));
	errno = 0;
	kept = a;
	CHECK(!realloc(a, too_much) && errno == ENOMEM);
	a = kept;
	CHECK(!strcmp(a, "contents"));
	a = realloc(a, 9);
	CHECK(a && !strcmp(a, "contents"));
	a = reallocarray(a, 1000, 10);
	CHECK(a && !strcmp(a, "contents"));
	errno = 0;
	kept = a;
	CHECK(!reallocarray(a, too_much, 16) && errno == ENOMEM);
	a = kept;
	CHECK(!realloc(a, no_bytes)); /* glibc frees it */
}

static void check_aligned(void)
{
	const size_t page = (size_t)sysconf(_SC_PAGESIZE);
	void *block = &block;

	CHECK(posix_memalign(&block, 24, 10) == EINVAL && block == &block);
	CHECK(posix_memalign(&block, 64, too_much) == ENOMEM);
	CHECK(!posix_memalign(&block, 256, 100) && is_aligned(block, 256));
	free(block);
	block = aligned_alloc(4096, 8192);
	CHECK(is_aligned(block, 4096));
	free(block);
	block = memalign(1 << 20, 10);
	CHECK(is_aligned(block, 1 << 20));
	free(block);
	block = valloc(10);
	CHECK(is_aligned(block, page));
	free(block);
	block = pvalloc(page + 1);
	CHECK(is_aligned(block, page) && malloc_usable_size(block) >= 2 * page);
	free(block);
}

static void check_texts(void)
{
	FILE *stream = fmemopen((void *)(uintptr_t) "a line\nanother", 14, "r");
	char *line = NULL, *text = strdup("some text");
	wchar_t *wide = wcsdup(L"wide");
	size_t size = 0;

	CHECK(text && !strcmp(text, "some text"));
	free(text);
	text = strndup("some text", 4);
	CHECK(text && !strcmp(text, "some"));
	free(text);
	CHECK(wide && !wcscmp(wide, L"wide"));
	free(wide);
	CHECK(asprintf(&text, "%d and %.1f", 17, 2.5) == 10 && !strcmp(text, "17 and 2.5"));
	free(text);
	MUST(stream != NULL);
	CHECK(getline(&line, &size, stream) == 7 && !strcmp(line, "a line\n"));
	CHECK(getline(&line, &size, stream) == 7 && !strcmp(line, "another"));
	free(line);
	fclose(stream);
}

static void check_mappings(void)
{
	char *block = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	CHECK(block != MAP_FAILED);
	block[4096] = 5;
	CHECK(!munmap(block, 4096));
	CHECK(block[4096] == 5);
	block = mremap(block + 4096, 4096, 65536, MREMAP_MAYMOVE);
	CHECK(block != MAP_FAILED && block[0] == 5);
	CHECK(!munmap(block, 65536));
	errno = 0;
	CHECK(mmap(NULL, 0, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) == MAP_FAILED &&
		errno == EINVAL);
}

static volatile sig_atomic_t handled;

static void handle(int signal)
{
	void *block = malloc(64);

	(void)signal;
	handled += block != NULL;
	free(block);
}

static void *work(void *argument)
{
	char *blocks[64] = {NULL};

	for (unsigned i = 0; i < 2000; i++) {
		char **block = &blocks[i * 7 % 64];

		free(*block);
		*block = malloc(i % 300 * (i % 100 ? 1 : 1000) + 1);
		if (*block)
			**block = (char)i;
	}
	for (unsigned i = 0; i < 64; i++)
		free(blocks[i]);
	return argument;
}

static void check_threads(void)
{
	pthread_t threads[4];

	for (unsigned i = 0; i < 4; i++)
		MUST(!pthread_create(&threads[i], NULL, work, NULL));
	for (unsigned i = 0; i < 4; i++)
		CHECK(!pthread_join(threads[i], NULL));
}

/* Runs in a child: damage to the heap must be noticed like in glibc. */
static int status_of(void (*damage)(void))
{
	int status = 0;
	const pid_t child = fork();

	if (!child) {
		close(2); /* it says so there */
		damage();
		_exit(0);
	}
	MUST(waitpid(child, &status, 0) == child);
	return WIFSIGNALED(status) ? WTERMSIG(status) : 0;
}

static void *volatile damaged;

static void free_twice(void)
{
	damaged = malloc(40);
	free(damaged);
	free(damaged);
}

static void free_inside(void)
{
	damaged = malloc(400);
	damaged = (char *)damaged + 8;
	free(damaged);
}

static void free_well(void)
{
	damaged = malloc(400);
	free(damaged);
}

int main(void)
{
	check_malloc();
	check_realloc();
	check_aligned();
	check_texts();
	check_mappings();
	MUST(signal(SIGUSR1, handle) != SIG_ERR);
	raise(SIGUSR1);
	CHECK(handled == 1);
	CHECK(status_of(free_twice) == SIGABRT);
	CHECK(status_of(free_inside) == SIGABRT);
	CHECK(status_of(free_well) == 0);
	check_threads();
	return check_status();
}
