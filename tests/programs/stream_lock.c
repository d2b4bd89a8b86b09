/* EXPECT: passed runs=50 */
/*
 * Standard streams: flockfile keeps several calls together, is recursive, and ftrylockfile says when
 * another thread has it. Lines of single calls are never torn.
 */
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"

#define WRITERS 3
#define LINES 4

static FILE *stream;

static void *write_in_parts(void *name)
{
	for (int i = 0; i < LINES; i++) {
		flockfile(stream);
		fputs("part ", stream);
		fprintf(stream, "%s", (const char *)name);
		putc_unlocked('\n', stream);
		funlockfile(stream);
	}
	return NULL;
}

static void *write_whole(void *name)
{
	for (int i = 0; i < LINES; i++)
		fprintf(stream, "line %s\n", (const char *)name);
	return NULL;
}

static int count_lines(const char *text, const char *line)
{
	int count = 0;

	for (const char *at = text; *at;) {
		const char *end = strchr(at, '\n');

		if (!end)
			return -1;
		count += strncmp(at, line, (size_t)(end - at)) == 0 &&
			 strlen(line) == (size_t)(end - at);
		at = end + 1;
	}
	return count;
}

static void check_lines(void *(*start)(void *), const char *const lines[WRITERS])
{
	static char names[WRITERS][4] = {"ab", "cd", "ef"};
	pthread_t threads[WRITERS];
	char *text;
	size_t size;

	stream = open_memstream(&text, &size);
	MUST(stream);
	for (int i = 0; i < WRITERS; i++)
		MUST(pthread_create(&threads[i], NULL, start, names[i]) == 0);
	for (int i = 0; i < WRITERS; i++)
		MUST(pthread_join(threads[i], NULL) == 0);
	fclose(stream);
	for (int i = 0; i < WRITERS; i++)
		CHECK(count_lines(text, lines[i]) == LINES);
	CHECK(size == WRITERS * LINES * strlen("line ab\n"));
	free(text);
}

static void *try_lock(void *unused)
{
	int result = ftrylockfile(stdin);

	(void)unused;
	if (result == 0)
		funlockfile(stdin);
	return (void *)(intptr_t)(result != 0);
}

static int is_locked(void)
{
	pthread_t thread;
	void *result;

	MUST(pthread_create(&thread, NULL, try_lock, NULL) == 0);
	MUST(pthread_join(thread, &result) == 0);
	return (int)(intptr_t)result;
}

int main(void)
{
	static const char *const parts[WRITERS] = {"part ab", "part cd", "part ef"};
	static const char *const lines[WRITERS] = {"line ab", "line cd", "line ef"};

	check_lines(write_in_parts, parts);
	check_lines(write_whole, lines);
	flockfile(stdin);
	CHECK(ftrylockfile(stdin) == 0);
	CHECK(is_locked());
	funlockfile(stdin);
	CHECK(is_locked());
	funlockfile(stdin);
	CHECK(!is_locked());
	return check_status();
}
