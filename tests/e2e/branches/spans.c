/*
 * Searches in shared memory for one of several bytes, or for a string: the conditions that are marked depend on the schedule, and the
 * others do not.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <string.h>

static char path[32] = "a/b/c", word[16] = "hello", list[40] = "one two", name[16] = "x.c",
	    keys[8] = "ab";
static volatile int seen;

static void *serve(void *unused)
{
	memcpy(path, "/b.cX", 5);
	memcpy(word, "HE-LO", 5);
	memcpy(list, "two;one", 7);
	memcpy(name, "xyz", 3);
	memcpy(keys, "cd", 2);
	return unused;
}

int main(void)
{
	char own[16];
	pthread_t thread;

	if (pthread_create(&thread, NULL, serve, NULL))
		return 1;
	if (strstr(path, ".c")) /* sensitive */
		seen++;
	if (strstr(path, ".cc"))
		seen++;
	if (strstr(list, "one") == list + 4) /* sensitive */
		seen++;
	if (strstr(list, ""))
		seen++;
	if (strpbrk(path, "X.")) /* sensitive */
		seen++;
	if (strpbrk(path, "YZ"))
		seen++;
	if (strspn(word, "HE") == 2) /* sensitive */
		seen++;
	if (strspn(word, "xyz"))
		seen++;
	if (strcspn(word, "-") == 2) /* sensitive */
		seen++;
	if (strcspn(list, " ;") == 3)
		seen++;
	if (strchrnul(name, '.') - name == 3) /* sensitive */
		seen++;
	if (strchrnul(name, '?') - name == 3)
		seen++;
	strcpy(own, word);
	if (strcspn(own, "E") == 1) /* sensitive */
		seen++;
	/* What is looked for is taken as it was. */
	if (strspn("abab", keys) == 0)
		seen++;
	return pthread_join(thread, NULL);
}
