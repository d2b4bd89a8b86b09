/* Functions of which libc has several versions: a ThreadSanitizer build refers to none of them. */
#include <glob.h>
#include <pthread.h>
#include <regex.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int failed;

static void expect(int is_right, const char *what)
{
	if (!is_right) {
		(void)fprintf(stderr, "%s is another version's\n", what);
		failed = 1;
	}
}

static void *call(void *unused)
{
	char text[] = "aXb";
	cpu_set_t set;
	regex_t pattern;
	regmatch_t match = {.rm_so = 1, .rm_eo = 3};
	char *path = realpath(".", NULL);
	FILE *stream = fmemopen(text, 3, "rb");

	expect(path && path[0] == '/', "realpath");
	free(path);
	/* the oldest version ends the stream at a zero byte */
	text[1] = 0;
	expect(stream && fseek(stream, 0, SEEK_END) == 0 && ftell(stream) == 3, "fmemopen");
	if (stream)
		(void)fclose(stream);
	memset(&set, 0, sizeof set);
	expect(sched_getaffinity(0, sizeof set, &set) == 0 && CPU_COUNT(&set) > 0,
		"sched_getaffinity");
	/* the oldest version does not know REG_STARTEND */
	expect(regcomp(&pattern, "a", REG_EXTENDED) == 0, "regcomp");
	text[1] = 'X';
	expect(regexec(&pattern, text, 1, &match, REG_STARTEND) == REG_NOMATCH, "regexec");
	regfree(&pattern);
	return unused;
}

int main(void)
{
	pthread_t thread;

	pthread_create(&thread, NULL, call, NULL);
	pthread_join(thread, NULL);
	return failed;
}
