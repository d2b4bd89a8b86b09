/*
 * Searches in shared memory, and comparisons of it that take capital letters for small ones: the conditions that are marked depend on
 * the schedule, and the others do not.
 */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/mman.h>

static char state[16] = "Starting", line[32] = "key value", path[32] = "/etc/pass",
	    word[16] = "Some";
static char edge[16] = "@[`{";
static char *last; /* behind it there is no memory */
static volatile int seen;

static void *serve(void *unused)
{
	memcpy(state, "READY", 6);
	memcpy(line, "key=value", 9);
	memcpy(path, "/etc/pa/s", 9);
	memcpy(word, "nONE", 4);
	memcpy(edge, "`{@[", 4);
	memcpy(last, "=bcd", 4);
	return unused;
}

int main(void)
{
	char *pages = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	pthread_t thread;

	if (pages == MAP_FAILED || munmap(pages + 4096, 4096))
		return 1;
	last = pages + 4096 - 8;
	memcpy(last, "ab=d efg", 8);
	if (pthread_create(&thread, NULL, serve, NULL))
		return 1;
	if (strcasecmp(state, "ready") == 0) /* sensitive */
		seen++;
	if (strcasecmp("STARTED", state) > 0) /* sensitive */
		seen++;
	if (memchr(line, '=', 9)) /* sensitive */
		seen++;
	if (memchr(line, '=', 3))
		seen++;
	if (memchr(line, '?', 9))
		seen++;
	if ((char *)memchr(line, 'v', 4096) - line == 4)
		seen++;
	if (strrchr(path, '/') - path == 7) /* sensitive */
		seen++;
	if (strrchr(path, '/') - path == 5)
		seen++;
	if (strrchr(path, 0) - path == 9)
		seen++;
	if (strncasecmp(word, "NOBODY", 2) == 0) /* sensitive */
		seen++;
	if (strncasecmp(word, "soMeBODY", 4) > 0)
		seen++;
	if (strcasecmp(edge, "`{@[") == 0) /* sensitive */
		seen++;
	if (strcasecmp(edge, "@{`[") == 0)
		seen++;
	if (memchr(last, '=', 4096) == last) /* sensitive */
		seen++;
	(void)pthread_join(thread, NULL);
	return 0;
}
